/**
 * The guest over a repository on the disk: what it says of history and of trails, all pages as one, through the fixed
 * world and through the reference.
 */

import { Bound } from '../../dist/judge/bound.js';
import { enterDisk, openTree } from '../../dist/tree/spec.js';
import { Filesystem } from '../../dist/wasi/filesystem.js';
import type { GitFault, Guest, HistoryEntry, HistoryQuery, TrailEnding, TrailQuery } from '../../dist/wasi/guest.js';
import { ALLOWANCE, type Allowance, Meter } from '../../dist/wasi/meter.js';
import { GUESTS } from '../support/cities.js';
import type { GitHit, Repository } from '../support/repositories.js';

export const ENTRY_DIRECTORIES = ['messages', 'summary'] as const;

export interface Found {
  readonly entries: readonly HistoryEntry[];
  readonly commits: number;
  readonly ending: string;
  readonly pages: number;
}
export type FoundOrFault = Found | { readonly fault: GitFault };

export interface Handed {
  readonly commit: Uint8Array;
  readonly trees: readonly Uint8Array[];
  readonly blobSize: number;
  readonly blob: Buffer;
  readonly ending: TrailEnding;
  readonly pages: number;
}
export type HandedOrFault = Handed | { readonly fault: GitFault };

/** A guest over one directory of the disk. `end` it; then nothing may be left open. */
export class Reader {
  readonly guest: Guest;
  readonly filesystem: Filesystem;
  readonly meter: Meter;
  readonly #oidBytes: number;
  readonly #end: () => void;

  constructor(
    repository: { readonly dir: string; readonly oidBytes: number },
    binding: keyof typeof GUESTS = 'fixed',
    allowance: Partial<Allowance> = {},
  ) {
    const entered = enterDisk(repository.dir);
    if (typeof entered === 'string') throw new Error(`not entered: ${entered}`);
    const tree = openTree(entered.spec);
    if (typeof tree === 'string') throw new Error(`not opened: ${tree}`);
    const preopen = { kind: 'directory', shown: '', path: '', landed: '' } as const;
    this.meter = new Meter({ ...ALLOWANCE, ...allowance }, 60_000);
    this.filesystem = new Filesystem({ tree, bound: Bound.openUnchecked(), meter: this.meter, preopen });
    this.guest = GUESTS[binding](this.filesystem);
    this.#oidBytes = repository.oidBytes;
    this.#end = () => {
      this.filesystem.close();
      tree.close();
      entered.close();
    };
  }

  history(pattern: string | Uint8Array, asked: Partial<HistoryQuery> = {}): FoundOrFault {
    let history = this.guest.history({
      pattern: typeof pattern === 'string' ? new TextEncoder().encode(pattern) : pattern,
      branches: ['agents/*'],
      directories: ENTRY_DIRECTORIES,
      oidBytes: this.#oidBytes,
      pageWork: 1_024,
      pageBytes: 16 << 20,
      ...asked,
    });
    const entries: HistoryEntry[] = [];
    for (let pages = 1; ; pages++) {
      if (!history.ok) return { fault: history.fault };
      entries.push(...history.page.entries);
      const { commits, ending } = history.page;
      if (ending !== 'paused') return { entries, commits, ending, pages };
      history = this.guest.older();
    }
  }

  trail(commit: string, path: string | Uint8Array, asked: Partial<TrailQuery> = {}): HandedOrFault {
    let trail = this.guest.trail({
      commit,
      path: typeof path === 'string' ? new TextEncoder().encode(path) : path,
      branches: [],
      oidBytes: this.#oidBytes,
      blobMax: 1 << 30,
      pageWork: 1_024,
      pageBytes: 16 << 20,
      ...asked,
    });
    let head: { commit: Uint8Array; trees: readonly Uint8Array[] } = { commit: new Uint8Array(0), trees: [] };
    const pieces: Uint8Array[] = [];
    for (let pages = 1; ; pages++) {
      if (!trail.ok) return { fault: trail.fault };
      const { page } = trail;
      if (page.commit.length > 0 || page.trees.length > 0) {
        if (head.commit.length > 0) throw new Error('the commit twice');
        head = page;
      }
      pieces.push(page.piece);
      const { blobSize, ending } = page;
      if (ending !== 'paused') {
        return { commit: head.commit, trees: head.trees, blobSize, blob: Buffer.concat(pieces), ending, pages };
      }
      trail = this.guest.further();
    }
  }

  end(): void {
    this.#end();
  }
}

/** Entries as lines that a test can compare with git's. */
export const linesOf = (hits: readonly (HistoryEntry | GitHit)[]): string[] =>
  hits.map(({ commit, path, blob }) => `${commit} ${Buffer.from(path).toString('latin1')} ${blob}`);

/** Runs a claim over the guest in a repository, and shows that it left nothing open. */
export function reading<T>(
  repository: Repository,
  claim: (reader: Reader) => T,
  binding: keyof typeof GUESTS = 'fixed',
): T {
  const reader = new Reader(repository, binding);
  try {
    const value = claim(reader);
    if (reader.filesystem.liveCount > 0) throw new Error(`${reader.filesystem.liveCount} handles left open`);
    return value;
  } finally {
    reader.end();
  }
}
