/**
 * What every hostile guest is made of: the world's imports, memory, text under construction, and the records that the
 * exports give back. AssemblyScript, compiled into each file of guests/ by build.ts; layouts are the canonical ABI's.
 *
 * A guest says at its top level what it does: `acts` for search and history, `reads` for read and trail, `continues` for
 * more, next, older and further, `reallocs` for cabi_realloc. What it is told to do (one guest has many ways) is the text
 * or pattern searched for, the name read, or the path of the trail.
 */

import {
  dropDescriptor, dropStream, getDirectories, openAt, read as readAt, readDirectory, readDirectoryEntry,
} from '../../guest/abi/imports';

export { dropDescriptor, dropStream, getDirectories, openAt, readAt, readDirectory, readDirectoryEntry };

// ---- memory ----

let top: usize = __heap_base;

export function alloc(size: usize, align: usize): usize {
  const at = (top + align - 1) & ~(align - 1);
  top = at + size;
  const pages = <i32>((top + 0xffff) >> 16);
  if (pages > memory.size() && memory.grow(pages - memory.size()) < 0) unreachable();
  return at;
}

export function honestRealloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  return old !== 0 && size <= oldSize ? old : alloc(size, align);
}

/** Bytes of memory there are now. */
export function memorySize(): usize {
  return <usize>memory.size() << 16;
}

/** The UTF-8 of an ASCII word, and its size. */
export let wordSize: usize = 0;
export function word(text: string): usize {
  const at = alloc(<usize>text.length + 1, 1);
  for (let i = 0; i < text.length; i++) store<u8>(at + <usize>i, <u8>text.charCodeAt(i));
  wordSize = <usize>text.length;
  return at;
}

// ---- what a guest does ----

type Act = () => usize;
type Realloc = (old: usize, oldSize: usize, align: usize, size: usize) => usize;

let act: Act = (): usize => unreachable();
let readAct: Act = (): usize => unreachable();
let continueAct: Act = (): usize => unreachable();
let reallocAct: Realloc = honestRealloc;

export function acts(how: Act): void { act = how; }
export function reads(how: Act): void { readAct = how; }
export function continues(how: Act): void { continueAct = how; }
export function reallocs(how: Realloc): void { reallocAct = how; }

/** What it was told: the text searched for, or the name to read. */
export let told: usize = 0;
export let toldSize: usize = 0;
/** What `read` was asked beside the name. */
export let offset: u64 = 0;

export function search(
  text: usize, textSize: usize, hasOnly: i32, only: usize, onlySize: usize, context: i32, matchCap: i32, lineCap: i32,
  textCap: i32, fileCap: i32, unreadShown: i32, pageEntries: i32, pageBytes: i32,
): usize {
  told = text;
  toldSize = textSize;
  return act();
}

export function read(
  name: usize, nameSize: usize, fromLine: u64, byte: u64, limit: i32, textCap: i32, lineCap: i32, whole: i32,
  pageBytes: i32,
): usize {
  told = name;
  toldSize = nameSize;
  offset = fromLine;
  return readAct();
}

export function history(
  pattern: usize, patternSize: usize, branches: usize, branchCount: i32, directories: usize, directoryCount: i32,
  oidBytes: i32, pageWork: i32, pageBytes: i32,
): usize {
  told = pattern;
  toldSize = patternSize;
  return act();
}

export function trail(
  commit: usize, commitSize: usize, path: usize, pathSize: usize, branches: usize, branchCount: i32, oidBytes: i32,
  blobMax: u64, pageWork: i32, pageBytes: i32,
): usize {
  told = path;
  toldSize = pathSize;
  return readAct();
}

export function more(): usize { return continueAct(); }
export function next(): usize { return continueAct(); }
export function older(): usize { return continueAct(); }
export function further(): usize { return continueAct(); }

export function cabi_realloc(old: usize, oldSize: usize, align: usize, size: usize): usize {
  return reallocAct(old, oldSize, align, size);
}

/** Never called: a module that imports less than the whole world is not admitted either. */
export function keepsTheImports(): void {
  getDirectories(0);
  openAt(0, 0, 0, 0, 0, 0, 0);
  readAt(0, 0, 0, 0);
  readDirectory(0, 0);
  readDirectoryEntry(0, 0);
  dropDescriptor(0);
  dropStream(0);
}

/** Whether this is what it was told, exactly; whether it begins or ends so. ASCII. */
export function asked(word: string): bool {
  return toldSize === <usize>word.length && begins(word);
}
export function begins(word: string): bool {
  return <usize>word.length <= toldSize && matches(word, 0);
}
export function ends(word: string): bool {
  return <usize>word.length <= toldSize && matches(word, toldSize - <usize>word.length);
}
function matches(word: string, at: usize): bool {
  for (let i = 0; i < word.length; i++) {
    if (load<u8>(told + at + <usize>i) !== <u8>word.charCodeAt(i)) return false;
  }
  return true;
}

// ---- the file system, raw ----

/** Where results land. */
export const RET: usize = memory.data(64, 8);

/** The first preopened directory. */
export function preopen(): i32 {
  getDirectories(RET);
  return load<u32>(RET, 4) === 0 ? unreachable() : load<i32>(load<usize>(RET));
}

/** A handle, or `~code`. */
export function open(from: i32, name: usize, size: usize, follow: bool, directory: bool): i32 {
  openAt(from, follow ? 1 : 0, name, size, directory ? 2 : 0, 1, RET);
  return load<u8>(RET) === 0 ? load<i32>(RET, 4) : ~(<i32>load<u8>(RET, 4));
}
export function openWord(from: i32, name: string, directory: bool): i32 {
  const at = word(name);
  return open(from, at, wordSize, true, directory);
}
/** A stream, or `~code`. */
export function list(from: i32): i32 {
  readDirectory(from, RET);
  return load<u8>(RET) === 0 ? load<i32>(RET, 4) : ~(<i32>load<u8>(RET, 4));
}

// ---- text under construction ----

const TEXT_ROOM: usize = 65_536;
const TEXT: usize = memory.data(65_536, 8);
let textSize: usize = 0;

export function sayByte(byte: u8): void {
  if (textSize < TEXT_ROOM) store<u8>(TEXT + textSize++, byte);
}
export function say(text: string): void {
  for (let i = 0; i < text.length; i++) sayByte(<u8>text.charCodeAt(i));
}
export function sayNumber(value: u64): void {
  if (value >= 10) sayNumber(value / 10);
  sayByte(<u8>(48 + (value % 10)));
}
export function sayBytes(from: usize, size: usize): void {
  for (let i: usize = 0; i < size; i++) sayByte(load<u8>(from + i));
}
/** What an operation answered: `code N`, or `ok`. */
export function sayResult(result: i32): void {
  if (result < 0) {
    say('code ');
    sayNumber(<u64>~result);
  } else say('ok');
  sayByte(0x0a);
}

/** Everything that can be learned from a handle, `levels` deep; it is dropped. */
export function tell(handle: i32, isDirectory: bool, levels: i32): void {
  if (handle < 0) return sayResult(handle);
  if (isDirectory) tellDirectory(handle, levels);
  else tellFile(handle);
  dropDescriptor(handle);
}

function tellFile(file: i32): void {
  readAt(file, 512, 0, RET);
  if (load<u8>(RET) !== 0) return sayResult(~(<i32>load<u8>(RET, 4)));
  sayBytes(load<usize>(RET, 4), load<usize>(RET, 8));
  sayByte(0x0a);
}

function tellDirectory(dir: i32, levels: i32): void {
  const stream = list(dir);
  if (stream < 0) return sayResult(stream);
  for (;;) {
    readDirectoryEntry(stream, RET);
    if (load<u8>(RET) !== 0 || load<u8>(RET, 4) === 0) break;
    const name = load<usize>(RET, 12);
    const size = load<usize>(RET, 16);
    sayBytes(name, size);
    sayByte(0x0a);
    if (levels > 0) {
      tell(open(dir, name, size, true, false), false, 0);
      tell(open(dir, name, size, true, true), true, levels - 1);
    }
  }
  dropStream(stream);
}

// ---- what search gives back ----

export const HIT_BYTES: usize = 20;
export const UNREAD_BYTES: usize = 12;
export const CODES: u32 = 37;
export const PAUSED: u8 = 0;
export const COMPLETE: u8 = 1;
export const MATCHES: u8 = 2;
export const TEXT_CAP: u8 = 3;
export const BUDGET: u8 = 4;

/** The page under construction, as it will be lifted: a lie is stored over it. */
export const PAGE: usize = memory.data(48, 8);
export const HITS: usize = memory.data(4_096, 8);
export const UNREAD: usize = memory.data(4_096, 8);
export const CAUSES: usize = memory.data(512, 8);
let hits: u32 = 0;
let unread: u32 = 0;

export function addHit(path: string, line: u32, text: usize, size: usize): void {
  const at = HITS + <usize>(hits++) * HIT_BYTES;
  store<usize>(at, word(path));
  store<usize>(at, wordSize, 4);
  store<u32>(at, line, 8);
  store<usize>(at, text, 12);
  store<usize>(at, size, 16);
}

export function addUnread(path: string, cause: u8): void {
  const at = UNREAD + <usize>(unread++) * UNREAD_BYTES;
  store<usize>(at, word(path));
  store<usize>(at, wordSize, 4);
  store<u8>(at, cause, 8);
  const count = CAUSES + <usize>cause * 4;
  store<u32>(count, load<u32>(count) + 1);
}

/** The page with what was added; each later page holds only what is added from here on. */
export function page(looked: u32, ending: u8): usize {
  store<usize>(PAGE, HITS);
  store<u32>(PAGE, hits, 4);
  store<usize>(PAGE, UNREAD, 8);
  store<u32>(PAGE, unread, 12);
  store<u32>(PAGE, looked, 16);
  store<usize>(PAGE, CAUSES, 36);
  store<u32>(PAGE, CODES, 40);
  store<u8>(PAGE, ending, 44);
  hits = 0;
  unread = 0;
  return PAGE;
}

/** One hit, in a place that may be read, whose text is all that was said: how a guest tells the test what it saw. */
export function answer(ending: u8 = COMPLETE): usize {
  addHit('hall/told', 0, TEXT, textSize);
  return page(1, ending);
}

// ---- what read gives back ----

/** The reading, 64 bytes: case@0, going's bytes, looks or code@8, the slice@8. */
export const READING: usize = memory.data(64, 8);
export const GOING: u8 = 0;
export const DONE: u8 = 1;
export const NOT_TEXT: u8 = 2;
export const FAILED: u8 = 5;

export function reading(which: u8): usize {
  store<u8>(READING, which);
  return READING;
}

export function slice(text: usize, size: usize, lines: u32, totalLines: u64, more: u8): usize {
  store<usize>(READING, text, 8);
  store<usize>(READING, size, 12);
  store<u32>(READING, lines, 16);
  store<u64>(READING, totalLines, 24);
  store<u8>(READING, more, 32);
  return reading(DONE);
}

/** Makes the slice a cut one. */
export function cut(nextByte: u64, cutBytes: u64): usize {
  store<u8>(READING, 1, 40);
  store<u64>(READING, nextByte, 48);
  store<u64>(READING, cutBytes, 56);
  return READING;
}

/** Reads the one file from start to end in order, into `whole`; how many bytes. */
export let whole: usize = 0;
export function passOver(): usize {
  const file = open(preopen(), told, toldSize, true, false);
  if (file < 0) unreachable();
  let passed: usize = 0;
  for (;;) {
    readAt(file, 65_536, passed, RET);
    if (load<u8>(RET) !== 0) unreachable();
    const size = load<usize>(RET, 8);
    if (passed === 0) whole = load<usize>(RET, 4);
    passed += size;
    if (size === 0 || load<u8>(RET, 12) !== 0) break;
  }
  dropDescriptor(file);
  return passed;
}
