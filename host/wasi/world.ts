/**
 * The fixed world: the guest's core module with import functions and lifts written by hand for exactly the world of
 * wit/world.wit. No generated code stands inside the boundary.
 *
 * The guest is hostile. Every handle is looked up in this instance's own table, every pointer is checked before a
 * view is made, views are made anew after every call into the guest, and nothing it says sizes an allocation here.
 * What breaks the contract is a `GuestFault`: the instance is discarded by whoever made it. What an operation
 * refuses is an error code for the guest.
 *
 * Layouts are the canonical ABI's; offsets are bytes.
 */

import { MARKER_MAX_BYTES, PATH_MAX_BYTES } from '../limits.js';
import type { Kind } from '../tree/tree.js';
import { codeNumber, ERROR_CODES, type ErrorCode } from './codes.js';
import type { Filesystem } from './filesystem.js';
import {
  ENDINGS,
  GIT_FAULTS,
  type GitFault,
  type Guest,
  type GuestCoverage,
  GuestFault,
  HISTORY_ENDINGS,
  type History,
  type HistoryEntry,
  type HistoryQuery,
  type Interval,
  LOOKS,
  type Page,
  type Query,
  type Reading,
  type Slice,
  TRAIL_ENDINGS,
  type Trail,
  type TrailPage,
  type TrailQuery,
} from './guest.js';
import { type Handle, isCode } from './handles.js';

const TYPES = 'wasi:filesystem/types@0.2.12';
const PREOPENS = 'wasi:filesystem/preopens@0.2.12';

/** Exactly what the core module may import, sorted. The capability claim, in one place. */
export const WORLD_IMPORTS: readonly string[] = [
  `${PREOPENS} get-directories`,
  `${TYPES} [method]descriptor.open-at`,
  `${TYPES} [method]descriptor.read`,
  `${TYPES} [method]descriptor.read-directory`,
  `${TYPES} [method]directory-entry-stream.read-directory-entry`,
  `${TYPES} [resource-drop]descriptor`,
  `${TYPES} [resource-drop]directory-entry-stream`,
];

/** descriptor-type, by kind. What is neither file nor directory nor link is `unknown`: it never opens. */
const TYPE_NUMBERS: Readonly<Record<Kind | 'unknown', number>> = {
  unknown: 0,
  other: 0,
  directory: 3,
  link: 5,
  file: 6,
};

const FOLLOW = 1;
const DIRECTORY = 2;
/** open-flags: create 1, exclusive 4, truncate 8. */
const CHANGING_OPEN_FLAGS = 1 | 4 | 8;
/** descriptor-flags: write 2, three sync flags 4 8 16, mutate-directory 32. */
const CHANGING_FLAGS = 2 | 4 | 8 | 16 | 32;

interface Exports {
  readonly memory: WebAssembly.Memory;
  cabi_realloc(ptr: number, oldSize: number, align: number, newSize: number): number;
  search(...flat: number[]): number;
  more(): number;
  read(...flat: (number | bigint)[]): number;
  next(): number;
  history(...flat: number[]): number;
  older(): number;
  trail(...flat: (number | bigint)[]): number;
  further(): number;
}

/** Makes one guest over one call's file system. Cost: about 0.03 ms. */
export function instantiate(module: WebAssembly.Module, filesystem: Filesystem): Guest {
  const world = new World(filesystem);
  const instance = new WebAssembly.Instance(module, world.imports());
  // The module's import and export lists were compared with the world when it was admitted (runner/component.ts).
  world.attach(instance.exports as unknown as Exports);
  return world;
}

/** Of all instances: neither keeps anything between two uses. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

class World implements Guest {
  readonly #filesystem: Filesystem;
  readonly #table = new HandleTable();
  /** Names on their way round: a walk opens by the bytes it was sent. A hint only; what it says is compared. */
  readonly #sent: (string | undefined)[] = new Array<string | undefined>(SENT_SLOTS).fill(undefined);
  #exports: Exports | undefined;
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  /**
   * Who may call whom: the host enters the guest, the guest calls imports; from realloc nothing comes back in. Whatever
   * an import or realloc throws leaves it where it was, so a guest that catches it (WebAssembly can) is never served again.
   */
  #state: 'outside' | 'in-guest' | 'in-host' | 'in-realloc' | 'broken' = 'outside';

  constructor(filesystem: Filesystem) {
    this.#filesystem = filesystem;
  }

  attach(exports: Exports): void {
    this.#exports = exports;
  }

  memoryBytes(): number {
    return this.#guest().memory.buffer.byteLength;
  }

  // ---- exports ----

  search(query: Query): Page {
    const text = this.#lowerString(query.text);
    const only = query.only === undefined ? ([0, 0, 0] as const) : ([1, ...this.#lowerString(query.only)] as const);
    const { context, matchCap, lineCap, textCap, fileCap, unreadShown, pageEntries, pageBytes } = query;
    const caps = [context, matchCap, lineCap, textCap, fileCap, unreadShown, pageEntries, pageBytes];
    this.#caps = query;
    return this.#liftPage(this.#enter((guest) => guest.search(...text, ...only, ...caps)));
  }

  more(): Page {
    return this.#liftPage(this.#enter((guest) => guest.more()));
  }

  read(interval: Interval): Reading {
    const name = this.#lowerString(interval.name);
    const { offset, byte, limit, textCap, lineCap, whole, pageBytes } = interval;
    this.#textMax = Math.max(textCap, lineCap);
    return this.#liftReading(
      this.#enter((guest) => guest.read(...name, offset, byte, limit, textCap, lineCap, whole ? 1 : 0, pageBytes)),
    );
  }

  next(): Reading {
    return this.#liftReading(this.#enter((guest) => guest.next()));
  }

  history(query: HistoryQuery): History {
    const pattern = this.#lowerBytes(query.pattern);
    const branches = this.#lowerStrings(query.branches);
    const directories = this.#lowerStrings(query.directories);
    const { oidBytes, pageWork, pageBytes } = query;
    this.#git = { oidBytes, entriesMax: pageWork, treesMax: 0 };
    return this.#liftHistory(
      this.#enter((guest) => guest.history(...pattern, ...branches, ...directories, oidBytes, pageWork, pageBytes)),
    );
  }

  older(): History {
    return this.#liftHistory(this.#enter((guest) => guest.older()));
  }

  trail(query: TrailQuery): Trail {
    const commit = this.#lowerString(query.commit);
    const path = this.#lowerBytes(query.path);
    const branches = this.#lowerStrings(query.branches);
    const { oidBytes, blobMax, pageWork, pageBytes } = query;
    this.#git = { oidBytes, entriesMax: 0, treesMax: 1 + query.path.filter((byte) => byte === SLASH).length };
    const flat = [...commit, ...path, ...branches, oidBytes, BigInt(blobMax), pageWork, pageBytes];
    return this.#liftTrail(this.#enter((guest) => guest.trail(...flat)));
  }

  further(): Trail {
    return this.#liftTrail(this.#enter((guest) => guest.further()));
  }

  /** What an answer about the repository may hold: bytes of an object's name, entries of a page, trees of a trail. */
  #git = { oidBytes: 0, entriesMax: 0, treesMax: 0 };

  /** The caps of the search under way: what a lifted page may hold. */
  #caps: Query | undefined;
  #textMax = 0;

  #guest(): Exports {
    if (this.#exports === undefined) throw new GuestFault('called before it was attached');
    return this.#exports;
  }

  #enter(call: (guest: Exports) => number): number {
    if (this.#state !== 'outside') throw new GuestFault('re-entered');
    this.#state = 'in-guest';
    const result = call(this.#guest());
    if (this.#state !== 'in-guest') throw new GuestFault('went on after a fault');
    this.#state = 'outside';
    this.#look();
    return result >>> 0;
  }

  // ---- memory ----

  /**
   * Views of the memory as it is now; it may have grown in any call into the guest. Growing, also by nothing, detaches
   * the old buffer, and a view of that is empty: so a view that is not empty is of the memory as it is.
   */
  #look(): void {
    if (this.#bytes.length > 0) return;
    const { buffer } = this.#guest().memory;
    this.#bytes = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
  }

  /** The one check before any access: [ptr, ptr + size) lies in memory. Gives ptr as unsigned. */
  #at(ptr: number, sizeBytes: number): number {
    const start = ptr >>> 0;
    if (sizeBytes > this.#bytes.length || start > this.#bytes.length - sizeBytes)
      throw new GuestFault('pointer past memory');
    return start;
  }

  #aligned(ptr: number, sizeBytes: number, align: number): number {
    const start = this.#at(ptr, sizeBytes);
    if (start % align !== 0) throw new GuestFault('pointer not aligned');
    return start;
  }

  #u32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  #allocate(sizeBytes: number, align: number): number {
    return this.#realloc(0, 0, align, sizeBytes);
  }

  #realloc(ptr: number, oldSize: number, align: number, newSize: number): number {
    const before = this.#state;
    this.#state = 'in-realloc';
    const given: unknown = this.#guest().cabi_realloc(ptr, oldSize, align, newSize);
    if (this.#state !== 'in-realloc') throw new GuestFault('went on after a fault');
    this.#state = before;
    this.#look();
    return this.#aligned(Number(given), newSize, align);
  }

  #lowerString(text: string): [ptr: number, sizeBytes: number] {
    return [this.#lower(text), this.#lowered];
  }

  /** Bytes of the string that was lowered last. */
  #lowered = 0;

  /** Where the string is now. Its size is apart: no pair is made for each name of a walk. */
  #lower(text: string): number {
    if (isShortAscii(text)) return this.#lowerAscii(text);
    const bytes = encoder.encode(text);
    const ptr = this.#allocate(bytes.length, 1);
    this.#bytes.set(bytes, ptr);
    this.#lowered = bytes.length;
    return ptr;
  }

  #lowerBytes(bytes: Uint8Array): [ptr: number, sizeBytes: number] {
    const ptr = this.#allocate(bytes.length, 1);
    this.#bytes.set(bytes, ptr);
    return [ptr, bytes.length];
  }

  #lowerStrings(texts: readonly string[]): [ptr: number, count: number] {
    const each = texts.flatMap((text) => this.#lowerString(text));
    const ptr = this.#allocate(8 * texts.length, 4);
    this.#write(ptr, 8 * texts.length, each);
    return [ptr, texts.length];
  }

  /** The same for nearly every name: without an array for each, and what is sent is kept for when it comes back. */
  #lowerAscii(text: string): number {
    const ptr = this.#allocate(text.length, 1);
    const bytes = this.#bytes;
    for (let i = 0; i < text.length; i++) bytes[ptr + i] = text.charCodeAt(i);
    this.#sent[slotOf(ptr)] = text;
    this.#lowered = text.length;
    return ptr;
  }

  /** What was last sent near this place, if the guest's bytes are still exactly that: it is ASCII, so they spell it. */
  #sentTo(start: number, sizeBytes: number): string | undefined {
    const text = this.#sent[slotOf(start)];
    if (text === undefined || text.length !== sizeBytes) return undefined;
    const bytes = this.#bytes;
    for (let i = 0; i < sizeBytes; i++) if (bytes[start + i] !== text.charCodeAt(i)) return undefined;
    return text;
  }

  /** A string the guest points to: at most `capBytes`, and well-formed. */
  #liftString(ptr: number, sizeBytes: number, capBytes: number): string {
    const size = sizeBytes >>> 0;
    if (size > capBytes) throw new GuestFault('string longer than its cap');
    const start = this.#at(ptr, size);
    const sent = this.#sentTo(start, size);
    if (sent !== undefined) return sent;
    try {
      return decoder.decode(this.#bytes.subarray(start, start + size));
    } catch {
      throw new GuestFault('string is not UTF-8');
    }
  }

  #liftStringAt(at: number, capBytes: number): string {
    return this.#liftString(this.#u32(at), this.#u32(at + 4), capBytes);
  }

  /**
   * The same for a string that many elements in a row point to, as the hits of one file do to its path: lifted once while
   * the place and the size stay the same. For one list: nothing may run in the guest meanwhile.
   */
  #liftSame(capBytes: number): (at: number) => string {
    let [ptr, size, text] = [0, -1, ''];
    return (at) => {
      const [nextPtr, nextSize] = [this.#u32(at), this.#u32(at + 4)];
      if (nextPtr !== ptr || nextSize !== size) {
        text = this.#liftString(nextPtr, nextSize, capBytes);
        [ptr, size] = [nextPtr, nextSize];
      }
      return text;
    };
  }

  /** Each element of a list that may hold at most `capCount`, by its address. */
  #liftList<T>(at: number, elementBytes: number, capCount: number, lift: (at: number) => T): T[] {
    const count = this.#u32(at + 4);
    if (count > capCount) throw new GuestFault('list longer than its cap');
    const start = this.#aligned(this.#u32(at), count * elementBytes, 4);
    const lifted: T[] = [];
    for (let index = 0; index < count; index++) lifted.push(lift(start + index * elementBytes));
    return lifted;
  }

  #case<T>(at: number, cases: readonly T[]): T {
    const found = cases[this.#bytes[at] ?? -1];
    if (found === undefined) throw new GuestFault('no such case');
    return found;
  }

  #count64(at: number): number {
    const count = this.#view.getBigUint64(at, true);
    if (count > BigInt(Number.MAX_SAFE_INTEGER)) throw new GuestFault('count past 2^53');
    return Number(count);
  }

  #flag(at: number): boolean {
    return this.#case(at, [false, true]);
  }

  /** A copy of bytes the guest points to. They come off what one answer may hold. */
  #liftBytes(at: number): Uint8Array {
    const size = this.#u32(at + 4);
    this.#room -= size;
    if (this.#room < 0) throw new GuestFault('more bytes than its memory holds');
    const start = this.#at(this.#u32(at), size);
    return this.#bytes.slice(start, start + size);
  }

  /** Bytes that the answer being lifted may still hold: no honest one shows a byte of its memory twice. */
  #room = 0;

  /** The name of an object: hex of exactly its size. */
  #liftOid(at: number): string {
    const text = this.#liftStringAt(at, 2 * this.#git.oidBytes);
    if (text.length !== 2 * this.#git.oidBytes || !HEX.test(text)) throw new GuestFault('no name of an object');
    return text;
  }

  // ---- lifting what the exports give ----

  /** page: hits@0 unread@8 coverage@16 (looked, directories, links, reserved, not-text, causes@36) ending@44; 48 bytes. */
  #liftPage(ptr: number): Page {
    const caps = this.#caps;
    if (caps === undefined) throw new GuestFault('page without a search');
    const at = this.#aligned(ptr, 48, 4);
    const textCap = caps.textCap + MARKER_MAX_BYTES;
    const pathAt = this.#liftSame(PATH_MAX_BYTES);
    const hits = this.#liftList(at, 20, caps.matchCap, (hit) => ({
      path: pathAt(hit),
      line: this.#u32(hit + 8),
      text: this.#liftStringAt(hit + 12, textCap),
    }));
    const unread = this.#liftList(at + 8, 12, caps.unreadShown, (entry) => ({
      path: this.#liftStringAt(entry, PATH_MAX_BYTES),
      cause: this.#case(entry + 8, ERROR_CODES),
    }));
    const coverage: GuestCoverage = {
      looked: this.#u32(at + 16),
      directories: this.#u32(at + 20),
      links: this.#u32(at + 24),
      reserved: this.#u32(at + 28),
      notText: this.#u32(at + 32),
      causes: this.#liftCauses(at + 36),
    };
    return { hits, unread, coverage, ending: this.#case(at + 44, ENDINGS) };
  }

  /** result<history-page, git-fault>: case@0; entries@4 commits@12 ending@16, or fault@4; 20 bytes. */
  #liftHistory(ptr: number): History {
    const at = this.#aligned(ptr, 20, 4);
    if (this.#isError(at)) return { ok: false, fault: this.#liftFault(at + 4) };
    this.#room = this.#bytes.length;
    const entries = this.#liftList(at + 4, 24, this.#git.entriesMax, (entry) => this.#liftEntry(entry));
    return {
      ok: true,
      page: { entries, commits: this.#u32(at + 12), ending: this.#case(at + 16, HISTORY_ENDINGS) },
    };
  }

  /** entry: commit@0 path@8 blob@16; 24 bytes. */
  #liftEntry(at: number): HistoryEntry {
    return { commit: this.#liftOid(at), path: this.#liftBytes(at + 8), blob: this.#liftOid(at + 16) };
  }

  /** result<trail-page, git-fault>: case@0; commit@8 trees@16 blob-size@24 piece@32 ending@40, or fault@8; 48 bytes. */
  #liftTrail(ptr: number): Trail {
    const at = this.#aligned(ptr, 48, 8);
    if (this.#isError(at)) return { ok: false, fault: this.#liftFault(at + 8) };
    this.#room = this.#bytes.length;
    const page: TrailPage = {
      commit: this.#liftBytes(at + 8),
      trees: this.#liftList(at + 16, 8, this.#git.treesMax, (tree) => this.#liftBytes(tree)),
      blobSize: this.#count64(at + 24),
      piece: this.#liftBytes(at + 32),
      ending: this.#case(at + 40, TRAIL_ENDINGS),
    };
    return { ok: true, page };
  }

  #isError(at: number): boolean {
    return this.#case(at, [false, true]);
  }

  #liftFault(at: number): GitFault {
    return this.#case(at, GIT_FAULTS);
  }

  /** One number for each case of error-code, in its order. */
  #liftCauses(at: number): number[] {
    const causes = this.#liftList(at, 4, ERROR_CODES.length, (cause) => this.#u32(cause));
    if (causes.length !== ERROR_CODES.length) throw new GuestFault('not a number for each cause');
    return causes;
  }

  /** reading: case@0, payload@8; slice: text@8 lines@16 total-lines@24 more@32 cut@40 (next-byte@48 cut-bytes@56); 64 bytes. */
  #liftReading(ptr: number): Reading {
    const at = this.#aligned(ptr, 64, 8);
    const kind = this.#case(at, ['going', 'done', 'not-text', 'past-line', 'inside-character', 'failed'] as const);
    switch (kind) {
      case 'going':
        return { kind, bytes: this.#count64(at + 8) };
      case 'done':
        return { kind, slice: this.#liftSlice(at + 8) };
      case 'not-text':
        return { kind, looks: this.#case(at + 8, LOOKS) };
      case 'failed':
        return { kind, code: this.#case(at + 8, ERROR_CODES) };
      case 'past-line':
      case 'inside-character':
        return { kind };
    }
  }

  #liftSlice(at: number): Slice {
    const cut = this.#flag(at + 32)
      ? { nextByte: this.#count64(at + 40), cutBytes: this.#count64(at + 48) }
      : undefined;
    return {
      text: this.#liftStringAt(at, this.#textMax),
      lines: this.#u32(at + 8),
      totalLines: this.#count64(at + 16),
      more: this.#flag(at + 24),
      cut,
    };
  }

  // ---- imports ----

  imports(): WebAssembly.Imports {
    return {
      [PREOPENS]: {
        'get-directories': (ret: number) => {
          this.#enterHost();
          this.#getDirectories(ret);
          this.#leaveHost();
        },
      },
      [TYPES]: {
        '[method]descriptor.open-at': (
          handle: number,
          pathFlags: number,
          ptr: number,
          size: number,
          openFlags: number,
          flags: number,
          ret: number,
        ) => {
          this.#enterHost();
          this.#openAt(handle, pathFlags, ptr, size, openFlags, flags, ret);
          this.#leaveHost();
        },
        '[method]descriptor.read': (handle: number, length: bigint, offset: bigint, ret: number) => {
          this.#enterHost();
          this.#read(handle, length, offset, ret);
          this.#leaveHost();
        },
        '[method]descriptor.read-directory': (handle: number, ret: number) => {
          this.#enterHost();
          this.#readDirectory(handle, ret);
          this.#leaveHost();
        },
        '[method]directory-entry-stream.read-directory-entry': (handle: number, ret: number) => {
          this.#enterHost();
          this.#readEntry(handle, ret);
          this.#leaveHost();
        },
        '[resource-drop]descriptor': (handle: number) => {
          this.#enterHost();
          this.#drop(handle, 'descriptor');
          this.#leaveHost();
        },
        '[resource-drop]directory-entry-stream': (handle: number) => {
          this.#enterHost();
          this.#drop(handle, 'stream');
          this.#leaveHost();
        },
      },
    };
  }

  /**
   * The first act of every import, which is callable only from the guest proper: not from its start function, not from
   * inside realloc. (Written out in each: a wrapper with rest arguments costs more than what it wraps.)
   */
  #enterHost(): void {
    if (this.#state !== 'in-guest') {
      this.#state = 'broken';
      throw new GuestFault('re-entered');
    }
    this.#state = 'in-host';
    this.#look();
  }

  /** The last act of every import: not reached when one throws. */
  #leaveHost(): void {
    this.#state = 'in-guest';
  }

  /** list<tuple<descriptor, string>>: one tuple of handle@0 ptr@4 size@8, or none if the preopen did not open. */
  #getDirectories(ret: number): void {
    this.#aligned(ret, 8, 4);
    const opened = this.#filesystem.preopened();
    if (isCode(opened)) return this.#pair(ret, 0, 0);
    const name = this.#lowerString(opened.name);
    const list = this.#allocate(12, 4);
    this.#write(list, 12, [this.#table.add(opened.handle), ...name]);
    this.#pair(ret, list, 1);
  }

  /** result<descriptor, error-code>: case@0, handle or code@4. */
  #openAt(
    handle: number,
    pathFlags: number,
    ptr: number,
    size: number,
    openFlags: number,
    flags: number,
    ret: number,
  ): void {
    const at = this.#aligned(ret, 8, 4);
    const from = this.#table.get(handle, 'descriptor');
    if (size >>> 0 > PATH_MAX_BYTES) return this.#error(at, 'name-too-long');
    const path = this.#liftString(ptr, size, PATH_MAX_BYTES);
    const opened = this.#filesystem.openAt(from, {
      follow: (pathFlags & FOLLOW) !== 0,
      path,
      directory: (openFlags & DIRECTORY) !== 0,
      mutates: (openFlags & CHANGING_OPEN_FLAGS) !== 0 || (flags & CHANGING_FLAGS) !== 0,
    });
    if (isCode(opened)) return this.#error(at, opened);
    this.#pair(at, 0, this.#table.add(opened));
  }

  /** result<tuple<list<u8>, bool>, error-code>: case@0, ptr@4 size@8 end@12. The bytes go straight into guest memory. */
  #read(handle: number, length: bigint, offset: bigint, ret: number): void {
    this.#aligned(ret, 16, 4);
    const from = this.#table.get(handle, 'descriptor');
    const wanted = clamp(length);
    const start = clamp(offset);
    const size = this.#filesystem.readLength(from, wanted);
    const ptr = this.#allocate(size, 1);
    const got = this.#filesystem.read(from, this.#bytes.subarray(ptr, ptr + size), start);
    if (isCode(got)) return this.#error(this.#aligned(ret, 16, 4), got);
    const kept = got.bytes === size ? ptr : this.#realloc(ptr, size, 1, got.bytes);
    if (kept !== ptr) throw new GuestFault('bytes moved while shrinking');
    const at = this.#aligned(ret, 16, 4);
    this.#pair(at, 0, ptr);
    this.#view.setUint32(at + 8, got.bytes, true);
    this.#bytes[at + 12] = got.end ? 1 : 0;
  }

  #readDirectory(handle: number, ret: number): void {
    const at = this.#aligned(ret, 8, 4);
    const stream = this.#filesystem.readDirectory(this.#table.get(handle, 'descriptor'));
    if (isCode(stream)) return this.#error(at, stream);
    this.#pair(at, 0, this.#table.add(stream));
  }

  /** result<option<directory-entry>, error-code>: case@0, some@4, type@8 ptr@12 size@16. */
  #readEntry(handle: number, ret: number): void {
    this.#aligned(ret, 20, 4);
    const entry = this.#filesystem.readEntry(this.#table.get(handle, 'stream'));
    if (isCode(entry)) return this.#error(ret >>> 0, entry);
    if (entry === undefined) return this.#pair(ret, 0, 0);
    const ptr = this.#lower(entry.nameable ? entry.name : `\0${entry.name}`);
    const at = this.#aligned(ret, 20, 4);
    this.#pair(at, 0, 1);
    this.#pair(at + 8, TYPE_NUMBERS[entry.kind], ptr);
    this.#view.setUint32(at + 16, this.#lowered, true);
  }

  #drop(handle: number, kind: 'descriptor' | 'stream'): void {
    this.#filesystem.drop(this.#table.take(handle, kind));
  }

  #error(at: number, code: ErrorCode): void {
    this.#bytes[at] = 1;
    this.#bytes[at + 4] = codeNumber(code);
  }

  /** Two words; checked anew, since a realloc may have come between. */
  #pair(ptr: number, first: number, second: number): void {
    const at = this.#aligned(ptr, 8, 4);
    this.#view.setUint32(at, first, true);
    this.#view.setUint32(at + 4, second, true);
  }

  /** Words, one after another, checked in the same way. */
  #write(ptr: number, sizeBytes: number, words: readonly number[]): void {
    const at = this.#aligned(ptr, sizeBytes, 4);
    for (let i = 0; i < words.length; i++) this.#view.setUint32(at + 4 * i, words[i] ?? 0, true);
  }
}

/** A u64 of the guest as a number no larger than what can be counted exactly. */
function clamp(value: bigint): number {
  // It comes signed: below zero it is past 2^63.
  return value < 0n ? Number.MAX_SAFE_INTEGER : Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

const SLASH = 0x2f;
const HEX = /^[0-9a-f]*$/;

const SENT_SLOTS = 256;
/** Neighbours in memory lie in slots of their own; a name takes more than 16 bytes with what the guest keeps of it. */
const slotOf = (ptr: number): number => (ptr >>> 4) % SENT_SLOTS;

const SHORT = 64;
function isShortAscii(text: string): boolean {
  if (text.length > SHORT) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** This instance's live handles. A number that is not live, or of the wrong type, is a fault. */
class HandleTable {
  readonly #slots: (Handle | undefined)[] = [undefined];
  readonly #free: number[] = [];

  add(handle: Handle): number {
    const number = this.#free.pop() ?? this.#slots.length;
    this.#slots[number] = handle;
    return number;
  }

  get(number: number, kind: 'descriptor' | 'stream'): Handle {
    const handle = this.#slots[number >>> 0];
    if (handle === undefined || (handle.kind === 'stream') !== (kind === 'stream'))
      throw new GuestFault('no such handle');
    return handle;
  }

  take(number: number, kind: 'descriptor' | 'stream'): Handle {
    const handle = this.get(number, kind);
    this.#slots[number >>> 0] = undefined;
    this.#free.push(number >>> 0);
    return handle;
  }
}
