/**
 * Commits that wait to be taken up, in git's order: by the committer's date, newest first; first in, first out among
 * equals. Stands below commits.ts, which puts them in. A binary heap of records that are used again.
 */

import { reserveWithin } from '../abi/arena';
import { MEMORY_MOST, OID_MAX } from './oid';

/** Parents that a record holds; of more the commit is read again. */
export const PARENTS_HELD: u32 = 2;

// @ts-ignore: decorator
@unmanaged
export class Waiting {
  date: u64;
  /** Counts up: who came first. */
  number: u64;
  /** Its name, where the walk keeps it; in the list of free records the next one. */
  oid: usize;
  parentCount: u32;
  /** Where it is in the commit-graph, or NOWHERE; and its parents, as they stand there, in place of their names. */
  place: u32;
  first: u32;
  second: u32;

  tree(): usize {
    return changetype<usize>(this) + offsetof<Waiting>();
  }
  /** The name of a parent, if `parentCount` is not above PARENTS_HELD and it has no place. */
  parent(index: u32): usize {
    return this.tree() + OID_MAX * (1 + <usize>index);
  }
}
const WAITING_BYTES: usize = offsetof<Waiting>() + OID_MAX * (1 + <usize>PARENTS_HELD);
const CHUNK: usize = 256 << 10;

let free: usize = 0;
let chunkAt: usize = 0;
let chunkEnd: usize = 0;

let heap: usize = 0;
let room: usize = 0;
let count: usize = 0;
let numbers: u64 = 0;

/** Forgets all that wait. */
export function emptyQueue(): void {
  for (; count > 0; count--) release(at(count - 1));
  numbers = 0;
}

/** A record to fill and `push`, or null if no memory is left. */
export function makeWaiting(): Waiting | null {
  if (free !== 0) {
    const again = changetype<Waiting>(free);
    free = again.oid;
    return again;
  }
  if (chunkEnd - chunkAt < WAITING_BYTES) {
    chunkAt = reserveWithin(CHUNK, MEMORY_MOST);
    if (chunkAt === 0) {
      chunkEnd = 0;
      return null;
    }
    chunkEnd = chunkAt + CHUNK;
  }
  const fresh = changetype<Waiting>(chunkAt);
  chunkAt += WAITING_BYTES;
  return fresh;
}

/** Gives a record back, after `pop`. */
export function release(waiting: Waiting): void {
  waiting.oid = free;
  free = changetype<usize>(waiting);
}

// @ts-ignore: decorator
@inline
function at(index: usize): Waiting {
  return changetype<Waiting>(load<usize>(heap + (index << 2)));
}

// @ts-ignore: decorator
@inline
function isBefore(a: Waiting, b: Waiting): bool {
  return a.date !== b.date ? a.date > b.date : a.number < b.number;
}

/** Puts a commit in; false if no memory is left. O(log n). */
export function push(waiting: Waiting): bool {
  if (count === room && !grow()) return false;
  waiting.number = numbers++;
  let index = count++;
  while (index > 0) {
    const above = (index - 1) >> 1;
    if (!isBefore(waiting, at(above))) break;
    store<usize>(heap + (index << 2), changetype<usize>(at(above)));
    index = above;
  }
  store<usize>(heap + (index << 2), changetype<usize>(waiting));
  return true;
}

/** Takes the first commit out, or null if none waits. O(log n). */
export function pop(): Waiting | null {
  if (count === 0) return null;
  const first = at(0);
  const last = at(--count);
  let index: usize = 0;
  while (true) {
    let below: usize = 2 * index + 1;
    if (below >= count) break;
    if (below + 1 < count && isBefore(at(below + 1), at(below))) below++;
    if (!isBefore(at(below), last)) break;
    store<usize>(heap + (index << 2), changetype<usize>(at(below)));
    index = below;
  }
  store<usize>(heap + (index << 2), changetype<usize>(last));
  return first;
}

function grow(): bool {
  const wanted = room === 0 ? <usize>1_024 : room << 1;
  const larger = reserveWithin(wanted << 2, MEMORY_MOST);
  if (larger === 0) return false;
  memory.copy(larger, heap, count << 2);
  heap = larger;
  room = wanted;
  return true;
}
