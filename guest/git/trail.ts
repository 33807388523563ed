/**
 * One blob of one commit, with the objects that its address hangs on: the commit, the trees from the root down, the blob
 * in pieces. The host hashes them and follows the names; nothing here is believed. Stands between index.ts (the exports)
 * and commits.ts (is the commit reachable), tree.ts, objects.ts.
 */

import { pageArena } from '../abi/arena';
import { tellBlobSize, tellCommit, tellPiece, tellTrees, TrailEnding } from '../abi/lower-git';
import { findByte } from '../text/lines';
import {
  beginWalk, hasMet, hasTip, isOn, isPreparing, parseCommit, prepare, takeCommit, takeTip, tree, workDone,
} from './commits';
import { Fault } from './fault';
import { bytesChecked } from './graph';
import {
  blobSize, bytesMade, hasPieces, nextPiece, objectAt, objectSize, objectType, openBlob, piece, pieceSize,
  readObject, readTyped,
} from './objects';
import { copyOid } from './oid';
import { Type } from './pack';
import { objects, root } from './repository';
import { findName, isDirectory, isSound, mode, Mode, oid } from './tree';

// @ts-ignore: decorator
@unmanaged
export class TrailAsk {
  path: usize;
  pathSize: usize;
  branches: usize;
  branchCount: u32;
  blobMax: u64;
  pageWork: u32;
  pageBytes: u32;
}
export const ask = changetype<TrailAsk>(memory.data(32, 8));
/** The commit that is asked for. */
export const asked: usize = memory.data(32, 8);

/** Bytes of the trees on the way, all together. */
const TREES_MOST: usize = 40 << 20;

namespace Step {
  export const GRAPH: i32 = 0;
  export const TIPS: i32 = 1;
  export const COMMIT: i32 = 2;
  export const TREES: i32 = 3;
  export const PIECE: i32 = 4;
}
let step: i32 = Step.GRAPH;

/** How a page ended that has not: ours, beside the WIT's. */
const GOING: i32 = -1;
/** How the page ended. */
export let trailEnding: i32 = GOING;

/** Begins the trail that `ask` and `asked` hold; the repository is open. */
export function beginTrail(): i32 {
  trailEnding = GOING;
  const fault = readObject(asked);
  if (fault === Fault.MISSING) return end(TrailEnding.NO_COMMIT);
  if (fault !== Fault.NONE) return fault;
  if (objectType !== Type.COMMIT) return end(TrailEnding.NO_COMMIT);
  if (ask.branchCount === 0) {
    step = Step.TREES;
    return Fault.NONE;
  }
  step = Step.GRAPH;
  return beginWalk(root, objects, ask.branches, ask.branchCount);
}

function end(how: i32): i32 {
  trailEnding = how;
  return Fault.NONE;
}

/** Goes on for one page: sets `trailEnding`, or gives a fault. What is handed over lies in the page. */
export function trailOn(): i32 {
  const work = workDone();
  const bytes = bytesMade + bytesChecked;
  while (trailEnding === GOING) {
    const before = step;
    const fault = goOn();
    if (fault === Fault.BUDGET) return end(TrailEnding.BUDGET);
    if (fault !== Fault.NONE) return fault;
    if (trailEnding !== GOING) break;
    // One piece a page: it lies where the next one will.
    const isFull = workDone() - work >= ask.pageWork || bytesMade + bytesChecked - bytes >= <u64>ask.pageBytes;
    if (before === Step.PIECE || (isFull && step !== Step.PIECE)) return end(TrailEnding.PAUSED);
  }
  return Fault.NONE;
}

/** A page is over and another begins. */
export function nextTrailPage(): void {
  trailEnding = GOING;
}

function goOn(): i32 {
  switch (step) {
    case Step.GRAPH:
      return checkGraph();
    case Step.TIPS:
      return nextTip();
    case Step.COMMIT:
      return takeNext();
    case Step.TREES:
      return handOver();
    default:
      return takePiece();
  }
}

/** The walk is over as soon as it has met the commit. */
function judgeMet(): i32 {
  if (hasMet(asked)) step = Step.TREES;
  return Fault.NONE;
}

function checkGraph(): i32 {
  if (isPreparing()) return prepare();
  step = Step.TIPS;
  return Fault.NONE;
}

function nextTip(): i32 {
  if (!hasTip()) {
    step = Step.COMMIT;
    return Fault.NONE;
  }
  const fault = takeTip();
  return fault !== Fault.NONE ? fault : judgeMet();
}

function takeNext(): i32 {
  const fault = takeCommit();
  if (fault !== Fault.NONE) return fault;
  return isOn ? judgeMet() : end(TrailEnding.UNREACHABLE);
}

/** Hands over commit and trees, as far as the path leads, and opens the blob at its end. */
function handOver(): i32 {
  const fault = readTyped(asked, Type.COMMIT);
  if (fault !== Fault.NONE) return fault;
  if (!parseCommit(objectAt, objectAt + objectSize)) return Fault.CORRUPT;
  tellCommit(pageArena.keep(objectAt, objectSize), objectSize);
  copyOid(next, tree);
  const count = segments();
  const array = pageArena.alloc(4, <usize>count << 3);
  let from = ask.path;
  const pathEnd = ask.path + ask.pathSize;
  let held: usize = 0;
  for (let i: u32 = 0; i < count; i++) {
    const read = readTyped(next, Type.TREE);
    if (read !== Fault.NONE) return read;
    held += objectSize;
    if (held > TREES_MOST) return Fault.TOO_LARGE;
    const kept = pageArena.keep(objectAt, objectSize);
    store<usize>(array + (<usize>i << 3), kept);
    store<usize>(array + (<usize>i << 3), objectSize, 4);
    tellTrees(array, i + 1);
    const slash = findByte(0x2f, from, pathEnd);
    const stop = slash === 0 ? pathEnd : slash;
    const isThere = findName(kept, kept + objectSize, from, stop - from);
    if (!isSound) return Fault.CORRUPT;
    if (!isThere) return end(TrailEnding.ABSENT);
    const isLast = i + 1 === count;
    if (isLast ? isDirectory() || mode === Mode.REPOSITORY : !isDirectory()) return end(TrailEnding.NOT_FILE);
    copyOid(next, oid);
    from = stop + 1;
  }
  const opened = openBlob(next, 0, ask.blobMax);
  if (opened !== Fault.NONE) return opened;
  tellBlobSize(blobSize);
  step = Step.PIECE;
  return Fault.NONE;
}

const next: usize = memory.data(32, 8);

/** How many names the path has: one more than slashes. */
function segments(): u32 {
  let count: u32 = 1;
  for (let i: usize = 0; i < ask.pathSize; i++) count += <u32>(load<u8>(ask.path + i) === 0x2f);
  return count;
}

function takePiece(): i32 {
  tellBlobSize(blobSize);
  if (hasPieces()) {
    const fault = nextPiece(max<usize>(ask.pageBytes, 1));
    if (fault !== Fault.NONE) return fault;
    tellPiece(piece, pieceSize);
  }
  return hasPieces() ? Fault.NONE : end(TrailEnding.WHOLE);
}
