/** guest/git/inflate.ts alone, for git.inflate.test.ts: chunks of any size in, any room for what comes out. */

import { reserve } from '../../../guest/abi/arena';
import * as checksum from '../../../guest/git/checksum';
import * as inflate from '../../../guest/git/inflate';

export function alloc(size: usize): usize {
  return reserve(size);
}

let given: usize = 0;
let givenEnd: usize = 0;
let chunk: usize = 0;
let chunkSize: usize = 0;

/** A chunk lies alone, and behind it lies what does not belong to the stream. */
function next(): bool {
  if (given === givenEnd) return false;
  const size = min(chunkSize, givenEnd - given);
  memory.copy(chunk, given, size);
  memory.fill(chunk + size, 0xa5, 64);
  given += size;
  inflate.feed(chunk, chunk + size);
  return true;
}

/** Begins: input of `size` bytes at `at`, in chunks; `scratch` holds a chunk and 64 bytes. */
export function begin(at: usize, size: usize, each: usize, scratch: usize, to: usize): void {
  given = at;
  givenEnd = at + size;
  chunk = scratch;
  chunkSize = each;
  inflate.begin(next, to);
}

export function run(limit: usize, room: usize): i32 {
  return inflate.run(limit, room);
}

export function out(): usize {
  return inflate.out;
}

export function slide(to: usize): void {
  inflate.slide(to, 0);
}

/** Of the input, what the stream did not need. */
export function unused(): usize {
  return inflate.unused() + (givenEnd - given);
}

export function adler32(at: usize, end: usize): u32 {
  return checksum.adler32(1, at, end);
}

export function crc32(sum: u32, at: usize, end: usize): u32 {
  return checksum.crc32(sum, at, end);
}
