/**
 * The branches that are asked for, in the order of their names. Stands between history.ts, trail.ts (where the walk
 * begins) and abi/lift.ts. Loose refs below refs/heads/ win over packed ones; a symbolic ref is what it names.
 *
 * Loose refs are read first and packed-refs after them: who packs refs writes them there before the loose ones go.
 */

import { reserve, walkArena } from '../abi/arena';
import {
  Answer, atEnd, close, closeListing, Code, Kind, list, name, nameKind, nameSize, nextName, openDirectory, openFile,
  readInto,
} from '../abi/lift';
import { compare } from '../walk/names';
import { findByte } from '../text/lines';
import { Fault, faultOf } from './fault';
import { fromHex, OID_MAX, oidBytes } from './oid';

/** Directories below one another; git itself names no branch so. */
const DEPTH_MOST: u32 = 64;
/** Symbolic refs followed one after another, as git does. */
const SYMBOLIC_MOST: u32 = 5;

// @ts-ignore: decorator
@unmanaged
export class Tip {
  name: usize;
  size: usize;
  isPacked: bool;
  next: Tip | null;

  oid(): usize {
    return changetype<usize>(this) + offsetof<Tip>();
  }
}

// @ts-ignore: decorator
@unmanaged
class Pattern {
  at: usize;
  size: usize;
}

let root: i32 = -1;
let patterns: usize = 0;
let patternCount: u32 = 0;
let tips: Tip | null = null;
let tipCount: u32 = 0;

/** The tips that `collectTips` found, sorted by name, one for each name; the first of them. */
export let firstTip: Tip | null = null;

/** Collects the branches that one of the patterns matches, an array of address and size each. On the walk's arena. */
export function collectTips(repository: i32, array: usize, count: u32): i32 {
  root = repository;
  patterns = array;
  patternCount = count;
  tips = firstTip = null;
  tipCount = 0;
  let fault = collectLoose();
  if (fault !== Fault.NONE) return fault;
  fault = readPackedRefs(0, 0);
  if (fault !== Fault.NONE) return fault;
  firstTip = withoutDoubles(sort(tips, tipCount));
  return Fault.NONE;
}

/** Whether a pattern matches the name below refs/heads/. `*` stands for any bytes. O(name × stars) at worst. */
function isWanted(at: usize, size: usize): bool {
  for (let i: u32 = 0; i < patternCount; i++) {
    const pattern = changetype<Pattern>(patterns + (<usize>i << 3));
    if (matches(pattern.at, pattern.at + pattern.size, at, at + size)) return true;
  }
  return false;
}

function matches(pattern: usize, patternEnd: usize, text: usize, textEnd: usize): bool {
  let p = pattern;
  let t = text;
  let star: usize = 0; // behind the last one met, and the text it stands for so far
  let covered: usize = 0;
  while (t < textEnd) {
    if (p < patternEnd && load<u8>(p) === 0x2a) {
      star = ++p;
      covered = t;
    } else if (p < patternEnd && load<u8>(p) === load<u8>(t)) {
      p++;
      t++;
    } else if (star !== 0) {
      p = star;
      t = ++covered;
    } else return false;
  }
  while (p < patternEnd && load<u8>(p) === 0x2a) p++;
  return p === patternEnd;
}

function addTip(at: usize, size: usize, oid: usize, isPacked: bool): void {
  const tip = changetype<Tip>(walkArena.alloc(8, offsetof<Tip>() + OID_MAX));
  tip.name = at;
  tip.size = size;
  tip.isPacked = isPacked;
  tip.next = tips;
  memory.copy(tip.oid(), oid, oidBytes);
  tips = tip;
  tipCount++;
}

// ---- loose refs ----

const REFS: usize = memory.data<u8>([0x72, 0x65, 0x66, 0x73]);
const HEADS: usize = memory.data<u8>([0x68, 0x65, 0x61, 0x64, 0x73]);

function collectLoose(): i32 {
  const refs = openDirectory(root, REFS, 4);
  if (refs < 0) return ~refs === Code.NO_ENTRY ? Fault.NO_REPOSITORY : faultOf(~refs);
  const heads = openDirectory(refs, HEADS, 5);
  close(refs);
  if (heads < 0) return ~heads === Code.NO_ENTRY ? Fault.NONE : faultOf(~heads);
  const fault = collectBelow(heads, 0, 0, 1);
  close(heads);
  return fault;
}

// @ts-ignore: decorator
@unmanaged
class Listed {
  before: Listed | null;
  name: usize;
  size: usize;
  kind: u8;
}

/** Takes up a directory below refs/heads, whose own name there ends in `/` or is empty. */
function collectBelow(dir: i32, prefix: usize, prefixSize: usize, depth: u32): i32 {
  if (depth > DEPTH_MOST) return Fault.UNSUPPORTED;
  const stream = list(dir);
  if (stream < 0) return faultOf(~stream);
  let last: Listed | null = null;
  let answer = nextName(stream, walkArena);
  for (; answer === 1; answer = nextName(stream, walkArena)) {
    const listed = changetype<Listed>(walkArena.alloc(4, offsetof<Listed>()));
    listed.before = last;
    listed.name = name;
    listed.size = nameSize;
    listed.kind = nameKind;
    last = listed;
  }
  closeListing(stream);
  if (answer < 0) return faultOf(~answer);
  let fault: i32 = Fault.NONE;
  while (last !== null && fault === Fault.NONE) {
    fault = takeUp(dir, last, prefix, prefixSize, depth);
    last = last.before;
  }
  return fault;
}

function takeUp(dir: i32, listed: Listed, prefix: usize, prefixSize: usize, depth: u32): i32 {
  const size = prefixSize + listed.size;
  // A name that is not UTF-8 cannot be opened here: whether a branch of that name is asked for is not known.
  if (listed.size > 0 && load<u8>(listed.name) === 0) return Fault.UNSUPPORTED;
  if (isNoRef(listed.name, listed.size)) return Fault.NONE;
  const full = walkArena.alloc(1, size + 1);
  memory.copy(full, prefix, prefixSize);
  memory.copy(full + prefixSize, listed.name, listed.size);
  if (listed.kind === Kind.DIRECTORY) {
    const below = openDirectory(dir, listed.name, listed.size);
    if (below < 0) return ~below === Code.NO_ENTRY ? Fault.NONE : faultOf(~below);
    store<u8>(full + size, 0x2f);
    const fault = collectBelow(below, full, size + 1, depth + 1);
    close(below);
    return fault;
  }
  return isWanted(full, size) ? takeUpRef(dir, listed, full, size) : Fault.NONE;
}

/** What git passes over in a directory of refs. */
function isNoRef(at: usize, size: usize): bool {
  if (load<u8>(at) === 0x2e) return true;
  return size > 5 && load<u8>(at + size - 5) === 0x2e && load<u32>(at + size - 4) === 0x6b63_6f6c; // `.lock`
}

const oid: usize = memory.data(32, 8);

function takeUpRef(dir: i32, listed: Listed, full: usize, size: usize): i32 {
  const read = readRef(dir, listed.name, listed.size);
  if (read !== Fault.NONE) return read === Fault.MISSING ? Fault.NONE : read; // packed since it was listed
  if (!isSymbolic) {
    addTip(full, size, oid, false);
    return Fault.NONE;
  }
  const fault = follow();
  if (fault === Fault.NONE) addTip(full, size, oid, false);
  return fault === Fault.MISSING ? Fault.NONE : fault; // leads nowhere: no branch, as for git
}

/** What `readRef` read: a name of an object in `oid`; or that of another ref, on the walk's arena. */
let isSymbolic: bool = false;
let target: usize = 0;
let targetSize: usize = 0;

const REF_MOST: usize = 4_096;
let refRoom: usize = 0;

/** Reads the ref at `at` in `dir`: MISSING if it is not there, CORRUPT if it names nothing. */
function readRef(dir: i32, at: usize, size: usize): i32 {
  if (refRoom === 0) refRoom = reserve(REF_MOST + 16);
  const file = openFile(dir, at, size, false);
  if (file < 0) return faultOf(~file);
  let read: usize = 0;
  let answer: Answer = 0;
  do {
    answer = readInto(file, refRoom + read, REF_MOST - read, read);
    if (answer >= 0) read += answer;
  } while (answer >= 0 && !atEnd && read < REF_MOST);
  close(file);
  if (answer < 0) return faultOf(~answer);
  return parseRef(read);
}

/** `ref:`, white space, a name; or the hex of a name and behind it nothing but white space, as far as git looks. */
function parseRef(size: usize): i32 {
  const end = refRoom + size;
  if (size >= 4 && load<u32>(refRoom) === 0x3a66_6572) {
    let from = refRoom + 4;
    let to = end;
    while (from < to && isSpace(load<u8>(from))) from++;
    while (to > from && isSpace(load<u8>(to - 1))) to--;
    target = walkArena.keep(from, to - from);
    targetSize = to - from;
    isSymbolic = true;
    return Fault.NONE;
  }
  isSymbolic = false;
  if (size < 2 * oidBytes || !fromHex(refRoom, oid)) return Fault.CORRUPT;
  return size === 2 * oidBytes || isSpace(load<u8>(refRoom + 2 * oidBytes)) ? Fault.NONE : Fault.CORRUPT;
}

function isSpace(byte: u32): bool {
  return byte === 0x20 || byte - 9 < 5;
}

/** Follows the symbolic ref that was read to an object's name in `oid`. MISSING: it leads nowhere. */
function follow(): i32 {
  for (let hops: u32 = 0; hops < SYMBOLIC_MOST; hops++) {
    const at = target;
    const size = targetSize;
    if (!isRefName(at, size)) return Fault.CORRUPT;
    const fault = readAt(at, size);
    if (fault === Fault.MISSING) return readPackedRefs(at, size);
    if (fault !== Fault.NONE || !isSymbolic) return fault;
  }
  return Fault.MISSING;
}

/** `refs/` and plain segments: nothing that would walk anywhere else. */
function isRefName(at: usize, size: usize): bool {
  if (size < 6 || memory.compare(at, REFS, 4) !== 0 || load<u8>(at, 4) !== 0x2f) return false;
  let from = at;
  const end = at + size;
  while (true) {
    const slash = findByte(0x2f, from, end);
    const to = slash === 0 ? end : slash;
    if (to === from || load<u8>(from) === 0x2e || findByte(0, from, to) !== 0) return false;
    if (slash === 0) return true;
    from = slash + 1;
  }
}

/** Reads the loose ref of that name, segment by segment. */
function readAt(at: usize, size: usize): i32 {
  let dir = root;
  let from = at;
  const end = at + size;
  while (true) {
    const slash = findByte(0x2f, from, end);
    if (slash === 0) break;
    const below = openDirectory(dir, from, slash - from);
    if (dir !== root) close(dir);
    if (below < 0) return ~below === Code.NOT_DIRECTORY ? Fault.MISSING : faultOf(~below);
    dir = below;
    from = slash + 1;
  }
  const fault = readRef(dir, from, end - from);
  if (dir !== root) close(dir);
  return fault;
}

// ---- packed refs ----

const PACKED_REFS: usize = memory.data<u8>([112, 97, 99, 107, 101, 100, 45, 114, 101, 102, 115]);
const REFS_HEADS: usize = memory.data<u8>([114, 101, 102, 115, 47, 104, 101, 97, 100, 115, 47]);
const REFS_HEADS_SIZE: usize = 11;
const LINES_BYTES: usize = 128 << 10;
let lines: usize = 0;

/** Reads packed-refs: collects what is wanted; or, with a name, looks for that one alone, its object's name to `oid`. */
function readPackedRefs(only: usize, onlySize: usize): i32 {
  const file = openFile(root, PACKED_REFS, 11, false);
  if (file < 0) return ~file !== Code.NO_ENTRY ? faultOf(~file) : onlySize > 0 ? Fault.MISSING : Fault.NONE;
  if (lines === 0) lines = reserve(LINES_BYTES + 16);
  const fault = readLines(file, only, onlySize);
  close(file);
  return fault === FOUND ? Fault.NONE : fault === Fault.NONE && onlySize > 0 ? Fault.MISSING : fault;
}

/** Ours, beside the faults: the one that was looked for. */
const FOUND: i32 = -1;

function readLines(file: i32, only: usize, onlySize: usize): i32 {
  let held: usize = 0; // of a line that is not whole yet
  let offset: u64 = 0;
  while (true) {
    const answer = readInto(file, lines + held, LINES_BYTES - held, offset);
    if (answer < 0) return faultOf(~answer);
    const isLast = atEnd;
    offset += answer;
    const end = lines + held + answer;
    let from = lines;
    while (from < end) {
      const feed = findByte(0x0a, from, end);
      if (feed === 0) break;
      const fault = takeLine(from, feed, only, onlySize);
      if (fault !== Fault.NONE) return fault;
      from = feed + 1;
    }
    held = end - from;
    if (isLast) break;
    if (held === LINES_BYTES) return Fault.CORRUPT;
    memory.copy(lines, from, held);
  }
  return held === 0 ? Fault.NONE : Fault.CORRUPT;
}

/** `# …`, `^<name>` of what a tag names, or `<name> <ref>`. */
function takeLine(from: usize, to: usize, only: usize, onlySize: usize): i32 {
  const first = from < to ? load<u8>(from) : 0;
  if (first === 0x23 || first === 0x5e) return Fault.NONE;
  const hex: usize = 2 * oidBytes;
  if (to - from < hex + 2 || load<u8>(from + hex) !== 0x20) return Fault.CORRUPT;
  const at = from + hex + 1;
  const size = to - at;
  if (onlySize > 0) {
    if (compare(at, size, only, onlySize) !== 0) return Fault.NONE;
    return fromHex(from, oid) ? FOUND : Fault.CORRUPT;
  }
  if (size <= REFS_HEADS_SIZE || memory.compare(at, REFS_HEADS, REFS_HEADS_SIZE) !== 0) return Fault.NONE;
  const below = at + REFS_HEADS_SIZE;
  if (!isWanted(below, size - REFS_HEADS_SIZE)) return Fault.NONE;
  if (!fromHex(from, oid)) return Fault.CORRUPT;
  addTip(walkArena.keep(below, size - REFS_HEADS_SIZE), size - REFS_HEADS_SIZE, oid, true);
  return Fault.NONE;
}

// ---- their order ----

/** Sorts a list by name, loose before packed: merge sort. O(n log n). */
function sort(list: Tip | null, count: u32): Tip | null {
  if (list === null || count < 2) {
    if (list !== null) list.next = null;
    return list;
  }
  const half = count >> 1;
  let middle = list;
  for (let i: u32 = 0; i < half; i++) middle = changetype<Tip>(middle.next);
  // `middle` begins the second half; the first ends by its count
  return merge(sort(list, half), sort(middle, count - half));
}

function merge(a: Tip | null, b: Tip | null): Tip | null {
  let first: Tip | null = null;
  let last: Tip | null = null;
  while (a !== null || b !== null) {
    let next: Tip;
    if (b === null || (a !== null && isFirst(a, b))) {
      next = changetype<Tip>(a);
      a = next.next;
    } else {
      next = changetype<Tip>(b);
      b = next.next;
    }
    if (last === null) first = next;
    else last.next = next;
    last = next;
  }
  if (last !== null) last.next = null;
  return first;
}

function isFirst(a: Tip, b: Tip): bool {
  const order = compare(a.name, a.size, b.name, b.size);
  return order < 0 || (order === 0 && !a.isPacked);
}

function withoutDoubles(list: Tip | null): Tip | null {
  let tip = list;
  while (tip !== null) {
    const next = tip.next;
    if (next !== null && compare(tip.name, tip.size, next.name, next.size) === 0) tip.next = next.next;
    else tip = next;
  }
  return list;
}
