/**
 * What bytes look like that are not UTF-8: a hint for the person who has to convert them, never a verdict.
 * Leaf of text/: raw loads, each below the `to` of its function. Stands behind walk/reading.ts.
 */

/** The WIT's `looks`, by number. */
export namespace Looks {
  export const UTF16: u8 = 0;
  export const GB: u8 = 1;
  export const BINARY: u8 = 2;
  export const UNKNOWN: u8 = 3;
}

/** How much of a file's beginning is looked at. */
const HEAD_BYTES: usize = 8192;

/** What the beginning of a file says by itself: UTF16 by its mark or its NULs, BINARY, or UNKNOWN. O(8 KiB). */
export function looksOfHead(from: usize, to: usize): u8 {
  if (hasUtf16Mark(from, to)) return Looks.UTF16;
  return looksByControls(from, min(to, from + HEAD_BYTES));
}

/** What the part of a file says in which it stops being UTF-8. `isFirst`: it begins where the file begins. O(size). */
export function looksOfPart(from: usize, to: usize, isFirst: bool): u8 {
  const looks = looksByControls(from, to);
  if (looks !== Looks.UNKNOWN) return looks;
  return pairsAsGb(isFirst ? from : behindAscii(from, to), to) ? Looks.GB : Looks.UNKNOWN;
}

function hasUtf16Mark(from: usize, to: usize): bool {
  if (to - from < 2) return false;
  const mark = load<u16>(from);
  return mark === 0xfeff || mark === 0xfffe;
}

/**
 * NULs at every other byte, a quarter of them or more and none between: UTF-16 of a text with Latin in it. Any other
 * NUL, or more than 30 % of control bytes: binary.
 */
function looksByControls(from: usize, to: usize): u8 {
  let even: usize = 0;
  let odd: usize = 0;
  let controls: usize = 0;
  for (let p = from; p < to; p++) {
    const byte = load<u8>(p);
    if (byte === 0) {
      if (((p - from) & 1) === 0) even++;
      else odd++;
    } else if (isControl(byte)) controls++;
  }
  const nuls = even + odd;
  if (nuls > 0) return (even === 0 || odd === 0) && nuls * 8 >= to - from ? Looks.UTF16 : Looks.BINARY;
  return controls * 10 > (to - from) * 3 ? Looks.BINARY : Looks.UNKNOWN;
}

/** A control byte that text does not have: all of C0 and DEL, but BS, TAB, LF, FF, CR and ESC. */
function isControl(byte: u8): bool {
  if (byte >= 0x20) return byte === 0x7f;
  return byte < 0x08 || byte === 0x0b || (byte > 0x0d && byte !== 0x1b);
}

/** Behind the first byte that is no trail byte: there a pair can begin. */
function behindAscii(from: usize, to: usize): usize {
  for (let p = from; p < to; p++) if (load<u8>(p) < 0x40) return p + 1;
  return to;
}

/** Whether all bytes above ASCII pair up as GBK's lead and trail bytes, and there is a pair. */
function pairsAsGb(from: usize, to: usize): bool {
  let pairs: usize = 0;
  let p = from;
  while (p < to) {
    const lead = load<u8>(p);
    if (lead < 0x80) {
      p++;
      continue;
    }
    if (lead === 0x80 || lead === 0xff) return false;
    if (p + 1 === to) break; // its trail byte is in the next part
    const trail = load<u8>(p + 1);
    if (trail < 0x40 || trail === 0x7f || trail === 0xff) return false;
    pairs++;
    p += 2;
  }
  return pairs > 0;
}
