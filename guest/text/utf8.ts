/**
 * Whether bytes are UTF-8 (RFC 3629, Unicode table 3-7): no overlong form, no surrogate, nothing above U+10FFFF.
 * Leaf of text/: raw loads, each below the `to` of its function. Used by `search` on files that hold the text, and by
 * `read` on every chunk as it passes.
 */

/** What is open at the end of a chunk: a sequence that the next chunk has to go on with. All zero: nothing. */
// @ts-ignore: decorator
@unmanaged
export class Utf8 {
  /** Continuation bytes still to come. */
  missing: u32;
  /** Bounds of the next one, [low, high]. */
  low: u32;
  high: u32;

  /** Forgets what is open. */
  clear(): void {
    this.missing = 0;
  }

  /** Whether the bytes so far end with a whole character. */
  isWhole(): bool {
    return this.missing === 0;
  }

  /** Goes on with [from, to). The first byte that does not fit, or 0. O(size); ASCII 16 bytes a step. */
  feed(from: usize, to: usize): usize {
    let p = from;
    while (p < to) {
      if (this.missing === 0) {
        p = skipCharacters(p, to);
        if (p === to) return 0;
      }
      if (!this.take(load<u8>(p))) return p;
      p++;
    }
    return 0;
  }

  /** One byte; false if it does not fit. The slow way, for what skipCharacters does not take. */
  private take(byte: u32): bool {
    if (this.missing > 0) {
      if (byte < this.low || byte > this.high) return false;
      this.missing--;
      this.expect(this.missing, 0x80, 0xbf);
      return true;
    }
    if (byte < 0x80) return true;
    if (byte < 0xc2 || byte > 0xf4) return false;
    if (byte < 0xe0) this.expect(1, 0x80, 0xbf);
    else if (byte < 0xf0) this.expect(2, byte === 0xe0 ? 0xa0 : 0x80, byte === 0xed ? 0x9f : 0xbf);
    else this.expect(3, byte === 0xf0 ? 0x90 : 0x80, byte === 0xf4 ? 0x8f : 0xbf);
    return true;
  }

  private expect(missing: u32, low: u32, high: u32): void {
    this.missing = missing;
    this.low = low;
    this.high = high;
  }
}

const scratch = changetype<Utf8>(memory.data(12, 4));

/** Whether all of [from, to) is UTF-8. The empty span is. O(size). */
export function isUtf8(from: usize, to: usize): bool {
  scratch.clear();
  return scratch.feed(from, to) === 0 && scratch.isWhole();
}

/** The first place in [p, to) that is not a whole, right character with three bytes behind it; or `to`. */
function skipCharacters(from: usize, to: usize): usize {
  let p = from;
  while (to - p >= 16) {
    const mask = i8x16.bitmask(v128.load(p));
    if (mask === 0) {
      p += 16;
      continue;
    }
    p += <usize>ctz<i32>(mask);
    // The rest of one run of other characters, as long as four bytes can be looked at.
    while (to - p >= 4) {
      const size = characterAt(load<u32>(p));
      if (size === 0) return p;
      p += size;
      if (size === 1) break;
    }
  }
  while (p < to && load<u8>(p) < 0x80) p++;
  return p;
}

/** How many bytes the character takes that these four bytes begin with (the first one lowest); 0 if none. */
// @ts-ignore: decorator
@inline
function characterAt(word: u32): usize {
  const lead = word & 0xff;
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return lead >= 0xc2 && (word & 0xc000) === 0x8000 ? 2 : 0;
  const second = (word >> 8) & 0xff;
  if (lead < 0xf0) {
    if ((word & 0xc0c000) !== 0x808000) return 0;
    return (lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f) ? 0 : 3;
  }
  if (lead > 0xf4 || (word & 0xc0c0c000) !== 0x80808000) return 0;
  return (lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f) ? 0 : 4;
}

/** Whether a character can begin with this byte. */
// @ts-ignore: decorator
@inline
export function isBorder(byte: u8): bool {
  return (byte & 0xc0) !== 0x80;
}

/** The last border of characters in [from, at]; `to` is where the text ends, and is one. O(1) in UTF-8. */
export function borderBefore(from: usize, at: usize, to: usize): usize {
  let p = at;
  while (p > from && p < to && !isBorder(load<u8>(p))) p--;
  return p;
}

/** The first border of characters in [at, to]. O(1) in UTF-8. */
export function borderAfter(at: usize, to: usize): usize {
  let p = at;
  while (p < to && !isBorder(load<u8>(p))) p++;
  return p;
}
