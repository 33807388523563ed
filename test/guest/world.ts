/**
 * A city of plain objects, and the fixed world over it: the least host that the guest can run in. It can answer as a
 * real host seldom does (any code at any place, reads in small bites) and it counts what the guest does with it:
 * handles left open, reads out of order, listings read twice.
 */

import { readFileSync } from 'node:fs';
import { cutCore } from '../../host/runner/component.js';

const MODULE = new WebAssembly.Module(cutCore(readFileSync('dist/portcullis.wasm')).slice());

/** The numbers of error-code that tests name. */
export const CODE = {
  access: 0,
  quota: 6,
  'file-too-large': 8,
  'illegal-byte-sequence': 9,
  io: 13,
  'is-directory': 14,
  loop: 15,
  'no-entry': 20,
  'insufficient-space': 23,
  'not-directory': 24,
  'not-recoverable': 26,
  unsupported: 27,
  'not-permitted': 31,
  'cross-device': 36,
} as const;
export type Code = keyof typeof CODE;
const CODES = 37;
const KIND = { unknown: 0, directory: 3, fifo: 4, 'symbolic-link': 5, 'regular-file': 6 } as const;
export type Kind = keyof typeof KIND;

export interface File {
  readonly is: 'file';
  readonly bytes: Uint8Array;
  /** Fails when the read reaches this byte. */
  readonly failsAt?: readonly [at: number, code: Code];
}
export interface Directory {
  readonly is: 'directory';
  readonly names: readonly (readonly [name: string, place: Place])[];
  readonly listFails?: Code;
  /** The listing fails after this many names. */
  readonly failsAfter?: readonly [names: number, code: Code];
}
/** What is met at a name: what the listing says, and what an open gives. */
export interface Place {
  readonly kind: Kind;
  /** Opened as a file, links followed. */
  readonly file: File | Code;
  /** Opened as a directory, links not followed. */
  readonly directory: Directory | Code;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const aFile = (content: string | Uint8Array, kind: Kind = 'regular-file'): Place => ({
  kind,
  file: { is: 'file', bytes: typeof content === 'string' ? bytesOf(content) : content },
  directory: 'not-directory',
});
export const aDirectory = (names: Record<string, Place> | Directory['names'], kind: Kind = 'directory'): Place => ({
  kind,
  file: 'is-directory',
  directory: { is: 'directory', names: Array.isArray(names) ? names : Object.entries(names) },
});
/** A place that neither open gives. */
export const refused = (code: Code, kind: Kind = 'regular-file'): Place => ({ kind, file: code, directory: code });

export interface Query {
  readonly text: string;
  readonly only?: string;
  readonly context: number;
  readonly matchCap: number;
  readonly lineCap: number;
  readonly textCap: number;
  readonly fileCap: number;
  readonly unreadShown: number;
  readonly pageEntries: number;
  readonly pageBytes: number;
}
export const QUERY: Query = {
  text: 'needle',
  context: 0,
  matchCap: 64,
  lineCap: 512,
  textCap: 65_536,
  fileCap: 1_048_576,
  unreadShown: 16,
  pageEntries: 1_024,
  pageBytes: 64 << 20,
};
export interface Interval {
  readonly offset: bigint;
  readonly byte: bigint;
  readonly limit: number;
  readonly textCap: number;
  readonly lineCap: number;
  readonly whole: boolean;
  readonly pageBytes: number;
}
export const INTERVAL: Interval = {
  offset: 0n,
  byte: 0n,
  limit: 512,
  textCap: 65_536,
  lineCap: 1 << 20,
  whole: true,
  pageBytes: 64 << 20,
};

export type Ending = 'paused' | 'complete' | 'matches' | 'text' | 'budget';
const ENDINGS: readonly Ending[] = ['paused', 'complete', 'matches', 'text', 'budget'];
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}
export interface Unread {
  readonly path: string;
  readonly cause: number;
}
export interface Coverage {
  readonly looked: number;
  readonly directories: number;
  readonly links: number;
  readonly reserved: number;
  readonly notText: number;
  readonly causes: readonly number[];
}
export interface Answer {
  readonly hits: readonly Hit[];
  readonly unread: readonly Unread[];
  readonly coverage: Coverage;
  readonly ending: Ending;
}
export type Reading =
  | { readonly is: 'going'; readonly bytes: bigint }
  | {
      readonly is: 'done';
      readonly text: Uint8Array;
      readonly lines: number;
      readonly totalLines: bigint;
      readonly more: boolean;
      readonly cut?: { readonly nextByte: bigint; readonly cutBytes: bigint };
    }
  | { readonly is: 'not-text'; readonly looks: 'utf16' | 'gb' | 'binary' | 'unknown' }
  | { readonly is: 'past-line' }
  | { readonly is: 'inside-character' }
  | { readonly is: 'failed'; readonly code: number };

export interface Manners {
  /** Bytes of one read at most. */
  readonly bite?: number;
  /** Says "at the end" only by a read of nothing. */
  readonly lateEnd?: boolean;
  /** Takes the whole room it asked for and shrinks it afterwards, as a host does that reads in place. */
  readonly roomy?: boolean;
}

interface Exports {
  memory: WebAssembly.Memory;
  cabi_realloc(old: number, oldSize: number, align: number, size: number): number;
  search(...flat: (number | bigint)[]): number;
  more(): number;
  read(...flat: (number | bigint)[]): number;
  next(): number;
}
type Held = File | Directory | { readonly is: 'stream'; readonly of: Directory; at: number };

const places = new WeakMap<Directory, ReadonlyMap<string, Place>>();
function placesOf(directory: Directory): ReadonlyMap<string, Place> {
  let known = places.get(directory);
  if (known === undefined) {
    known = new Map(directory.names);
    places.set(directory, known);
  }
  return known;
}

/** One instance of the guest over one city. */
export class World {
  readonly #guest: Exports;
  readonly #held = new Map<number, Held>();
  #lastHandle = 7;
  readonly #root: Directory;
  readonly #prefix: string;
  readonly #manners: Manners;
  /** Where each read began, and how much it gave. */
  readonly reads: [offset: number, size: number][] = [];
  opens = 0;

  constructor(root: Directory, prefix = '', manners: Manners = {}) {
    this.#root = root;
    this.#prefix = prefix;
    this.#manners = manners;
    const imports = {
      'wasi:filesystem/preopens@0.2.12': this.#preopens(),
      'wasi:filesystem/types@0.2.12': this.#types(),
    };
    // The module's exports are the world's, which component.ts checked.
    this.#guest = new WebAssembly.Instance(MODULE, imports).exports as unknown as Exports;
  }

  /** Handles the guest has not given back. */
  get held(): number {
    return this.#held.size;
  }

  /** Bytes of the guest's memory. */
  get memoryBytes(): number {
    return this.#guest.memory.buffer.byteLength;
  }

  search(query: Query): Answer {
    const [text, textSize] = this.#lower(query.text);
    const [only, onlySize] = query.only === undefined ? [0, 0] : this.#lower(query.only);
    const { context, matchCap, lineCap, textCap, fileCap, unreadShown, pageEntries, pageBytes } = query;
    const flat = [context, matchCap, lineCap, textCap, fileCap, unreadShown, pageEntries, pageBytes];
    return this.#page(this.#guest.search(text, textSize, query.only === undefined ? 0 : 1, only, onlySize, ...flat));
  }

  more(): Answer {
    return this.#page(this.#guest.more());
  }

  /** All pages as one. */
  searchAll(query: Query): Answer & { readonly pages: number } {
    let page = this.search(query);
    const hits = [...page.hits];
    const unread = [...page.unread];
    let pages = 1;
    for (; page.ending === 'paused'; pages++) {
      page = this.more();
      hits.push(...page.hits);
      unread.push(...page.unread);
    }
    return { hits, unread, coverage: page.coverage, ending: page.ending, pages };
  }

  read(name: string, ask: Interval): Reading {
    const [at, size] = this.#lower(name);
    const { offset, byte, limit, textCap, lineCap, whole, pageBytes } = ask;
    return this.#reading(this.#guest.read(at, size, offset, byte, limit, textCap, lineCap, whole ? 1 : 0, pageBytes));
  }

  next(): Reading {
    return this.#reading(this.#guest.next());
  }

  readAll(name: string, ask: Interval): Reading {
    let reading = this.read(name, ask);
    while (reading.is === 'going') reading = this.next();
    return reading;
  }

  // ---- lifting ----

  get #view(): DataView {
    return new DataView(this.#guest.memory.buffer);
  }

  #lower(text: string): [number, number] {
    const bytes = bytesOf(text);
    const at = this.#guest.cabi_realloc(0, 0, 1, bytes.length);
    new Uint8Array(this.#guest.memory.buffer).set(bytes, at);
    return [at, bytes.length];
  }

  #bytes(at: number): Uint8Array {
    const [from, size] = [this.#view.getUint32(at, true), this.#view.getUint32(at + 4, true)];
    return new Uint8Array(this.#guest.memory.buffer, from, size).slice();
  }

  #string(at: number): string {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.#bytes(at));
  }

  #list<T>(at: number, size: number, lift: (at: number) => T): T[] {
    const [from, count] = [this.#view.getUint32(at, true), this.#view.getUint32(at + 4, true)];
    return Array.from({ length: count }, (_, index) => lift(from + index * size));
  }

  #page(at: number): Answer {
    const u32 = (from: number) => this.#view.getUint32(from, true);
    const causes = this.#list(at + 36, 4, u32);
    if (causes.length !== CODES) throw new Error(`${causes.length} causes`);
    const ending = ENDINGS[this.#view.getUint8(at + 44)];
    if (ending === undefined) throw new Error('no such ending');
    return {
      hits: this.#list(at, 20, (hit) => ({
        path: this.#string(hit),
        line: u32(hit + 8),
        text: this.#string(hit + 12),
      })),
      unread: this.#list(at + 8, 12, (one) => ({ path: this.#string(one), cause: this.#view.getUint8(one + 8) })),
      coverage: {
        looked: u32(at + 16),
        directories: u32(at + 20),
        links: u32(at + 24),
        reserved: u32(at + 28),
        notText: u32(at + 32),
        causes,
      },
      ending,
    };
  }

  #reading(at: number): Reading {
    const view = this.#view;
    switch (view.getUint8(at)) {
      case 0:
        return { is: 'going', bytes: view.getBigUint64(at + 8, true) };
      case 1:
        return {
          is: 'done',
          text: this.#bytes(at + 8),
          lines: view.getUint32(at + 16, true),
          totalLines: view.getBigUint64(at + 24, true),
          more: view.getUint8(at + 32) === 1,
          ...(view.getUint8(at + 40) === 1 && {
            cut: { nextByte: view.getBigUint64(at + 48, true), cutBytes: view.getBigUint64(at + 56, true) },
          }),
        };
      case 2:
        return {
          is: 'not-text',
          looks: (['utf16', 'gb', 'binary', 'unknown'] as const)[view.getUint8(at + 8)] ?? 'unknown',
        };
      case 3:
        return { is: 'past-line' };
      case 4:
        return { is: 'inside-character' };
      case 5:
        return { is: 'failed', code: view.getUint8(at + 8) };
      default:
        throw new Error('no such reading');
    }
  }

  // ---- the world ----

  #hold(held: Held): number {
    this.#lastHandle++;
    this.#held.set(this.#lastHandle, held);
    return this.#lastHandle;
  }

  #get<K extends Held['is']>(handle: number, is: K): Extract<Held, { is: K }> {
    const held = this.#held.get(handle);
    if (held?.is !== is) throw new Error(`handle ${handle} is no ${is}`);
    return held as Extract<Held, { is: K }>; // checked by the line above
  }

  #drop(handle: number): void {
    if (!this.#held.delete(handle)) throw new Error(`handle ${handle} dropped twice`);
  }

  #fail(ret: number, code: Code): void {
    this.#view.setUint8(ret, 1);
    this.#view.setUint8(ret + 4, CODE[code]);
  }

  #give(ret: number, value: number): void {
    this.#view.setUint8(ret, 0);
    this.#view.setUint32(ret + 4, value, true);
  }

  #preopens(): Record<string, (ret: number) => void> {
    return {
      'get-directories': (ret) => {
        const list = this.#guest.cabi_realloc(0, 0, 4, 12);
        const [name, size] = this.#lower(this.#prefix);
        this.#view.setUint32(list, this.#hold(this.#root), true);
        this.#view.setUint32(list + 4, name, true);
        this.#view.setUint32(list + 8, size, true);
        this.#view.setUint32(ret, list, true);
        this.#view.setUint32(ret + 4, 1, true);
      },
    };
  }

  #types(): WebAssembly.ModuleImports {
    return {
      '[method]descriptor.open-at': (
        handle: number,
        follow: number,
        at: number,
        size: number,
        how: number,
        flags: number,
        ret: number,
      ) => {
        this.opens++;
        if (flags !== 1) throw new Error('opened for more than reading');
        const name = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
          new Uint8Array(this.#guest.memory.buffer, at, size),
        );
        if (name.startsWith('\0') || name === '.' || name === '..' || name.includes('/'))
          throw new Error('never opened');
        const place = placesOf(this.#get(handle, 'directory')).get(name);
        if (how === 2 && follow === 1) throw new Error('a directory is never opened through a link');
        const opened = place === undefined ? 'no-entry' : how === 2 ? place.directory : place.file;
        if (typeof opened === 'string') this.#fail(ret, opened);
        else this.#give(ret, this.#hold(opened));
      },
      '[method]descriptor.read': (handle: number, length: bigint, offset: bigint, ret: number) => {
        const { bytes, failsAt } = this.#get(handle, 'file');
        const from = Number(offset);
        const most = Math.min(Number(length), this.#manners.bite ?? 8 << 20);
        if (failsAt !== undefined && from + most > failsAt[0]) return this.#fail(ret, failsAt[1]);
        const given = bytes.subarray(from, from + most);
        this.reads.push([from, given.length]);
        const at = this.#guest.cabi_realloc(0, 0, 1, this.#manners.roomy ? most : given.length);
        new Uint8Array(this.#guest.memory.buffer).set(given, at);
        if (this.#manners.roomy) this.#guest.cabi_realloc(at, most, 1, given.length);
        this.#give(ret, at);
        this.#view.setUint32(ret + 8, given.length, true);
        const isEnd = from + given.length >= bytes.length && (given.length === 0 || !this.#manners.lateEnd);
        this.#view.setUint8(ret + 12, isEnd ? 1 : 0);
      },
      '[method]descriptor.read-directory': (handle: number, ret: number) => {
        const of = this.#get(handle, 'directory');
        if (of.listFails !== undefined) this.#fail(ret, of.listFails);
        else this.#give(ret, this.#hold({ is: 'stream', of, at: 0 }));
      },
      '[method]directory-entry-stream.read-directory-entry': (handle: number, ret: number) => {
        const stream = this.#get(handle, 'stream');
        const { names, failsAfter } = stream.of;
        if (failsAfter !== undefined && stream.at === failsAfter[0]) return this.#fail(ret, failsAfter[1]);
        const next = names[stream.at++];
        if (next === undefined) return this.#give(ret, 0);
        const most = next[0].length * 3;
        const at = this.#guest.cabi_realloc(0, 0, 1, most);
        const { written } = new TextEncoder().encodeInto(next[0], new Uint8Array(this.#guest.memory.buffer, at, most));
        this.#guest.cabi_realloc(at, most, 1, written);
        this.#give(ret, 1);
        this.#view.setUint8(ret + 8, KIND[next[1].kind]);
        this.#view.setUint32(ret + 12, at, true);
        this.#view.setUint32(ret + 16, written, true);
      },
      '[resource-drop]descriptor': (handle: number) => this.#drop(handle),
      '[resource-drop]directory-entry-stream': (handle: number) => this.#drop(handle),
    };
  }
}
