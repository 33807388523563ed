/**
 * A search through history: every entry that a commit added and that holds the pattern, newest first. Stands between
 * index.ts (the exports) and commits.ts (which commit), diff.ts (what it added), objects.ts (its bytes), text/find.ts
 * (the same scan as `search`).
 *
 * A commit is compared with its only parent, or with nothing if it has none; merges are walked through and not compared.
 * The state stays between pages; a page may end between two commits, two files, and two pieces of a large blob.
 */

import { pageArena, reserve } from '../abi/arena';
import { addEntry, entryCount, HistoryEnding } from '../abi/lower-git';
import { find, Needle, renew } from '../text/find';
import {
  beginWalk, commit, commitPlace, commitTree, hasTip, isOn, isPreparing, parents, parentTree, prepare, proveTaken,
  takeCommit, takeTip, workDone,
} from './commits';
import { beginDiff, endDiff, fileMode, fileOid, isFound, nextAdded, path, pathSize } from './diff';
import { forgetEntries, Known, recall, rememberTold, rememberVain } from './entries';
import { Fault } from './fault';
import { bytesChecked, NOWHERE } from './graph';
import {
  bytesMade, closeBlob, hasPieces, nextPiece, objectAt, objectSize, openBlob, piece, pieceBefore, PIECE_BYTES,
  pieceSize, readTyped,
} from './objects';
import { copyOid, isSameOid, OID_MAX, oidBytes, toHex } from './oid';
import { Type } from './pack';
import { askFilter, isUntouched, prepareFilters } from './paths';
import { objects, root } from './repository';
import { findName, isDirectory, isSameOrNone, isSound, Mode, oid } from './tree';

// @ts-ignore: decorator
@unmanaged
export class HistoryAsk {
  needle: Needle;
  branches: usize;
  branchCount: u32;
  /** An array of address and size each. */
  directories: usize;
  directoryCount: u32;
  pageWork: u32;
  pageBytes: u32;
}
export const ask = changetype<HistoryAsk>(memory.data(28, 4));

/** What the walk does next. */
namespace Step {
  export const GRAPH: i32 = 0;
  export const TIPS: i32 = 1;
  export const COMMIT: i32 = 2;
  export const DIRECTORY: i32 = 3;
  export const FILE: i32 = 4;
  export const PIECE: i32 = 5;
  export const OVER: i32 = 6;
}
let step: i32 = Step.OVER;
/** The directory of `ask.directories` that is compared next. */
let directory: u32 = 0;
let pageWork: u32 = 0;
let pageBytes: u64 = 0;

/** Begins the history that `ask` holds; the repository is open. */
export function beginHistory(): i32 {
  forgetEntries();
  endDiff();
  makeRoots();
  prepareFilters(ask.directories, ask.directoryCount);
  step = Step.GRAPH;
  return beginWalk(root, objects, ask.branches, ask.branchCount);
}

/** Goes on for one page: how it ended, or below zero `~fault`. Entries are in the page. */
export function historyOn(): i32 {
  pageWork = workDone();
  pageBytes = bytesMade + bytesChecked;
  do {
    const fault = goOn();
    if (fault === Fault.BUDGET) return HistoryEnding.BUDGET;
    if (fault !== Fault.NONE) return ~fault;
    if (step === Step.OVER) return HistoryEnding.COMPLETE;
  } while (!isPageFull());
  return HistoryEnding.PAUSED;
}

function isPageFull(): bool {
  const work = workDone() - pageWork;
  return max(work, entryCount) >= ask.pageWork || bytesMade + bytesChecked - pageBytes >= <u64>ask.pageBytes;
}

function goOn(): i32 {
  switch (step) {
    case Step.GRAPH:
      return checkGraph();
    case Step.TIPS:
      return nextTip();
    case Step.COMMIT:
      return takeNext();
    case Step.DIRECTORY:
      return compareDirectory();
    case Step.FILE:
      return takeFile();
    default:
      return takePiece();
  }
}

function checkGraph(): i32 {
  if (isPreparing()) return prepare();
  step = Step.TIPS;
  return Fault.NONE;
}

function nextTip(): i32 {
  if (hasTip()) return takeTip();
  step = Step.COMMIT;
  return Fault.NONE;
}

function takeNext(): i32 {
  const fault = takeCommit();
  if (fault !== Fault.NONE) return fault;
  if (!isOn) {
    step = Step.OVER;
    return Fault.NONE;
  }
  if (parents > 1 || (parents === 1 && isSameOid(commitTree, parentTree))) return Fault.NONE;
  if (commitPlace !== NOWHERE) {
    const asked = askFilter(commitPlace);
    if (asked !== Fault.NONE || isUntouched) return asked;
  }
  commitHex = 0;
  isProved = false;
  directory = 0;
  step = Step.DIRECTORY;
  return Fault.NONE;
}

// ---- which directories ----

/**
 * Of root trees, the names of the directories asked for. Each stands in the one slot that its own name picks; a walk
 * meets every root tree twice, once as a commit's and once as its parent's.
 *
 *   slot   | name of the root tree | 1 or 0, name | …            for each directory
 */
let roots: usize = 0;
let rootsRoom: usize = 0;
let slotBytes: usize = 0;
let slotMask: u32 = 0;
const ROOTS_BYTES: usize = 1 << 20;
const EACH: usize = 4 + OID_MAX;
/** Bytes at the head of a slot: whether it holds anything, and the root tree's name. */
const SLOT_HEAD: usize = 8 + OID_MAX;

function makeRoots(): void {
  slotBytes = (SLOT_HEAD + EACH * <usize>ask.directoryCount + 7) & ~7;
  let slots: u32 = 4_096;
  while (slots > 1 && slotBytes * slots > ROOTS_BYTES) slots >>= 1;
  slotMask = slots - 1;
  const wanted = slotBytes * slots;
  if (rootsRoom < wanted) {
    roots = reserve(wanted);
    rootsRoom = wanted;
  }
  memory.fill(roots, 0, wanted);
}

/** The slot of a root tree, filled; 0 with `slotFault` set if that failed. */
function slotOf(tree: usize): usize {
  slotFault = Fault.NONE;
  const slot = roots + slotBytes * <usize>(load<u32>(tree) & slotMask);
  if (load<u32>(slot) !== 0 && isSameOid(slot + 8, tree)) return slot;
  store<u32>(slot, 0);
  slotFault = readTyped(tree, Type.TREE);
  if (slotFault !== Fault.NONE) return 0;
  for (let i: u32 = 0; i < ask.directoryCount; i++) {
    const place = slot + SLOT_HEAD + EACH * <usize>i;
    const asked = ask.directories + (<usize>i << 3);
    const isThere = findName(objectAt, objectAt + objectSize, load<usize>(asked), load<usize>(asked, 4)) && isDirectory();
    if (!isSound) {
      slotFault = Fault.CORRUPT;
      return 0;
    }
    store<u32>(place, isThere ? 1 : 0);
    if (isThere) copyOid(place + 4, oid);
  }
  copyOid(slot + 8, tree);
  store<u32>(slot, 1);
  return slot;
}
let slotFault: i32 = Fault.NONE;

const directoryNow: usize = memory.data(32, 8);
const directoryBefore: usize = memory.data(32, 8);

/** Where the directory's name is now kept, `place` holding it, or 0 if the tree has no such directory. */
function directoryOf(tree: usize, place: usize): usize {
  const slot = slotOf(tree);
  if (slot === 0) return 0;
  const at = slot + SLOT_HEAD + EACH * <usize>directory;
  if (load<u32>(at) === 0) return 0;
  copyOid(place, at + 4);
  return place;
}

/** Begins to compare the next directory of the commit. */
function compareDirectory(): i32 {
  if (directory === ask.directoryCount) {
    step = Step.COMMIT;
    return Fault.NONE;
  }
  const now = directoryOf(commitTree, directoryNow);
  if (slotFault !== Fault.NONE) return slotFault;
  const before: usize = parents === 0 ? 0 : directoryOf(parentTree, directoryBefore);
  if (slotFault !== Fault.NONE) return slotFault;
  const asked = ask.directories + (<usize>directory << 3);
  directory++;
  if (now === 0 || isSameOrNone(now, before)) return Fault.NONE;
  step = Step.FILE;
  return beginDiff(load<usize>(asked), load<usize>(asked, 4), now, before);
}

// ---- which files ----

function takeFile(): i32 {
  const fault = nextAdded();
  if (fault !== Fault.NONE) return fault;
  if (!isFound) {
    step = Step.DIRECTORY;
    return Fault.NONE;
  }
  const isLink = fileMode === Mode.REPOSITORY;
  const known = recall(fileOid, isLink, path, pathSize);
  if (known === Known.TOLD || known === Known.VAIN) return Fault.NONE;
  if (known === Known.HOLDS) return tell();
  if (isLink) return holdsLink() ? tell() : Fault.NONE;
  const opened = openBlob(fileOid, ask.needle.size, <u64>-1);
  renew(ask.needle, 0);
  step = Step.PIECE;
  return opened;
}

/** Looks through the next piece of the blob. A match that began before it ends in it. */
function takePiece(): i32 {
  if (!hasPieces()) {
    rememberVain(fileOid, false);
    step = Step.FILE;
    return Fault.NONE;
  }
  const fault = nextPiece(PIECE_BYTES);
  if (fault !== Fault.NONE) return fault;
  const needle = ask.needle;
  renew(needle, pieceSize);
  const from = piece - min(pieceBefore, needle.size - 1);
  if (find(needle, from, piece + pieceSize) === 0) return Fault.NONE;
  // What is left of a large one is not unpacked; that it holds the pattern is so already.
  closeBlob();
  step = Step.FILE;
  return tell();
}

const SUBPROJECT: usize = memory.data<u8>([83, 117, 98, 112, 114, 111, 106, 101, 99, 116, 32, 99, 111, 109, 109, 105, 116, 32]);
const SUBPROJECT_BYTES: usize = 18;
const linkText: usize = memory.data(18 + 64 + 1 + 16, 8);

/** Another repository's commit is searched as git searches it: as the line `Subproject commit <name>`. */
function holdsLink(): bool {
  memory.copy(linkText, SUBPROJECT, SUBPROJECT_BYTES);
  toHex(fileOid, linkText + SUBPROJECT_BYTES);
  const end = linkText + SUBPROJECT_BYTES + 2 * oidBytes;
  store<u8>(end, 0x0a);
  renew(ask.needle, 128);
  return find(ask.needle, linkText, end + 1) !== 0;
}

/** The commit's name in hex, in the page, once it was needed; and which page that was. */
let commitHex: usize = 0;

/** A new page is begun: what lay in the one before is gone. */
export function forgetPage(): void {
  commitHex = 0;
}

/** What the graph said of the commit was held against the commit. */
let isProved: bool = false;

function tell(): i32 {
  if (!isProved) {
    const fault = proveTaken();
    if (fault !== Fault.NONE) return fault;
    isProved = true;
  }
  if (!rememberTold(fileOid, fileMode === Mode.REPOSITORY, path, pathSize)) return Fault.BUDGET;
  const hex: usize = 2 * oidBytes;
  if (commitHex === 0) {
    commitHex = pageArena.alloc(1, hex);
    toHex(commit, commitHex);
  }
  const blob = pageArena.alloc(1, hex);
  toHex(fileOid, blob);
  addEntry(commitHex, pageArena.keep(path, pathSize), pathSize, blob, hex);
  return Fault.NONE;
}
