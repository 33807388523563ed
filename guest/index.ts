/**
 * The component's exports, and the whole guest on one page. Stands where the host's runner calls in: arguments arrive
 * flattened by the canonical ABI, a result goes back as the address of a record (abi/lower.ts).
 *
 *   search, more   walk/descent.ts: which names → walk/scan.ts: which lines → text/: which bytes
 *   read, next     walk/reading.ts: chunks in order → text/interval.ts: which lines → text/utf8.ts: is it text
 *
 * A call of `more` or `next` with nothing under way is a broken host: a trap.
 */

import { walkArena } from './abi/arena';
import { beginPage, Ending, finishPage, isGoing } from './abi/lower';
import { beginGitPage, failHistory, failTrail } from './abi/lower-git';
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

/** WIT `history`: begins with the newest commits and gives the first page. */
export function history(
  pattern: usize, patternSize: usize, branches: usize, branchCount: u32, directories: usize, directoryCount: u32,
  oidBytes: u32, pageWork: u32, pageBytes: u32,
): usize {
  beginGitPage();
  return failHistory(3);
}

/** WIT `older`: the next page of the history that is under way. */
export function older(): usize {
  beginGitPage();
  return failHistory(3);
}

/** WIT `trail`: begins with what can be told of the address on one page. */
export function trail(
  commit: usize, commitSize: usize, path: usize, pathSize: usize, branches: usize, branchCount: u32, oidBytes: u32,
  blobMax: u64, pageWork: u32, pageBytes: u32,
): usize {
  beginGitPage();
  return failTrail(3);
}

/** WIT `further`: the next page of the trail that is under way. */
export function further(): usize {
  beginGitPage();
  return failTrail(3);
}

/** Gives back whatever an earlier call left under way. */
function abandonAll(): void {
  abandon();
  closeReading();
  walkArena.reset();
}
