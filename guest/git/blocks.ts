/**
 * Blocks of packs and their indexes, as they are needed: files are read at offsets, never whole. Stands between pack.ts
 * (what the bytes mean) and abi/lift.ts (which reads). Memory is what the two pools may hold at most, taken block by block.
 *
 * A pack is read in runs, and large blocks of it; an index is met at a place that hashing chose, so its blocks are small
 * and there are many (large ones made a walk over 300 000 commits read its index a thousand times; half as many, all of
 * index and commit-graph thirty times).
 *
 * A cursor stands in one block at a time. What it points to stays until a block of any file is asked for.
 */

import { reserve, reserveWithin } from '../abi/arena';
import { atEnd, close, openFile, readInto } from '../abi/lift';
import { Fault, faultOf } from './fault';
import { MEMORY_MOST } from './oid';

const PACK_BLOCK_BYTES: usize = 64 << 10;
const PACK_BLOCKS: u32 = 192;
const INDEX_BLOCK_BYTES: usize = 8 << 10;
const INDEX_BLOCKS: u32 = 8_192;
/** Memory is taken in slabs: each time it grows costs the host more than the blocks do. */
const SLAB_BYTES: usize = 1 << 20;
/** Files held open at once: the host gives no more handles than a few thousand. */
const OPEN_MOST: u32 = 512;

/** A file that is read in blocks. `handle` is below zero while it is closed; one that `isHeld` is not opened again. */
// @ts-ignore: decorator
@unmanaged
export class BlockFile {
  id: u32;
  pool: Pool;
  dir: i32;
  name: usize;
  nameSize: usize;
  handle: i32;
  isHeld: bool;
  next: BlockFile | null;
}

// @ts-ignore: decorator
@unmanaged
class Block {
  file: u32;
  index: u32;
  at: usize;
  size: usize;
  /** Since the hand passed last. */
  wasUsed: bool;
  /** The next one in its bucket. */
  next: Block | null;
}

/** Blocks of one size; a hand goes round them and takes the first one that was not used since it passed. */
// @ts-ignore: decorator
@unmanaged
class Pool {
  blockBytes: usize;
  most: u32;
  made: u32;
  hand: u32;
  blocks: usize;
  slab: usize;
  slabEnd: usize;

  begin(blockBytes: usize, most: u32): void {
    this.blockBytes = blockBytes;
    this.most = most;
    this.blocks = reserve(<usize>most * offsetof<Block>());
  }

  at(index: u32): Block {
    return changetype<Block>(this.blocks + <usize>index * offsetof<Block>());
  }

  /** A slab more; false if the memory there may be is used up, and there are blocks to use again. */
  private grow(): bool {
    const slab = this.made === 0 ? reserve(SLAB_BYTES) : reserveWithin(SLAB_BYTES, MEMORY_MOST);
    if (slab === 0) return false;
    this.slab = slab;
    this.slabEnd = slab + SLAB_BYTES;
    return true;
  }

  /** A block that stands for nothing: a new one while there may be more. */
  take(): Block {
    if (this.made < this.most) {
      const fresh = this.at(this.made);
      this.made++;
      const whole = this.blockBytes + 16; // who loads words may load past the end
      if (this.slabEnd - this.slab < whole && !this.grow()) {
        this.most = this.made;
        return this.take();
      }
      fresh.at = this.slab;
      this.slab += whole;
      fresh.file = 0;
      return fresh;
    }
    while (true) {
      const block = this.at(this.hand);
      this.hand = this.hand + 1 === this.most ? 0 : this.hand + 1;
      if (!block.wasUsed) {
        unlink(block);
        return block;
      }
      block.wasUsed = false;
    }
  }
}

const packPool = changetype<Pool>(memory.data(offsetof<Pool>(), 4));
const indexPool = changetype<Pool>(memory.data(offsetof<Pool>(), 4));
const BUCKETS: u32 = 8_192;
let buckets: usize = 0;

let files: BlockFile | null = null;
let fileCount: u32 = 0;
let openCount: u32 = 0;

/** The block that the cursor stands in. */
let here: Block | null = null;

/** Forgets all files and what was read of them, and closes them. */
export function forgetFiles(): void {
  closeFiles(true);
  files = null;
  here = null;
  // Ids go on: a block of a file that is forgotten is never met again, and is the first to be taken.
}

/** Closes those that can be opened again; with `all` every one. */
function closeFiles(all: bool): void {
  let file = files;
  while (file !== null) {
    if (all || !file.isHeld) closeFile(file);
    file = file.next;
  }
}

/** Closes the file, if it is open. */
export function closeFile(file: BlockFile): void {
  if (file.handle < 0) return;
  close(file.handle);
  file.handle = -1;
  openCount--;
}

/** A file that is opened when something of it is needed. Name and record stay where they are. */
export function addFile(at: usize, dir: i32, name: usize, nameSize: usize, isIndex: bool): BlockFile {
  const file = add(at, isIndex);
  file.dir = dir;
  file.name = name;
  file.nameSize = nameSize;
  return file;
}

/** A file that is open, and stays so: what was found out of it is of these very bytes. It is read as indexes are. */
export function addHeld(at: usize, handle: i32): BlockFile {
  const file = add(at, true);
  file.handle = handle;
  file.isHeld = true;
  openCount++;
  return file;
}

function add(at: usize, isIndex: bool): BlockFile {
  if (buckets === 0) {
    packPool.begin(PACK_BLOCK_BYTES, PACK_BLOCKS);
    indexPool.begin(INDEX_BLOCK_BYTES, INDEX_BLOCKS);
    buckets = reserve(<usize>BUCKETS << 2);
    memory.fill(buckets, 0, <usize>BUCKETS << 2);
  }
  const file = changetype<BlockFile>(at);
  file.id = ++fileCount;
  file.pool = isIndex ? indexPool : packPool;
  file.handle = -1;
  file.isHeld = false;
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
  const blockBytes = <u64>file.pool.blockBytes;
  const index = offset / blockBytes;
  if (index > 0xffff_ffff) return Fault.CORRUPT;
  let block = here;
  if (block === null || block.file !== file.id || block.index !== <u32>index) {
    const fault = find(file, <u32>index);
    if (fault !== Fault.NONE) return fault;
    block = here;
    if (block === null) return Fault.CORRUPT;
  }
  const inside = <usize>(offset % blockBytes);
  if (inside >= block.size) return Fault.CORRUPT;
  at = block.at + inside;
  end = block.at + block.size;
  endOffset = index * blockBytes + block.size;
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
      block.wasUsed = true;
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
  const blockBytes = file.pool.blockBytes;
  const block = file.pool.take();
  const offset = <u64>index * blockBytes;
  let size: usize = 0;
  do {
    const answer = readInto(file.handle, block.at + size, blockBytes - size, offset + size);
    if (answer < 0) return faultOf(~answer);
    size += answer;
  } while (!atEnd && size < blockBytes);
  block.file = file.id;
  block.index = index;
  block.size = size;
  block.wasUsed = true;
  const bucket = bucketOf(file.id, index);
  block.next = changetype<Block | null>(load<usize>(bucket));
  store<usize>(bucket, changetype<usize>(block));
  here = block;
  return Fault.NONE;
}

function open(file: BlockFile): i32 {
  if (file.handle >= 0) return Fault.NONE;
  if (file.isHeld) return Fault.DISK;
  if (openCount >= OPEN_MOST) closeFiles(false);
  const answer = openFile(file.dir, file.name, file.nameSize, false);
  if (answer < 0) return faultOf(~answer);
  file.handle = answer;
  openCount++;
  return Fault.NONE;
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
