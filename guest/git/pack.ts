/**
 * Packs (gitformat-pack): where an object lies, by the index of version 2, and what stands at an offset. Stands between
 * objects.ts (which wants an object) and sorted.ts (which of the index's names it is), blocks.ts (which has the bytes).
 *
 *   index   | ff 74 4f 63 | 2 | fan-out, 256 × 4 | names | CRC-32 × 4 | offsets × 4 | large offsets × 8 | two hashes |
 *   entry   | type, size: 4 bits, then 7 a byte | base: distance back, or a name | zlib stream |
 *
 * The multi-pack-index is not read: all it says stands in the packs' own indexes.
 */

import { walkArena } from '../abi/arena';
import { closeListing, list, name, nameSize, nextName } from '../abi/lift';
import { addFile, at as blockAt, BlockFile, bytes, end as blockEnd, goOn, offsetBefore, peek, seek } from './blocks';
import { crc32 } from './checksum';
import { Fault, faultOf } from './fault';
import { feed, unused } from './inflate';
import { oidBytes } from './oid';
import { findSorted, isListed, rank, said, word } from './sorted';

/** Types of objects, as packs number them. */
export namespace Type {
  export const COMMIT: u32 = 1;
  export const TREE: u32 = 2;
  export const BLOB: u32 = 3;
  export const TAG: u32 = 4;
  export const OFFSET_DELTA: u32 = 6;
  export const NAME_DELTA: u32 = 7;
}

// @ts-ignore: decorator
@unmanaged
export class Pack {
  number: u32;
  index: BlockFile;
  file: BlockFile;
  /** Objects in it; with `isRead`, its heads were read and fit. */
  count: u32;
  isRead: bool;
  next: Pack | null;
}

/** All packs, the one that had the last object first. */
let packs: Pack | null = null;
let packCount: u32 = 0;

/** Forgets all packs. */
export function forgetPacks(): void {
  packs = null;
}

const INDEX_MAGIC: u32 = 0xff74_4f63;
const PACK_MAGIC: u32 = 0x5041_434b;
const FAN_AT: u64 = 8;
const NAMES_AT: u64 = FAN_AT + 1_024;

/** Lists the directory of packs: those whose index and pack both are there. Names lie on the walk's arena. */
export function listPacks(dir: i32): i32 {
  packs = null;
  const stream = list(dir);
  if (stream < 0) return faultOf(~stream);
  let answer = nextName(stream, walkArena);
  for (; answer === 1; answer = nextName(stream, walkArena)) {
    if (endsWithIdx(name, nameSize)) addPack(dir, name, nameSize);
  }
  closeListing(stream);
  return answer < 0 ? faultOf(~answer) : Fault.NONE;
}

const IDX: u32 = 0x7864_692e; // `.idx`, first byte lowest

function endsWithIdx(name: usize, size: usize): bool {
  return size > 4 && load<u8>(name) !== 0 && load<u32>(name + size - 4) === IDX;
}

function addPack(dir: i32, indexName: usize, size: usize): void {
  const pack = changetype<Pack>(walkArena.alloc(8, offsetof<Pack>()));
  const packName = walkArena.alloc(1, size + 1);
  memory.copy(packName, indexName, size - 3);
  store<u32>(packName + size - 3, 0x6b63_6170); // `pack`
  pack.number = ++packCount;
  pack.index = addFile(walkArena.alloc(8, offsetof<BlockFile>()), dir, indexName, size, true);
  pack.file = addFile(walkArena.alloc(8, offsetof<BlockFile>()), dir, packName, size + 1, false);
  pack.isRead = false;
  pack.next = packs;
  packs = pack;
}

// ---- the index ----

/** Where the last lookup found the object. */
export let foundPack: Pack | null = null;
export let foundOffset: u64 = 0;
/** Its place among the names of the pack's index. */
export let foundRank: u32 = 0;

/** Looks an object up in all packs: sets `foundPack`, null if none has it. O(packs × log objects). */
export function findInPacks(oid: usize): i32 {
  foundPack = null;
  let before: Pack | null = null;
  let pack = packs;
  while (pack !== null) {
    const fault = findIn(pack, oid);
    if (fault !== Fault.NONE) return fault;
    if (foundPack !== null) {
      if (before !== null) {
        before.next = pack.next;
        pack.next = packs;
        packs = pack;
      }
      return Fault.NONE;
    }
    before = pack;
    pack = pack.next;
  }
  return Fault.NONE;
}

/** Looks an object up in one pack. */
export function findIn(pack: Pack, oid: usize): i32 {
  foundPack = null;
  if (!pack.isRead) {
    const fault = readHeads(pack);
    if (fault !== Fault.NONE) return fault;
  }
  const fault = findSorted(pack.index, FAN_AT, NAMES_AT, pack.count, oid);
  return fault === Fault.NONE && isListed ? locate(pack, rank) : fault;
}

/** Reads the offset of the object at `index`. Its checksum lies elsewhere, and most objects were built before. */
function locate(pack: Pack, index: u32): i32 {
  const count = <u64>pack.count;
  const sums = sumsOf(pack);
  let fault = word(pack.index, sums + 4 * count + 4 * <u64>index);
  if (fault !== Fault.NONE) return fault;
  if (said >> 31) {
    fault = peek(pack.index, sums + 8 * count + 8 * <u64>(said & 0x7fff_ffff), 8);
    if (fault !== Fault.NONE) return fault;
    foundOffset = bswap<u64>(load<u64>(bytes));
  } else foundOffset = said;
  foundPack = pack;
  foundRank = index;
  return Fault.NONE;
}

/** Where the checksums stand in the index. */
function sumsOf(pack: Pack): u64 {
  return NAMES_AT + <u64>pack.count * oidBytes;
}

/** Reads the heads of index and pack. An index of version 1 is UNSUPPORTED. */
function readHeads(pack: Pack): i32 {
  let fault = peek(pack.index, 0, 8);
  if (fault !== Fault.NONE) return fault;
  if (bswap<u32>(load<u32>(bytes)) !== INDEX_MAGIC) return Fault.UNSUPPORTED;
  if (bswap<u32>(load<u32>(bytes, 4)) !== 2) return Fault.UNSUPPORTED;
  fault = word(pack.index, FAN_AT + 4 * 255);
  if (fault !== Fault.NONE) return fault;
  const count = said;
  fault = peek(pack.file, 0, 12);
  if (fault !== Fault.NONE) return fault;
  if (bswap<u32>(load<u32>(bytes)) !== PACK_MAGIC) return Fault.CORRUPT;
  const version = bswap<u32>(load<u32>(bytes, 4));
  if (version !== 2 && version !== 3) return Fault.UNSUPPORTED;
  if (bswap<u32>(load<u32>(bytes, 8)) !== count) return Fault.CORRUPT;
  fault = agrees(pack, count);
  if (fault !== Fault.NONE) return fault;
  pack.count = count;
  pack.isRead = true;
  return Fault.NONE;
}

/** Whether the index is of this pack: it ends with the pack's own last bytes, and its own hash, which is not checked. */
function agrees(pack: Pack, count: u32): i32 {
  // With large offsets the end is elsewhere: how many there are is not told.
  return seek(pack.index, NAMES_AT + <u64>count * (oidBytes + 8) + 2 * oidBytes - 1);
}

// ---- entries ----

/** What `readEntry` read: the type, the size of what the stream holds, the base of a delta. */
export let entryType: u32 = 0;
export let entrySize: u64 = 0;
export let baseOffset: u64 = 0;
/** Where the stream begins. */
export let streamOffset: u64 = 0;

let from: usize = 0;
let to: usize = 0;

/** The next byte of the pack, or below zero `~fault`. */
function nextByte(): i32 {
  if (from === to) {
    const fault = goOn();
    if (fault !== Fault.NONE) return ~fault;
    from = blockAt;
    to = blockEnd;
  }
  return <i32>load<u8>(from++);
}

/** Reads what stands at an offset of the pack, up to its stream. The base of a delta by name is looked up. */
export function readEntry(pack: Pack, offset: u64): i32 {
  if (offset < 12) return Fault.CORRUPT;
  const fault = seek(pack.file, offset);
  if (fault !== Fault.NONE) return fault;
  from = blockAt;
  to = blockEnd;
  let byte = nextByte();
  if (byte < 0) return ~byte;
  entryType = (<u32>byte >> 4) & 7;
  entrySize = <u64>byte & 15;
  for (let shift: u64 = 4; byte & 128; shift += 7) {
    if (shift > 56) return Fault.CORRUPT;
    byte = nextByte();
    if (byte < 0) return ~byte;
    entrySize |= (<u64>byte & 127) << shift;
  }
  if (entryType === Type.OFFSET_DELTA) return readDistance(offset);
  if (entryType === Type.NAME_DELTA) return readBaseName(pack);
  if (entryType === 0 || entryType === 5) return Fault.CORRUPT;
  streamOffset = offsetBefore(to - from);
  return Fault.NONE;
}

function readDistance(offset: u64): i32 {
  let byte = nextByte();
  if (byte < 0) return ~byte;
  let distance = <u64>byte & 127;
  while (byte & 128) {
    if (distance >> 56) return Fault.CORRUPT;
    byte = nextByte();
    if (byte < 0) return ~byte;
    distance = ((distance + 1) << 7) | (<u64>byte & 127);
  }
  if (distance === 0 || distance >= offset) return Fault.CORRUPT;
  baseOffset = offset - distance;
  streamOffset = offsetBefore(to - from);
  return Fault.NONE;
}

const baseName: usize = memory.data(32, 8);

function readBaseName(pack: Pack): i32 {
  for (let i: usize = 0; i < oidBytes; i++) {
    const byte = nextByte();
    if (byte < 0) return ~byte;
    store<u8>(baseName + i, <u8>byte);
  }
  streamOffset = offsetBefore(to - from);
  const fault = findIn(pack, baseName);
  if (fault !== Fault.NONE) return fault;
  if (foundPack === null) return Fault.MISSING;
  baseOffset = foundOffset;
  return Fault.NONE;
}

// ---- the stream of an entry, for inflate.ts ----

/** What the host said when the stream wanted more; NONE if it was the pack that ended. */
export let streamFault: i32 = Fault.NONE;
let streamFile: BlockFile | null = null;
let streamAt: u64 = 0;

/** The stream from an offset of a pack is what `pullPack` gives. */
export function beginPackStream(pack: Pack, offset: u64): void {
  streamFault = Fault.NONE;
  streamFile = pack.file;
  streamAt = offset;
}

/** Feeds inflate.ts the next block. */
export function pullPack(): bool {
  const file = streamFile;
  if (file === null) return false;
  streamFault = seek(file, streamAt);
  if (streamFault !== Fault.NONE) return false;
  feed(blockAt, blockEnd);
  streamAt = offsetBefore(0);
  return true;
}

/** Whether the entry at `offset`, whose stream has just ended, has the checksum of its index. O(bytes of the entry). */
export function hasCrc(pack: Pack, offset: u64, rank: u32): i32 {
  const stop = streamAt - unused();
  const read = word(pack.index, sumsOf(pack) + 4 * <u64>rank);
  if (read !== Fault.NONE) return read;
  const crc = said;
  let sum: u32 = 0;
  for (let next = offset; next < stop; ) {
    const fault = seek(pack.file, next);
    if (fault !== Fault.NONE) return fault;
    const part = <usize>min(stop - next, <u64>(blockEnd - blockAt));
    sum = crc32(sum, blockAt, blockAt + part);
    next += part;
  }
  return sum === crc ? Fault.NONE : Fault.CORRUPT;
}
