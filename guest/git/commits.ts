/**
 * The walk over commits, in git's order: the tips of the branches first, then each commit's parents as it leaves the
 * queue. Stands between history.ts and trail.ts (which commit is next) and objects.ts, graph.ts, queue.ts.
 *
 * What the commit-graph says of a commit is taken from there, its date too, as git does; the others are read themselves.
 * Where the commit is read anyway, the graph's word is held against it.
 */

import { reserveWithin } from '../abi/arena';
import { added, copyOid, fromHex, isSameOid, MEMORY_MOST, OID_MAX, oidBytes, OidMap } from './oid';
import { Fault } from './fault';
import {
  beginGraph, beginParents, checkOn, edgesRead, findPlace, hasGraph, isChecking, nextParent, NOWHERE, parentPlace,
  place, placeOid, readName, readPlace,
} from './graph';
import { DATE_BITS, dataDate, dataFirst, dataSecond, dataTree, NO_PARENT } from './layer';
import { objectAt, objectSize, objectsRead, objectType, readObject, readTyped } from './objects';
import { Type } from './pack';
import { emptyQueue, makeWaiting, PARENTS_HELD, pop, push, release, Waiting } from './queue';
import { collectTips, firstTip, Tip } from './refs';

/** A tag may name a tag; so many times. */
const TAGS_MOST: u32 = 100;

// ---- what a commit says ----

/** What `parseCommit` read: its tree, its date; parents begin at `parentsAt`, a line each. */
export const tree: usize = memory.data(32, 8);
let date: u64 = 0;
let parentsAt: usize = 0;
let parentCount: u32 = 0;

/** `tree `, `parent `: how long the words before a name are. */
const TREE_WORD: usize = 5;
const PARENT_WORD: usize = 7;

/** Reads the heads of the commit at [at, end); false if it is none. */
export function parseCommit(at: usize, end: usize): bool {
  const hex: usize = 2 * oidBytes;
  if (end - at < TREE_WORD + hex + 1 || load<u32>(at) !== 0x6565_7274 || load<u8>(at, 4) !== 0x20) return false;
  if (!fromHex(at + TREE_WORD, tree) || load<u8>(at + TREE_WORD + hex) !== 0x0a) return false;
  let p = at + TREE_WORD + hex + 1;
  const line = PARENT_WORD + hex + 1;
  parentsAt = p;
  parentCount = 0;
  while (end - p >= line && load<u32>(p) === 0x6572_6170 && load<u32>(p, 3) === 0x2074_6e65) {
    if (load<u8>(p + line - 1) !== 0x0a) return false;
    parentCount++;
    p += line;
  }
  date = dateOf(p, end);
  return true;
}

/** Reads the name of a parent; false if it is none. */
function parentOf(index: u32, to: usize): bool {
  return fromHex(parentsAt + <usize>index * (PARENT_WORD + 2 * oidBytes + 1) + PARENT_WORD, to);
}

const AUTHOR: usize = memory.data<u8>([0x61, 0x75, 0x74, 0x68, 0x6f, 0x72]);
const COMMITTER: usize = memory.data<u8>([0x63, 0x6f, 0x6d, 0x6d, 0x69, 0x74, 0x74, 0x65, 0x72]);

/** The committer's date, as git's parse_commit_date finds it: 0 wherever it would not. */
function dateOf(at: usize, end: usize): u64 {
  let p = at;
  if (p + 6 >= end || memory.compare(p, AUTHOR, 6) !== 0) return 0;
  p = behind(0x0a, p, end);
  if (p + 9 >= end || memory.compare(p, COMMITTER, 9) !== 0) return 0;
  p = behind(0x3e, p, end);
  if (p >= end) return 0;
  const stop = behind(0x0a, p, end);
  return stop >= end ? 0 : secondsAt(p, stop);
}

function behind(byte: u8, at: usize, end: usize): usize {
  let p = at;
  while (p < end) if (load<u8>(p++) === byte) break;
  return p;
}

/** As strtoumax reads: white space, a sign, digits; the largest number if they are too many. */
function secondsAt(at: usize, end: usize): u64 {
  let p = at;
  while (p < end && (load<u8>(p) === 0x20 || <u32>load<u8>(p) - 9 < 5)) p++;
  const isNegative = p < end && load<u8>(p) === 0x2d;
  if (p < end && (isNegative || load<u8>(p) === 0x2b)) p++;
  let seconds: u64 = 0;
  for (; p < end; p++) {
    const digit = <u64>load<u8>(p) - 0x30;
    if (digit > 9) break;
    if (seconds > (<u64>-1 - digit) / 10) return <u64>-1;
    seconds = seconds * 10 + digit;
  }
  return isNegative ? 0 - seconds : seconds;
}

// ---- the walk ----

const seen = changetype<OidMap>(memory.data(offsetof<OidMap>(), 4));
/** Commits that left the queue. */
export let taken: u32 = 0;

/** Objects that were read, commits and parents that were taken up, so far: what a page is bounded by. */
export function workDone(): u32 {
  return objectsRead + taken + edgesRead;
}

/** The tip that is to be taken next. */
let tip: Tip | null = null;

/**
 * Begins a walk at the branches that match, in the repository and its directory `objects`: first `prepare` while
 * `isPreparing`, then `takeTip` while there is one, then `takeCommit`.
 */
export function beginWalk(repository: i32, objects: i32, branches: usize, branchCount: u32): i32 {
  seen.clear();
  emptyQueue();
  taken = 0;
  const fault = collectTips(repository, branches, branchCount);
  tip = firstTip;
  return fault !== Fault.NONE ? fault : beginGraph(objects);
}

/** Whether the commit-graph is still being checked. */
export function isPreparing(): bool {
  return isChecking();
}

/** Checks a piece of the commit-graph. */
export function prepare(): i32 {
  return checkOn();
}

/** Whether a tip is still to be taken. */
export function hasTip(): bool {
  return tip !== null;
}

/** Begins also at the next tip, if there is one. */
export function takeTip(): i32 {
  const next = tip;
  if (next === null) return Fault.NONE;
  tip = next.next;
  return addTip(next.oid());
}

const peeled: usize = memory.data(32, 8);

/** Begins also at what this ref names: a commit, or a tag of one. Trees and blobs are no beginning, and no fault. */
function addTip(oid: usize): i32 {
  copyOid(peeled, oid);
  for (let tags: u32 = 0; tags < TAGS_MOST; tags++) {
    const fault = readObject(peeled);
    if (fault !== Fault.NONE) return fault;
    if (objectType === Type.COMMIT) return enqueueTip(peeled);
    if (objectType !== Type.TAG) return Fault.NONE;
    // `object <name>` is a tag's first line
    if (objectSize < 8 + 2 * oidBytes || load<u32>(objectAt) !== 0x656a_626f || load<u32>(objectAt, 3) !== 0x2074_6365) {
      return Fault.CORRUPT;
    }
    if (!fromHex(objectAt + 7, peeled)) return Fault.CORRUPT;
  }
  return Fault.CORRUPT;
}

/** Puts a tip into the queue that was just read. CORRUPT: the graph says something else of it. */
function enqueueTip(oid: usize): i32 {
  if (!parseCommit(objectAt, objectAt + objectSize)) return Fault.CORRUPT;
  if (hasGraph()) {
    let fault = findPlace(oid);
    const where = place;
    if (fault === Fault.NONE && where !== NOWHERE) fault = readPlace(where);
    if (fault === Fault.NONE && where !== NOWHERE && hasGraph()) fault = agrees(where);
    if (fault !== Fault.NONE) return fault;
    if (where !== NOWHERE && hasGraph()) return enqueuePlaced(oid, where);
  }
  return enqueueRead(oid);
}

/** Holds what was read of the graph against the commit that was parsed. Where the graph is given up, nothing is said. */
function agrees(where: u32): i32 {
  if (!isSameOid(tree, dataTree) || (date & DATE_BITS) !== dataDate) return Fault.CORRUPT;
  beginParents(where, dataFirst, dataSecond);
  for (let i: u32 = 0; i <= parentCount; i++) {
    let fault = nextParent();
    if (fault === Fault.NONE && parentPlace !== NOWHERE) fault = readName(parentPlace);
    if (fault !== Fault.NONE || !hasGraph()) return fault;
    if (i === parentCount) break;
    if (parentPlace === NOWHERE || !parentOf(i, oneParent) || !isSameOid(oneParent, placeOid)) return Fault.CORRUPT;
  }
  return parentPlace === NOWHERE ? Fault.NONE : Fault.CORRUPT;
}

/** Puts the commit that was parsed into the queue, unless it was there before. Leaves its tree in `tree`. */
function enqueueRead(oid: usize): i32 {
  const word = seen.put(oid);
  if (word === 0) return Fault.BUDGET;
  return added ? wait(word + 4) : Fault.NONE;
}

function wait(oid: usize): i32 {
  const waiting = makeWaiting();
  if (waiting === null) return Fault.BUDGET;
  waiting.oid = oid;
  waiting.date = date;
  waiting.place = NOWHERE;
  const fault = fillParents(waiting);
  if (fault !== Fault.NONE) return fault;
  return push(waiting) ? Fault.NONE : Fault.BUDGET;
}

/** Tree and parents of the commit that was parsed. */
function fillParents(waiting: Waiting): i32 {
  waiting.parentCount = parentCount;
  copyOid(waiting.tree(), tree);
  if (parentCount > PARENTS_HELD) return Fault.NONE;
  for (let i: u32 = 0; i < parentCount; i++) if (!parentOf(i, waiting.parent(i))) return Fault.CORRUPT;
  return Fault.NONE;
}

/** The same of the commit whose place in the graph was read. */
function enqueuePlaced(oid: usize, where: u32): i32 {
  copyOid(tree, dataTree);
  const word = seen.put(oid);
  if (word === 0) return Fault.BUDGET;
  if (!added) return Fault.NONE;
  const waiting = makeWaiting();
  if (waiting === null) return Fault.BUDGET;
  waiting.oid = word + 4;
  waiting.date = dataDate;
  waiting.place = where;
  waiting.first = dataFirst;
  waiting.second = dataSecond;
  waiting.parentCount = dataFirst === NO_PARENT ? 0 : dataSecond === NO_PARENT ? 1 : 2; // or more
  copyOid(waiting.tree(), tree);
  return push(waiting) ? Fault.NONE : Fault.BUDGET;
}

/** The commit that left the queue last: its name, how many parents it has, its tree, and its only parent's. */
export const commit: usize = memory.data(32, 8);
/** 2 stands for all that are more than one. */
export let parents: u32 = 0;
export const commitTree: usize = memory.data(32, 8);
export const parentTree: usize = memory.data(32, 8);
/** Where it is in the graph, if what is said here of it was read there; else NOWHERE. And the name of its only parent. */
export let commitPlace: u32 = NOWHERE;
const onlyParent: usize = memory.data(32, 8);
let commitDate: u64 = 0;

/** Whether a commit left the queue; false at the end of the walk. */
export let isOn: bool = false;

/** Takes the next commit, and puts its parents in. `parentTree` is set if it has one parent. */
export function takeCommit(): i32 {
  const waiting = pop();
  isOn = waiting !== null;
  if (waiting === null) return Fault.NONE;
  copyOid(commit, waiting.oid);
  taken++;
  let fault = waiting.place !== NOWHERE ? takePlaces(waiting) : Fault.NONE;
  // Where the graph was given up in the meantime, the commit itself tells.
  if (fault === Fault.NONE && waiting.place !== NOWHERE && !hasGraph()) fault = readAgain(waiting);
  if (fault === Fault.NONE && waiting.place === NOWHERE) {
    fault = waiting.parentCount > PARENTS_HELD ? takeManyParents(waiting.parentCount) : takeParents(waiting);
  }
  copyOid(commitTree, waiting.tree());
  parents = min<u32>(waiting.parentCount, 2);
  commitPlace = waiting.place;
  commitDate = waiting.date;
  release(waiting);
  return fault;
}

/** The same record, of the commit itself. */
function readAgain(waiting: Waiting): i32 {
  const fault = readTyped(commit, Type.COMMIT);
  if (fault !== Fault.NONE) return fault;
  if (!parseCommit(objectAt, objectAt + objectSize)) return Fault.CORRUPT;
  waiting.place = NOWHERE;
  return fillParents(waiting);
}

function takeParents(waiting: Waiting): i32 {
  for (let i: u32 = 0; i < waiting.parentCount; i++) {
    const oid = waiting.parent(i);
    // Of an only parent the tree is needed, whether it was met before or not.
    if (waiting.parentCount > 1 && seen.find(oid) !== 0) continue;
    const fault = takeParent(oid);
    if (fault !== Fault.NONE) return fault;
    copyOid(parentTree, tree);
  }
  return Fault.NONE;
}

/** Puts a parent in by its name, and leaves its tree in `tree`: out of the graph, or itself. */
function takeParent(oid: usize): i32 {
  if (hasGraph()) {
    let fault = findPlace(oid);
    if (fault === Fault.NONE && place !== NOWHERE) fault = readPlace(place);
    if (fault !== Fault.NONE) return fault;
    if (place !== NOWHERE) return enqueuePlaced(placeOid, place);
  }
  const fault = readTyped(oid, Type.COMMIT);
  if (fault !== Fault.NONE) return fault;
  return parseCommit(objectAt, objectAt + objectSize) ? enqueueRead(oid) : Fault.CORRUPT;
}

const oneParent: usize = memory.data(32, 8);

/** Names of the parents of one commit, while they are taken up; room for how many there is. */
let many: usize = 0;
let manyRoom: u32 = 0;

/** Of more parents than a record holds: the commit is read again, and their names are put aside while they are read. */
function takeManyParents(count: u32): i32 {
  let fault = readTyped(commit, Type.COMMIT);
  if (fault !== Fault.NONE) return fault;
  if (!parseCommit(objectAt, objectAt + objectSize) || parentCount !== count) return Fault.CORRUPT;
  if (manyRoom < count) {
    many = reserveWithin(<usize>count * OID_MAX, MEMORY_MOST);
    manyRoom = many === 0 ? 0 : count;
    if (many === 0) return Fault.BUDGET;
  }
  for (let i: u32 = 0; i < count; i++) if (!parentOf(i, many + <usize>i * OID_MAX)) return Fault.CORRUPT;
  for (let i: u32 = 0; i < count; i++) {
    const oid = many + <usize>i * OID_MAX;
    if (seen.find(oid) !== 0) continue;
    fault = takeParent(oid);
    if (fault !== Fault.NONE) return fault;
  }
  return Fault.NONE;
}

/** Puts the parents in that the graph names. Where it is given up on the way, some are in. */
function takePlaces(waiting: Waiting): i32 {
  beginParents(waiting.place, waiting.first, waiting.second);
  while (true) {
    let fault = nextParent();
    if (fault !== Fault.NONE || parentPlace === NOWHERE) return fault;
    fault = readPlace(parentPlace);
    if (fault !== Fault.NONE || !hasGraph()) return fault;
    fault = enqueuePlaced(placeOid, parentPlace);
    if (fault !== Fault.NONE) return fault;
    copyOid(parentTree, tree);
    copyOid(onlyParent, placeOid);
  }
}

/**
 * Holds what the graph said of the commit that was taken, which is no merge, and of its only parent against the two
 * themselves: CORRUPT if they say something else. At most two commits are read.
 */
export function proveTaken(): i32 {
  if (commitPlace === NOWHERE) return Fault.NONE;
  let fault = readTyped(commit, Type.COMMIT);
  if (fault !== Fault.NONE) return fault;
  if (!parseCommit(objectAt, objectAt + objectSize) || !isSameOid(tree, commitTree)) return Fault.CORRUPT;
  if (parentCount !== parents || (date & DATE_BITS) !== commitDate) return Fault.CORRUPT;
  if (parents === 0) return Fault.NONE;
  if (!parentOf(0, oneParent) || !isSameOid(oneParent, onlyParent)) return Fault.CORRUPT;
  fault = readTyped(onlyParent, Type.COMMIT);
  if (fault !== Fault.NONE) return fault;
  const isSo = parseCommit(objectAt, objectAt + objectSize) && isSameOid(tree, parentTree);
  return isSo ? Fault.NONE : Fault.CORRUPT;
}

/** Whether the walk has met this commit: it is reachable. */
export function hasMet(oid: usize): bool {
  return seen.find(oid) !== 0;
}
