/**
 * What one tree has that another has not: files added, one after another, by path. Stands between history.ts and tree.ts,
 * objects.ts. Subtrees that both have are not entered. Its state is a stack of frames and stays between two files, so a
 * page may end between them.
 *
 * Added is what stands under a name under which nothing stood, or a directory. What is changed, or becomes another kind
 * of file, is not.
 */

import { Arena, Mark, reserve } from '../abi/arena';
import { Fault } from './fault';
import { copyOid, isSameOid } from './oid';
import { objectAt, objectSize, readTyped } from './objects';
import { Type } from './pack';
import { compareEntries, isDirectory, mode, name, nameSize, oid, readEntry, skipCommon } from './tree';

/** Bytes of trees held at once, and of a path: a repository deeper than that was made to be. */
const TREES_MOST: usize = 48 << 20;
const PATH_MOST: usize = 32 << 10;

/** The name that was taken up last of a tree: the next one comes after it, or the tree is not sorted. */
// @ts-ignore: decorator
@unmanaged
class Last {
  name: usize;
  size: usize;
  isDir: bool;

  comesNext(name: usize, size: usize, isDir: bool): bool {
    if (this.name !== 0 && compareEntries(this.name, this.size, this.isDir, name, size, isDir) >= 0) return false;
    this.name = name;
    this.size = size;
    this.isDir = isDir;
    return true;
  }
}

// @ts-ignore: decorator
@unmanaged
class Frame {
  above: Frame | null;
  /** What is left of either tree; equal at the end. */
  next: usize;
  end: usize;
  otherNext: usize;
  otherEnd: usize;
  last: Last;
  other: Last;
  /** Bytes of the path that lead here, a `/` at their end. */
  pathSize: usize;
  mark: Mark;
  held: usize;
}

const arena = changetype<Arena>(memory.data(12, 4));
let frame: Frame | null = null;
let held: usize = 0;

/** The path of the file that was found, and what stands there. Its place is made at the first comparison. */
export let path: usize = 0;
export let pathSize: usize = 0;
export const fileOid: usize = memory.data(32, 8);
export let fileMode: u32 = 0;
/** Whether `nextAdded` found a file. */
export let isFound: bool = false;

/** Leaves a comparison, wherever it is. */
export function endDiff(): void {
  arena.reset();
  frame = null;
  held = 0;
}

/** Compares the directory `to`, whose name is `start`, with `from` (0: with nothing). */
export function beginDiff(start: usize, startSize: usize, to: usize, from: usize): i32 {
  endDiff();
  if (startSize + 1 > PATH_MOST) return Fault.TOO_LARGE;
  if (path === 0) path = reserve(PATH_MOST);
  memory.copy(path, start, startSize);
  return enter(startSize, to, from);
}

/** Enters a directory whose path has `size` bytes. */
function enter(size: usize, to: usize, from: usize): i32 {
  const mark = arena.mark();
  const fresh = changetype<Frame>(arena.alloc(4, offsetof<Frame>()));
  fresh.last = makeLast();
  fresh.other = makeLast();
  const before = held;
  fresh.otherNext = fresh.otherEnd = 0;
  if (from !== 0) {
    const fault = hold(from);
    if (fault !== Fault.NONE) return fault;
    fresh.otherNext = kept;
    fresh.otherEnd = kept + objectSize;
  }
  const fault = hold(to);
  if (fault !== Fault.NONE) return fault;
  fresh.next = kept;
  fresh.end = kept + objectSize;
  fresh.mark = mark;
  fresh.held = before;
  fresh.above = frame;
  store<u8>(path + size, 0x2f);
  fresh.pathSize = size + 1;
  if (from !== 0) {
    const common = skipCommon(fresh.next, fresh.end, fresh.otherNext, fresh.otherEnd) - fresh.next;
    fresh.next += common;
    fresh.otherNext += common;
  }
  frame = fresh;
  return Fault.NONE;
}

function makeLast(): Last {
  const last = changetype<Last>(arena.alloc(4, offsetof<Last>()));
  last.name = 0;
  return last;
}

let kept: usize = 0;

function hold(tree: usize): i32 {
  const fault = readTyped(tree, Type.TREE);
  if (fault !== Fault.NONE) return fault;
  held += objectSize;
  if (held > TREES_MOST) return Fault.TOO_LARGE;
  kept = arena.keep(objectAt, objectSize);
  return Fault.NONE;
}

function leave(gone: Frame): void {
  frame = gone.above;
  held = gone.held;
  arena.release(gone.mark);
}

/** The next file that was added: sets `isFound`, and then `path`, `pathSize`, `fileOid`, `fileMode`. */
export function nextAdded(): i32 {
  isFound = false;
  while (true) {
    const here = frame;
    if (here === null) return Fault.NONE;
    if (here.next === here.end) {
      leave(here);
      continue;
    }
    const fault = step(here);
    if (fault !== Fault.NONE || isFound) return fault;
  }
}

/** Takes up the next name of either tree. */
function step(here: Frame): i32 {
  const behind = readEntry(here.next, here.end);
  if (behind === 0) return Fault.CORRUPT;
  const itsName = name;
  const itsSize = nameSize;
  const itsOid = oid;
  const itsMode = mode;
  const isDir = isDirectory();
  let order: i32 = -1;
  if (here.otherNext !== here.otherEnd) {
    const behindOther = readEntry(here.otherNext, here.otherEnd);
    if (behindOther === 0) return Fault.CORRUPT;
    order = compareEntries(itsName, itsSize, isDir, name, nameSize, isDirectory());
    if (order >= 0) {
      if (!here.other.comesNext(name, nameSize, isDirectory())) return Fault.CORRUPT;
      here.otherNext = behindOther;
      if (order > 0) return Fault.NONE; // gone
    }
  }
  if (!here.last.comesNext(itsName, itsSize, isDir)) return Fault.CORRUPT;
  here.next = behind;
  if (order === 0 && (!isDir || isSameOid(itsOid, oid))) return Fault.NONE; // as it was, or changed
  const size = here.pathSize + itsSize;
  if (size + 1 > PATH_MOST) return Fault.TOO_LARGE;
  memory.copy(path + here.pathSize, itsName, itsSize);
  if (isDir) return enter(size, itsOid, order === 0 ? oid : 0);
  pathSize = size;
  fileMode = itsMode;
  copyOid(fileOid, itsOid);
  isFound = true;
  return Fault.NONE;
}
