/**
 * Names as the walk judges them: is it an address, is it reserved, which comes first. Leaf of walk/: raw loads, each
 * inside the name's own bytes. The same rules as the host's judge/address; one table of cases tests both.
 */

/** Of U+0000 … U+007F, the ones no segment may hold: controls, `/`, `:`, `\`. */
// @ts-ignore: decorator
@inline
function isForbidden(byte: u32): bool {
  return byte < 0x20 || byte === 0x7f || byte === 0x2f || byte === 0x3a || byte === 0x5c;
}

/**
 * Whether the name, which is UTF-8, is one segment of an address: not empty, not `.` or `..`, no `/`, `\`, `:`, no
 * control character (Cc), not ending with `.` or with white space. O(size).
 */
export function isSegment(name: usize, size: usize): bool {
  if (size === 0) return false;
  for (let i: usize = 0; i < size; i++) {
    const byte = load<u8>(name + i);
    if (isForbidden(byte)) return false;
    // U+0080 … U+009F, the controls above ASCII
    if (byte === 0xc2 && i + 1 < size && load<u8>(name + i + 1) < 0xa0) return false;
  }
  return load<u8>(name + size - 1) !== 0x2e && !endsWithSpace(name, size);
}

/** Whether the last character is Unicode White_Space (the property; controls are refused before). */
function endsWithSpace(name: usize, size: usize): bool {
  const end = name + size;
  if (load<u8>(end - 1) === 0x20) return true;
  if (size >= 2 && load<u8>(end - 2) === 0xc2) return load<u8>(end - 1) === 0xa0; // U+00A0
  if (size < 3) return false;
  const last: u32 = (<u32>load<u8>(end - 3) << 16) | (<u32>load<u8>(end - 2) << 8) | <u32>load<u8>(end - 1);
  return (
    last === 0xe19a80 || // U+1680
    (last >= 0xe28080 && last <= 0xe2808a) || // U+2000 … U+200A
    last === 0xe280a8 || // U+2028
    last === 0xe280a9 || // U+2029
    last === 0xe280af || // U+202F
    last === 0xe2819f || // U+205F
    last === 0xe38080 // U+3000
  );
}

const SPRAWLING: usize = memory.data<u8>([0x2e, 0x73, 0x70, 0x72, 0x61, 0x77, 0x6c, 0x69, 0x6e, 0x67]); // .sprawling
const GIT: usize = memory.data<u8>([0x2e, 0x67, 0x69, 0x74]); // .git

/** Whether the name is `.sprawling` or `.git`, ASCII case folded. */
export function isReserved(name: usize, size: usize): bool {
  return (size === 4 && isFolded(name, GIT, 4)) || (size === 10 && isFolded(name, SPRAWLING, 10));
}

function isFolded(name: usize, lower: usize, size: usize): bool {
  for (let i: usize = 0; i < size; i++) {
    const byte = load<u8>(name + i);
    const folded = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
    if (folded !== load<u8>(lower + i)) return false;
  }
  return true;
}

/** Below zero if a comes before b by bytes, zero if they are equal. */
export function compare(a: usize, aSize: usize, b: usize, bSize: usize): i32 {
  const common = min(aSize, bSize);
  for (let i: usize = 0; i < common; i++) {
    const difference = <i32>load<u8>(a + i) - <i32>load<u8>(b + i);
    if (difference !== 0) return difference;
  }
  return aSize < bSize ? -1 : <i32>(aSize > bSize);
}
