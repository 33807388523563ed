/**
 * One file: read it, find the lines that hold the needle, keep what is shown of them.
 * Stands below descent.ts, which opened the file and closes it; text/ does the finding.
 */

import { reserve } from '../abi/arena';
import { Answer, atEnd, Code, readInto } from '../abi/lift';
import { addHit, coverage, Ending } from '../abi/lower';
import { at as written, begin, cutTo, finish, MARKER_MAX_BYTES, putByte, putMarker, start as text } from '../abi/writer';
import { find, READ_PAST, renew } from '../text/find';
import { countLineEnds, findLineEnd, lineStart, textEnd } from '../text/lines';
import { borderBefore, isUtf8 } from '../text/utf8';
import { writeAround, writeHead } from '../text/window';
import { ask } from './ask';
import { Frame, keepPath, path, pathSize } from './frame';
import { Entry } from './listing';

const LF: u8 = 0x0a;

/**
 * The file's bytes: one place for all files, `room` bytes and what `find` loads past. It starts small, since nearly all
 * files are, and memory is dear to the host; a file that fills it gets four times as much, up to the cap's room and the
 * byte that proves a file too large.
 */
let buffer: usize = 0;
let room: usize = 0;
const ROOM_AT_FIRST: usize = 64 << 10;

/** Hits of the whole search, and the bytes of their text. */
let hits: u32 = 0;
let textBytes: u64 = 0;

/** Bytes that came, of files that were looked through and of those that were not: what a page is bounded by. */
export let bytesRead: u64 = 0;

/** A new search. */
export function beginScans(): void {
  hits = 0;
  textBytes = 0;
}

/** Room for `wanted` bytes of a file, the `size` that came kept. O(size). */
function makeRoom(wanted: usize, size: usize): void {
  if (room >= wanted) return;
  const small = buffer;
  buffer = reserve(wanted + READ_PAST);
  room = wanted;
  memory.copy(buffer, small, size);
}

/** Reads a file to its end: its size, or what failed. A file over the cap is found out by its byte behind the cap. */
export function readFile(file: i32): Answer {
  const most = <usize>ask.fileCap + 1;
  let size: usize = 0;
  makeRoom(min(ROOM_AT_FIRST, most), 0);
  do {
    if (size === room) makeRoom(min(room << 2, most), size);
    const answer = readInto(file, buffer + size, min(room, most) - size, size);
    if (answer < 0) return answer;
    size += answer;
    bytesRead += answer;
    if (size === most) return ~Code.FILE_TOO_LARGE;
  } while (!atEnd);
  return <i32>size;
}

/** Looks through the `size` bytes that `readFile` read. Counts the file; GOING, or the cap that ended the answer. */
export function scan(frame: Frame, entry: Entry, size: usize): i32 {
  coverage.looked++;
  keptPath = false;
  const needle = ask.needle;
  const end = buffer + size;
  renew(needle, size);
  let line: u32 = 0; // the number of the line that begins at `from`
  let from = buffer;
  let known = false; // to be UTF-8
  while (true) {
    const match = findInLine(from, end);
    if (match === 0) return Ending.GOING;
    if (!known) {
      if (!isUtf8(buffer, end)) {
        coverage.notText++;
        return Ending.GOING;
      }
      known = true;
    }
    const start = lineStart(from, match);
    line += <u32>countLineEnds(from, start);
    const ending = keepHit(frame, entry, start, match, end, line);
    if (ending !== Ending.GOING) return ending;
    const lineEnd = findLineEnd(match, end);
    if (lineEnd === 0) return Ending.GOING;
    line++;
    from = lineEnd + 1;
  }
}

/** The first place in [from, to) where a line's text holds the needle, or 0. A CR that ends the line is none of its text. */
function findInLine(from: usize, to: usize): usize {
  const size = ask.needle.size;
  const endsWithReturn = load<u8>(ask.needle.at + size - 1) === 0x0d;
  let match = find(ask.needle, from, to);
  if (!endsWithReturn) return match;
  // Behind such a match stands an LF, which the needle does not hold: no other match begins before that.
  while (match !== 0 && match + size < to && load<u8>(match + size) === LF) {
    match = find(ask.needle, match + size + 1, to);
  }
  return match;
}

/** Whether the file's path is in the page: its hits share it. */
let keptPath: bool = false;

/** Keeps the hit on the line from `start`, unless a cap says that the answer ends before it. */
function keepHit(frame: Frame, entry: Entry, start: usize, match: usize, end: usize, line: u32): i32 {
  if (hits >= ask.matchCap) return Ending.MATCHES;
  writeBlock(start, match, end);
  const whole = written - text;
  const isOver = textBytes + whole > <u64>ask.textCap;
  if (isOver && hits > 0) {
    cutTo(0);
    finish();
    return Ending.TEXT;
  }
  if (isOver) {
    const kept = borderBefore(text, text + <usize>ask.textCap, written) - text;
    cutTo(kept);
    putMarker(<u64>(whole - kept));
  }
  const at = text;
  const size = finish();
  hits++;
  textBytes += size;
  if (!keptPath) {
    keepPath(frame, entry.name, entry.size);
    keptPath = true;
  }
  addHit(path, pathSize, line, at, size);
  return isOver ? Ending.TEXT : Ending.GOING;
}

/** Writes the line of the match with its context lines, joined with LF, each cut to its window. */
function writeBlock(start: usize, match: usize, end: usize): void {
  const first = goBack(start, ask.context);
  const behind = goOn(start, ask.context, end);
  begin(roomFor(first, behind));
  for (let p = first; p < behind; ) {
    const lineEnd = findLineEnd(p, behind);
    const hasEnd = lineEnd !== 0;
    const stop = hasEnd ? lineEnd : behind;
    if (p > first) putByte(LF);
    if (p === start) writeAround(p, textEnd(p, stop, hasEnd), match, ask.lineCap);
    else writeHead(p, textEnd(p, stop, hasEnd), ask.lineCap);
    p = stop + 1;
  }
}

/** The most a block over [first, behind) can be: its bytes, and for each line its joint and two markers. */
function roomFor(first: usize, behind: usize): usize {
  const lines = countLineEnds(first, behind) + 1;
  const shown = min<u64>(<u64>(behind - first), <u64>lines * <u64>ask.lineCap);
  // A first block over the cap is cut and then marked: one marker more.
  return <usize>shown + lines * (1 + 2 * MARKER_MAX_BYTES) + MARKER_MAX_BYTES;
}

/** Where the line begins that is `lines` before the one at `start`; the file's first line has none before it. */
function goBack(start: usize, lines: u32): usize {
  let p = start;
  for (let i: u32 = 0; i < lines && p > buffer; i++) p = lineStart(buffer, p - 1);
  return p;
}

/** The first byte behind the line that is `lines` after the one at `start`. */
function goOn(start: usize, lines: u32, end: usize): usize {
  let p = start;
  for (let i: u32 = 0; p < end; i++) {
    const lineEnd = findLineEnd(p, end);
    if (lineEnd === 0) return end;
    p = lineEnd + 1;
    if (i === lines) return p;
  }
  return end;
}
