/**
 * Inflates one zlib stream (RFC 1950, 1951). Stands below loose.ts and pack.ts, which know where a stream begins and how
 * long what comes out has to be. Knows neither files nor git; one stream at a time.
 *
 * Promise: the bytes that zlib would give, or BAD wherever zlib would refuse (over-subscribed and incomplete codes, a
 * missing end of block, a distance before the beginning, lengths that do not agree, a wrong Adler-32). Time is linear in
 * what goes in and what comes out.
 *
 * Input is pulled: `more` is called when a chunk is used up and feeds the next, so it may end at any byte. Output is
 * pushed: `run` stops when its room is full and goes on from there, at any byte.
 *
 * A table of codes, looked up by the next bits of the stream, the first bit lowest; each entry a word:
 *
 *    31            16 15   12 11    8 7      0
 *   | value          | what  | extra | bits   |
 *
 *   value   a literal's byte; the least length or distance; where a subtable begins
 *   extra   bits that are added to a length or distance; bits a subtable is looked up by
 *   bits    of the code, to be taken off the stream
 *
 * Codes longer than the table's root bits go on in a subtable behind it. Fast where 16 bytes of input and the longest
 * match of output are at hand, careful elsewhere; both look up the same tables.
 */

import { adler32 } from './checksum';

/** What `run` came to. */
export namespace Inflated {
  /** The stream is over, its checksum right. */
  export const DONE: i32 = 0;
  /** No room for the next byte; or, with room beyond the limit, the limit passed. */
  export const FULL: i32 = 1;
  /** Not a zlib stream. */
  export const BAD: i32 = 2;
  /** The input ended before the stream did. */
  export const DRY: i32 = 3;
}

/** How far back a match reaches. */
export const WINDOW: usize = 32 << 10;
/** Room behind the limit of `run` with which the short streams are fast too. */
export const SLACK: usize = 320;

/** What one turn of the fast loop writes at most: three literals or one match, and what a wide copy writes beyond. */
const FAST_OUT: usize = 3 + 258 + 16;
const FAST_IN: usize = 16;

const LITERAL: u32 = 0x8000;
const END: u32 = 0x4000;
const SUBTABLE: u32 = 0x2000;
const WRONG: u32 = 0x1000;
/** An entry that no code leads to. Takes one bit, so that a lookup never stands still. */
const NO_CODE: u32 = WRONG | 1;

/** Root bits: more make tables dearer to build than they save on streams as short as git's. */
const LENGTH_ROOT: u32 = 9;
const DISTANCE_ROOT: u32 = 6;
const CODE_ROOT: u32 = 7;
/** The most entries there can be (zlib's examples/enough.c): 286 codes by 9 bits, 30 by 6. */
const LENGTH_ENTRIES: usize = 852;
const DISTANCE_ENTRIES: usize = 592;

const lengths: usize = memory.data(<i32>LENGTH_ENTRIES << 2, 4);
const distances: usize = memory.data(<i32>DISTANCE_ENTRIES << 2, 4);
const codes: usize = memory.data((1 << CODE_ROOT) << 2, 4);
const fixedLengths: usize = memory.data(<i32>LENGTH_ENTRIES << 2, 4);
const fixedDistances: usize = memory.data(<i32>DISTANCE_ENTRIES << 2, 4);
let fixedReady: bool = false;

/** What each symbol stands for, as an entry without its bits; made at the first use. */
const lengthResults: usize = memory.data(288 << 2, 4);
const distanceResults: usize = memory.data(32 << 2, 4);
const codeResults: usize = memory.data(19 << 2, 4);
let resultsReady: bool = false;

/** The order in which a block tells the sizes of its code-length codes. */
const CODE_ORDER: usize = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);
/** Sizes of codes under construction: 286 + 30, and what a run may write past. */
const sizes: usize = memory.data(320 + 138, 8);

// ---- the stream under way ----

namespace Mode {
  export const HEADER: i32 = 0;
  export const BLOCK: i32 = 1;
  export const STORED: i32 = 2;
  export const CODES: i32 = 3;
  export const TRAILER: i32 = 4;
  export const DONE: i32 = 5;
  export const BAD: i32 = 6;
}

let mode: i32 = Mode.DONE;
let isLast: bool = false;
let more: () => bool = (): bool => false;

/** The chunk's bytes that have not gone into `bits`, and the bits, of which `count` are accounted for. */
let inAt: usize = 0;
let inEnd: usize = 0;
let bits: u64 = 0;
let count: u64 = 0;

/** Where the next byte goes. */
export let out: usize = 0;
/** What comes out reaches back to here at most. */
let start: usize = 0;
let sum: u32 = 1;
let summedTo: usize = 0;

/** What is left of a stored block, or of a match that met the end of the room. */
let left: usize = 0;
let distance: usize = 0;
let lengthTable: usize = 0;
let distanceTable: usize = 0;

/** Begins a stream whose bytes come from `source` and go to `to`. The source feeds, or says false at its end. */
export function begin(source: () => bool, to: usize): void {
  if (!resultsReady) makeResults();
  more = source;
  mode = Mode.HEADER;
  inAt = inEnd = 0;
  bits = count = 0;
  out = start = summedTo = to;
  sum = 1;
  left = 0;
}

/** The next chunk of the stream: stays where it is until another is asked for. */
export function feed(at: usize, end: usize): void {
  inAt = at;
  inEnd = end;
}

/** Bytes that were fed and not needed. */
export function unused(): usize {
  return inEnd - inAt + <usize>(count >> 3);
}

/**
 * What came out is taken: the last `reach` bytes of it, at least as many as matches reach back, move to `to`, which lies
 * below, and the rest follows behind them. O(reach).
 */
export function slide(to: usize, reach: usize): void {
  const kept = min(max(reach, WINDOW), out - start);
  memory.copy(to, out - kept, kept);
  start = to;
  out = summedTo = to + kept;
}

/** What came out so far lies elsewhere now: `by` bytes higher, wrapping. */
export function moved(by: usize): void {
  start += by;
  out += by;
  summedTo += by;
}

/**
 * Goes on until the stream is over or what comes out has reached `limit`. May write past it, up to `room` (the same for
 * a caller who wants exactly so much): then the result is FULL if the stream is longer than the limit.
 */
export function run(limit: usize, room: usize): i32 {
  const how = steps(limit, room);
  if (how === Inflated.BAD) mode = Mode.BAD;
  if (summedTo < out) sum = adler32(sum, summedTo, out);
  summedTo = out;
  return how === Inflated.DONE && out > limit ? Inflated.FULL : how;
}

function steps(limit: usize, room: usize): i32 {
  while (true) {
    let how: i32 = Inflated.BAD;
    if (mode === Mode.CODES) how = runCodes(limit, room);
    else if (mode === Mode.BLOCK) how = beginBlock();
    else if (mode === Mode.STORED) how = copyStored(limit);
    else if (mode === Mode.HEADER) how = readHeader();
    else if (mode === Mode.TRAILER) how = readTrailer();
    else if (mode === Mode.DONE) return Inflated.DONE;
    if (how !== Inflated.DONE) return how;
  }
}

/** At least `wanted` ≤ 32 bits; false if the input ended before. */
function need(wanted: u64): bool {
  while (count < wanted) {
    while (inAt === inEnd) if (!more()) return false;
    bits |= (<u64>load<u8>(inAt++)) << count;
    count += 8;
  }
  return true;
}

// @ts-ignore: decorator
@inline
function take(number: u64): u32 {
  const taken = <u32>(bits & (((<u64>1) << number) - 1));
  bits >>= number;
  count -= number;
  return taken;
}

function readHeader(): i32 {
  if (!need(16)) return Inflated.DRY;
  const method = take(8);
  const flags = take(8);
  // deflate, a window of 32 KiB at most, no dictionary
  if (((method << 8) | flags) % 31 !== 0 || (method & 15) !== 8 || method >> 4 > 7 || (flags & 32) !== 0) {
    return Inflated.BAD;
  }
  mode = Mode.BLOCK;
  return Inflated.DONE;
}

function readTrailer(): i32 {
  take(count & 7);
  if (!need(32)) return Inflated.DRY;
  if (summedTo < out) sum = adler32(sum, summedTo, out);
  summedTo = out;
  if (bswap<u32>(take(32)) !== sum) return Inflated.BAD;
  mode = Mode.DONE;
  return Inflated.DONE;
}

function beginBlock(): i32 {
  if (!need(3)) return Inflated.DRY;
  isLast = take(1) !== 0;
  const kind = take(2);
  if (kind === 0) return beginStored();
  if (kind === 1) return beginFixed();
  return kind === 2 ? beginDynamic() : Inflated.BAD;
}

function endBlock(): i32 {
  mode = isLast ? Mode.TRAILER : Mode.BLOCK;
  return Inflated.DONE;
}

// ---- stored blocks ----

function beginStored(): i32 {
  take(count & 7);
  if (!need(32)) return Inflated.DRY;
  const size = take(16);
  if (take(16) !== (~size & 0xffff)) return Inflated.BAD;
  left = size;
  mode = Mode.STORED;
  return Inflated.DONE;
}

function copyStored(limit: usize): i32 {
  while (left > 0) {
    if (out >= limit) return Inflated.FULL;
    if (count >= 8) {
      store<u8>(out++, <u8>take(8));
      left--;
      continue;
    }
    bits = count = 0; // what the fast loop looked ahead is read again as bytes
    while (inAt === inEnd) if (!more()) return Inflated.DRY;
    const size = min(min(left, limit - out), inEnd - inAt);
    memory.copy(out, inAt, size);
    inAt += size;
    out += size;
    left -= size;
  }
  if (count === 0) bits = 0;
  return endBlock();
}

// ---- tables ----

function makeResults(): void {
  for (let symbol: u32 = 0; symbol < 256; symbol++) setResult(lengthResults, symbol, LITERAL | (symbol << 16));
  setResult(lengthResults, 256, END);
  let least: u32 = 3;
  for (let symbol: u32 = 257; symbol < 285; symbol++) {
    const extra: u32 = symbol < 265 ? 0 : (symbol - 261) >> 2;
    setResult(lengthResults, symbol, (least << 16) | (extra << 8));
    least += 1 << extra;
  }
  setResult(lengthResults, 285, 258 << 16);
  setResult(lengthResults, 286, WRONG);
  setResult(lengthResults, 287, WRONG);
  least = 1;
  for (let symbol: u32 = 0; symbol < 30; symbol++) {
    const extra: u32 = symbol < 4 ? 0 : (symbol - 2) >> 1;
    setResult(distanceResults, symbol, (least << 16) | (extra << 8));
    least += 1 << extra;
  }
  setResult(distanceResults, 30, WRONG);
  setResult(distanceResults, 31, WRONG);
  for (let symbol: u32 = 0; symbol < 19; symbol++) setResult(codeResults, symbol, symbol << 16);
  resultsReady = true;
}

function setResult(results: usize, symbol: u32, entry: u32): void {
  store<u32>(results + (<usize>symbol << 2), entry);
}

function beginFixed(): i32 {
  if (!fixedReady) makeFixed();
  lengthTable = fixedLengths;
  distanceTable = fixedDistances;
  mode = Mode.CODES;
  left = 0;
  return Inflated.DONE;
}

function makeFixed(): void {
  memory.fill(sizes, 8, 144);
  memory.fill(sizes + 144, 9, 112);
  memory.fill(sizes + 256, 7, 24);
  memory.fill(sizes + 280, 8, 8);
  build(sizes, 288, fixedLengths, LENGTH_ROOT, lengthResults, false);
  memory.fill(sizes, 5, 32);
  build(sizes, 32, fixedDistances, DISTANCE_ROOT, distanceResults, false);
  fixedReady = true;
}

function beginDynamic(): i32 {
  if (!need(14)) return Inflated.DRY;
  const lengthCount = take(5) + 257;
  const distanceCount = take(5) + 1;
  const codeCount = take(4) + 4;
  if (lengthCount > 286 || distanceCount > 30) return Inflated.BAD;
  memory.fill(sizes, 0, 19);
  for (let i: u32 = 0; i < codeCount; i++) {
    if (!need(3)) return Inflated.DRY;
    store<u8>(sizes + load<u8>(CODE_ORDER + i), <u8>take(3));
  }
  if (!build(sizes, 19, codes, CODE_ROOT, codeResults, true)) return Inflated.BAD;
  const how = readSizes(lengthCount + distanceCount);
  if (how !== Inflated.DONE) return how;
  if (load<u8>(sizes + 256) === 0) return Inflated.BAD; // such a block could not end
  if (!build(sizes, lengthCount, lengths, LENGTH_ROOT, lengthResults, false)) return Inflated.BAD;
  if (!build(sizes + lengthCount, distanceCount, distances, DISTANCE_ROOT, distanceResults, false)) return Inflated.BAD;
  lengthTable = lengths;
  distanceTable = distances;
  mode = Mode.CODES;
  left = 0;
  return Inflated.DONE;
}

/** The sizes of all codes of a block, told in codes of their own, with runs. */
function readSizes(total: u32): i32 {
  for (let i: u32 = 0; i < total; ) {
    let entry: u32 = 0;
    while (true) {
      entry = load<u32>(codes + (<usize>(bits & 127) << 2));
      if ((entry & 0xff) <= <u32>count) break;
      if (!need(count + 8)) return Inflated.DRY;
    }
    take(entry & 0xff);
    const symbol = entry >> 16;
    if (symbol < 16) {
      store<u8>(sizes + i++, <u8>symbol);
      continue;
    }
    const extra: u64 = symbol === 16 ? 2 : symbol === 17 ? 3 : 7;
    if (!need(extra)) return Inflated.DRY;
    const run = take(extra) + (symbol === 18 ? 11 : 3);
    if (run > total - i || (symbol === 16 && i === 0)) return Inflated.BAD;
    memory.fill(sizes + i, symbol === 16 ? load<u8>(sizes + i - 1) : 0, run);
    i += run;
  }
  return Inflated.DONE;
}

/** How many codes have each size; where the symbols of each size begin, once sorted; the symbols. */
const counts: usize = memory.data(16 << 2, 4);
const offsets: usize = memory.data(16 << 2, 4);
const sorted: usize = memory.data(288 << 1, 4);

/**
 * Builds the table of the canonical code with these sizes; false if no such code may stand in a stream: one with codes
 * left over or missing. (Allowed, as zlib allows it: no code at all, and a single one of one bit, but for code lengths.)
 */
function build(sizesAt: usize, symbols: u32, table: usize, root: u32, results: usize, isCodes: bool): bool {
  memory.fill(counts, 0, 16 << 2);
  for (let i: u32 = 0; i < symbols; i++) {
    const at = counts + (<usize>load<u8>(sizesAt + i) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let largest: u32 = 15;
  while (largest > 0 && countOf(largest) === 0) largest--;
  let room: i32 = 1;
  for (let size: u32 = 1; size < 16; size++) {
    room = (room << 1) - <i32>countOf(size);
    if (room < 0) return false;
  }
  if (room > 0) {
    if (isCodes || largest > 1) return false;
    for (let i: usize = 0; i < <usize>1 << root; i++) store<u32>(table + (i << 2), NO_CODE);
    if (largest === 0) return true;
  }
  sortSymbols(sizesAt, symbols);
  fillTable(sizesAt, symbols - countOf(0), table, root, largest, results);
  return true;
}

// @ts-ignore: decorator
@inline
function countOf(size: u32): u32 {
  return load<u32>(counts + (<usize>size << 2));
}

function sortSymbols(sizesAt: usize, symbols: u32): void {
  let offset: u32 = 0;
  for (let size: u32 = 1; size < 16; size++) {
    store<u32>(offsets + (<usize>size << 2), offset);
    offset += countOf(size);
  }
  for (let i: u32 = 0; i < symbols; i++) {
    const size = load<u8>(sizesAt + i);
    if (size === 0) continue;
    const at = offsets + (<usize>size << 2);
    const where = load<u32>(at);
    store<u16>(sorted + (<usize>where << 1), <u16>i);
    store<u32>(at, where + 1);
  }
}

/** Fills in the order of the codes; `code` is the next one, its first bit lowest. */
function fillTable(sizesAt: usize, used: u32, table: usize, root: u32, largest: u32, results: usize): void {
  const rootSize = <usize>1 << root;
  let behind = rootSize; // where the next subtable begins
  let sub: usize = 0;
  let subBits: u32 = 0;
  let prefix: u32 = 0xffff_ffff;
  let code: u32 = 0;
  for (let i: u32 = 0; i < used; i++) {
    const symbol = load<u16>(sorted + (<usize>i << 1));
    const size = <u32>load<u8>(sizesAt + symbol);
    const result = load<u32>(results + (<usize>symbol << 2));
    if (size <= root) {
      fillEvery(table, code, rootSize, <usize>1 << size, result | size);
    } else {
      if ((code & (<u32>rootSize - 1)) !== prefix) {
        prefix = code & (<u32>rootSize - 1);
        subBits = subtableBits(size, root, largest);
        sub = behind;
        behind += <usize>1 << subBits;
        store<u32>(table + (<usize>prefix << 2), (<u32>sub << 16) | SUBTABLE | (subBits << 8) | root);
      }
      fillEvery(table + (sub << 2), code >> root, <usize>1 << subBits, <usize>1 << (size - root), result | (size - root));
    }
    const at = counts + (<usize>size << 2);
    store<u32>(at, load<u32>(at) - 1);
    code = after(code, size);
  }
}

// @ts-ignore: decorator
@inline
function fillEvery(table: usize, from: usize, to: usize, step: usize, entry: u32): void {
  for (let i = from; i < to; i += step) store<u32>(table + (i << 2), entry);
}

/** How many bits a subtable needs that begins with a code of `size`: as many as the codes left in `counts` fill. */
function subtableBits(size: u32, root: u32, largest: u32): u32 {
  let bits = size - root;
  let room: i32 = 1 << bits;
  while (bits + root < largest) {
    room -= <i32>countOf(bits + root);
    if (room <= 0) break;
    bits++;
    room <<= 1;
  }
  return bits;
}

/** The code after `code`: one more, counted from its last bit, which is the highest. */
// @ts-ignore: decorator
@inline
function after(code: u32, size: u32): u32 {
  let bit: u32 = 1 << (size - 1);
  while (code & bit) bit >>= 1;
  return bit === 0 ? 0 : (code & (bit - 1)) + bit;
}

// ---- codes ----

function runCodes(limit: usize, room: usize): i32 {
  while (true) {
    if (left > 0) {
      const how = finishMatch(limit);
      if (how !== Inflated.DONE) return how;
    }
    if (inEnd - inAt >= FAST_IN && inEnd > inAt && room - out >= FAST_OUT && room > out && out <= limit) {
      const how = runFast(limit, room);
      if (how === ENDED) return endBlock();
      if (how !== Inflated.DONE) return how;
    }
    const how = stepSlow(limit);
    if (how === ENDED) return endBlock();
    if (how !== Inflated.DONE) return how;
  }
}

/** Ours, beside what `run` comes to: the block is over. */
const ENDED: i32 = 4;

/** What is left of a match, as far as there is room. */
function finishMatch(limit: usize): i32 {
  while (left > 0) {
    if (out >= limit) return Inflated.FULL;
    store<u8>(out, load<u8>(out - distance));
    out++;
    left--;
  }
  return Inflated.DONE;
}

/** Symbols while there is plenty of both: DONE when there is not, ENDED, BAD, or FULL past the limit. */
function runFast(limit: usize, room: usize): i32 {
  const table = lengthTable;
  const far = distanceTable;
  const inStop = inEnd - FAST_IN;
  const outStop = room - FAST_OUT;
  const lowest = start;
  let from = inAt;
  let to = out;
  let buffer = bits;
  let held = count;
  let how: i32 = Inflated.DONE;
  while (from <= inStop && to <= outStop) {
    buffer |= load<u64>(from) << held;
    from += <usize>((63 - held) >> 3);
    held |= 56;
    let entry = load<u32>(table + (<usize>(buffer & ((1 << LENGTH_ROOT) - 1)) << 2));
    if (entry & LITERAL) {
      store<u8>(to++, <u8>(entry >> 16));
      buffer >>= <u64>(entry & 0xff);
      held -= <u64>(entry & 0xff);
      entry = load<u32>(table + (<usize>(buffer & ((1 << LENGTH_ROOT) - 1)) << 2));
      if (entry & LITERAL) {
        store<u8>(to++, <u8>(entry >> 16));
        buffer >>= <u64>(entry & 0xff);
        held -= <u64>(entry & 0xff);
        entry = load<u32>(table + (<usize>(buffer & ((1 << LENGTH_ROOT) - 1)) << 2));
        if (entry & LITERAL) {
          store<u8>(to++, <u8>(entry >> 16));
          buffer >>= <u64>(entry & 0xff);
          held -= <u64>(entry & 0xff);
          continue;
        }
      }
      buffer |= load<u64>(from) << held;
      from += <usize>((63 - held) >> 3);
      held |= 56;
    }
    if (entry & SUBTABLE) {
      buffer >>= LENGTH_ROOT;
      held -= LENGTH_ROOT;
      const index = (entry >> 16) + <u32>(buffer & ((1 << ((entry >> 8) & 15)) - 1));
      entry = load<u32>(table + (<usize>index << 2));
    }
    buffer >>= <u64>(entry & 0xff);
    held -= <u64>(entry & 0xff);
    if (entry & (LITERAL | END | WRONG)) {
      if (entry & LITERAL) {
        store<u8>(to++, <u8>(entry >> 16));
        continue;
      }
      how = entry & END ? ENDED : Inflated.BAD;
      break;
    }
    let extra = <u64>((entry >> 8) & 15);
    const size = <usize>(entry >> 16) + <usize>(buffer & (((<u64>1) << extra) - 1));
    buffer >>= extra;
    held -= extra;
    entry = load<u32>(far + (<usize>(buffer & ((1 << DISTANCE_ROOT) - 1)) << 2));
    if (entry & SUBTABLE) {
      buffer >>= DISTANCE_ROOT;
      held -= DISTANCE_ROOT;
      const index = (entry >> 16) + <u32>(buffer & ((1 << ((entry >> 8) & 15)) - 1));
      entry = load<u32>(far + (<usize>index << 2));
    }
    buffer >>= <u64>(entry & 0xff);
    held -= <u64>(entry & 0xff);
    extra = <u64>((entry >> 8) & 15);
    const back = <usize>(entry >> 16) + <usize>(buffer & (((<u64>1) << extra) - 1));
    buffer >>= extra;
    held -= extra;
    if (entry & WRONG || back > to - lowest) {
      how = Inflated.BAD;
      break;
    }
    copyMatch(to, back, size);
    to += size;
    if (to > limit) {
      how = Inflated.FULL; // the caller wanted less: there is no going on
      break;
    }
  }
  inAt = from;
  out = to;
  bits = buffer;
  count = held;
  if (to > limit && how === Inflated.DONE) return Inflated.FULL;
  return how;
}

/** Copies a match of at most 258 bytes, and up to 15 bytes beyond. */
// @ts-ignore: decorator
@inline
function copyMatch(to: usize, back: usize, size: usize): void {
  if (back >= 16) {
    for (let i: usize = 0; i < size; i += 16) v128.store(to + i, v128.load(to + i - back));
  } else if (back >= 8) {
    for (let i: usize = 0; i < size; i += 8) store<u64>(to + i, load<u64>(to + i - back));
  } else if (back === 1) {
    const same = i8x16.splat(load<u8>(to - 1));
    for (let i: usize = 0; i < size; i += 16) v128.store(to + i, same);
  } else {
    for (let i: usize = 0; i < size; i++) store<u8>(to + i, load<u8>(to + i - back));
  }
}

/** One symbol, wherever input and room end. Takes nothing off the stream if there is no room for it. */
function stepSlow(limit: usize): i32 {
  let entry: u32 = 0;
  while (true) {
    entry = lookUp(lengthTable, LENGTH_ROOT);
    if (entry !== TOO_SHORT) break;
    if (!need(count + 8)) return Inflated.DRY;
  }
  if (entry & WRONG) return Inflated.BAD;
  if (entry & END) {
    take(entry & 0xff);
    return ENDED;
  }
  if (out >= limit) return Inflated.FULL;
  take(entry & 0xff);
  if (entry & LITERAL) {
    store<u8>(out++, <u8>(entry >> 16));
    return Inflated.DONE;
  }
  let extra = <u64>((entry >> 8) & 15);
  if (!need(extra)) return Inflated.DRY;
  const size = <usize>(entry >> 16) + take(extra);
  while (true) {
    entry = lookUp(distanceTable, DISTANCE_ROOT);
    if (entry !== TOO_SHORT) break;
    if (!need(count + 8)) return Inflated.DRY;
  }
  if (entry & WRONG) return Inflated.BAD;
  take(entry & 0xff);
  extra = <u64>((entry >> 8) & 15);
  if (!need(extra)) return Inflated.DRY;
  distance = <usize>(entry >> 16) + take(extra);
  if (distance > out - start) return Inflated.BAD;
  left = size;
  return Inflated.DONE;
}

/** No entry: the code is longer than the bits at hand. */
const TOO_SHORT: u32 = 0;

/** The entry of the code at the stream's head, its bits those of the whole code; or TOO_SHORT. */
function lookUp(table: usize, root: u32): u32 {
  let entry = load<u32>(table + (<usize>(bits & (((<u64>1) << root) - 1)) << 2));
  if (entry & SUBTABLE) {
    const index = (entry >> 16) + <u32>((bits >> root) & ((1 << ((entry >> 8) & 15)) - 1));
    entry = load<u32>(table + (<usize>index << 2)) + root;
  }
  return (entry & 0xff) > <u32>count ? TOO_SHORT : entry;
}
