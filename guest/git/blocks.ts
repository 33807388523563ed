/**
 * Blocks of packs and their indexes, as they are needed: files are read at offsets, never whole. Stands between pack.ts
 * (what the bytes mean) and abi/lift.ts (which reads). Memory is BLOCKS times BLOCK_BYTES at most, taken one by one.
 *
 * A cursor stands in one block at a time. What it points to stays until a block of any file is asked for.
 */

import { reserve } from '../abi/arena';
import { atEnd, close, openFile, readInto } from '../abi/lift';
import { Fault, faultOf } from './fault';

/** As much as a lookup in an index or a short object is worth; a long object asks for several. */
const BLOCK_BYTES: usize = 64 << 10;
const BLOCKS: u32 = 256;
/** Files held open at once: the host gives no more handles than a few thousand. */
const OPEN_MOST: u32 = 512;

/** A file that is read in blocks. `handle` is below zero while it is closed. */
// @ts-ignore: decorator
@unmanaged
export class BlockFile {
  id: u32;
  dir: i32;
  name: usize;
  nameSize: usize;
  handle: i32;
  next: BlockFile | null;
}

// @ts-ignore: decorator
@unmanaged
class Block {
  file: u32;
  index: u32;
  at: usize;
  size: usize;
  used: u32;
  /** The next one in its bucket. */
  next: Block | null;
}

const blocks: usize = memory.data(<i32>(offsetof<Block>() * BLOCKS), 8);
const BUCKETS: u32 = 512;
const buckets: usize = memory.data(BUCKETS << 2, 4);
let made: u32 = 0;
let clock: u32 = 0;

let files: BlockFile | null = null;
let fileCount: u32 = 0;
let openCount: u32 = 0;

/** The block that the cursor stands in. */
let here: Block | null = null;

/** Forgets all files and what was read of them, and closes them. */
export function forgetFiles(): void {
  closeFiles();
  files = null;
  here = null;
  // Ids go on: a block of a file that is forgotten is never met again, and is the first to be taken.
}

function closeFiles(): void {
  let file = files;
  while (file !== null) {
    if (file.handle >= 0) close(file.handle);
    file.handle = -1;
    file = file.next;
  }
  openCount = 0;
}

/** A file that is opened when something of it is needed. Name and record stay where they are. */
export function addFile(at: usize, dir: i32, name: usize, nameSize: usize): BlockFile {
  const file = changetype<BlockFile>(at);
  file.id = ++fileCount;
  file.dir = dir;
  file.name = name;
  file.nameSize = nameSize;
  file.handle = -1;
  file.next = files;
  files = file;
  return file;
}

/** Where the byte is that was asked for, and where its block ends. */
export let at: usize = 0;
export let end: usize = 0;
/** The offset in the file of `end`. */
let endOffset: u64 = 0;
let cursor: BlockFile | null = null;

/** Stands at an offset of a file. CORRUPT: the file has no such byte. */
export function seek(file: BlockFile, offset: u64): i32 {
  const index = offset / BLOCK_BYTES;
  if (index > 0xffff_ffff) return Fault.CORRUPT;
  let block = here;
  if (block === null || block.file !== file.id || block.index !== <u32>index) {
    const fault = find(file, <u32>index);
    if (fault !== Fault.NONE) return fault;
    block = here;
    if (block === null) return Fault.CORRUPT;
  }
  const inside = <usize>(offset % BLOCK_BYTES);
  if (inside >= block.size) return Fault.CORRUPT;
  at = block.at + inside;
  end = block.at + block.size;
  endOffset = index * BLOCK_BYTES + block.size;
  cursor = file;
  return Fault.NONE;
}

/** Goes on to the block behind `end`. */
export function goOn(): i32 {
  const file = cursor;
  return file === null ? Fault.CORRUPT : seek(file, endOffset);
}

/** The offset of what `at` points to, if `left` bytes of the block are not used up. */
export function offsetBefore(left: usize): u64 {
  return endOffset - left;
}

/** Copies `size` bytes at an offset. */
export function copyBytes(file: BlockFile, offset: u64, size: usize, to: usize): i32 {
  let done: usize = 0;
  while (done < size) {
    const fault = seek(file, offset + done);
    if (fault !== Fault.NONE) return fault;
    const part = min(size - done, end - at);
    memory.copy(to + done, at, part);
    done += part;
  }
  return Fault.NONE;
}

/** The bytes of the last `peek`: they are in the block, or in a place of their own if they lie across two. */
export let bytes: usize = 0;
const across: usize = memory.data(64, 8);

/** `size` ≤ 64 bytes at an offset. */
export function peek(file: BlockFile, offset: u64, size: usize): i32 {
  const fault = seek(file, offset);
  if (fault !== Fault.NONE) return fault;
  bytes = at;
  if (end - at >= size) return Fault.NONE;
  bytes = across;
  return copyBytes(file, offset, size, across);
}

// @ts-ignore: decorator
@inline
function bucketOf(file: u32, index: u32): usize {
  return buckets + (<usize>((index + file * 0x9e37_79b1) % BUCKETS) << 2);
}

function find(file: BlockFile, index: u32): i32 {
  const bucket = bucketOf(file.id, index);
  let block = changetype<Block | null>(load<usize>(bucket));
  while (block !== null) {
    if (block.file === file.id && block.index === index) {
      block.used = ++clock;
      here = block;
      return Fault.NONE;
    }
    block = block.next;
  }
  return fill(file, index);
}

function fill(file: BlockFile, index: u32): i32 {
  const opened = open(file);
  if (opened !== Fault.NONE) return opened;
  const block = takeBlock();
  const offset = <u64>index * BLOCK_BYTES;
  let size: usize = 0;
  do {
    const answer = readInto(file.handle, block.at + size, BLOCK_BYTES - size, offset + size);
    if (answer < 0) return faultOf(~answer);
    size += answer;
  } while (!atEnd && size < BLOCK_BYTES);
  block.file = file.id;
  block.index = index;
  block.size = size;
  block.used = ++clock;
  const bucket = bucketOf(file.id, index);
  block.next = changetype<Block | null>(load<usize>(bucket));
  store<usize>(bucket, changetype<usize>(block));
  here = block;
  return Fault.NONE;
}

function open(file: BlockFile): i32 {
  if (file.handle >= 0) return Fault.NONE;
  if (openCount >= OPEN_MOST) closeFiles();
  const answer = openFile(file.dir, file.name, file.nameSize, false);
  if (answer < 0) return faultOf(~answer);
  file.handle = answer;
  openCount++;
  return Fault.NONE;
}

/** A block that stands for nothing: a new one, or the one that was not used for longest. O(BLOCKS). */
function takeBlock(): Block {
  if (made < BLOCKS) {
    const fresh = changetype<Block>(blocks + <usize>made * offsetof<Block>());
    made++;
    fresh.at = reserve(BLOCK_BYTES + 16); // who loads words may load past the end
    fresh.file = 0;
    return fresh;
  }
  let oldest = changetype<Block>(blocks);
  for (let i: u32 = 1; i < BLOCKS; i++) {
    const block = changetype<Block>(blocks + <usize>i * offsetof<Block>());
    if (clock - block.used > clock - oldest.used) oldest = block;
  }
  unlink(oldest);
  return oldest;
}

function unlink(block: Block): void {
  if (block.file === 0) return;
  const bucket = bucketOf(block.file, block.index);
  let before = changetype<Block | null>(load<usize>(bucket));
  if (before === block) store<usize>(bucket, changetype<usize>(block.next));
  while (before !== null && before.next !== block) before = before.next;
  if (before !== null) before.next = block.next;
  block.file = 0;
  if (here === block) here = null;
}
