/**
 * One file, once, from its first byte to its last, in chunks: the host hashes them as they pass, so they are asked for
 * in order, with no gap and no second look. Stands between index.ts (the exports) and text/ (lines and characters).
 * Memory is one chunk and the interval, whatever the file's size.
 */

import { reserve } from '../abi/arena';
import { atEnd, close, openFile, preopen, readInto } from '../abi/lift';
import { done, doneCut, failed, going, insideCharacter, notText, pastLine } from '../abi/lower';
import { Fault, Interval } from '../text/interval';
import { countLineEnds } from '../text/lines';
import { Looks, looksOfHead, looksOfPart } from '../text/looks';
import { isUtf8, Utf8 } from '../text/utf8';

const CHUNK_BYTES: usize = 256 << 10;
const LF: u8 = 0x0a;
const NO_FILE: i32 = -1;

const interval = changetype<Interval>(memory.data(offsetof<Interval>(), 8));
const utf8 = changetype<Utf8>(memory.data(offsetof<Utf8>(), 4));

/** The chunk's place, made at the first reading. */
let chunk: usize = 0;

let file: i32 = NO_FILE;
let fromByte: u64 = 0;
let isWhole: bool = false;
let pageBytes: u32 = 0;

/** Bytes and LF that passed, and whether the last byte was an LF. */
let passed: u64 = 0;
let lineEnds: u64 = 0;
let endsLine: bool = false;
/** What the file's beginning looks like. */
let head: u8 = Looks.UNKNOWN;

/** Whether a reading is under way. */
export function isReading(): bool {
  return file !== NO_FILE;
}

/** Ends the reading that is under way, if one is. What it collected stays until the walk's arena is reset. */
export function closeReading(): void {
  if (file !== NO_FILE) close(file);
  file = NO_FILE;
}

/** Opens the file; the address of a `reading` that says why not, or 0. */
export function beginReading(
  name: usize, nameSize: usize, offset: u64, byte: u64, limit: u32, textCap: u32, lineCap: u32, whole: bool, page: u32,
): usize {
  if (chunk === 0) chunk = reserve(CHUNK_BYTES);
  const dir = preopen();
  const answer = openFile(dir, name, nameSize, false);
  close(dir);
  if (answer < 0) return failed(~answer);
  file = answer;
  interval.begin(offset, byte, limit, textCap, lineCap);
  utf8.clear();
  fromByte = byte;
  isWhole = whole;
  pageBytes = page;
  passed = lineEnds = 0;
  endsLine = true;
  head = Looks.UNKNOWN;
  return 0;
}

/** Goes on with the reading that is under way, for one page: the address of a `reading`. */
export function readOn(): usize {
  const pageStart = passed;
  do {
    const size = readInto(file, chunk, CHUNK_BYTES, passed);
    if (size < 0) return failed(~size);
    const bad = size > 0 ? pass(chunk + size) : 0;
    if (bad !== 0) return bad;
    if (atEnd) return reachEnd();
    if (!isWhole && interval.isOver()) return judgeInterval();
  } while (passed - pageStart < pageBytes);
  return going(passed);
}

/** One chunk passes: 0, or the verdict that it is no text. */
function pass(end: usize): usize {
  const isFirst = passed === 0;
  if (isFirst) head = looksOfHead(chunk, end);
  if (isWhole && utf8.feed(chunk, end) !== 0) return notText(looks(chunk, end, isFirst));
  const ends = <u64>countLineEnds(chunk, end);
  interval.feed(chunk, end, ends);
  passed += <u64>(end - chunk);
  lineEnds += ends;
  endsLine = load<u8>(end - 1) === LF;
  partEnd = end;
  return 0;
}

/** Where the last chunk ended, and whether it was the first. */
let partEnd: usize = 0;

function looks(from: usize, to: usize, isFirst: bool): u8 {
  return head !== Looks.UNKNOWN ? head : looksOfPart(from, to, isFirst);
}

function reachEnd(): usize {
  interval.finish();
  if (!isWhole) return judgeInterval();
  const size = <u64>(partEnd - chunk);
  return utf8.isWhole() ? slice() : notText(looks(chunk, partEnd, passed === size));
}

/** A file too large to be judged whole: only what is delivered is. */
function judgeInterval(): usize {
  const end = interval.text + interval.kept;
  return isUtf8(interval.text, end) ? slice() : notText(looks(interval.text, end, true));
}

function slice(): usize {
  if (interval.fault === Fault.PAST_LINE) return pastLine();
  if (interval.fault === Fault.INSIDE_CHARACTER) return insideCharacter();
  const total = lineEnds + <u64>!endsLine;
  if (!interval.isCut) return done(interval.text, interval.kept, interval.taken, total, interval.more);
  return doneCut(interval.text, interval.kept, total, fromByte + <u64>interval.kept, interval.cutBytes);
}
