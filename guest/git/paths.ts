/**
 * Filters of changed paths, which a commit-graph may keep (gitformat-commit-graph, BIDX and BDAT): whether a commit can
 * have changed anything in the directories asked for. Stands between history.ts and graph.ts. A Bloom filter says no, or
 * perhaps; where none says anything, trees are compared.
 *
 * A filter holds each path that differs from the first parent, or from nothing, and each directory on the way to it.
 */

import { walkArena } from '../abi/arena';
import { Fault } from './fault';
import { filterBit, filterBits, filterHashes, isBitSet, readFilter } from './graph';

const FIRST_SEED: u32 = 0x293a_e76f;
const SECOND_SEED: u32 = 0x7e64_6e2c;

/** Two hashes for each directory; 0 if one of the names is hashed in more than one way. */
let keys: usize = 0;
let keyCount: u32 = 0;

/** Prepares to ask for directories, an array of address and size each. On the walk's arena. */
export function prepareFilters(directories: usize, count: u32): void {
  keys = walkArena.alloc(4, <usize>count << 3);
  keyCount = count;
  for (let i: usize = 0; i < <usize>count << 3; i += 8) {
    const at = load<usize>(directories + i);
    const size = load<usize>(directories + i, 4);
    // git once took the bytes above 0x7f for negative ones, and has filters of both kinds.
    for (let p: usize = 0; p < size; p++) if (load<u8>(at + p) > 0x7f) keys = 0;
    if (keys === 0) return;
    store<u32>(keys + i, murmur(FIRST_SEED, at, size));
    store<u32>(keys + i, murmur(SECOND_SEED, at, size), 4);
  }
}

/** Whether the last `askFilter` was told that nothing in the directories was changed. */
export let isUntouched: bool = false;

/** Asks the filter of the commit at a place of the graph. O(directories × hashes). */
export function askFilter(where: u32): i32 {
  isUntouched = false;
  if (keys === 0) return Fault.NONE;
  const fault = readFilter(where);
  if (fault !== Fault.NONE || filterBits === 0) return fault;
  for (let i: u32 = 0; i < keyCount; i++) {
    const has = holds(load<u32>(keys + (<usize>i << 3)), load<u32>(keys + (<usize>i << 3), 4));
    if (has !== Fault.NONE || isBitSet) return has;
  }
  isUntouched = filterBits !== 0;
  return Fault.NONE;
}

/** Whether all bits of a key are set: `isBitSet` is that of the last one. */
function holds(first: u32, second: u32): i32 {
  for (let i: u32 = 0; i < filterHashes; i++) {
    const fault = filterBit((first + i * second) % filterBits);
    // Where the graph is given up there is no filter any more.
    if (fault !== Fault.NONE || !isBitSet || filterBits === 0) return fault;
  }
  return Fault.NONE;
}

/** MurmurHash3, 32 bits. O(size). */
export function murmur(seed: u32, at: usize, size: usize): u32 {
  let hash = seed;
  const whole = at + (size & ~3);
  for (let p = at; p < whole; p += 4) {
    hash = rotl<u32>(hash ^ scramble(load<u32>(p)), 13) * 5 + 0xe654_6b64;
  }
  let rest: u32 = 0;
  for (let p = at + size; p > whole; ) rest = (rest << 8) | load<u8>(--p);
  hash ^= scramble(rest) ^ <u32>size;
  hash = (hash ^ (hash >> 16)) * 0x85eb_ca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2_ae35;
  return hash ^ (hash >> 16);
}

function scramble(word: u32): u32 {
  return rotl<u32>(word * 0xcc9e_2d51, 15) * 0x1b87_3593;
}
