/**
 * The records that the exports give back, as the canonical ABI lays them out. Stands at the way out of the guest:
 * walk/ fills these, the host lifts them, and the next export call forgets them.
 *
 *              0        4        8        12       16       20       24       28       32   36    40      44
 *   hit        | path   | size   | line   | text   | size   |
 *   unread     | path   | size   | cause  |
 *   page       | hits   | count  | unread | count  | looked | dirs   | links  | resvd  | !txt | causes, 37 | end
 *
 *              0        8
 *   reading    | case   | going: bytes read, u64 / not-text: looks, u8 / failed: code, u8
 *                       0        4        8        16             24       32      40          48
 *     done              | text   | size   | lines  | total-lines  | more   | cut?  | next-byte | cut-bytes |
 */

import { pageArena } from './arena';
import { Code } from './lift';

// ---- search ----

/** How a page ended: the WIT's `ending`, by number; GOING is ours, for a page that has not. */
export namespace Ending {
  export const PAUSED: i32 = 0;
  export const COMPLETE: i32 = 1;
  export const MATCHES: i32 = 2;
  export const TEXT: i32 = 3;
  export const BUDGET: i32 = 4;
  export const GOING: i32 = -1;
}

/** What the walk has taken up so far, over all pages. Lies as the page's `coverage` does. */
// @ts-ignore: decorator
@unmanaged
export class Coverage {
  looked: u32;
  directories: u32;
  links: u32;
  reserved: u32;
  notText: u32;
}

// @ts-ignore: decorator
@unmanaged
class Page {
  hits: usize;
  hitCount: u32;
  unread: usize;
  unreadCount: u32;
  looked: u32;
  directories: u32;
  links: u32;
  reserved: u32;
  notText: u32;
  causes: usize;
  causeCount: u32;
  ending: u8;
}

// @ts-ignore: decorator
@unmanaged
class Hit {
  path: usize;
  pathSize: usize;
  line: u32;
  text: usize;
  textSize: usize;
  /** Ours, behind what is lifted: the hit before it. */
  before: Hit | null;
}
const HIT_BYTES: usize = 20;

// @ts-ignore: decorator
@unmanaged
class Unread {
  path: usize;
  pathSize: usize;
  cause: u32;
  before: Unread | null;
}
const UNREAD_BYTES: usize = 12;

/** What the walk has counted so far: in every page, and never less than in the one before. */
export const coverage = changetype<Coverage>(memory.data(20, 4));
const causes: usize = memory.data(148, 4); // Code.COUNT numbers of 4 bytes

let lastHit: Hit | null = null;
let hitCount: u32 = 0;
let lastUnread: Unread | null = null;
let unreadCount: u32 = 0;

/** Forgets all counts: a new search. */
export function clearCoverage(): void {
  memory.fill(changetype<usize>(coverage), 0, offsetof<Coverage>());
  memory.fill(causes, 0, <usize>Code.COUNT * 4);
}

/** Begins a page; the one before is gone, and with it what the last arguments were lowered to. */
export function beginPage(): void {
  pageArena.reset();
  lastHit = null;
  lastUnread = null;
  hitCount = unreadCount = 0;
}

/** Adds a hit. Path and text lie in the page. */
export function addHit(path: usize, pathSize: usize, line: u32, text: usize, textSize: usize): void {
  const hit = changetype<Hit>(pageArena.alloc(4, offsetof<Hit>()));
  hit.path = path;
  hit.pathSize = pathSize;
  hit.line = line;
  hit.text = text;
  hit.textSize = textSize;
  hit.before = lastHit;
  lastHit = hit;
  hitCount++;
}

/** Counts one that could not be looked at. */
export function countCause(code: i32): void {
  if (<u32>code >= <u32>Code.COUNT) unreachable(); // no such case: the host broke the ABI
  const at = causes + (<usize>code << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** Lists one that could not be looked at. The path lies in the page. */
export function addUnread(path: usize, pathSize: usize, code: i32): void {
  const unread = changetype<Unread>(pageArena.alloc(4, offsetof<Unread>()));
  unread.path = path;
  unread.pathSize = pathSize;
  unread.cause = code;
  unread.before = lastUnread;
  lastUnread = unread;
  unreadCount++;
}

/** The page, for the host to lift. O(what is new in it). */
export function finishPage(ending: i32): usize {
  const page = changetype<Page>(pageArena.alloc(4, offsetof<Page>()));
  page.hits = hitsInOrder();
  page.hitCount = hitCount;
  page.unread = unreadInOrder();
  page.unreadCount = unreadCount;
  page.looked = coverage.looked;
  page.directories = coverage.directories;
  page.links = coverage.links;
  page.reserved = coverage.reserved;
  page.notText = coverage.notText;
  page.causes = causes;
  page.causeCount = Code.COUNT;
  page.ending = <u8>ending;
  return changetype<usize>(page);
}

function hitsInOrder(): usize {
  const array = pageArena.alloc(4, <usize>hitCount * HIT_BYTES);
  let at = array + <usize>hitCount * HIT_BYTES;
  let hit = lastHit;
  while (hit !== null) {
    at -= HIT_BYTES;
    memory.copy(at, changetype<usize>(hit), HIT_BYTES);
    hit = hit.before;
  }
  return array;
}

function unreadInOrder(): usize {
  const array = pageArena.alloc(4, <usize>unreadCount * UNREAD_BYTES);
  let at = array + <usize>unreadCount * UNREAD_BYTES;
  let unread = lastUnread;
  while (unread !== null) {
    at -= UNREAD_BYTES;
    memory.copy(at, changetype<usize>(unread), UNREAD_BYTES);
    unread = unread.before;
  }
  return array;
}

// ---- read ----

/** The cases of `reading`, by number. */
namespace Case {
  export const GOING: u8 = 0;
  export const DONE: u8 = 1;
  export const NOT_TEXT: u8 = 2;
  export const PAST_LINE: u8 = 3;
  export const INSIDE_CHARACTER: u8 = 4;
  export const FAILED: u8 = 5;
}

// @ts-ignore: decorator
@unmanaged
class Slice {
  text: usize;
  textSize: usize;
  lines: u32;
  totalLines: u64;
  more: bool;
  /** The option's case. As wide as its record is aligned, so that it lies where the ABI wants it. */
  cut: u64;
  nextByte: u64;
  cutBytes: u64;
}
const SLICE_AT: usize = 8;

function reading(which: u8): usize {
  const at = pageArena.alloc(8, SLICE_AT + offsetof<Slice>());
  store<u8>(at, which);
  return at;
}

/** A page of a reading that goes on: how many bytes have passed, and nothing of them. */
export function going(bytesRead: u64): usize {
  const at = reading(Case.GOING);
  store<u64>(at, bytesRead, SLICE_AT);
  return at;
}

/** Whether the reading goes on after this page. */
export function isGoing(reading: usize): bool {
  return load<u8>(reading) === Case.GOING;
}

/** An interval without a cut line. */
export function done(text: usize, textSize: usize, lines: u32, totalLines: u64, more: bool): usize {
  const at = reading(Case.DONE);
  const slice = changetype<Slice>(at + SLICE_AT);
  slice.text = text;
  slice.textSize = textSize;
  slice.lines = lines;
  slice.totalLines = totalLines;
  slice.more = more;
  slice.cut = 0;
  return at;
}

/** The beginning of a line over the cap. */
export function doneCut(text: usize, textSize: usize, totalLines: u64, nextByte: u64, cutBytes: u64): usize {
  const at = done(text, textSize, 0, totalLines, true);
  const slice = changetype<Slice>(at + SLICE_AT);
  slice.cut = 1;
  slice.nextByte = nextByte;
  slice.cutBytes = cutBytes;
  return at;
}

/** The file is no text as a whole; `looks` is what it looks like, a case of the WIT's `looks`. */
export function notText(looks: u8): usize {
  const at = reading(Case.NOT_TEXT);
  store<u8>(at, looks, SLICE_AT);
  return at;
}

/** The byte asked for is not inside its line. */
export function pastLine(): usize {
  return reading(Case.PAST_LINE);
}

/** The byte asked for is in the middle of a character. */
export function insideCharacter(): usize {
  return reading(Case.INSIDE_CHARACTER);
}

/** The file did not open or read: the code of the host. */
export function failed(code: i32): usize {
  const at = reading(Case.FAILED);
  store<u8>(at, <u8>code, SLICE_AT);
  return at;
}
