/**
 * The component's exports, and the whole guest on one page. Stands where the host's runner calls in: arguments arrive
 * flattened by the canonical ABI, a result goes back as the address of a record (abi/lower.ts).
 *
 *   search, more   walk/descent.ts: which names → walk/scan.ts: which lines → text/: which bytes
 *   read, next     walk/reading.ts: chunks in order → text/interval.ts: which lines → text/utf8.ts: is it text
 *
 *   history, older git/history.ts: which commits → git/diff.ts: which files → git/objects.ts: which bytes → text/find.ts
 *   trail, further git/trail.ts: commit, trees and blob, as they are hashed
 *
 * A call of `more`, `next`, `older` or `further` with nothing of its kind under way is a broken host: a trap.
 */

import { walkArena } from './abi/arena';
import { beginPage, Ending, finishPage, isGoing } from './abi/lower';
import {
  beginGitPage, failHistory, failTrail, finishHistory, finishTrail, HistoryEnding, TrailEnding,
} from './abi/lower-git';
import { taken } from './git/commits';
import { Fault } from './git/fault';
import { ask as historyAsk, beginHistory, forgetPage, historyOn } from './git/history';
import { fromHex, setOidBytes } from './git/oid';
import { closeRepository, openRepository } from './git/repository';
import { ask as trailAsk, asked, beginTrail, nextTrailPage, trailEnding, trailOn } from './git/trail';
import { findByte } from './text/lines';
import { makeNeedle } from './text/find';
import { ask } from './walk/ask';
import { abandon, begin, goOn } from './walk/descent';
import { beginReading, closeReading, isReading, readOn } from './walk/reading';

export { cabi_realloc } from './abi/arena';

let searching: bool = false;

/** WIT `search`: starts the walk and gives its first page. The text is one line and not empty, or we trap. */
export function search(
  text: usize, textSize: usize, hasOnly: i32, only: usize, onlySize: usize, context: u32, matchCap: u32, lineCap: u32,
  textCap: u32, fileCap: u32, unreadShown: u32, pageEntries: u32, pageBytes: u32,
): usize {
  if (textSize === 0 || findByte(0x0a, text, text + textSize) !== 0) unreachable();
  abandonAll();
  ask.needle = makeNeedle(walkArena.keep(text, textSize), textSize, walkArena);
  ask.context = context;
  ask.matchCap = matchCap;
  ask.lineCap = lineCap;
  ask.textCap = textCap;
  ask.fileCap = fileCap;
  ask.unreadShown = unreadShown;
  ask.pageEntries = pageEntries;
  ask.pageBytes = pageBytes;
  const name = hasOnly !== 0 ? walkArena.keep(only, onlySize) : 0;
  beginPage();
  return page(begin(hasOnly !== 0, name, onlySize));
}

/** WIT `more`: the next page of the search that is under way. */
export function more(): usize {
  if (!searching) unreachable();
  beginPage();
  return page(Ending.GOING);
}

function page(sofar: i32): usize {
  const ending = goOn(sofar);
  searching = ending === Ending.PAUSED;
  if (!searching) abandon();
  return finishPage(ending);
}

/** WIT `read`: opens the file and passes over its first page. */
export function read(
  name: usize, nameSize: usize, offset: u64, byte: u64, limit: u32, textCap: u32, lineCap: u32, whole: i32,
  pageBytes: u32,
): usize {
  abandonAll();
  const kept = walkArena.keep(name, nameSize);
  beginPage();
  const refusal = beginReading(kept, nameSize, offset, byte, limit, textCap, lineCap, whole !== 0, pageBytes);
  return refusal !== 0 ? refusal : readPage();
}

/** WIT `next`: the next page of the reading that is under way. */
export function next(): usize {
  if (!isReading()) unreachable();
  beginPage();
  return readPage();
}

function readPage(): usize {
  const reading = readOn();
  // What was collected stays where it is until the next call begins: the host has yet to lift it.
  if (!isGoing(reading)) closeReading();
  return reading;
}

/** WIT `history`: begins with the newest commits and gives the first page. The pattern is not empty, or we trap. */
export function history(
  pattern: usize, patternSize: usize, branches: usize, branchCount: u32, directories: usize, directoryCount: u32,
  oidBytes: u32, pageWork: u32, pageBytes: u32,
): usize {
  if (patternSize === 0) unreachable();
  abandonAll();
  setOidBytes(oidBytes);
  historyAsk.needle = makeNeedle(walkArena.keep(pattern, patternSize), patternSize, walkArena);
  historyAsk.branches = keepStrings(branches, branchCount);
  historyAsk.branchCount = branchCount;
  historyAsk.directories = keepStrings(directories, directoryCount);
  historyAsk.directoryCount = directoryCount;
  historyAsk.pageWork = pageWork;
  historyAsk.pageBytes = pageBytes;
  beginGitPage();
  let fault = openRepository();
  if (fault === Fault.NONE) fault = beginHistory();
  return historyPage(fault);
}

/** WIT `older`: the next page of the history that is under way. */
export function older(): usize {
  if (underWay !== Git.HISTORY) unreachable();
  beginGitPage();
  return historyPage(Fault.NONE);
}

function historyPage(fault: i32): usize {
  forgetPage();
  const how = fault === Fault.NONE ? historyOn() : fault === Fault.BUDGET ? <i32>HistoryEnding.BUDGET : ~fault;
  underWay = how === HistoryEnding.PAUSED ? Git.HISTORY : Git.NOTHING;
  if (underWay === Git.NOTHING) closeRepository();
  return how < 0 ? failHistory(<u8>(~how - 1)) : finishHistory(taken, <u8>how);
}

/** WIT `trail`: begins with what can be told of the address on one page. */
export function trail(
  commit: usize, commitSize: usize, path: usize, pathSize: usize, branches: usize, branchCount: u32, oidBytes: u32,
  blobMax: u64, pageWork: u32, pageBytes: u32,
): usize {
  abandonAll();
  setOidBytes(oidBytes);
  if (commitSize !== 2 * <usize>oidBytes || !fromHex(commit, asked)) unreachable();
  trailAsk.path = walkArena.keep(path, pathSize);
  trailAsk.pathSize = pathSize;
  trailAsk.branches = keepStrings(branches, branchCount);
  trailAsk.branchCount = branchCount;
  trailAsk.blobMax = blobMax;
  trailAsk.pageWork = pageWork;
  trailAsk.pageBytes = pageBytes;
  beginGitPage();
  nextTrailPage();
  let fault = openRepository();
  if (fault === Fault.NONE) fault = beginTrail();
  return trailPage(fault);
}

/** WIT `further`: the next page of the trail that is under way. */
export function further(): usize {
  if (underWay !== Git.TRAIL) unreachable();
  beginGitPage();
  nextTrailPage();
  return trailPage(Fault.NONE);
}

function trailPage(before: i32): usize {
  const fault = before === Fault.NONE ? trailOn() : before;
  const ending = fault === Fault.BUDGET ? <i32>TrailEnding.BUDGET : trailEnding;
  const failed = fault !== Fault.NONE && fault !== Fault.BUDGET;
  underWay = !failed && ending === TrailEnding.PAUSED ? Git.TRAIL : Git.NOTHING;
  if (underWay === Git.NOTHING) closeRepository();
  return failed ? failTrail(<u8>(fault - 1)) : finishTrail(<u8>ending);
}

/** What is under way in the repository. */
namespace Git {
  export const NOTHING: i32 = 0;
  export const HISTORY: i32 = 1;
  export const TRAIL: i32 = 2;
}
let underWay: i32 = Git.NOTHING;

/** A copy of a list of strings, which outlives the call: address and size of each. */
function keepStrings(list: usize, count: u32): usize {
  const kept = walkArena.alloc(4, <usize>count << 3);
  for (let i: usize = 0; i < <usize>count << 3; i += 8) {
    const size = load<usize>(list + i, 4);
    store<usize>(kept + i, walkArena.keep(load<usize>(list + i), size));
    store<usize>(kept + i, size, 4);
  }
  return kept;
}

/** Gives back whatever an earlier call left under way. */
function abandonAll(): void {
  abandon();
  closeReading();
  if (underWay !== Git.NOTHING) closeRepository();
  underWay = Git.NOTHING;
  walkArena.reset();
}
