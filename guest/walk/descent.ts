/**
 * The walk: depth first, names sorted by bytes, every name taken up once and counted once. Stands between index.ts
 * (the exports) and scan.ts (files). What a code of the host means for the walk is decided here and nowhere else.
 *
 * The walk's state is its stack of frames, and stays between pages. A page ends between two entries.
 */

import {
  Answer, close, Code, Kind, openDirectory, openFile, preopen, preopenName, preopenNameSize,
} from '../abi/lift';
import { addUnread, clearCoverage, countCause, coverage, Ending } from '../abi/lower';
import { walkArena } from '../abi/arena';
import { ask } from './ask';
import { enter, enterOnly, Frame, frame, frameAt, keepPath, leave, leaveToDepth, path, pathSize } from './frame';
import { Entry, entryAt, NOT_UTF8 } from './listing';
import { isReserved, isSegment } from './names';
import { beginScans, bytesRead, readFile, scan } from './scan';

const DOT: usize = memory.data<u8>([0x2e]);

/** Taken up on this page. */
let entries: u32 = 0;
/** How many of `unread` the whole search has listed. */
let shown: u32 = 0;
/** The start place's address. Empty: the city. */
let prefix: usize = 0;
let prefixSize: usize = 0;

/** Leaves every directory of a search that was not walked to its end. */
export function abandon(): void {
  leaveToDepth(0);
}

/** Begins a search for what `ask` holds: takes up the start place, or goes straight to its one name `only`. */
export function begin(hasOnly: bool, only: usize, onlySize: usize): i32 {
  clearCoverage();
  beginScans();
  entries = 0;
  shown = 0;
  const handle = preopen();
  prefixSize = preopenNameSize;
  prefix = walkArena.keep(preopenName, prefixSize);
  if (hasOnly) {
    enterOnly(handle, prefix, prefixSize, only, onlySize, Kind.UNKNOWN);
    return Ending.GOING;
  }
  entries++;
  const answer = enter(handle, prefix, prefixSize);
  if (answer === 0) {
    coverage.directories++;
    return Ending.GOING;
  }
  if (~answer === Code.QUOTA) return Ending.BUDGET;
  if (~answer === Code.INSUFFICIENT_SPACE) return abandonBuilding(null);
  if (prefixSize === 0) unread(null, DOT, 1, ~answer);
  else unread(null, prefix, prefixSize, ~answer);
  return Ending.GOING;
}

/** Goes on with the walk that is under way, for one page. How the page ended. */
export function goOn(ending: i32): i32 {
  const pageStart = bytesRead;
  let how = ending;
  while (how === Ending.GOING) {
    const here = whereNext();
    if (here === null) return Ending.COMPLETE;
    // A page of no entries would never end the search.
    if (entries > 0 && (entries >= ask.pageEntries || bytesRead - pageStart >= ask.pageBytes)) break;
    entries++;
    how = takeUp(here, entryAt(here.names, here.next++));
  }
  entries = 0;
  return how === Ending.GOING ? Ending.PAUSED : how;
}

/** The directory with the next name to take up, leaving those that are done; null at the walk's end. */
function whereNext(): Frame | null {
  for (let here = frame; here !== null; here = frame) {
    if (!here.isDone()) return here;
    leave();
  }
  return null;
}

/** Takes up one name: its rules first, then what the listing says it is. GOING, or what ended the page. */
function takeUp(here: Frame, entry: Entry): i32 {
  if (entry.kind === NOT_UTF8 || !isSegment(entry.name, entry.size)) {
    return unread(here, entry.name, entry.size, Code.ILLEGAL_BYTE_SEQUENCE);
  }
  if (isReserved(entry.name, entry.size)) {
    coverage.reserved++;
    return Ending.GOING;
  }
  if (entry.kind !== Kind.DIRECTORY) return takeUpFile(here, entry);
  const dir = openDirectory(here.handle, entry.name, entry.size);
  return isNoDirectory(dir) ? takeUpFile(here, entry) : descend(here, entry, dir);
}

/** A file, or a link to one; and whatever turns out to be something else at the open. */
function takeUpFile(here: Frame, entry: Entry): i32 {
  const isLink = entry.kind === Kind.SYMBOLIC_LINK;
  const file = openFile(here.handle, entry.name, entry.size, true);
  if (file >= 0) return scanAndClose(here, entry, file);
  if (~file === Code.NO_ENTRY && isLink) return settle(here, entry, ~Code.LOOP); // it is there, and leads nowhere
  if (~file !== Code.IS_DIRECTORY) return settle(here, entry, file);
  const dir = isLink ? ~Code.NOT_DIRECTORY : openDirectory(here.handle, entry.name, entry.size);
  return descend(here, entry, isNoDirectory(dir) ? ~Code.NOT_PERMITTED : dir); // a link to a directory: not followed
}

function scanAndClose(here: Frame, entry: Entry, file: i32): i32 {
  const size = readFile(file);
  close(file);
  return size < 0 ? settle(here, entry, size) : scan(here, entry, size);
}

/** Enters the directory that was opened, or counts why it was not. */
function descend(here: Frame, entry: Entry, dir: Answer): i32 {
  return settle(here, entry, dir < 0 ? dir : enter(dir, entry.name, entry.size));
}

/** Whether the open said that a link or a file stands where a directory was listed. */
function isNoDirectory(answer: Answer): bool {
  return ~answer === Code.NOT_DIRECTORY || ~answer === Code.LOOP;
}

/** Counts an entry by what became of it: a directory that was entered (0), or a code. */
function settle(here: Frame, entry: Entry, answer: Answer): i32 {
  if (answer === 0) {
    coverage.directories++;
    return Ending.GOING;
  }
  switch (~answer) {
    case Code.QUOTA:
      return Ending.BUDGET;
    case Code.NOT_PERMITTED:
      coverage.links++;
      return Ending.GOING;
    case Code.INSUFFICIENT_SPACE:
      return abandonBuilding(entry);
    default:
      return unread(here, entry.name, entry.size, ~answer);
  }
}

/** The building has had its share of the call: one `unread` under its address, and the walk goes on outside it. */
function abandonBuilding(entry: Entry | null): i32 {
  if (prefixSize > 0) {
    unread(null, prefix, firstSegment(prefix, prefixSize), Code.INSUFFICIENT_SPACE);
    leaveToDepth(0);
    return Ending.GOING;
  }
  if (entry === null) return unread(null, DOT, 1, Code.INSUFFICIENT_SPACE);
  // The frame below the city's own is the building's; without one the entry itself is the building.
  const building = frameAt(2);
  if (building === null) unread(null, entry.name, entry.size, Code.INSUFFICIENT_SPACE);
  else unread(null, building.name, building.size, Code.INSUFFICIENT_SPACE);
  leaveToDepth(1);
  return Ending.GOING;
}

/** How long the first segment of an address is. */
function firstSegment(address: usize, size: usize): usize {
  for (let i: usize = 0; i < size; i++) if (load<u8>(address + i) === 0x2f) return i;
  return size;
}

/** Counts one that could not be looked at, and lists it while the list has room. */
function unread(parent: Frame | null, name: usize, size: usize, code: i32): i32 {
  countCause(code);
  if (shown < ask.unreadShown) {
    shown++;
    keepPath(parent, name, size);
    addUnread(path, pathSize, code);
  }
  return Ending.GOING;
}
