/**
 * Two checksums: Adler-32 (RFC 1950), which ends every zlib stream, and CRC-32 (RFC 1952), which a pack's index keeps of
 * every object as it is stored. Leaf of git/: raw loads, inside the span that is named.
 */

import { reserve } from '../abi/arena';

const ADLER_PRIME: u32 = 65_521;
/** So many bytes fit 32 bits before they have to be reduced; a multiple of 16. */
const ADLER_RUN: usize = 5_552;

/** Adler-32 of [at, end) behind what gave `sum` (1 at the beginning). O(bytes), 16 at a time. */
export function adler32(sum: u32, at: usize, end: usize): u32 {
  let a: u64 = sum & 0xffff;
  let b: u64 = sum >> 16;
  const high = i16x8(16, 15, 14, 13, 12, 11, 10, 9);
  const low = i16x8(8, 7, 6, 5, 4, 3, 2, 1);
  while (at < end) {
    const stop = at + min(ADLER_RUN, end - at);
    const blocks = (stop - at) >> 4;
    let sums = i32x4.splat(0); // of bytes
    let before = i32x4.splat(0); // of `sums` as it was at each block
    let weighed = i32x4.splat(0);
    for (let i: usize = 0; i < blocks; i++, at += 16) {
      const bytes = v128.load(at);
      before = i32x4.add(before, sums);
      sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bytes)));
      weighed = i32x4.add(weighed, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(bytes), high));
      weighed = i32x4.add(weighed, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(bytes), low));
    }
    b += 16 * ((<u64>blocks) * a + sumOf(before)) + sumOf(weighed);
    a += sumOf(sums);
    for (; at < stop; at++) {
      a += load<u8>(at);
      b += a;
    }
    a %= ADLER_PRIME;
    b %= ADLER_PRIME;
  }
  return (<u32>b << 16) | <u32>a;
}

// @ts-ignore: decorator
@inline
function sumOf(lanes: v128): u64 {
  return (
    <u64>(<u32>i32x4.extract_lane(lanes, 0)) +
    <u64>(<u32>i32x4.extract_lane(lanes, 1)) +
    <u64>(<u32>i32x4.extract_lane(lanes, 2)) +
    <u64>(<u32>i32x4.extract_lane(lanes, 3))
  );
}

/** Eight tables of 256 words: the n-th is of a byte with n zero bytes behind it. Made at the first use. */
let crcTables: usize = 0;

function makeCrc(): void {
  crcTables = reserve(8 * 1_024);
  for (let i: u32 = 0; i < 256; i++) {
    let word = i;
    for (let bit = 0; bit < 8; bit++) word = (word >> 1) ^ (word & 1 ? 0xedb8_8320 : 0);
    store<u32>(crcTables + (<usize>i << 2), word);
  }
  for (let i: usize = 0; i < 7 * 256; i++) {
    const word = load<u32>(crcTables + (i << 2));
    store<u32>(crcTables + ((i + 256) << 2), (word >> 8) ^ crcOf(0, word & 0xff));
  }
}

// @ts-ignore: decorator
@inline
function crcOf(zeros: usize, byte: u32): u32 {
  return load<u32>(crcTables + (zeros << 10) + (<usize>byte << 2));
}

/** CRC-32 of [at, end) behind what gave `sum` (0 at the beginning). O(bytes), 8 at a time. */
export function crc32(sum: u32, at: usize, end: usize): u32 {
  if (crcTables === 0) makeCrc();
  let crc = ~sum;
  for (; end - at >= 8; at += 8) {
    const low = load<u32>(at) ^ crc;
    const high = load<u32>(at, 4);
    crc =
      crcOf(7, low & 0xff) ^ crcOf(6, (low >> 8) & 0xff) ^ crcOf(5, (low >> 16) & 0xff) ^ crcOf(4, low >> 24) ^
      crcOf(3, high & 0xff) ^ crcOf(2, (high >> 8) & 0xff) ^ crcOf(1, (high >> 16) & 0xff) ^ crcOf(0, high >> 24);
  }
  for (; at < end; at++) crc = (crc >> 8) ^ crcOf(0, (crc ^ load<u8>(at)) & 0xff);
  return ~crc;
}
