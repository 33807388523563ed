/**
 * Trees: `<mode in octal> <name>\0<name of the object>`, sorted. Stands below diff.ts and trail.ts. Leaf: raw loads, each
 * inside the tree's own bytes.
 */

import { findByte } from '../text/lines';
import { isSameOid, oidBytes } from './oid';

/** What a mode says, its permissions left out. */
export namespace Mode {
  export const DIRECTORY: u32 = 0o040000;
  export const REPOSITORY: u32 = 0o160000;
}

/** The entry that `readEntry` read. */
export let mode: u32 = 0;
export let name: usize = 0;
export let nameSize: usize = 0;
export let oid: usize = 0;

/** Reads the entry at `at`; where the next one begins, or 0 if there is none that is whole. O(its name). */
export function readEntry(at: usize, end: usize): usize {
  let p = at;
  let octal: u32 = 0;
  while (true) {
    if (p - at > 7 || p >= end) return 0;
    const byte = <u32>load<u8>(p++);
    if (byte === 0x20) break;
    if (byte - 0x30 > 7) return 0;
    octal = (octal << 3) | (byte - 0x30);
  }
  if (p - at < 2) return 0;
  const stop = findByte(0, p, end);
  if (stop <= p || end - stop < 1 + oidBytes) return 0;
  mode = octal & 0o170000;
  name = p;
  nameSize = stop - p;
  oid = stop + 1;
  return oid + oidBytes;
}

/** Whether the entry that was read is a directory. */
export function isDirectory(): bool {
  return mode === Mode.DIRECTORY;
}

/**
 * The order of trees: by bytes, a directory's name as if it ended in `/`. Below zero if a comes first, zero if both are
 * the same name and the same kind of thing.
 */
export function compareEntries(a: usize, aSize: usize, aIsDir: bool, b: usize, bSize: usize, bIsDir: bool): i32 {
  const common = min(aSize, bSize);
  for (let i: usize = 0; i < common; i++) {
    const difference = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (difference !== 0) return difference;
  }
  const left: i32 = aSize > common ? <i32>load<u8>(a + common) : aIsDir ? 0x2f : 0;
  const right: i32 = bSize > common ? <i32>load<u8>(b + common) : bIsDir ? 0x2f : 0;
  // `a` as a directory and `a/…` as a name do not stand beside each other: no name holds a slash.
  return left !== right ? left - right : <i32>aSize - <i32>bSize;
}

/** How two trees begin alike: where the first entry of `a` begins that is not the same in `b`. O(bytes alike). */
export function skipCommon(a: usize, aEnd: usize, b: usize, bEnd: usize): usize {
  const size = min(aEnd - a, bEnd - b);
  let same: usize = 0;
  while (same + 16 <= size && i8x16.all_true(i8x16.eq(v128.load(a + same), v128.load(b + same)))) same += 16;
  while (same < size && load<u8>(a + same) === load<u8>(b + same)) same++;
  const stop = a + same;
  let p = a;
  while (true) {
    const nul = findByte(0, p, stop);
    if (nul === 0 || stop - nul < 1 + oidBytes) return p;
    p = nul + 1 + oidBytes;
  }
}

/** Looks for a name in the tree; whether it is there, its entry then read. `isSound` tells if the tree is whole. O(tree). */
export function findName(at: usize, end: usize, wanted: usize, wantedSize: usize): bool {
  isSound = true;
  let p = at;
  while (p < end) {
    p = readEntry(p, end);
    if (p === 0) {
      isSound = false;
      return false;
    }
    if (nameSize === wantedSize && memory.compare(name, wanted, wantedSize) === 0) return true;
  }
  return false;
}
export let isSound: bool = true;

/** Whether both are the same object, or neither is any (0). */
export function isSameOrNone(a: usize, b: usize): bool {
  return a === 0 || b === 0 ? a === b : isSameOid(a, b);
}
