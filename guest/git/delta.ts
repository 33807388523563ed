/**
 * Applies a delta to the object it was made from (gitformat-pack: "Deltified representation"). Stands between objects.ts,
 * which brings both, and the bytes. Leaf: raw loads and stores, each inside the span that the check before it shows.
 *
 *   delta   | size of the base | size of the result | instruction | …       sizes: 7 bits a byte, lowest first
 *   copy    | 1ooo: which bytes of offset and size follow | …               size 0 means 65 536
 *   insert  | 0nnn nnnn: n ≥ 1 | n bytes |
 */

/** What `readSizes` read, and where the instructions begin. */
export let baseSize: u64 = 0;
export let resultSize: u64 = 0;
let instructions: usize = 0;

/** Reads the two sizes at the head of a delta; false if they are none. */
export function readSizes(at: usize, end: usize): bool {
  instructions = at;
  if (!readSize(end)) return false;
  baseSize = size;
  if (!readSize(end)) return false;
  resultSize = size;
  return true;
}

let size: u64 = 0;

function readSize(end: usize): bool {
  size = 0;
  for (let shift: u64 = 0; shift < 63; shift += 7) {
    if (instructions >= end) return false;
    const byte = <u64>load<u8>(instructions++);
    size |= (byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

/**
 * Writes the result, `resultSize` bytes, to `to`; false unless every instruction stays inside base and result and they
 * fill it exactly. After `readSizes` of the same delta; the base has `baseSize` bytes. O(delta + result).
 */
export function apply(base: usize, deltaEnd: usize, to: usize): bool {
  const baseBytes = <u32>baseSize;
  const end = to + <usize>resultSize;
  let from = instructions;
  while (from < deltaEnd) {
    const code = <u32>load<u8>(from++);
    if (code < 128) {
      if (code === 0 || deltaEnd - from < code || end - to < code) return false;
      memory.copy(to, from, code);
      from += code;
      to += code;
      continue;
    }
    if (deltaEnd - from < popcnt<u32>(code & 127)) return false;
    let offset: u32 = 0;
    let bytes: u32 = 0;
    if (code & 1) offset = load<u8>(from++);
    if (code & 2) offset |= <u32>load<u8>(from++) << 8;
    if (code & 4) offset |= <u32>load<u8>(from++) << 16;
    if (code & 8) offset |= <u32>load<u8>(from++) << 24;
    if (code & 16) bytes = load<u8>(from++);
    if (code & 32) bytes |= <u32>load<u8>(from++) << 8;
    if (code & 64) bytes |= <u32>load<u8>(from++) << 16;
    if (bytes === 0) bytes = 0x1_0000;
    if (offset > baseBytes || baseBytes - offset < bytes || end - to < bytes) return false;
    memory.copy(to, base + offset, bytes);
    to += bytes;
  }
  return to === end;
}
