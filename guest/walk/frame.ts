/**
 * A directory the walk is in, and the addresses of what it meets there. Frames lie on the walk's arena, each with its
 * names above it; leaving one gives back all of that. Addresses are put together only for what is told (hits, unread):
 * keeping them for each directory would cost the square of the depth.
 */

import { Mark, pageArena, walkArena } from '../abi/arena';
import { Answer, close } from '../abi/lift';
import { collect, collectOnly, names } from './listing';

/** A directory on the way from the start place, its sorted names, and the next one to take up. */
// @ts-ignore: decorator
@unmanaged
export class Frame {
  parent: Frame | null;
  /** 1 for the start place. */
  depth: u32;
  handle: i32;
  name: usize;
  size: usize;
  /** The sorted names, how many, and which is next. */
  names: usize;
  count: u32;
  next: u32;
  /** Where the walk's arena stood before this frame. */
  mark: Mark;

  isDone(): bool {
    return this.next === this.count;
  }
}

/** The directory that the walk is in; null when it is over. */
export let frame: Frame | null = null;

/** Lists the open directory `handle` and enters it: 0, or the code of what failed, the handle closed. O(n log n). */
export function enter(handle: i32, name: usize, size: usize): Answer {
  const fresh = makeFrame(handle, name, size);
  const count = collect(handle);
  if (count < 0) {
    leaveFrame(fresh);
    return count;
  }
  fresh.names = names;
  fresh.count = count;
  frame = fresh;
  return 0;
}

/** Enters the open directory `handle` as if it held the one name `only`. */
export function enterOnly(handle: i32, name: usize, size: usize, only: usize, onlySize: usize, kind: u8): void {
  const fresh = makeFrame(handle, name, size);
  collectOnly(only, onlySize, kind);
  fresh.names = names;
  fresh.count = 1;
  frame = fresh;
}

/** How many directories deep the walk is: 0 when it is over. */
export function depth(): u32 {
  const here = frame;
  return here === null ? 0 : here.depth;
}

/** The directory at that depth above where the walk is, or null if it is not so deep. */
export function frameAt(wanted: u32): Frame | null {
  let here = frame;
  while (here !== null && here.depth > wanted) here = here.parent;
  return here !== null && here.depth === wanted ? here : null;
}

/** Leaves every directory deeper than `kept`. */
export function leaveToDepth(kept: u32): void {
  while (depth() > kept) leave();
}

/** Leaves the directory the walk is in, if it is in one. */
export function leave(): void {
  const gone = frame;
  if (gone === null) return;
  frame = gone.parent;
  leaveFrame(gone);
}

function makeFrame(handle: i32, name: usize, size: usize): Frame {
  const before = walkArena.mark();
  const fresh = changetype<Frame>(walkArena.alloc(4, offsetof<Frame>()));
  fresh.parent = frame;
  fresh.depth = depth() + 1;
  fresh.handle = handle;
  fresh.name = name;
  fresh.size = size;
  fresh.next = 0;
  fresh.mark = before;
  return fresh;
}

function leaveFrame(gone: Frame): void {
  close(gone.handle);
  walkArena.release(gone.mark);
}

/** The address that `keepPath` put together. Lies in the page. */
export let path: usize = 0;
/** Its bytes. */
export let pathSize: usize = 0;

/** Puts the address of `name` in `parent` together: `/` between the names, none after an empty first one. O(depth + size). */
export function keepPath(parent: Frame | null, name: usize, size: usize): void {
  pathSize = sizeOfPath(parent, size);
  path = pageArena.alloc(1, pathSize);
  let at = path + pathSize - size;
  memory.copy(at, name, size);
  let above = parent;
  while (above !== null && at > path) {
    store<u8>(--at, 0x2f);
    at -= above.size;
    memory.copy(at, above.name, above.size);
    above = above.parent;
  }
}

/** Only the start place can have an empty name: it adds no `/` either. */
function sizeOfPath(parent: Frame | null, size: usize): usize {
  let sum = size;
  let above = parent;
  while (above !== null) {
    if (above.size > 0) sum += above.size + 1;
    above = above.parent;
  }
  return sum;
}
