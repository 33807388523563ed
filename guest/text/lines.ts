/**
 * Where lines begin and end: only LF (0x0a) ends one. Leaf of text/: raw loads, each below the `to` of its function.
 * Every span is [from, to); nothing outside it is touched.
 */

const LF: u8 = 0x0a;
const CR: u8 = 0x0d;
/** Bytes of one vector. */
const V: usize = 16;

/** The first `byte` in the span, or 0 if there is none (also of an empty span). O(size), 64 bytes a step. */
export function findByte(byte: u8, from: usize, to: usize): usize {
  const wanted = i8x16.splat(byte);
  let p = from;
  for (; to - p >= 4 * V; p += 4 * V) {
    const a = i8x16.eq(v128.load(p), wanted);
    const b = i8x16.eq(v128.load(p, V), wanted);
    const c = i8x16.eq(v128.load(p, 2 * V), wanted);
    const d = i8x16.eq(v128.load(p, 3 * V), wanted);
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) return p + <usize>ctz<u64>(mask64(a, b, c, d));
  }
  for (; to - p >= V; p += V) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p), wanted));
    if (mask !== 0) return p + <usize>ctz<i32>(mask);
  }
  for (; p < to; p++) if (load<u8>(p) === byte) return p;
  return 0;
}

/** The first LF in the span, or 0. */
export function findLineEnd(from: usize, to: usize): usize {
  return findByte(LF, from, to);
}

/** Where the line that holds `at` begins, not looking before `from`. O(size of the line's part before `at`). */
export function lineStart(from: usize, at: usize): usize {
  const wanted = i8x16.splat(LF);
  let p = at;
  for (; p - from >= V; p -= V) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p - V), wanted));
    if (mask !== 0) return p - V + <usize>(32 - clz<i32>(mask));
  }
  for (; p > from; p--) if (load<u8>(p - 1) === LF) return p;
  return from;
}

/** How many LF the span holds. O(size), 64 bytes a step. */
export function countLineEnds(from: usize, to: usize): usize {
  const wanted = i8x16.splat(LF);
  let count: usize = 0;
  let p = from;
  for (; to - p >= 4 * V; p += 4 * V) {
    const a = i8x16.eq(v128.load(p), wanted);
    const b = i8x16.eq(v128.load(p, V), wanted);
    const c = i8x16.eq(v128.load(p, 2 * V), wanted);
    const d = i8x16.eq(v128.load(p, 3 * V), wanted);
    count += <usize>popcnt<u64>(mask64(a, b, c, d));
  }
  for (; p < to; p++) count += <usize>(load<u8>(p) === LF);
  return count;
}

/** The first byte behind the `lines`-th LF of the span, or 0 if it holds fewer; `lines` ≥ 1. O(size). */
export function skipLines(lines: u64, from: usize, to: usize): usize {
  let left = lines;
  let p = from;
  // Whole blocks by counting, and the last one line by line: a line may be one byte long.
  for (const BLOCK: usize = 4096; to - p >= BLOCK; p += BLOCK) {
    const count = <u64>countLineEnds(p, p + BLOCK);
    if (count >= left) break;
    left -= count;
  }
  for (; left > 0; left--) {
    const end = findLineEnd(p, to);
    if (end === 0) return 0;
    p = end + 1;
  }
  return p;
}

/** Where a line's text ends that begins at `start`: `end` is its LF, or the span's end; one CR before an LF is no text. */
export function textEnd(start: usize, end: usize, hasLineEnd: bool): usize {
  return hasLineEnd && end > start && load<u8>(end - 1) === CR ? end - 1 : end;
}

// @ts-ignore: decorator
@inline
function mask64(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64><u32>i8x16.bitmask(a) |
    (<u64><u32>i8x16.bitmask(b) << 16) |
    (<u64><u32>i8x16.bitmask(c) << 32) |
    (<u64><u32>i8x16.bitmask(d) << 48)
  );
}
