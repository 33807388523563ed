/**
 * What is remembered of blobs: which were looked through in vain, and which hold the pattern, with the paths they were
 * told under. Stands beside history.ts. One entry, one hit: identity is path and blob.
 *
 *   word of a blob   0: not looked at · VAIN · the last path it was told under
 *   told             | before | size | path |
 */

import { reserveWithin } from '../abi/arena';
import { MEMORY_MOST, OidMap } from './oid';

const VAIN: usize = 1;
/** Blobs remembered at most; of more, those looked through in vain are looked through again. */
const REMEMBERED_MOST: u32 = 1 << 19;

// @ts-ignore: decorator
@unmanaged
class Told {
  before: usize;
  size: usize;
}
const TOLD_BYTES: usize = offsetof<Told>();

const blobs = changetype<OidMap>(memory.data(offsetof<OidMap>(), 4));
/** Of other repositories, whose text is made of their names: what `blobs` is of blobs. */
const links = changetype<OidMap>(memory.data(offsetof<OidMap>(), 4));

/** Forgets all. */
export function forgetEntries(): void {
  blobs.clear();
  links.clear();
}

export namespace Known {
  export const NO: i32 = 0;
  /** Looked through in vain. */
  export const VAIN: i32 = 1;
  /** Holds the pattern, and was not told under this path. */
  export const HOLDS: i32 = 2;
  /** Was told under this path. */
  export const TOLD: i32 = 3;
}

function mapOf(isLink: bool): OidMap {
  return isLink ? links : blobs;
}

/** What is known of the blob at this path. O(paths it was told under). */
export function recall(oid: usize, isLink: bool, path: usize, size: usize): i32 {
  const word = mapOf(isLink).find(oid);
  if (word === 0) return Known.NO;
  let told = load<usize>(word);
  if (told === VAIN) return Known.VAIN;
  while (told !== 0) {
    const one = changetype<Told>(told);
    if (one.size === size && memory.compare(told + TOLD_BYTES, path, size) === 0) return Known.TOLD;
    told = one.before;
  }
  return Known.HOLDS;
}

/** Remembers that the blob does not hold the pattern, if there is room. */
export function rememberVain(oid: usize, isLink: bool): void {
  const map = mapOf(isLink);
  if (map.count >= REMEMBERED_MOST) return;
  const word = map.put(oid);
  if (word !== 0) store<usize>(word, VAIN);
}

let top: usize = 0;
let end: usize = 0;
const CHUNK: usize = 256 << 10;

/** Remembers that the blob was told under this path; false if no memory is left. */
export function rememberTold(oid: usize, isLink: bool, path: usize, size: usize): bool {
  const word = mapOf(isLink).put(oid);
  if (word === 0) return false;
  const whole = (TOLD_BYTES + size + 3) & ~3;
  if (end - top < whole) {
    const chunk = reserveWithin(max(CHUNK, whole), MEMORY_MOST);
    if (chunk === 0) return false;
    top = chunk;
    end = chunk + max(CHUNK, whole);
  }
  const told = changetype<Told>(top);
  told.before = load<usize>(word);
  told.size = size;
  memory.copy(top + TOLD_BYTES, path, size);
  store<usize>(word, top);
  top += whole;
  return true;
}
