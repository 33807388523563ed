/**
 * The block store of one city: bytes under their BLAKE3, and where they came from. Stands between the tree, through whose
 * held directories everything is done, and tools/, which judges before it asks here. Written to by the host's own doors
 * alone, never by a guest.
 *
 * A block has its name only once all its bytes are on disk: written under another name, synced, moved, and the directory
 * synced. So a crash at any moment leaves a whole block or none. No link is followed anywhere in the store's own
 * directories: `is-link`.
 * Spec: locators-and-catalog, "Block store".
 */

import type { BlockHash, LocatorRange } from '../judge/locator.js';
import { BLOCK_MAX_BYTES, LEFTOVER_AGE_MS, ORIGINS_MAX_BYTES, PUT_ATTEMPTS_MAX, STORE_CHUNK_BYTES } from '../limits.js';
import { giveBack, hasher } from '../runner/call.js';
import { below } from '../tree/below.js';
import { type Dir, type Failure, failed, type OpenFile, type Tree } from '../tree/tree.js';
import type { Span } from '../tree/window.js';
import { type AddedFile, madeBelow, type WriteDir, type WriteFailure, wroteNot } from '../tree/writing.js';
import { blockRoom, originsRoom, PARTS_ROOM, partName, writerOf } from './layout.js';
import { addition, type Origin, originsIn } from './origins.js';
import { spanOf, type Toll } from './span.js';

/** Why the store did not do what was asked. */
export type StoreFault =
  | WriteFailure
  /** The bytes there do not hash to their name. */
  | 'corrupt'
  /** The range ends behind the block. */
  | 'past-end'
  /** More than BLOCK_MAX_BYTES. */
  | 'too-large'
  /** More than ORIGINS_MAX_BYTES of origins. */
  | 'too-many-origins'
  /** What was being written was taken away, PUT_ATTEMPTS_MAX times. */
  | 'taken-away'
  /** The toll ended it. */
  | 'spent';

/** Tells a fault from what was asked for (which is an object, or undefined). */
export const isFault = (given: unknown): given is StoreFault => typeof given === 'string';

/** A hash, in an object: bare, it could not be told from a fault. */
export interface Put {
  readonly hash: BlockHash;
}

const NO_TOLL: Toll = { mayRead: () => true, read() {} };

/** The store below the root of `tree`. Holds nothing open between two calls; making one costs nothing. */
export class Blocks {
  readonly #tree: Tree;

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  // ---- writing ----

  /**
   * Keeps the bytes: their hash. Nothing is written if a file of that name is there. Costs one pass over the bytes, and
   * two syncs; each new directory one more.
   */
  async put(bytes: Uint8Array): Promise<Put | StoreFault> {
    if (bytes.length > BLOCK_MAX_BYTES) return 'too-large';
    const hash = await hashOf(bytes);
    return this.#keep(hash, bytes) ?? { hash };
  }

  /** `put`, and then the origin, if that line is not there yet. In this order: an origin never stands for no block. */
  async putFor(bytes: Uint8Array, origin: Origin): Promise<Put | StoreFault> {
    const put = await this.put(bytes);
    return isFault(put) ? put : (this.#addOrigin(put.hash, origin) ?? put);
  }

  #keep(hash: BlockHash, bytes: Uint8Array): StoreFault | undefined {
    const room = madeBelow(this.#tree, blockRoom(hash));
    if (wroteNot(room)) return room;
    try {
      const there = nameFor(room.dir, hash);
      // Whoever moved it there may not have come to putting the name on disk.
      if (there === 'file') return room.sync();
      return there === 'no-entry' ? this.#write(hash, bytes, room) : there;
    } finally {
      room.close();
    }
  }

  #write(hash: BlockHash, bytes: Uint8Array, room: WriteDir): StoreFault | undefined {
    const parts = madeBelow(this.#tree, PARTS_ROOM);
    if (wroteNot(parts)) return parts;
    try {
      removeLeftovers(parts);
      for (let attempt = 0; attempt < PUT_ATTEMPTS_MAX; attempt++) {
        const wrote = writePart(hash, bytes, parts, room);
        if (wrote !== 'no-entry') return wrote;
      }
      return 'taken-away';
    } finally {
      parts.close();
    }
  }

  #addOrigin(hash: BlockHash, origin: Origin): StoreFault | undefined {
    const room = madeBelow(this.#tree, originsRoom(hash));
    if (wroteNot(room)) return room;
    try {
      const made = room.added(hash);
      const file = made === 'taken' ? room.added(hash) : made;
      if (wroteNot(file)) return file;
      const fault = addTo(file, origin);
      file.close();
      // Also where the line was there: whoever added it may not have come to putting the name on disk.
      return fault ?? room.sync();
    } finally {
      room.close();
    }
  }

  // ---- reading ----

  /** Where the block came from, in the order it was stored; none if nothing says so. Reads at most ORIGINS_MAX_BYTES. */
  origins(hash: BlockHash): readonly Origin[] | StoreFault {
    const opened = this.#open(originsRoom(hash), hash);
    if (opened === 'no-entry') return [];
    if (isFault(opened)) return opened;
    try {
      const bytes = allOf(opened.file, ORIGINS_MAX_BYTES);
      return isFault(bytes) ? (bytes === 'too-large' ? 'too-many-origins' : bytes) : originsIn(bytes);
    } finally {
      opened.close();
    }
  }

  /** The whole block: hashed, and handed out only if it is its name's. `no-entry`: there is none. */
  async get(hash: BlockHash): Promise<Uint8Array | StoreFault> {
    const opened = this.#open(blockRoom(hash), hash);
    if (isFault(opened)) return opened;
    try {
      const bytes = allOf(opened.file, BLOCK_MAX_BYTES);
      return isFault(bytes) || (await hashOf(bytes)) === hash ? bytes : 'corrupt';
    } finally {
      opened.close();
    }
  }

  /** Exactly the range, or `past-end`. Held against the hash only where it is the whole block. */
  async getRange(hash: BlockHash, range: LocatorRange, toll: Toll = NO_TOLL): Promise<Uint8Array | StoreFault> {
    const opened = this.#open(blockRoom(hash), hash);
    if (isFault(opened)) return opened;
    try {
      const span = spanOf(opened.file, range, toll);
      if (isFault(span)) return span;
      const bytes = bytesOf(opened.file, span);
      const isWhole = span.start === 0 && span.end === opened.file.sizeBytes;
      return !isFault(bytes) && isWhole && (await hashOf(bytes)) !== hash ? 'corrupt' : bytes;
    } finally {
      opened.close();
    }
  }

  #open(segments: readonly string[], name: string): { readonly file: OpenFile; close(): void } | StoreFault {
    const room = below(this.#tree, segments);
    if (failed(room)) return room;
    const file = fileIn(room.root, name);
    if (failed(file)) {
      room.close();
      return file;
    }
    return {
      file,
      close() {
        file.close();
        room.close();
      },
    };
  }
}

/** The regular file of this name, itself: where a link stands, `is-link`. */
function fileIn(dir: Dir, name: string): OpenFile | Failure {
  const there = nameFor(dir, name);
  return there === 'file' ? dir.file(name, { placed: true }) : there;
}

/** What stands under the name of a block or of its origins: a file, or why there is none to be used. */
export function nameFor(dir: Dir, name: string): 'file' | Failure {
  const look = dir.look(name);
  if (failed(look)) return look;
  switch (look.kind) {
    case 'file':
      return 'file';
    case 'link':
      return 'is-link';
    case 'directory':
      return 'is-directory';
    case 'other':
      return 'not-regular';
  }
}

/** Counts the parts of this thread; two threads of a process that have come as far take turns at the open. */
let parts = 0;

/** Writes and moves; `no-entry`: the part was gone before it was moved. */
function writePart(hash: BlockHash, bytes: Uint8Array, from: WriteDir, to: WriteDir): StoreFault | undefined {
  let [name, made] = ['', 'taken' as WriteFailure | undefined];
  while (made === 'taken') {
    name = partName(hash, process.pid, ++parts);
    made = from.create(name, bytes);
  }
  const moved = made ?? from.move(name, to, hash);
  if (moved === undefined) return to.sync();
  from.remove(name); // nothing depends on it: what stays is removed in an hour
  return moved;
}

/** Takes away what a process that is gone was writing. What cannot be taken away stays: it is never read. */
function removeLeftovers(parts: WriteDir): void {
  const entries = parts.dir.list();
  if (failed(entries)) return;
  for (const { name } of entries) {
    const pid = writerOf(name);
    if (pid !== undefined && isLeftover(parts.dir, name, pid)) parts.remove(name);
  }
}

function isLeftover(dir: Dir, name: string, pid: number): boolean {
  const look = dir.look(name);
  if (failed(look) || look.kind !== 'file') return false;
  return !isAlive(pid) || Date.now() - Number(look.modifiedNs / 1_000_000n) > LEFTOVER_AGE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: there, and somebody else's.
    return (error as { code?: unknown }).code !== 'ESRCH';
  }
}

function addTo(file: AddedFile, origin: Origin): StoreFault | undefined {
  const bytes = allOf(file, ORIGINS_MAX_BYTES);
  if (isFault(bytes)) return bytes === 'too-large' ? 'too-many-origins' : bytes;
  if (originsIn(bytes).some(({ run, place }) => run === origin.run && place === origin.place)) return undefined;
  const more = addition(origin, bytes);
  return bytes.length + more.length > ORIGINS_MAX_BYTES ? 'too-many-origins' : file.add(more);
}

interface Readable {
  read(into: Uint8Array, offsetBytes: number): number | StoreFault;
}

/** All bytes up to the end, whatever the file says its size is; `too-large` beyond `mostBytes`. */
function allOf(file: Readable, mostBytes: number): Uint8Array | StoreFault {
  let [bytes, size] = [new Uint8Array(STORE_CHUNK_BYTES), 0];
  for (;;) {
    if (size === bytes.length) bytes = grown(bytes, mostBytes + 1);
    const got = file.read(bytes.subarray(size), size);
    if (isFault(got)) return got;
    if (got === 0) return bytes.subarray(0, size);
    size += got;
    if (size > mostBytes) return 'too-large';
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, mostBytes: number): Uint8Array<ArrayBuffer> {
  const more = new Uint8Array(Math.min(2 * bytes.length, Math.max(mostBytes, bytes.length + 1)));
  more.set(bytes);
  return more;
}

function bytesOf(file: OpenFile, { start, end }: Span): Uint8Array | StoreFault {
  if (end - start > BLOCK_MAX_BYTES) return 'too-large';
  const bytes = new Uint8Array(end - start);
  for (let size = 0; size < bytes.length; ) {
    const got = file.read(bytes.subarray(size), start + size);
    if (isFault(got)) return got;
    if (got === 0) return 'moved'; // it was longer when its span was found
    size += got;
  }
  return bytes;
}

/** BLAKE3. Linear. */
export async function hashOf(bytes: Uint8Array): Promise<BlockHash> {
  const state = await hasher();
  const hash = state.update(bytes).digest('hex');
  giveBack(state);
  return hash;
}
