/**
 * The hashes that git's files end with: SHA-1 (RFC 3174) and SHA-256 (FIPS 180-4), of bytes that come in pieces. Leaf of
 * git/: raw loads, inside the span that is named. Names of objects are not hashed here: what leaves is hashed by the host.
 *
 * One digest at a time: `beginDigest`, `digest` piece by piece, `endDigest`. The words of the state and of a block's
 * schedule are the only memory.
 */

/** The block under way while it is not whole. */
const BLOCK: usize = 64;
const partial: usize = memory.data(64, 8);
/** How much of it has come, and how much of everything. */
let held: usize = 0;
let total: u64 = 0;
/** Whether it is SHA-256. */
let isLong: bool = false;
const state: usize = memory.data(32, 8);
/** The schedule: of SHA-1 80 words, of SHA-256 64. */
const words: usize = memory.data(320, 8);

/** Begins the digest whose result has `size` bytes: 20 is SHA-1, 32 SHA-256. */
export function beginDigest(size: usize): void {
  isLong = size === 32;
  held = 0;
  total = 0;
  if (isLong) {
    start(0, 0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a);
    start(16, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19);
  } else {
    start(0, 0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476);
    start(16, 0xc3d2_e1f0, 0, 0, 0);
  }
}

function start(at: usize, a: u32, b: u32, c: u32, d: u32): void {
  store<u32>(state + at, a);
  store<u32>(state + at, b, 4);
  store<u32>(state + at, c, 8);
  store<u32>(state + at, d, 12);
}

/** Takes the next bytes, [from, end). O(bytes). */
export function digest(from: usize, end: usize): void {
  let at = from;
  total += end - from;
  if (held > 0) {
    const part = min(BLOCK - held, end - at);
    memory.copy(partial + held, at, part);
    held += part;
    at += part;
    if (held < BLOCK) return;
    mix(partial);
  }
  for (; end - at >= BLOCK; at += BLOCK) mix(at);
  held = end - at;
  memory.copy(partial, at, held);
}

/** Writes the digest of all that came, as many bytes as `beginDigest` was told. */
export function endDigest(to: usize): void {
  store<u8>(partial + held, 0x80);
  memory.fill(partial + held + 1, 0, BLOCK - held - 1);
  // Behind the mark the last block has room for the length, or one more block has.
  if (held + 1 > BLOCK - 8) {
    mix(partial);
    memory.fill(partial, 0, BLOCK);
  }
  store<u64>(partial + BLOCK - 8, bswap<u64>(total << 3));
  mix(partial);
  const size: usize = isLong ? 32 : 20;
  for (let i: usize = 0; i < size; i += 4) store<u32>(to + i, bswap<u32>(load<u32>(state + i)));
}

function mix(block: usize): void {
  for (let i: usize = 0; i < BLOCK; i += 4) store<u32>(words + i, bswap<u32>(load<u32>(block + i)));
  if (isLong) mixLong();
  else mixShort();
}

// @ts-ignore: decorator
@inline
function word(index: usize): u32 {
  return load<u32>(words + (index << 2));
}

/** SHA-1, section 6.1. */
function mixShort(): void {
  for (let i: usize = 16; i < 80; i++) {
    store<u32>(words + (i << 2), rotl<u32>(word(i - 3) ^ word(i - 8) ^ word(i - 14) ^ word(i - 16), 1));
  }
  let a = load<u32>(state);
  let b = load<u32>(state, 4);
  let c = load<u32>(state, 8);
  let d = load<u32>(state, 12);
  let e = load<u32>(state, 16);
  for (let i: usize = 0; i < 80; i++) {
    let mixed: u32 = 0;
    if (i < 20) mixed = (d ^ (b & (c ^ d))) + 0x5a82_7999;
    else if (i < 40) mixed = (b ^ c ^ d) + 0x6ed9_eba1;
    else if (i < 60) mixed = ((b & c) | (d & (b | c))) + 0x8f1b_bcdc;
    else mixed = (b ^ c ^ d) + 0xca62_c1d6;
    const next = rotl<u32>(a, 5) + mixed + e + word(i);
    e = d;
    d = c;
    c = rotl<u32>(b, 30);
    b = a;
    a = next;
  }
  add(0, a);
  add(4, b);
  add(8, c);
  add(12, d);
  add(16, e);
}

// @ts-ignore: decorator
@inline
function add(at: usize, value: u32): void {
  store<u32>(state + at, load<u32>(state + at) + value);
}

/** FIPS 180-4, section 4.2.2: the first 32 bits of the fractions of the cube roots of the first 64 primes. */
const ROOTS: usize = memory.data<u32>([
  0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
  0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
  0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
  0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
  0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
  0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
  0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
  0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
]);

/** SHA-256, section 6.2.2. */
function mixLong(): void {
  for (let i: usize = 16; i < 64; i++) {
    const far = word(i - 15);
    const near = word(i - 2);
    const s0 = rotr<u32>(far, 7) ^ rotr<u32>(far, 18) ^ (far >> 3);
    const s1 = rotr<u32>(near, 17) ^ rotr<u32>(near, 19) ^ (near >> 10);
    store<u32>(words + (i << 2), word(i - 16) + s0 + word(i - 7) + s1);
  }
  let a = load<u32>(state);
  let b = load<u32>(state, 4);
  let c = load<u32>(state, 8);
  let d = load<u32>(state, 12);
  let e = load<u32>(state, 16);
  let f = load<u32>(state, 20);
  let g = load<u32>(state, 24);
  let h = load<u32>(state, 28);
  for (let i: usize = 0; i < 64; i++) {
    const s1 = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25);
    const first = h + s1 + (g ^ (e & (f ^ g))) + load<u32>(ROOTS + (i << 2)) + word(i);
    const s0 = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22);
    const second = s0 + ((a & b) | (c & (a | b)));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  add(0, a);
  add(4, b);
  add(8, c);
  add(12, d);
  add(16, e);
  add(20, f);
  add(24, g);
  add(28, h);
}
