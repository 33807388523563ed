/**
 * The records that history and trail give back, as the canonical ABI lays them out. Stands beside lower.ts at the way
 * out of the guest: git/ fills these, the host lifts them, and the next export call forgets them.
 *
 *              0        4        8        12       16       20       24       28       32       36       40
 *   history    | case   | entries| count  | commits| ending |                       (fault at 4)
 *   entry      | commit | size   | path   | size   | blob   | size   |
 *   trail      | case   |        | commit | size   | trees  | count  | blob-size, u64  | piece  | size   | ending
 *   tree       | at     | size   |                                                  (fault at 8)
 */

import { pageArena } from './arena';

/** How a page of history ended: the WIT's `history-ending`, by number. */
export namespace HistoryEnding {
  export const PAUSED: u8 = 0;
  export const COMPLETE: u8 = 1;
  export const BUDGET: u8 = 2;
}

/** How a page of a trail ended: the WIT's `trail-ending`, by number. */
export namespace TrailEnding {
  export const PAUSED: u8 = 0;
  export const WHOLE: u8 = 1;
  export const ABSENT: u8 = 2;
  export const NOT_FILE: u8 = 3;
  export const NO_COMMIT: u8 = 4;
  export const UNREACHABLE: u8 = 5;
  export const BUDGET: u8 = 6;
}

// @ts-ignore: decorator
@unmanaged
class HistoryResult {
  failed: u32;
  entries: usize;
  count: u32;
  commits: u32;
  ending: u8;
}
const HISTORY_RESULT_BYTES: usize = 20;

// @ts-ignore: decorator
@unmanaged
class Entry {
  commit: usize;
  commitSize: usize;
  path: usize;
  pathSize: usize;
  blob: usize;
  blobSize: usize;
  /** Ours, behind what is lifted: the entry before it. */
  before: Entry | null;
}
const ENTRY_BYTES: usize = 24;

// @ts-ignore: decorator
@unmanaged
class TrailResult {
  failed: u64;
  commit: usize;
  commitSize: usize;
  trees: usize;
  treeCount: u32;
  blobSize: u64;
  piece: usize;
  pieceSize: usize;
  ending: u8;
}
const TRAIL_RESULT_BYTES: usize = 48;

let lastEntry: Entry | null = null;
/** Entries of this page. */
export let entryCount: u32 = 0;

const trail = changetype<TrailResult>(memory.data(48, 8));

/** Begins a page; the one before is gone, and with it what the last arguments were lowered to. */
export function beginGitPage(): void {
  pageArena.reset();
  lastEntry = null;
  entryCount = 0;
  memory.fill(changetype<usize>(trail), 0, TRAIL_RESULT_BYTES);
}

/** Adds an entry. All three lie in the page. */
export function addEntry(commit: usize, path: usize, pathSize: usize, blob: usize, oidHexSize: usize): void {
  const entry = changetype<Entry>(pageArena.alloc(4, offsetof<Entry>()));
  entry.commit = commit;
  entry.commitSize = oidHexSize;
  entry.path = path;
  entry.pathSize = pathSize;
  entry.blob = blob;
  entry.blobSize = oidHexSize;
  entry.before = lastEntry;
  lastEntry = entry;
  entryCount++;
}

/** The page of history, for the host to lift. O(entries in it). */
export function finishHistory(commits: u32, ending: u8): usize {
  const page = changetype<HistoryResult>(pageArena.alloc(4, HISTORY_RESULT_BYTES));
  page.failed = 0;
  page.entries = entriesInOrder();
  page.count = entryCount;
  page.commits = commits;
  page.ending = ending;
  return changetype<usize>(page);
}

function entriesInOrder(): usize {
  const array = pageArena.alloc(4, <usize>entryCount * ENTRY_BYTES);
  let at = array + <usize>entryCount * ENTRY_BYTES;
  let entry = lastEntry;
  while (entry !== null) {
    at -= ENTRY_BYTES;
    memory.copy(at, changetype<usize>(entry), ENTRY_BYTES);
    entry = entry.before;
  }
  return array;
}

/** In place of a page of history: the WIT's `git-fault`, by number. */
export function failHistory(fault: u8): usize {
  const at = pageArena.alloc(4, HISTORY_RESULT_BYTES);
  store<u8>(at, 1);
  store<u8>(at, fault, 4);
  return at;
}

/** The commit of the trail. Lies in the page. */
export function tellCommit(at: usize, size: usize): void {
  trail.commit = at;
  trail.commitSize = size;
}

/** `count` trees, root first: an array of address and size each. All of it lies in the page. */
export function tellTrees(array: usize, count: u32): void {
  trail.trees = array;
  trail.treeCount = count;
}

/** How large the blob is. */
export function tellBlobSize(size: u64): void {
  trail.blobSize = size;
}

/** The next bytes of the blob. They stay where they are until the next call. */
export function tellPiece(at: usize, size: usize): void {
  trail.piece = at;
  trail.pieceSize = size;
}

/** The page of the trail, for the host to lift. */
export function finishTrail(ending: u8): usize {
  trail.failed = 0;
  trail.ending = ending;
  return changetype<usize>(trail);
}

/** In place of a page of the trail: the WIT's `git-fault`, by number. */
export function failTrail(fault: u8): usize {
  store<u8>(changetype<usize>(trail), 1);
  store<u8>(changetype<usize>(trail), fault, 8);
  return changetype<usize>(trail);
}
