/**
 * What of a line is shown, and the marker at each end that was cut. Stands between walk/scan.ts (which found the line)
 * and abi/writer.ts (which keeps the text). Bytes in, bytes out; cuts fall between characters.
 */

import { put, putMarker } from '../abi/writer';
import { borderAfter, borderBefore } from './utf8';

/** Writes the line [start, end) around the match at `match`: all of it, or `cap` bytes with the match in the middle. */
export function writeAround(start: usize, end: usize, match: usize, cap: usize): void {
  const size = end - start;
  if (size <= cap) return put(start, size);
  const half = cap >> 1;
  const middle = match - start > half ? match - start - half : 0;
  const from = start + min(middle, size - cap);
  const shown = borderAfter(from, end);
  writeCut(start, shown, max(shown, borderBefore(from, from + cap, end)), end);
}

/** Writes the line [start, end) from its head: all of it, or `cap` bytes. */
export function writeHead(start: usize, end: usize, cap: usize): void {
  if (end - start <= cap) return put(start, end - start);
  writeCut(start, start, borderBefore(start, start + cap, end), end);
}

/** Writes [from, to) of the line [start, end), and how much was cut before and behind, where something was. */
function writeCut(start: usize, from: usize, to: usize, end: usize): void {
  if (from > start) putMarker(<u64>(from - start));
  put(from, to - from);
  if (to < end) putMarker(<u64>(end - to));
}
