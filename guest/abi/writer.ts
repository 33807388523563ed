/**
 * Text under construction in the page: bytes appended to one string that the host will lift.
 * Stands between text/ (which decides what is shown) and abi/arena.ts. One string at a time.
 */

import { pageArena } from './arena';

/** `[truncated: ` and ` bytes]`, with up to 20 digits between. */
const MARKER_HEAD: usize = memory.data<u8>([91, 116, 114, 117, 110, 99, 97, 116, 101, 100, 58, 32]);
const MARKER_HEAD_BYTES: usize = 12;
const MARKER_TAIL: usize = memory.data<u8>([32, 98, 121, 116, 101, 115, 93]);
const MARKER_TAIL_BYTES: usize = 7;
/** The longest marker there is. */
export const MARKER_MAX_BYTES: usize = MARKER_HEAD_BYTES + 20 + MARKER_TAIL_BYTES;

/** Where the string starts. */
export let start: usize = 0;
/** Where the next byte goes. */
export let at: usize = 0;
let end: usize = 0;

/** Begins a string of at most `room` bytes. */
export function begin(room: usize): void {
  start = at = pageArena.alloc(1, room);
  end = at + room;
}

/** Appends `size` bytes. Traps when the room is spent: whoever began it counted wrong. */
export function put(from: usize, size: usize): void {
  if (end - at < size) unreachable();
  memory.copy(at, from, size);
  at += size;
}

/** Appends one byte. */
export function putByte(byte: u8): void {
  if (at === end) unreachable();
  store<u8>(at++, byte);
}

/** Appends `[truncated: N bytes]`. */
export function putMarker(bytes: u64): void {
  put(MARKER_HEAD, MARKER_HEAD_BYTES);
  putNumber(bytes);
  put(MARKER_TAIL, MARKER_TAIL_BYTES);
}

function putNumber(value: u64): void {
  if (value >= 10) putNumber(value / 10);
  putByte(<u8>(48 + (value % 10)));
}

/** Takes back the string's tail: it now has `size` bytes. */
export function cutTo(size: usize): void {
  at = start + size;
}

/** Ends the string; what was not used goes back to the page. Its size. */
export function finish(): usize {
  pageArena.shrink(at);
  end = at;
  return at - start;
}
