/**
 * From a commit's name to the bytes of one file in it: each object that the guest hands over is hashed and has to have
 * the name that the one above it gives, and the names are followed here, byte for byte. So what leaves is what the
 * address means, whatever the guest does; that nothing is there is proved by the same chain.
 *
 * Stands between the guest's pages (`trail`, `further`) and a tool. Holds one tree at a time and no blob: its pieces are
 * passed on as they come, and count only once `take` says that they were all of it.
 * Source: gitformat-pack(5) "object types", git's tree-walk.c.
 */

import { createSHA1, createSHA256, type IHasher } from 'hash-wasm';
import { type GitFault, GuestFault, type TrailPage } from '../wasi/guest.js';
import type { OidBytes } from './git-config.js';

/** Where a trail ended. Of the first three each is proved; the others are the guest's word. */
export type Trailed =
  /** Every piece was passed on. A link is a blob too: its text. */
  | { readonly kind: 'blob'; readonly oid: string; readonly sizeBytes: number; readonly isLink: boolean }
  /** A tree on the way has no such name. */
  | { readonly kind: 'absent' }
  /** A directory, another repository (`module`: the commit of it), or a way through something that is no directory. */
  | { readonly kind: 'not-file'; readonly module?: string }
  | { readonly kind: 'no-commit' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'budget' }
  /** An object has its name and is none. */
  | { readonly kind: 'fault'; readonly fault: GitFault }
  /** An object's bytes have another name: it is spoilt where it lies, or the guest made it up; nobody can tell which. */
  | { readonly kind: 'mismatch' };

/** What is followed. */
export interface ChainOf {
  /** 2 × oidBytes digits of lower-case hex. */
  readonly commit: string;
  /** Segments joined by `/`, byte for byte; no empty ones. */
  readonly path: Uint8Array;
  readonly oidBytes: OidBytes;
  readonly blobMaxBytes: number;
}

type Decided = Extract<Trailed, { kind: 'absent' | 'not-file' | 'fault' | 'mismatch' }>;
interface Blob {
  readonly kind: 'blob';
  readonly oid: string;
  readonly isLink: boolean;
}

/** One address being followed. `take` each page in order; what no guest of ours could say throws a `GuestFault`. Linear in what is handed over. */
export class Chain {
  readonly #asked: ChainOf;
  readonly #hash: IHasher;
  readonly #pass: (piece: Uint8Array) => void;
  /** What the trees say of the path, once they came. */
  #found: Blob | Decided | undefined;
  #sizeBytes: number | undefined;
  #passedBytes = 0;

  private constructor(asked: ChainOf, hash: IHasher, pass: (piece: Uint8Array) => void) {
    this.#asked = asked;
    this.#hash = hash;
    this.#pass = pass;
  }

  /** `pass` sees the blob's pieces in order. Costs an instance of a hash, a fraction of a millisecond. */
  static async of(asked: ChainOf, pass: (piece: Uint8Array) => void): Promise<Chain> {
    return new Chain(asked, await (asked.oidBytes === 20 ? createSHA1() : createSHA256()), pass);
  }

  /** Takes a page: where the trail ended, or undefined if there is more to come. */
  take(page: TrailPage): Trailed | undefined {
    if (page.commit.length > 0 || page.trees.length > 0) this.#found = this.#follow(page);
    if (this.#found?.kind === 'fault' || this.#found?.kind === 'mismatch') return this.#found;
    if (page.piece.length > 0 || page.ending === 'whole') this.#takePiece(page);
    switch (page.ending) {
      case 'paused':
        return undefined;
      case 'whole':
        return this.#blob();
      case 'absent':
      case 'not-file':
        if (this.#found?.kind !== page.ending) throw new GuestFault('an ending that its trees do not prove');
        return this.#found;
      case 'no-commit':
      case 'unreachable':
        if (this.#found !== undefined) throw new GuestFault('objects of a commit that it does not give');
        return { kind: page.ending };
      case 'budget':
        return { kind: 'budget' };
    }
  }

  // ---- commit and trees ----

  #follow({ commit, trees }: TrailPage): Blob | Decided {
    if (this.#found !== undefined) throw new GuestFault('trees twice');
    if (!this.#isNamed(this.#asked.commit, 'commit', commit)) return MISMATCH;
    const root = treeOf(commit, this.#asked.oidBytes);
    if (root === undefined) return CORRUPT;
    return this.#descend(root, trees);
  }

  #descend(root: string, trees: readonly Uint8Array[]): Blob | Decided {
    const segments = segmentsOf(this.#asked.path);
    let oid = root;
    for (const [depth, tree] of trees.entries()) {
      const segment = segments[depth];
      if (segment === undefined) break;
      if (!this.#isNamed(oid, 'tree', tree)) return MISMATCH;
      const entry = entryOf(tree, segment, this.#asked.oidBytes);
      const isLast = depth === segments.length - 1;
      const end = isLast || entry === 'malformed' || entry === 'absent' || entry.kind !== 'tree';
      if (!end) oid = entry.oid;
      else if (depth === trees.length - 1) return whatIsThere(entry, isLast);
      else break;
    }
    throw new GuestFault('other trees than the path leads through');
  }

  // ---- the blob ----

  #takePiece({ piece, blobSize }: TrailPage): void {
    if (this.#found?.kind !== 'blob') throw new GuestFault('bytes of no blob');
    if (this.#sizeBytes === undefined) this.#beginBlob(blobSize);
    if (blobSize !== this.#sizeBytes) throw new GuestFault('a blob of two sizes');
    this.#passedBytes += piece.length;
    if (this.#passedBytes > blobSize) throw new GuestFault('more of a blob than there is');
    if (piece.length === 0) return;
    this.#hash.update(piece);
    this.#pass(piece);
  }

  #beginBlob(sizeBytes: number): void {
    if (sizeBytes > this.#asked.blobMaxBytes) throw new GuestFault('a blob larger than was asked for');
    this.#sizeBytes = sizeBytes;
    this.#hash.init().update(headerOf('blob', sizeBytes));
  }

  #blob(): Trailed {
    const found = this.#found;
    if (found?.kind !== 'blob' || this.#passedBytes !== this.#sizeBytes) throw new GuestFault('a blob in part');
    if (this.#hash.digest('hex') !== found.oid) return MISMATCH;
    return { kind: 'blob', oid: found.oid, sizeBytes: this.#passedBytes, isLink: found.isLink };
  }

  #isNamed(oid: string, type: 'commit' | 'tree', bytes: Uint8Array): boolean {
    return this.#hash.init().update(headerOf(type, bytes.length)).update(bytes).digest('hex') === oid;
  }
}

const CORRUPT: Decided = { kind: 'fault', fault: 'corrupt' };
const MISMATCH = { kind: 'mismatch' } as const;

/** What git hashes before an object's own bytes. */
const headerOf = (type: 'commit' | 'tree' | 'blob', sizeBytes: number): string => `${type} ${sizeBytes}\0`;

/** What the last tree of the way says. `isLast`: it was asked for the last segment. */
function whatIsThere(entry: TreeEntry | 'absent' | 'malformed', isLast: boolean): Blob | Decided {
  if (entry === 'malformed') return CORRUPT;
  if (entry === 'absent') return { kind: 'absent' };
  if (!isLast || entry.kind === 'tree') return { kind: 'not-file' };
  if (entry.kind === 'submodule') return { kind: 'not-file', module: entry.oid };
  return { kind: 'blob', oid: entry.oid, isLink: entry.kind === 'link' };
}

// ---- objects, read strictly ----

/** The tree that a commit names, in hex; undefined if its first line names none. */
export function treeOf(commit: Uint8Array, oidBytes: OidBytes): string | undefined {
  const line = String.fromCharCode(...commit.subarray(0, 'tree '.length + 2 * oidBytes + 1));
  return /^tree ([0-9a-f]+)\n$/.exec(line)?.[1];
}

/** One name of a tree, as far as this project tells kinds apart. */
export interface TreeEntry {
  readonly kind: 'file' | 'link' | 'tree' | 'submodule';
  readonly oid: string;
}

const SPACE = 0x20;
const SLASH = 0x2f;
const KINDS: ReadonlyMap<number, TreeEntry['kind']> = new Map([
  [0o100000, 'file'],
  [0o120000, 'link'],
  [0o040000, 'tree'],
  [0o160000, 'submodule'],
]);

/**
 * What a tree has under `name`. All of it is read, whatever comes first: a mode that is not octal or of no kind, an empty
 * name, one with a slash (its path would be another file's), a name that stands twice, or an end in the middle of an entry
 * make the tree `malformed`. Linear in `tree`.
 */
export function entryOf(tree: Uint8Array, name: Uint8Array, oidBytes: OidBytes): TreeEntry | 'absent' | 'malformed' {
  let found: TreeEntry | undefined;
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(SPACE, at);
    const nul = space < 0 ? -1 : tree.indexOf(0, space + 1);
    const end = nul + 1 + oidBytes;
    if (nul <= space + 1 || end > tree.length) return 'malformed';
    const kind = kindOf(tree.subarray(at, space));
    if (kind === undefined || tree.subarray(space + 1, nul).includes(SLASH)) return 'malformed';
    if (isSame(tree.subarray(space + 1, nul), name)) {
      if (found !== undefined) return 'malformed';
      found = { kind, oid: hex(tree.subarray(nul + 1, end)) };
    }
    at = end;
  }
  return found ?? 'absent';
}

/** Of a mode in octal digits; some trees of old have a zero before them. */
function kindOf(digits: Uint8Array): TreeEntry['kind'] | undefined {
  const mode = String.fromCharCode(...digits.subarray(0, MODE_DIGITS_MAX + 1));
  if (!/^[0-7]{1,7}$/.test(mode)) return undefined;
  return KINDS.get(Number.parseInt(mode, 8) & 0o170000);
}
const MODE_DIGITS_MAX = 7;

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** The segments of a path, at least one. */
export function segmentsOf(path: Uint8Array): readonly Uint8Array[] {
  const segments: Uint8Array[] = [];
  let start = 0;
  for (let slash = path.indexOf(SLASH); slash >= 0; slash = path.indexOf(SLASH, start)) {
    segments.push(path.subarray(start, slash));
    start = slash + 1;
  }
  return [...segments, path.subarray(start)];
}
