/**
 * The names of one directory, sorted by bytes: files and directories together. Stands between abi/lift.ts, which lists,
 * and descent.ts, which takes the names up one by one. On the walk's arena; the caller has the mark.
 *
 *   names   | entry | entry | …           4 bytes each, in order
 *   entry   | before | name | size | kind |
 */

import { walkArena } from '../abi/arena';
import { Answer, closeListing, list, name, nameKind, nameSize, nextName } from '../abi/lift';
import { compare } from './names';

/** A name, as it is shown. */
// @ts-ignore: decorator
@unmanaged
export class Entry {
  /** The one that was listed before it. */
  before: Entry | null;
  name: usize;
  size: usize;
  /** The listing's descriptor-type, or NOT_UTF8. */
  kind: u8;
}

/** Ours, beside the WIT's kinds: a name that is not UTF-8 (the host writes a NUL before how it is shown). */
export const NOT_UTF8: u8 = 0xff;

/** Where the names are that `collect` sorted. */
export let names: usize = 0;

/**
 * Lists `dir` to its end: how many names, or the code of what failed. Sets `names`.
 * O(n log n) time, O(n) if the listing comes sorted; 40 bytes and the name for each.
 */
export function collect(dir: i32): Answer {
  const stream = list(dir);
  if (stream < 0) return stream;
  let last: Entry | null = null;
  let count: i32 = 0;
  let answer = nextName(stream, walkArena);
  for (; answer === 1; answer = nextName(stream, walkArena)) {
    last = keepEntry(last);
    count++;
  }
  closeListing(stream);
  if (answer < 0) return answer;
  names = inListedOrder(last, count);
  sort(names, count);
  return count;
}

/** One entry alone, as a directory of one name. Its bytes stay where they are. Sets `names`. */
export function collectOnly(only: usize, size: usize, kind: u8): void {
  names = inListedOrder(makeEntry(null, only, size, kind), 1);
}

/** The entry at `index` of sorted names. */
export function entryAt(sorted: usize, index: u32): Entry {
  return changetype<Entry>(load<usize>(sorted + (<usize>index << 2)));
}

function keepEntry(before: Entry | null): Entry {
  if (nameSize > 0 && load<u8>(name) === 0) return makeEntry(before, name + 1, nameSize - 1, NOT_UTF8);
  return makeEntry(before, name, nameSize, nameKind);
}

function makeEntry(before: Entry | null, at: usize, size: usize, kind: u8): Entry {
  const entry = changetype<Entry>(walkArena.alloc(4, offsetof<Entry>()));
  entry.before = before;
  entry.name = at;
  entry.size = size;
  entry.kind = kind;
  return entry;
}

function inListedOrder(last: Entry | null, count: u32): usize {
  const array = walkArena.alloc(4, <usize>count << 2);
  let at = array + (<usize>count << 2);
  let entry = last;
  while (entry !== null) {
    at -= 4;
    store<usize>(at, changetype<usize>(entry));
    entry = entry.before;
  }
  return array;
}

/** Whether `a` may stand before `b`. Of two shown alike the one that is UTF-8 comes first: no order of theirs shows. */
function inOrder(a: Entry, b: Entry): bool {
  const order = compare(a.name, a.size, b.name, b.size);
  return order < 0 || (order === 0 && (a.kind !== NOT_UTF8 || b.kind === NOT_UTF8));
}

/** Merge sort from the bottom: no recursion, stable, and nothing to do where runs are in order already. */
function sort(array: usize, count: u32): void {
  if (isSorted(array, count)) return;
  const mark = walkArena.mark();
  const spare = walkArena.alloc(4, <usize>count << 2);
  let from = array;
  let to = spare;
  for (let run: u32 = 1; run < count; run <<= 1) {
    for (let i: u32 = 0; i < count; i += run << 1) merge(from, to, i, min(i + run, count), min(i + (run << 1), count));
    const swap = from;
    from = to;
    to = swap;
  }
  if (from !== array) memory.copy(array, from, <usize>count << 2);
  walkArena.release(mark);
}

function isSorted(array: usize, count: u32): bool {
  for (let i: u32 = 1; i < count; i++) if (!inOrder(entryAt(array, i - 1), entryAt(array, i))) return false;
  return true;
}

/** Merges [start, middle) and [middle, end) of `from` into `to`. */
function merge(from: usize, to: usize, start: u32, middle: u32, end: u32): void {
  let a = start;
  let b = middle;
  for (let i = start; i < end; i++) {
    const first = b === end || (a < middle && inOrder(entryAt(from, a), entryAt(from, b)));
    store<usize>(to + (<usize>i << 2), load<usize>(from + (<usize>(first ? a : b) << 2)));
    if (first) a++;
    else b++;
  }
}
