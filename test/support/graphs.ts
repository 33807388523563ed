/**
 * Commit-graphs that git wrote, taken apart and changed byte by byte, and sealed again with the hash that they end with:
 * what somebody may put in their place who can write in a repository.
 */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Repository } from './repositories.js';

export const SINGLE = 'objects/info/commit-graph';
export const CHAIN_DIR = 'objects/info/commit-graphs';
export const CHAIN = `${CHAIN_DIR}/commit-graph-chain`;

const HEAD_BYTES = 8;
const TABLE_BYTES = 12;

/** One file of a commit-graph, as bytes that a test changes in place. */
export class Graph {
  bytes: Buffer;
  readonly oidBytes: number;

  constructor(bytes: Buffer, oidBytes: number) {
    this.bytes = bytes;
    this.oidBytes = oidBytes;
  }

  static of(repository: Repository, at: string = SINGLE): Graph {
    return new Graph(fs.readFileSync(path.join(repository.dir, at)), repository.oidBytes);
  }

  /** Where a chunk stands in the table of chunks. */
  entryOf(id: string): number {
    const chunks = this.bytes[6] ?? 0;
    for (let i = 0; i < chunks; i++) {
      const at = HEAD_BYTES + TABLE_BYTES * i;
      if (this.bytes.toString('latin1', at, at + 4) === id) return at;
    }
    throw new Error(`no chunk ${id}`);
  }

  /** The bytes of a chunk, which may be changed. */
  chunk(id: string): Buffer {
    const at = this.entryOf(id);
    const start = Number(this.bytes.readBigUInt64BE(at + 4));
    return this.bytes.subarray(start, Number(this.bytes.readBigUInt64BE(at + TABLE_BYTES + 4)));
  }

  /** Bytes of the entry with the id 0, at the end of the table. */
  get tableEnd(): number {
    return HEAD_BYTES + TABLE_BYTES * (this.bytes[6] ?? 0);
  }

  /** Where a commit is. */
  positionOf(commit: string): number {
    const names = this.chunk('OIDL');
    for (let at = 0; at < names.length; at += this.oidBytes) {
      if (names.toString('hex', at, at + this.oidBytes) === commit) return at / this.oidBytes;
    }
    throw new Error(`no commit ${commit}`);
  }

  /** What is said of the commit at a position: its tree's name, and four words. */
  data(position: number): Buffer {
    const size = this.oidBytes + 16;
    return this.chunk('CDAT').subarray(position * size, (position + 1) * size);
  }

  get count(): number {
    return this.chunk('OIDL').length / this.oidBytes;
  }

  /** Ends the file with the hash of what it holds now. */
  seal(): this {
    const end = this.bytes.length - this.oidBytes;
    const hash = createHash(this.oidBytes === 20 ? 'sha1' : 'sha256')
      .update(this.bytes.subarray(0, end))
      .digest();
    hash.copy(this.bytes, end);
    return this;
  }

  /** Puts it where git has it. */
  write(repository: Repository, at: string = SINGLE): void {
    const file = path.join(repository.dir, at);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.rmSync(file, { force: true, recursive: true });
    fs.writeFileSync(file, this.bytes);
  }
}

/** The files of a chain's layers, the lowest first. */
export const layersOf = (repository: Repository): string[] =>
  fs
    .readFileSync(path.join(repository.dir, CHAIN), 'latin1')
    .trim()
    .split('\n')
    .map((hash) => `${CHAIN_DIR}/graph-${hash}.graph`);
