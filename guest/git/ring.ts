/**
 * Objects that were built from packs, kept by pack and offset: bases for the deltas of others. Stands beside objects.ts,
 * which asks here before it builds. Bounded: a ring of bytes, in which the oldest entries give way to the newest.
 *
 *   ring   |  … free … | oldest entry | entry | … | newest entry | … free … |
 *   entry  | offset, pack, type, size, next in its bucket | bytes |
 *
 * Once the ring has gone round, the entries behind `wrap` are over and the oldest ones stand before it.
 */

import { reserve } from '../abi/arena';

const RING_BYTES: usize = 40 << 20;
/** Larger ones are not kept: each would push many others out. */
const OBJECT_MOST: usize = 4 << 20;
const BUCKETS: u32 = 16_384;

/** What is kept; its bytes lie behind it. */
// @ts-ignore: decorator
@unmanaged
export class Kept {
  offset: u64;
  pack: u32;
  type: u32;
  size: usize;
  next: Kept | null;

  bytes(): usize {
    return changetype<usize>(this) + HEAD_BYTES;
  }
}
const HEAD_BYTES: usize = (offsetof<Kept>() + 7) & ~7;

let ring: usize = 0;
let buckets: usize = 0;
let count: u32 = 0;
/** The oldest entry, and where the next one goes. */
let oldest: usize = 0;
let head: usize = 0;
/** Where the ring's bytes end that were written before it went round; 0 if the entries lie in one piece. */
let wrap: usize = 0;

/** Forgets all. */
export function emptyRing(): void {
  if (ring === 0) {
    ring = reserve(RING_BYTES);
    buckets = reserve(<usize>BUCKETS << 2);
  }
  memory.fill(buckets, 0, <usize>BUCKETS << 2);
  count = 0;
}

/** What is kept of this place, or null. It stays until something is kept. */
export function findKept(pack: u32, offset: u64): Kept | null {
  let kept = changetype<Kept | null>(load<usize>(bucketOf(pack, offset)));
  while (kept !== null && (kept.offset !== offset || kept.pack !== pack)) kept = kept.next;
  return kept;
}

/** Keeps a copy, unless it is too large. O(size). */
export function keep(pack: u32, offset: u64, type: u32, from: usize, size: usize): void {
  if (size > OBJECT_MOST) return;
  const whole = (HEAD_BYTES + size + 7) & ~7;
  makeRoom(whole);
  const kept = changetype<Kept>(head);
  const bucket = bucketOf(pack, offset);
  kept.offset = offset;
  kept.pack = pack;
  kept.type = type;
  kept.size = size;
  kept.next = changetype<Kept | null>(load<usize>(bucket));
  store<usize>(bucket, head);
  memory.copy(kept.bytes(), from, size);
  head += whole;
  count++;
}

/** Drops entries until `size` bytes are free at `head`. */
function makeRoom(size: usize): void {
  while (true) {
    if (count === 0) {
      oldest = head = ring;
      wrap = 0;
      return;
    }
    if (wrap !== 0) {
      if (oldest - head >= size) return;
      drop();
    } else if (ring + RING_BYTES - head >= size) return;
    else {
      wrap = head;
      head = ring;
    }
  }
}

/** Drops the oldest entry. */
function drop(): void {
  const gone = changetype<Kept>(oldest);
  const bucket = bucketOf(gone.pack, gone.offset);
  if (load<usize>(bucket) === oldest) store<usize>(bucket, changetype<usize>(gone.next));
  else {
    let before = changetype<Kept>(load<usize>(bucket));
    while (before.next !== gone) before = changetype<Kept>(before.next);
    before.next = gone.next;
  }
  oldest += (HEAD_BYTES + gone.size + 7) & ~7;
  count--;
  if (oldest === wrap) {
    oldest = ring;
    wrap = 0;
  }
}

// @ts-ignore: decorator
@inline
function bucketOf(pack: u32, offset: u64): usize {
  const mixed = ((offset + ((<u64>pack) << 40)) * 0x9e37_79b9_7f4a_7c15) >> 50; // 14 bits, as many as BUCKETS
  return buckets + (<usize>mixed << 2);
}
