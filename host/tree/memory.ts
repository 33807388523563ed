/**
 * A city in memory: for browsers, and for tests of what disks do rarely (names that fold, sizes that lie, failures).
 * Keeps the tree's contract; its places are compared as the Linux tree compares its own. No `node:` here.
 *
 * A `MemoryCity` is data: it may be cloned to a worker. `put`, `remove` and `move` change it, also under an open tree.
 */

import { FILE_FAULTS, refusesHardLink } from './file-faults.js';
import { isSegment, shownText, strictText } from './names.js';
import { type Held, OpenSet, releaseAll } from './open-set.js';
import { dirEntriesMaxOf, type TreeOptions } from './opening.js';
import type {
  Dir,
  Entry,
  Failure,
  FileOptions,
  HardLinks,
  Identity,
  Kind,
  LinkText,
  Look,
  OpenFile,
  Tree,
} from './tree.js';
import { failed } from './tree.js';

/** How the root of every memory city is spelled. */
export const MEMORY_ROOT = '/city';

/** One segment: text, or the bytes of a name that is not UTF-8 (listed, never opened). */
export type MemoryName = string | Uint8Array;

/** From the root, one segment after the other; a text is split at `/`. */
export type MemoryPath = string | readonly MemoryName[];

/** What a disk might say or be, on top of what something is. */
export interface MemoryMarks {
  /** It is on another mount than its directory. */
  readonly otherMount?: boolean;
  /** Names that lead to a file. Default 1. */
  readonly names?: number;
  /** Its owner is not the owner of its directory. Default false. */
  readonly otherOwner?: boolean;
  /** What its look and its open say of its size; it reads to its real end. */
  readonly reportedSizeBytes?: number;
  /** The listing does not say what it is. */
  readonly listedAsUnknown?: boolean;
  /** What fails, and how. */
  readonly fails?: { readonly [step in 'look' | 'open' | 'list' | 'read']?: Failure };
}

/** What can be put in a city: a text or bytes are a file. */
export type MemoryThing =
  | string
  | Uint8Array
  | ({ readonly file: string | Uint8Array } & MemoryMarks)
  | ({ readonly directory: true } & MemoryMarks)
  /** A link that says this. */
  | ({ readonly link: string | Uint8Array } & MemoryMarks)
  /** A FIFO, a socket or a device. */
  | ({ readonly other: true } & MemoryMarks);

interface Node {
  readonly inode: number;
  /** When it was put, in changes of the city. */
  readonly changed: number;
  readonly kind: Kind;
  /** Of a file its content, of a link its text, else empty. */
  readonly bytes: Uint8Array;
  /** By name; a name that is not UTF-8 has a key no name can be. Empty for all but directories. */
  readonly children: Map<string, { readonly name: MemoryName; readonly node: Node }>;
  readonly marks: MemoryMarks;
}

/** A city in memory. Structured-clonable; only the functions of this file look inside. */
export interface MemoryCity {
  readonly root: Node;
  readonly hardLinks: HardLinks;
  /** Names open without regard to ASCII case, compatibility forms (NFKC) and U+200C, as some shares do. */
  readonly foldsNames: boolean;
  /** Counts changes; also the next inode. */
  changes: number;
}

/** What kind of disk the memory city plays. */
export interface MemoryOptions {
  /** Default `same-owner`. */
  readonly hardLinks?: HardLinks;
  /** Default false. */
  readonly foldsNames?: boolean;
}

/**
 * A city of these things, put one after the other: missing directories are made, the last of two at one path stays.
 * Pairs, not an object: `__proto__` is a name. An empty list is an empty city. O(sum of paths and texts).
 * @throws for a path with something that is no segment.
 * @example memoryCity([['lab/notes.md', 'a line\n'], ['lab/latest', { link: 'notes.md' }]])
 */
export function memoryCity(
  things: Iterable<readonly [path: MemoryPath, thing: MemoryThing]>,
  options: MemoryOptions = {},
): MemoryCity {
  const { hardLinks = 'same-owner', foldsNames = false } = options;
  const city: MemoryCity = { root: newNode(0, { directory: true }), hardLinks, foldsNames, changes: 0 };
  for (const [path, thing] of things) put(city, path, thing);
  return city;
}

/** Puts a new thing at the path, in place of what is there; missing directories are made. @throws as `memoryCity`. */
export function put(city: MemoryCity, path: MemoryPath, thing: MemoryThing): void {
  const names = namesOf(path);
  const last = names.pop();
  if (last === undefined) throw new Error('the root of a memory city stays');
  const parent = names.reduce<Node>((node, name) => childOrNew(city, node, name), city.root);
  parent.children.set(keyOf(last), { name: last, node: newNode(nextChange(city), thing) });
}

/** Removes what is at the path, with all below. @throws if nothing is there. */
export function remove(city: MemoryCity, path: MemoryPath): void {
  const { parent, key } = parentOf(city, path);
  if (!parent.children.delete(key)) throw new Error('nothing to remove');
}

/** Moves what is at `from` to `to`, in place of what is there: the same thing, elsewhere. @throws if nothing is there. */
export function move(city: MemoryCity, from: MemoryPath, to: MemoryPath): void {
  const source = parentOf(city, from);
  const moved = source.parent.children.get(source.key);
  if (moved === undefined) throw new Error('nothing to move');
  const target = parentOf(city, to);
  source.parent.children.delete(source.key);
  target.parent.children.set(target.key, { name: target.name, node: moved.node });
}

function namesOf(path: MemoryPath): MemoryName[] {
  const names = typeof path === 'string' ? path.split('/') : [...path];
  for (const name of names) {
    const text = typeof name === 'string' ? name : strictText(name);
    if (text !== undefined && !isSegment(text)) throw new Error('a memory city takes segments only');
  }
  return names;
}

const keyOf = (name: MemoryName): string =>
  // NUL is in no name.
  typeof name === 'string' ? name : (strictText(name) ?? `\0${name.join()}`);

function parentOf(city: MemoryCity, path: MemoryPath): { parent: Node; name: MemoryName; key: string } {
  const names = namesOf(path);
  const name = names.pop();
  if (name === undefined) throw new Error('the root of a memory city stays');
  let parent = city.root;
  for (const above of names) {
    const child = parent.children.get(keyOf(above));
    if (child?.node.kind !== 'directory') throw new Error('no such directory in the memory city');
    parent = child.node;
  }
  return { parent, name, key: keyOf(name) };
}

function childOrNew(city: MemoryCity, parent: Node, name: MemoryName): Node {
  const key = keyOf(name);
  const found = parent.children.get(key);
  if (found !== undefined && found.node.kind !== 'directory')
    throw new Error('a file of a memory city has no children');
  if (found !== undefined) return found.node;
  const node = newNode(nextChange(city), { directory: true });
  parent.children.set(key, { name, node });
  return node;
}

function nextChange(city: MemoryCity): number {
  city.changes += 1;
  return city.changes;
}

const encoder = new TextEncoder();
const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? encoder.encode(content) : content;

function newNode(change: number, thing: MemoryThing): Node {
  const made = { inode: change, changed: change, children: new Map(), bytes: new Uint8Array() };
  if (typeof thing === 'string' || thing instanceof Uint8Array) {
    return { ...made, kind: 'file', bytes: bytesOf(thing), marks: {} };
  }
  if ('file' in thing) {
    const { file, ...marks } = thing;
    return { ...made, kind: 'file', bytes: bytesOf(file), marks };
  }
  if ('link' in thing) {
    const { link, ...marks } = thing;
    return { ...made, kind: 'link', bytes: bytesOf(link), marks };
  }
  if ('directory' in thing) {
    const { directory: _, ...marks } = thing;
    return { ...made, kind: 'directory', marks };
  }
  const { other: _, ...marks } = thing;
  return { ...made, kind: 'other', marks };
}

/** What is asked of a name, equal for all names that open the same. */
const folded = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll('\u200c', '')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Opens the city for one call. Never refused. */
export function openMemoryTree(city: MemoryCity, options: TreeOptions = {}): Tree {
  return new MemoryTree(city, options);
}

class MemoryTree implements Tree {
  readonly kind = 'memory';
  readonly containment = 'contained';
  readonly spellings = { entered: MEMORY_ROOT, real: MEMORY_ROOT, style: 'posix' } as const;
  readonly root: MemoryDir;
  readonly held = new OpenSet<Held>();
  readonly city: MemoryCity;
  readonly dirEntriesMax: number;

  constructor(city: MemoryCity, options: TreeOptions) {
    this.city = city;
    this.dirEntriesMax = dirEntriesMaxOf(options);
    this.root = new MemoryDir(this, city.root, DEVICE, undefined);
  }

  openCount(): number {
    return this.held.count;
  }

  close(): void {
    releaseAll(this.held);
  }
}

const DEVICE = 1n;

/** Where a directory was found: it is in its place while each step still leads to the next. */
interface Found {
  readonly parent: Node;
  readonly key: string;
  readonly node: Node;
  readonly above: Found | undefined;
}

function inPlace(found: Found | undefined): boolean {
  for (let step = found; step !== undefined; step = step.above) {
    if (step.parent.children.get(step.key)?.node !== step.node) return false;
  }
  return true;
}

class MemoryDir implements Dir, Held {
  slot = -1;
  readonly identity: Identity;
  readonly #tree: MemoryTree;
  readonly #node: Node;
  readonly #found: Found | undefined;
  #open = true;

  constructor(tree: MemoryTree, node: Node, device: bigint, found: Found | undefined) {
    this.identity = { device, inode: BigInt(node.inode) };
    this.#tree = tree;
    this.#node = node;
    this.#found = found;
    tree.held.add(this);
  }

  look(name: string): Look | Failure {
    const child = this.#child(name);
    if (failed(child)) return child;
    const { node } = child;
    return (
      node.marks.fails?.look ?? {
        kind: node.kind,
        identity: this.#identityOf(node),
        sizeBytes: sizeOf(node),
        modifiedNs: BigInt(node.changed),
        changedNs: BigInt(node.changed),
      }
    );
  }

  directory(name: string): Dir | Failure {
    const child = this.#child(name);
    if (failed(child)) return child;
    const { key, node } = child;
    if (node.kind !== 'directory') return node.kind === 'link' ? 'is-link' : 'not-directory';
    const fault = node.marks.fails?.open ?? (node.marks.otherMount ? 'other-mount' : undefined);
    if (fault !== undefined) return fault;
    const found: Found = { parent: this.#node, key, node, above: this.#found };
    return inPlace(found) ? new MemoryDir(this.#tree, node, this.identity.device, found) : 'moved';
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    const child = this.#child(name);
    if (failed(child)) return child;
    const { node } = child;
    const fault = FILE_FAULTS[node.kind] ?? node.marks.fails?.open ?? this.#faultOf(node);
    if (fault !== undefined) return fault;
    if (options?.placed && !inPlace(this.#found)) return 'moved';
    return new MemoryFile(this.#tree.held, node, this.#identityOf(node));
  }

  linkText(name: string): LinkText | Failure {
    const child = this.#child(name);
    if (failed(child)) return child;
    const { kind, bytes, marks } = child.node;
    if (kind !== 'link') return 'moved';
    if (marks.fails?.open !== undefined) return marks.fails.open;
    const text = strictText(bytes);
    return text === undefined ? 'bad-name' : { text };
  }

  stands(name: string): boolean | Failure {
    const refusal = this.#refusalOf(name);
    return refusal ?? this.#node.children.has(name);
  }

  list(): readonly Entry[] | Failure {
    if (!this.#open) return 'io';
    const { children, marks } = this.#node;
    if (marks.fails?.list !== undefined) return marks.fails.list;
    if (children.size > this.#tree.dirEntriesMax) return 'too-many-entries';
    if (children.size === 0 && !inPlace(this.#found)) return 'moved';
    return [...children.values()].map(({ name, node }) => entryOf(name, node));
  }

  again(): Dir | Failure {
    if (!this.#open) return 'io';
    if (!inPlace(this.#found)) return 'moved';
    return new MemoryDir(this.#tree, this.#node, this.identity.device, this.#found);
  }

  /** The root's does nothing: it is the tree's. Another handle on the root is its holder's. */
  close(): void {
    if (this.#tree.root !== this) this.release();
  }

  release(): void {
    this.#open = false;
    this.#tree.held.remove(this);
  }

  #refusalOf(name: string): Failure | undefined {
    if (!this.#open) return 'io';
    return isSegment(name) ? undefined : 'bad-name';
  }

  #child(name: string): { readonly key: string; readonly node: Node } | Failure {
    const refusal = this.#refusalOf(name);
    if (refusal !== undefined) return refusal;
    const exact = this.#node.children.get(name);
    if (exact !== undefined) return { key: name, node: exact.node };
    return (this.#tree.city.foldsNames ? this.#alias(folded(name)) : undefined) ?? 'no-entry';
  }

  #alias(asked: string): { readonly key: string; readonly node: Node } | undefined {
    for (const [key, { name, node }] of this.#node.children) {
      if (typeof name === 'string' && folded(name) === asked) return { key, node };
    }
    return undefined;
  }

  #identityOf(node: Node): Identity {
    return { device: this.identity.device + (node.marks.otherMount ? 1n : 0n), inode: BigInt(node.inode) };
  }

  #faultOf({ marks }: Node): Failure | undefined {
    if (marks.otherMount) return 'other-mount';
    const links = { names: marks.names ?? 1, owner: marks.otherOwner ? 1 : 0 };
    return refusesHardLink(this.#tree.city.hardLinks, links, 0) ? 'hard-link' : undefined;
  }
}

const sizeOf = (node: Node): number => node.marks.reportedSizeBytes ?? node.bytes.length;

function entryOf(name: MemoryName, node: Node): Entry {
  const kind = node.marks.listedAsUnknown ? 'unknown' : node.kind;
  if (typeof name === 'string') return { name, kind, nameable: true };
  const text = strictText(name);
  return text === undefined ? { name: shownText(name), kind, nameable: false } : { name: text, kind, nameable: true };
}

class MemoryFile implements OpenFile, Held {
  slot = -1;
  readonly sizeBytes: number;
  readonly #held: OpenSet<Held>;
  readonly #identity: Identity;
  #node: Node | undefined;

  constructor(held: OpenSet<Held>, node: Node, identity: Identity) {
    this.sizeBytes = sizeOf(node);
    this.#held = held;
    this.#node = node;
    this.#identity = identity;
    held.add(this);
  }

  identity(): Identity {
    return this.#identity;
  }

  read(into: Uint8Array, offsetBytes: number): number | Failure {
    if (this.#node === undefined || !Number.isSafeInteger(offsetBytes) || offsetBytes < 0) return 'io';
    const { bytes, marks } = this.#node;
    if (marks.fails?.read !== undefined) return marks.fails.read;
    const given = bytes.subarray(offsetBytes, offsetBytes + into.length);
    into.set(given);
    return given.length;
  }

  close(): void {
    this.release();
  }

  release(): void {
    this.#node = undefined;
    this.#held.remove(this);
  }
}
