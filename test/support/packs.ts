/**
 * Packs and their indexes written byte by byte (gitformat-pack): what the real git would refuse to write. Objects go by
 * any names one likes, since only the host hashes.
 */

import fs from 'node:fs';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

export const TYPE = { commit: 1, tree: 2, blob: 3, tag: 4, ofsDelta: 6, refDelta: 7 } as const;

export interface PackEntry {
  readonly oid: string;
  readonly type: number;
  /** What the stream holds. */
  readonly bytes: Uint8Array;
  /** What the head says it holds, if it lies. */
  readonly size?: number | bigint;
  /** Of a delta by offset: which entry is its base, or how far back it says. */
  readonly base?: number;
  readonly distance?: number;
  /** Of a delta by name. */
  readonly baseOid?: string;
  /** In place of the zlib stream. */
  readonly stream?: Uint8Array;
}

export interface PackOptions {
  /** Offsets stand in the table of large ones. */
  readonly large?: boolean;
  readonly change?: (pack: Buffer, index: Buffer) => readonly [pack: Buffer, index: Buffer];
}

/** A name of SHA-1's size from a short word. */
export const oidOf = (word: string): string => Buffer.from(word.padEnd(20, '.')).toString('hex').slice(0, 40);

/** Writes one pack and its index into a repository's directory. */
export function writePack(dir: string, entries: readonly PackEntry[], options: PackOptions = {}): void {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const parts: Buffer[] = [head];
  const offsets: number[] = [];
  let offset = 12;
  for (const entry of entries) {
    offsets.push(offset);
    const part = entryOf(entry, offset, offsets);
    parts.push(part);
    offset += part.length;
  }
  let pack = Buffer.concat([...parts, Buffer.alloc(20)]);
  let index = indexOf(entries, offsets, parts.slice(1), options.large ?? false);
  if (options.change !== undefined) [pack, index] = options.change(pack, index) as [typeof pack, typeof index];
  const place = path.join(dir, 'objects/pack');
  const name = `pack-${fs.readdirSync(place).length}`;
  fs.writeFileSync(path.join(place, `${name}.pack`), pack);
  fs.writeFileSync(path.join(place, `${name}.idx`), index);
}

function entryOf(entry: PackEntry, offset: number, offsets: readonly number[]): Buffer {
  const bytes: number[] = [];
  let size = BigInt(entry.size ?? entry.bytes.length);
  let byte = (entry.type << 4) | Number(size & 15n);
  for (size >>= 4n; size > 0n; size >>= 7n) {
    bytes.push(byte | 0x80);
    byte = Number(size & 127n);
  }
  bytes.push(byte);
  if (entry.type === TYPE.ofsDelta)
    bytes.push(...distanceOf(entry.distance ?? offset - (offsets[entry.base ?? 0] ?? 0)));
  if (entry.type === TYPE.refDelta) bytes.push(...Buffer.from(entry.baseOid ?? '', 'hex'));
  return Buffer.concat([Buffer.from(bytes), entry.stream ?? deflateSync(entry.bytes)]);
}

function distanceOf(distance: number): number[] {
  const bytes = [distance & 127];
  for (let rest = Math.floor(distance / 128); rest > 0; rest = Math.floor(rest / 128))
    bytes.unshift((--rest & 127) | 128);
  return bytes;
}

function indexOf(entries: readonly PackEntry[], offsets: readonly number[], parts: readonly Buffer[], large: boolean) {
  const order = entries.map((_, at) => at).sort((a, b) => ((entries[a]?.oid ?? '') < (entries[b]?.oid ?? '') ? -1 : 1));
  const word = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value >>> 0);
    return bytes;
  };
  const oids = order.map((at) => Buffer.from(entries[at]?.oid ?? '', 'hex'));
  const fan = Array.from({ length: 256 }, (_, first) => word(oids.filter((oid) => (oid[0] ?? 0) <= first).length));
  const sums = order.map((at) => word(crc32(parts[at] ?? Buffer.alloc(0))));
  const places = order.map((at, rank) => word(large ? 0x8000_0000 + rank : (offsets[at] ?? 0)));
  const far = large ? order.map((at) => Buffer.concat([word(0), word(offsets[at] ?? 0)])) : [];
  return Buffer.concat([
    Buffer.from('ff744f6300000002', 'hex'),
    ...fan,
    ...oids,
    ...sums,
    ...places,
    ...far,
    Buffer.alloc(40),
  ]);
}

// ---- what objects hold ----

export const treeOf = (entries: readonly (readonly [mode: string, name: string, oid: string])[]): Buffer =>
  Buffer.concat(
    entries.map(([mode, name, oid]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])),
  );

export const commitOf = (tree: string, parents: readonly string[] = [], date = 100): Buffer =>
  Buffer.from(
    `tree ${tree}\n${parents.map((parent) => `parent ${parent}\n`).join('')}author A <a@x> ${date} +0000\n` +
      `committer A <a@x> ${date} +0000\n\nx\n`,
  );

/** A delta: sizes as they are said, and instructions. */
export const deltaOf = (
  baseSize: number,
  resultSize: number,
  ...instructions: readonly (readonly number[])[]
): Buffer => Buffer.from([...sizeOf(baseSize), ...sizeOf(resultSize), ...instructions.flat()]);

/** Copies `size` < 65 536 bytes from an offset < 65 536. */
export const copies = (offset: number, size: number): number[] => [
  0x80 | 1 | 2 | 16 | 32,
  offset & 255,
  offset >> 8,
  size & 255,
  size >> 8,
];
export const inserts = (text: string): number[] => [text.length, ...Buffer.from(text)];

function sizeOf(size: number): number[] {
  const bytes: number[] = [];
  for (let rest = size; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}
