/**
 * Git objects made by hand, and a guest that hands them over: an honest one unless a test bends its pages. What is
 * claimed of the host's side of history is claimed over this, so that it holds for any guest there is.
 */

import { createHash } from 'node:crypto';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import type { Guest, HistoryEntry, HistoryPage, HistoryQuery, TrailPage, TrailQuery } from '../../dist/wasi/guest.js';
import type { Things } from '../tree/worlds.js';
import { ANSWERS_NOTHING, GUESTS } from './cities.js';

export type Format = 'sha1' | 'sha256';

/** What a tree holds: bytes or a text, a directory, or a mode with the name of an object. */
export type Node = string | Uint8Array | Directory | { readonly mode: string; readonly oid: string };
export type Directory = ReadonlyMap<string, Node>;

/** A directory by the paths of its files; the last segment may be executable or a link by the mode before a `:`. */
export function directory(files: Readonly<Record<string, Exclude<Node, Directory>>>): Directory {
  const root = new Map<string, Node>();
  for (const [path, node] of Object.entries(files)) {
    const segments = path.split('/');
    const name = segments.pop() ?? '';
    let at = root;
    for (const segment of segments) {
      const next = at.get(segment);
      const below = next instanceof Map ? next : new Map<string, Node>();
      at.set(segment, below);
      at = below;
    }
    at.set(name, node);
  }
  return root;
}

/** Objects by their names. */
export class Objects {
  readonly format: Format;
  readonly #all = new Map<string, { readonly type: string; readonly bytes: Buffer }>();
  constructor(format: Format = 'sha1') {
    this.format = format;
  }

  get oidBytes(): 20 | 32 {
    return this.format === 'sha1' ? 20 : 32;
  }

  put(type: string, content: string | Uint8Array): string {
    const bytes = Buffer.from(content);
    const oid = createHash(this.format).update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
    this.#all.set(oid, { type, bytes });
    return oid;
  }

  tree(of: Directory): string {
    const entries = [...of].map(([name, node]) => {
      const { mode, oid } = this.#entry(node);
      return {
        sort: mode === '40000' ? `${name}/` : name,
        bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
      };
    });
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.sort), Buffer.from(b.sort)));
    return this.put('tree', Buffer.concat(entries.map(({ bytes }) => bytes)));
  }

  #entry(node: Node): { readonly mode: string; readonly oid: string } {
    if (typeof node === 'string' || node instanceof Uint8Array) return { mode: '100644', oid: this.put('blob', node) };
    return node instanceof Map ? { mode: '40000', oid: this.tree(node) } : (node as { mode: string; oid: string });
  }

  /** A commit of these files. */
  commit(files: Directory, message = 'x'): string {
    return this.commitOf(this.tree(files), message);
  }

  commitOf(tree: string, message = 'x'): string {
    return this.put('commit', `tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n\n${message}\n`);
  }

  get(oid: string, type: string): Buffer | undefined {
    const found = this.#all.get(oid);
    return found?.type === type ? found.bytes : undefined;
  }

  /** The entry of a path, or what is in its way. */
  find(tree: Buffer, name: Buffer): { readonly mode: string; readonly oid: string } | undefined {
    for (let at = 0; at < tree.length; ) {
      const [space, nul] = [tree.indexOf(' ', at), tree.indexOf(0, at)];
      const end = nul + 1 + this.oidBytes;
      if (tree.subarray(space + 1, nul).equals(name)) {
        return { mode: tree.toString('latin1', at, space), oid: tree.toString('hex', nul + 1, end) };
      }
      at = end;
    }
    return undefined;
  }
}

const NOTHING = new Uint8Array(0);
const EMPTY: TrailPage = { commit: NOTHING, trees: [], blobSize: 0, piece: NOTHING, ending: 'paused' };

/** The pages of a trail, as an honest guest gives them: the objects, then the blob in pieces. */
export function trailOf(objects: Objects, asked: TrailQuery, pieceBytes = 1_000): TrailPage[] {
  const commit = objects.get(asked.commit, 'commit');
  if (commit === undefined) return [{ ...EMPTY, ending: 'no-commit' }];
  const trees: Buffer[] = [];
  let oid = commit.toString('latin1', 5, 5 + 2 * objects.oidBytes);
  const segments = Buffer.from(asked.path).toString('latin1').split('/');
  for (const [depth, segment] of segments.entries()) {
    const tree = objects.get(oid, 'tree');
    if (tree === undefined) throw new Error('a tree is missing');
    trees.push(tree);
    const entry = objects.find(tree, Buffer.from(segment, 'latin1'));
    if (entry === undefined) return [{ ...EMPTY, commit, trees, ending: 'absent' }];
    const isLast = depth === segments.length - 1;
    const isBlob = entry.mode.startsWith('100') || entry.mode === '120000';
    if (isLast && isBlob) return blobPages({ ...EMPTY, commit, trees }, objects.get(entry.oid, 'blob'), pieceBytes);
    if (isLast || entry.mode !== '40000') return [{ ...EMPTY, commit, trees, ending: 'not-file' }];
    oid = entry.oid;
  }
  throw new Error('a path without segments');
}

function blobPages(first: TrailPage, blob: Buffer | undefined, pieceBytes: number): TrailPage[] {
  if (blob === undefined) throw new Error('a blob is missing');
  const blobSize = blob.length;
  const pages: TrailPage[] = [{ ...first, blobSize }];
  for (let at = 0; at < blobSize; at += pieceBytes) {
    pages.push({ ...EMPTY, blobSize, piece: blob.subarray(at, at + pieceBytes) });
  }
  const last = pages.pop() ?? first;
  return [...pages, { ...last, ending: 'whole' }];
}

/** How a test's guest differs from an honest one. */
export interface Bent {
  /** The pages of `history`; none: a history without entries. */
  readonly pages?: (asked: HistoryQuery) => readonly HistoryPage[];
  /** The pages of a trail; by default as `trailOf`. */
  readonly trail?: (asked: TrailQuery) => readonly TrailPage[];
  /** Told what is asked. */
  readonly onAsked?: (asked: HistoryQuery | TrailQuery) => void;
}

/** A guest over these objects; what it is asked to read it reads like ours. */
export const guestOver =
  (objects: Objects, bent: Bent = {}) =>
  (filesystem: Filesystem): Guest => {
    let own: Guest | undefined;
    let [pages, trail]: [readonly HistoryPage[], readonly TrailPage[]] = [[], []];
    const ours = (): Guest => {
      own ??= GUESTS.fixed(filesystem);
      return own;
    };
    const nextOf = <Page>(all: readonly Page[]): { ok: true; page: Page } => {
      const [page] = all;
      if (page === undefined) throw new Error('asked past the end');
      return { ok: true, page };
    };
    const older = () => {
      const given = nextOf(pages);
      pages = pages.slice(1);
      return given;
    };
    const further = () => {
      const given = nextOf(trail);
      trail = trail.slice(1);
      return given;
    };
    return {
      ...ANSWERS_NOTHING,
      read: (asked) => ours().read(asked),
      next: () => ours().next(),
      history(asked) {
        bent.onAsked?.(asked);
        pages = bent.pages?.(asked) ?? [{ entries: [], commits: 1, ending: 'complete' }];
        return older();
      },
      older,
      trail(asked) {
        bent.onAsked?.(asked);
        trail = (bent.trail ?? ((of: TrailQuery) => trailOf(objects, of)))(asked);
        if (bent.trail === undefined && trail.some(({ blobSize }) => blobSize > asked.blobMax)) {
          return { ok: false, fault: 'too-large' };
        }
        return further();
      },
      further,
    };
  };

/** A page of entries that is the last. */
export const lastPage = (...entries: HistoryEntry[]): HistoryPage => ({
  entries,
  commits: entries.length + 1,
  ending: 'complete',
});

/** The least that a directory has to hold to be opened as a repository; its objects are the guest's affair. */
export const gitDirectory = (at: string, config = '[core]\n\trepositoryFormatVersion = 0\n'): Things => [
  [`${at}/HEAD`, 'ref: refs/heads/main\n'],
  [`${at}/config`, config],
  [`${at}/objects/info`, { directory: true }],
  [`${at}/refs/heads`, { directory: true }],
];
export const SHA256_CONFIG = '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n';
