/**
 * Objects by name: whole in memory, or a blob in pieces. Stands between those who want objects (commits.ts, diff.ts,
 * refs.ts, history.ts, trail.ts) and where they lie (pack.ts, loose.ts); inflate.ts and delta.ts do the unpacking.
 *
 * A packed object is a chain of deltas that ends in a whole one. The chain is walked down without recursion, up to
 * CHAIN_MOST, and built up again in two rooms that take turns. What was built is kept (ring.ts): the bases of older
 * objects are newer ones, which a walk from the newest has just met.
 *
 * What `readObject` gives lies in a room or in the ring, and stays until the next object is read.
 */

import { reserve } from '../abi/arena';
import { forgetFiles } from './blocks';
import { apply, baseSize, readSizes, resultSize } from './delta';
import { Fault } from './fault';
import { begin as beginStream, Inflated, moved, out, run, SLACK, slide, WINDOW } from './inflate';
import {
  beginLoose, closeLoose, endsHere, forgetLoose, HEADER_MOST, looseFault, looseSize, looseType, openLoose, pullLoose,
  readHeader,
} from './loose';
import {
  baseOffset, beginPackStream, entrySize, entryType, findInPacks, forgetPacks, foundOffset, foundPack, foundRank, hasCrc,
  listPacks, Pack, pullPack, readEntry, streamFault, streamOffset, Type,
} from './pack';
import { emptyRing, findKept, keep } from './ring';

/** Bytes of the largest object that is held whole; blobs that are no deltas may be larger, and come in pieces. */
const OBJECT_MOST: u64 = 32 << 20;
/** Deltas on the way to one object. git makes 50, and 4 095 at most. */
const CHAIN_MOST: u32 = 10_000;
/** Bytes built on the way to one object: a chain of large results must not take for ever inside one page. */
const CHAIN_BYTES_MOST: u64 = 512 << 20;
/** A blob over this comes in pieces, if it can. */
const PIECES_FROM: u64 = 1 << 20;
/** Bytes of a piece at most. */
export const PIECE_BYTES: usize = 256 << 10;

/** Objects that were read, and bytes that were inflated or built: what a page is bounded by. */
export let objectsRead: u32 = 0;
export let bytesMade: u64 = 0;

/** The object that was read. */
export let objectType: u32 = 0;
export let objectAt: usize = 0;
export let objectSize: usize = 0;

let packDir: i32 = -1;
let listedAgain: bool = false;

/** Begins with the directories `objects` and, unless below zero, `objects/pack`. They are not ours to close. */
export function beginObjects(objects: i32, packs: i32): i32 {
  beginLoose(objects);
  packDir = packs;
  listedAgain = false;
  emptyRing();
  return packs < 0 ? Fault.NONE : listPacks(packs);
}

/** Closes what was opened. */
export function forgetObjects(): void {
  forgetLoose();
  forgetPacks();
  forgetFiles();
}

// ---- rooms ----

/** A place for one object, as large as the largest so far. Grows in few steps: what it leaves is lost. */
// @ts-ignore: decorator
@unmanaged
class Room {
  at: usize;
  size: usize;

  /** At least so many bytes, and slack; the first `kept` of what lay there stay. */
  make(wanted: usize, kept: usize): usize {
    const whole = wanted + SLACK;
    if (this.size >= whole) return this.at;
    const before = this.at;
    this.size = whole <= 256 << 10 ? 256 << 10 : whole <= 4 << 20 ? 4 << 20 : <usize>OBJECT_MOST + 4_096;
    this.at = reserve(this.size);
    memory.copy(this.at, before, kept);
    return this.at;
  }
}

const roomA = changetype<Room>(memory.data(8, 4));
const roomB = changetype<Room>(memory.data(8, 4));
const deltaRoom = changetype<Room>(memory.data(8, 4));
/** Where the next object is built. The other room has the one before: its base. */
let room: Room = roomA;

function turn(): void {
  room = room === roomA ? roomB : roomA;
}

// ---- finding ----

/** The object is loose, and open; otherwise `foundPack` and `foundOffset` say where it is. */
let isLoose: bool = false;

/** Finds the object: MISSING if it is nowhere, also after the packs were listed again (somebody may have repacked). */
function find(oid: usize): i32 {
  objectsRead++;
  isLoose = false;
  const fault = findInPacks(oid);
  if (fault !== Fault.NONE || foundPack !== null) return fault;
  const opened = openLoose(oid);
  if (opened < 0) return ~opened;
  if (opened > 0) {
    isLoose = true;
    return Fault.NONE;
  }
  if (listedAgain || packDir < 0) return Fault.MISSING;
  listedAgain = true;
  const listed = listPacks(packDir);
  if (listed !== Fault.NONE) return listed;
  const again = findInPacks(oid);
  return again !== Fault.NONE || foundPack !== null ? again : Fault.MISSING;
}

/** Reads the object: sets `objectType`, `objectAt`, `objectSize`. */
export function readObject(oid: usize): i32 {
  const fault = find(oid);
  if (fault !== Fault.NONE) return fault;
  if (isLoose) return readLoose(false);
  return readPacked(changetype<Pack>(foundPack), foundOffset, foundRank);
}

/** The same of an object that has to be of this type; CORRUPT if it is of another. */
export function readTyped(oid: usize, wanted: u32): i32 {
  const fault = readObject(oid);
  return fault !== Fault.NONE || objectType === wanted ? fault : Fault.CORRUPT;
}

// ---- loose objects ----

/** What a stream that did not end well means. */
function faultOfStream(how: i32, host: i32): i32 {
  return how === Inflated.DRY && host !== Fault.NONE ? host : Fault.CORRUPT;
}

/** Reads the open file whole; or, if that is asked and it is a large blob, begins its pieces. */
function readLoose(inPieces: bool): i32 {
  const fault = readLooseOpen(inPieces);
  if (!pieces.isUnderWay) closeLoose();
  return fault;
}

function readLooseOpen(inPieces: bool): i32 {
  turn();
  const start = room.make(HEADER_MOST, 0);
  beginStream(pullLoose, start);
  const how = run(start + HEADER_MOST, start + HEADER_MOST);
  if (how !== Inflated.DONE && how !== Inflated.FULL) return faultOfStream(how, looseFault);
  const header = readHeader(start, out);
  if (header === 0) return Fault.CORRUPT;
  objectType = looseType;
  if (inPieces && objectType === Type.BLOB && looseSize > PIECES_FROM) return beginPieces(looseSize, start, start + header);
  if (looseSize > OBJECT_MOST) return Fault.TOO_LARGE;
  objectSize = <usize>looseSize;
  const place = room.make(header + objectSize, out - start);
  moved(place - start);
  const end = place + header + objectSize;
  const rest = run(end, end + SLACK);
  if (rest !== Inflated.DONE) return faultOfStream(rest, looseFault);
  if (out !== end || !endsHere()) return looseFault !== Fault.NONE ? looseFault : Fault.CORRUPT;
  bytesMade += objectSize;
  objectAt = place + header;
  return Fault.NONE;
}

// ---- packed objects ----

/** A delta on the way down: where its entry is, where its stream, and how long the delta is. */
// @ts-ignore: decorator
@unmanaged
class Link {
  offset: u64;
  stream: u64;
  size: u64;
}
let chain: usize = 0;

// @ts-ignore: decorator
@inline
function linkAt(index: u32): Link {
  return changetype<Link>(chain + <usize>index * offsetof<Link>());
}

/** Reads the object at an offset of a pack, whose place among the names of its index is `rank`. */
function readPacked(pack: Pack, offset: u64, rank: u32): i32 {
  const kept = findKept(pack.number, offset);
  if (kept !== null) {
    objectType = kept.type;
    objectAt = kept.bytes();
    objectSize = kept.size;
    return Fault.NONE;
  }
  const fault = readEntry(pack, offset);
  if (fault !== Fault.NONE) return fault;
  if (entryType < Type.OFFSET_DELTA) return readWhole(pack, offset, rank);
  return readChain(pack, offset, rank);
}

/** Inflates an entry that is no delta, after `readEntry` of it. With NO_RANK its checksum is not known. */
function readWhole(pack: Pack, offset: u64, rank: u32): i32 {
  if (entrySize > OBJECT_MOST) return Fault.TOO_LARGE;
  objectType = entryType;
  objectSize = <usize>entrySize;
  turn();
  objectAt = room.make(objectSize, 0);
  const fault = inflateTo(pack, streamOffset, objectAt, objectSize);
  if (fault !== Fault.NONE) return fault;
  const sound = rank === NO_RANK ? Fault.NONE : hasCrc(pack, offset, rank);
  if (sound === Fault.NONE) keep(pack.number, offset, objectType, objectAt, objectSize);
  return sound;
}

/** Of an entry that was met as a base: only the index has its checksum, and by name. */
const NO_RANK: u32 = <u32>-1;

function inflateTo(pack: Pack, stream: u64, to: usize, size: usize): i32 {
  beginPackStream(pack, stream);
  beginStream(pullPack, to);
  const how = run(to + size, to + size + SLACK);
  if (how !== Inflated.DONE) return faultOfStream(how, streamFault);
  bytesMade += size;
  return out === to + size ? Fault.NONE : Fault.CORRUPT;
}

function readChain(pack: Pack, offset: u64, rank: u32): i32 {
  if (chain === 0) chain = reserve(<usize>CHAIN_MOST * offsetof<Link>());
  let depth: u32 = 0;
  let place = offset;
  // down, to a base that is whole or kept
  while (true) {
    if (depth === CHAIN_MOST || entrySize > OBJECT_MOST) return depth === CHAIN_MOST ? Fault.CORRUPT : Fault.TOO_LARGE;
    const link = linkAt(depth++);
    link.offset = place;
    link.stream = streamOffset;
    link.size = entrySize;
    place = baseOffset;
    const kept = findKept(pack.number, place);
    if (kept !== null) {
      objectType = kept.type;
      objectAt = kept.bytes();
      objectSize = kept.size;
      break;
    }
    const fault = readEntry(pack, place);
    if (fault !== Fault.NONE) return fault;
    if (entryType >= Type.OFFSET_DELTA) continue;
    const whole = readWhole(pack, place, NO_RANK);
    if (whole !== Fault.NONE) return whole;
    break;
  }
  return buildUp(pack, depth, rank);
}

/** Applies the deltas of the chain to the base that was read, the last first. */
function buildUp(pack: Pack, links: u32, rank: u32): i32 {
  let made: u64 = 0;
  for (let depth = links; depth > 0; depth--) {
    const link = linkAt(depth - 1);
    const deltaSize = <usize>link.size;
    const delta = deltaRoom.make(deltaSize, 0);
    const fault = inflateTo(pack, link.stream, delta, deltaSize);
    if (fault !== Fault.NONE) return fault;
    if (depth === 1) {
      const sound = hasCrc(pack, link.offset, rank);
      if (sound !== Fault.NONE) return sound;
    }
    if (!readSizes(delta, delta + deltaSize) || baseSize !== objectSize) return Fault.CORRUPT;
    made += resultSize;
    if (resultSize > OBJECT_MOST || made > CHAIN_BYTES_MOST) return Fault.TOO_LARGE;
    turn();
    const place = room.make(<usize>resultSize, 0);
    if (!apply(objectAt, delta + deltaSize, place)) return Fault.CORRUPT;
    objectAt = place;
    objectSize = <usize>resultSize;
    bytesMade += resultSize;
    keep(pack.number, link.offset, objectType, objectAt, objectSize);
  }
  return Fault.NONE;
}

// ---- blobs in pieces ----

/** A blob on its way: in pieces out of a window, or whole in memory. One at a time. */
// @ts-ignore: decorator
@unmanaged
class Pieces {
  isUnderWay: bool;
  fromLoose: bool;
  /** Where the window's place begins, how much of it there is, and what is kept of it behind a piece. */
  place: usize;
  room: usize;
  reach: usize;
  /** Bytes of the blob that are still to come. */
  left: u64;
}
const pieces = changetype<Pieces>(memory.data(32, 8));

/** Bytes of the blob that `openBlob` opened. */
export let blobSize: u64 = 0;
/** The piece that came last: its bytes, and how far before them the bytes of pieces before it reach, at least. */
export let piece: usize = 0;
export let pieceSize: usize = 0;
export let pieceBefore: usize = 0;

/**
 * Opens the blob, whose pieces `nextPiece` then gives: the last `reach` bytes before a piece stay in front of it. With
 * `most` its size is bounded: TOO_LARGE. No other object is read until it is at its end or closed.
 */
export function openBlob(oid: usize, reach: usize, most: u64): i32 {
  pieces.reach = max(reach, WINDOW);
  const fault = find(oid);
  if (fault !== Fault.NONE) return fault;
  const opened = isLoose ? readLoose(true) : openPacked();
  if (opened !== Fault.NONE) return opened;
  if (objectType !== Type.BLOB) return Fault.CORRUPT;
  if (!pieces.isUnderWay) {
    blobSize = objectSize;
    piece = objectAt;
    pieceSize = 0;
    pieces.left = objectSize;
  }
  if (blobSize <= most) return Fault.NONE;
  closeBlob();
  return Fault.TOO_LARGE;
}

function openPacked(): i32 {
  const pack = changetype<Pack>(foundPack);
  const offset = foundOffset; // to read a delta is to find its base
  const rank = foundRank;
  const fault = readEntry(pack, offset);
  if (fault !== Fault.NONE) return fault;
  if (entryType !== Type.BLOB || entrySize <= PIECES_FROM) return readPacked(pack, offset, rank);
  objectType = Type.BLOB;
  beginPackStream(pack, streamOffset);
  const place = windowRoom();
  beginStream(pullPack, place);
  return beginPieces(entrySize, place, place);
}

let window: usize = 0;
let windowSize: usize = 0;

/** The place of the window: twice what is kept and a piece, so that a piece costs no more than itself to move. */
function windowRoom(): usize {
  const wanted: usize = 2 * pieces.reach + 2 * PIECE_BYTES;
  if (windowSize < wanted) {
    window = reserve(wanted + 16);
    windowSize = wanted;
  }
  return window;
}

/** The stream under way goes on in pieces: [start, out) has come, the blob begins at `from`. */
function beginPieces(total: u64, start: usize, from: usize): i32 {
  const place = windowRoom();
  if (start !== place) {
    memory.copy(place, start, out - start);
    moved(place - start);
  }
  pieces.isUnderWay = true;
  pieces.fromLoose = isLoose;
  pieces.place = place;
  pieces.left = total;
  blobSize = total;
  piece = place + (from - start);
  pieceSize = 0;
  pieceBefore = 0;
  return Fault.NONE;
}

/** Whether more pieces come. */
export function hasPieces(): bool {
  return pieces.left > 0 || pieces.isUnderWay;
}

/** The next piece, of at most `most` bytes: sets `piece`, `pieceSize`, `pieceBefore`. */
export function nextPiece(most: usize): i32 {
  piece += pieceSize;
  const wanted = <usize>min(<u64>min(most, PIECE_BYTES), pieces.left);
  if (!pieces.isUnderWay) {
    pieceBefore = objectSize - <usize>pieces.left;
    pieceSize = wanted;
    pieces.left -= wanted;
    return Fault.NONE;
  }
  if (window + windowSize - piece < wanted) {
    const ready = out - piece; // what came with the header
    slide(pieces.place, pieces.reach + ready);
    piece = out - ready;
  }
  const end = piece + wanted;
  const fault = judgePiece(run(end, end), end, wanted);
  if (fault !== Fault.NONE) {
    closeBlob();
    return fault;
  }
  pieceBefore = min(pieces.reach, <usize>(blobSize - pieces.left));
  pieceSize = wanted;
  pieces.left -= wanted;
  bytesMade += wanted;
  if (pieces.left === 0) closeBlob();
  return Fault.NONE;
}

function judgePiece(how: i32, end: usize, wanted: usize): i32 {
  const host = pieces.fromLoose ? looseFault : streamFault;
  if (pieces.left > wanted) return how === Inflated.FULL ? Fault.NONE : faultOfStream(how, host);
  if (how !== Inflated.DONE || out !== end) return faultOfStream(how, host);
  return pieces.fromLoose && !endsHere() ? Fault.CORRUPT : Fault.NONE;
}

/** Leaves the blob, wherever it is. */
export function closeBlob(): void {
  if (pieces.isUnderWay && pieces.fromLoose) closeLoose();
  pieces.isUnderWay = false;
  pieces.left = 0;
}
