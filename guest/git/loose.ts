/**
 * Loose objects: a file each, `objects/ab/cdef…`, one zlib stream of `<type> <size>\0` and the object. Stands between
 * objects.ts and abi/lift.ts; inflate.ts pulls its chunks from here.
 */

import { reserve } from '../abi/arena';
import { Answer, atEnd, close, Code, openDirectory, openFile, readInto } from '../abi/lift';
import { Fault, faultOf } from './fault';
import { feed, unused } from './inflate';
import { oidBytes, toHex } from './oid';
import { Type } from './pack';

const CHUNK_BYTES: usize = 64 << 10;
/** Enough for the longest header there is. */
export const HEADER_MOST: usize = 32;
const NONE: i32 = -1;
/** Remembered of a directory: it is not there. */
const ABSENT: i32 = -2;

/** The 256 directories, opened as they are needed. */
const directories: usize = memory.data(256 << 2, 4);
let objects: i32 = NONE;

let chunk: usize = 0;
let file: i32 = NONE;
let offset: u64 = 0;
let isOver: bool = false;

/** What the host said when the stream wanted more; NONE if it was the file that ended. */
export let looseFault: i32 = Fault.NONE;

/** Begins with the directory `objects`, which is not ours to close. */
export function beginLoose(dir: i32): void {
  objects = dir;
  memory.fill(directories, 0xff, 256 << 2); // NONE
}

/** Closes what was opened. */
export function forgetLoose(): void {
  closeLoose();
  if (objects === NONE) return;
  for (let i: usize = 0; i < 256; i++) {
    const dir = load<i32>(directories + (i << 2));
    if (dir >= 0) close(dir);
  }
  objects = NONE;
}

const hex: usize = memory.data(64, 8);

/** Opens the object's file, if there is one: 1, 0, or below zero `~fault`. `pullLoose` then gives its chunks. */
export function openLoose(oid: usize): i32 {
  closeLoose();
  const slot = directories + (<usize>load<u8>(oid) << 2);
  toHex(oid, hex);
  let dir = load<i32>(slot);
  if (dir === NONE) {
    dir = openDirectory(objects, hex, 2);
    if (dir < 0) {
      if (~dir !== Code.NO_ENTRY) return ~faultOf(~dir);
      dir = ABSENT;
    }
    store<i32>(slot, dir);
  }
  if (dir === ABSENT) return 0;
  const answer: Answer = openFile(dir, hex + 2, 2 * oidBytes - 2, false);
  if (answer < 0) return ~answer === Code.NO_ENTRY ? 0 : ~faultOf(~answer);
  if (chunk === 0) chunk = reserve(CHUNK_BYTES + 16);
  file = answer;
  offset = 0;
  isOver = false;
  looseFault = Fault.NONE;
  return 1;
}

/** Closes the object's file. */
export function closeLoose(): void {
  if (file !== NONE) close(file);
  file = NONE;
}

/** Feeds inflate.ts the next chunk. */
export function pullLoose(): bool {
  if (isOver || file === NONE) return false;
  const answer = readInto(file, chunk, CHUNK_BYTES, offset);
  if (answer < 0) {
    looseFault = faultOf(~answer);
    return false;
  }
  offset += answer;
  isOver = atEnd;
  feed(chunk, chunk + answer);
  return answer > 0;
}

/** Whether the file ends where the stream did: what follows it would be nobody's. */
export function endsHere(): bool {
  if (unused() !== 0) return false;
  return isOver || !pullLoose();
}

/** What `readHeader` read. */
export let looseType: u32 = 0;
export let looseSize: u64 = 0;

/** Reads `<type> <size>\0` from [at, end): its bytes, or 0 if there is none. */
export function readHeader(at: usize, end: usize): usize {
  let p = at;
  const size = end - at;
  if (size > 7 && load<u32>(at) === 0x6d6d_6f63 && load<u16>(at, 4) === 0x7469) {
    looseType = Type.COMMIT;
    p += 6;
  } else if (size > 5 && load<u32>(at) === 0x6565_7274) {
    looseType = Type.TREE;
    p += 4;
  } else if (size > 5 && load<u32>(at) === 0x626f_6c62) {
    looseType = Type.BLOB;
    p += 4;
  } else if (size > 4 && load<u16>(at) === 0x6174 && load<u8>(at, 2) === 0x67) {
    looseType = Type.TAG;
    p += 3;
  } else return 0;
  if (load<u8>(p++) !== 0x20) return 0;
  return readDigits(p, end) ? digitsEnd - at : 0;
}

let digitsEnd: usize = 0;

/** Decimal digits up to a NUL, none of them a leading zero. */
function readDigits(at: usize, end: usize): bool {
  looseSize = 0;
  for (let p = at; p < end; p++) {
    const byte = <u32>load<u8>(p);
    if (byte === 0) {
      digitsEnd = p + 1;
      return p > at && (p === at + 1 || load<u8>(at) !== 0x30);
    }
    if (byte - 0x30 > 9 || looseSize > 0xff_ffff_ffff_ffff) return false;
    looseSize = looseSize * 10 + (byte - 0x30);
  }
  return false;
}
