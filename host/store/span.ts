/**
 * Where a range of a Locator lies in a file: exact, or past its end, and never clamped. Reads no further than the end of
 * the last line asked, so that a front line of a huge block does not read the block. Beside blocks.ts.
 * Spec: locators-and-catalog, "getRange".
 */

import type { LocatorRange } from '../judge/locator.js';
import { SPAN_CHUNK_BYTES } from '../limits.js';
import { type Failure, failed, type OpenFile } from '../tree/tree.js';
import type { Span } from '../tree/window.js';

const NEWLINE = 0x0a;

/** Asked before each chunk is read and told after: whether the reader may go on. */
export interface Toll {
  mayRead(): boolean;
  read(bytes: number): void;
}

/**
 * The bytes of the range. Bytes at once; lines by reading up to the end of the last one. Inner newlines belong to it,
 * the last one does not; a last line without one counts. `spent`: the toll ended it.
 */
export function spanOf(file: OpenFile, range: LocatorRange, toll: Toll): Span | Failure | 'past-end' | 'spent' {
  // A file has no more lines than bytes, and no more bytes than a number counts exactly.
  if (range.last > BigInt(file.sizeBytes)) return 'past-end';
  const [first, last] = [Number(range.first), Number(range.last)];
  if (range.unit === 'B') return last < file.sizeBytes ? { start: first, end: last + 1 } : 'past-end';
  return linesOf(file, first, last, toll);
}

function linesOf(file: OpenFile, first: number, last: number, toll: Toll): ReturnType<typeof spanOf> {
  const chunk = new Uint8Array(SPAN_CHUNK_BYTES);
  /** Where the line number `line` begins, and where the first one asked did. */
  let [at, line, begins, start] = [0, 1, 0, 0];
  for (;;) {
    if (!toll.mayRead()) return 'spent';
    const got = file.read(chunk, at);
    if (failed(got)) return got;
    toll.read(got);
    // At the end: a line that has a byte is one, also without its newline.
    if (got === 0) return line === last && at > begins ? { start, end: at } : 'past-end';
    const bytes = chunk.subarray(0, got);
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, end + 1)) {
      if (line === last) return { start, end: at + end };
      begins = at + end + 1;
      if (++line === first) start = begins;
    }
    at += got;
  }
}
