/**
 * Finds a needle in bytes. Leaf of text/: raw loads, inside the span and up to `READ_PAST` bytes behind it.
 *
 * Promise: the first occurrence, and time linear in the span, whatever needle and span are.
 * Choice: one byte → a byte scan. Else the packed pair: vectors at the needle's two rarest bytes (text/rarity.ts), in
 * which a set bit is a candidate that is then compared. Candidates that are nearly the needle, again and again, would
 * make that quadratic; so what comparing costs is counted, and over an allowance Knuth-Morris-Pratt takes the rest.
 * Why not first and last byte: on an indented line both are everywhere (measured: 1.7 against 12 GB/s).
 */

import { Arena } from '../abi/arena';
import { findByte } from './lines';
import { commonness } from './rarity';

/** How far behind its span `find` may load. Whoever owns the buffer leaves room for it. */
export const READ_PAST: usize = 16;

/** Up to this size comparing costs a candidate no more than one step: nothing to guard against. */
const SHORT: usize = 16;

/** What is looked for. Made once a search. */
// @ts-ignore: decorator
@unmanaged
export class Needle {
  at: usize;
  size: usize;
  /** Offsets of the two rarest bytes; equal only if there is one byte. */
  rarest: usize;
  second: usize;
  /** For each prefix the length of its longest border, 4 bytes each; 0 for a short needle. */
  borders: usize;
  /** Bytes compared since `renew`, and how many may be. */
  spent: usize;
  allowance: usize;
}

/** Makes a needle of `size` ≥ 1 bytes, which stay where they are. The rest lies on `arena`. O(size). */
export function makeNeedle(at: usize, size: usize, arena: Arena): Needle {
  const needle = changetype<Needle>(arena.alloc(4, offsetof<Needle>()));
  needle.at = at;
  needle.size = size;
  needle.rarest = rarestOffset(at, size, size);
  needle.second = size === 1 ? 0 : rarestOffset(at, size, needle.rarest);
  needle.borders = size <= SHORT ? 0 : bordersOf(at, size, arena);
  renew(needle, 0);
  return needle;
}

/** A new haystack of `size` bytes: comparing may cost some bytes for each of it before the other algorithm takes over. */
export function renew(needle: Needle, size: usize): void {
  needle.spent = 0;
  needle.allowance = 2 * size + 4096;
}

/** The first occurrence that lies wholly in [from, to), or 0. O(to - from). */
export function find(needle: Needle, from: usize, to: usize): usize {
  const size = needle.size;
  if (to - from < size) return 0;
  if (size === 1) return findByte(load<u8>(needle.at), from, to);
  if (isSpent(needle)) return findByBorders(needle, from, to);

  const rarest = needle.rarest;
  const second = needle.second;
  const one = i8x16.splat(load<u8>(needle.at + rarest));
  const two = i8x16.splat(load<u8>(needle.at + second));
  const ends = to - size + 1; // behind the last place where it can start
  let p = from;
  for (; p < ends; p += 64) {
    let candidates: u64;
    if (ends - p >= 64) {
      const a = pair(p, rarest, one, second, two);
      const b = pair(p + 16, rarest, one, second, two);
      const c = pair(p + 32, rarest, one, second, two);
      const d = pair(p + 48, rarest, one, second, two);
      if (!v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) continue;
      candidates = bits(a) | (bits(b) << 16) | (bits(c) << 32) | (bits(d) << 48);
    } else {
      candidates = tail(p, ends - p, rarest, one, second, two);
    }
    for (; candidates !== 0; candidates &= candidates - 1) {
      const q = p + <usize>ctz<u64>(candidates);
      if (isAt(needle, q)) return q;
      if (isSpent(needle)) return findByBorders(needle, q + 1, to);
    }
  }
  return 0;
}

/** Where both bytes stand at their offsets from p … p + 15. */
// @ts-ignore: decorator
@inline
function pair(p: usize, rarest: usize, one: v128, second: usize, two: v128): v128 {
  return v128.and(i8x16.eq(v128.load(p + rarest), one), i8x16.eq(v128.load(p + second), two));
}

// @ts-ignore: decorator
@inline
function bits(mask: v128): u64 {
  return <u64><u32>i8x16.bitmask(mask);
}

/** The candidates among the last `starts` < 64 places. Loads past the span, and forgets what it saw there. */
function tail(p: usize, starts: usize, rarest: usize, one: v128, second: usize, two: v128): u64 {
  let candidates: u64 = 0;
  for (let i: usize = 0; i < starts; i += 16) candidates |= bits(pair(p + i, rarest, one, second, two)) << <u64>i;
  return candidates & (((<u64>1) << <u64>starts) - 1);
}

// @ts-ignore: decorator
@inline
function isSpent(needle: Needle): bool {
  return needle.borders !== 0 && needle.spent > needle.allowance;
}

/** Whether the needle stands at `q`, where it fits. Counts what that cost. O(bytes that agree). */
function isAt(needle: Needle, q: usize): bool {
  const at = needle.at;
  const size = needle.size;
  if (size < 16) return isAtShort(at, q, size);
  let i: usize = 0;
  for (; i + 16 <= size; i += 16) {
    if (!same16(at + i, q + i)) {
      needle.spent += i + 16;
      return false;
    }
  }
  needle.spent += size;
  return same16(at + size - 16, q + size - 16); // overlaps what was compared, so that it need not be cut
}

// @ts-ignore: decorator
@inline
function same16(a: usize, b: usize): bool {
  return i8x16.all_true(i8x16.eq(v128.load(a), v128.load(b)));
}

function isAtShort(at: usize, q: usize, size: usize): bool {
  if (size >= 8) return load<u64>(at) === load<u64>(q) && load<u64>(at + size - 8) === load<u64>(q + size - 8);
  if (size >= 4) return load<u32>(at) === load<u32>(q) && load<u32>(at + size - 4) === load<u32>(q + size - 4);
  for (let i: usize = 0; i < size; i++) if (load<u8>(at + i) !== load<u8>(q + i)) return false;
  return true;
}

/** The offset of the rarest byte, `but` left out; of equally rare ones the last, one that differs from `but`'s first. */
function rarestOffset(at: usize, size: usize, but: usize): usize {
  let best: usize = 0;
  let bestCost: u32 = 0xffff_ffff;
  for (let i: usize = 0; i < size; i++) {
    if (i === but) continue;
    const byte = load<u8>(at + i);
    // The same byte twice tells little more than once: any other is better.
    const cost = commonness(byte) + (but < size && byte === load<u8>(at + but) ? 256 : 0);
    if (cost <= bestCost) {
      best = i;
      bestCost = cost;
    }
  }
  return best;
}

/** Knuth, Morris, Pratt 1977. */
function bordersOf(at: usize, size: usize, arena: Arena): usize {
  const borders = arena.alloc(4, size << 2);
  store<u32>(borders, 0);
  let length: usize = 0;
  for (let i: usize = 1; i < size; i++) {
    const byte = load<u8>(at + i);
    while (length > 0 && load<u8>(at + length) !== byte) length = load<u32>(borders + ((length - 1) << 2));
    if (load<u8>(at + length) === byte) length++;
    store<u32>(borders + (i << 2), <u32>length);
  }
  return borders;
}

/** The same promise as `find`, one byte at a time. */
function findByBorders(needle: Needle, from: usize, to: usize): usize {
  const at = needle.at;
  const size = needle.size;
  const borders = needle.borders;
  let length: usize = 0;
  for (let p = from; p < to; p++) {
    const byte = load<u8>(p);
    while (length > 0 && load<u8>(at + length) !== byte) length = load<u32>(borders + ((length - 1) << 2));
    if (load<u8>(at + length) === byte) length++;
    if (length === size) return p + 1 - size;
  }
  return 0;
}
