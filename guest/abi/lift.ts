/**
 * The file system as named functions: each calls one import and lifts its answer out of memory.
 * Stands between walk/ (which decides what is opened) and abi/imports.ts (which can).
 *
 * An `Answer` is a handle or a size, or, below zero, `~code`: what the host said instead, by its number in the WIT's
 * error-code. The host is trusted to keep the ABI; where a lie would make us write out of place, we trap.
 *
 * What comes back lies in one fixed place, drawn for each import (o: the option's case, k: the entry's kind):
 *
 *            0        4        8        12       16
 *   open     | case   | handle or code  |
 *   read     | case   | ptr    | size   | at end |        (code at 4)
 *   list     | case   | handle or code  |
 *   entry    | case   | o      | k      | ptr    | size   (code at 4)
 *   preopens | ptr    | count  |   each: | handle | ptr | size |
 */

import { Arena, landAt, landOn, settle } from './arena';
import { dropDescriptor, dropStream, getDirectories, openAt, read, readDirectory, readDirectoryEntry } from './imports';

/** A handle or a size; below zero `~code`. */
export type Answer = i32;

/** The cases of error-code that the walk tells apart, by number. All others are passed on. */
export namespace Code {
  export const QUOTA: i32 = 6;
  export const FILE_TOO_LARGE: i32 = 8;
  export const ILLEGAL_BYTE_SEQUENCE: i32 = 9;
  export const IS_DIRECTORY: i32 = 14;
  export const LOOP: i32 = 15;
  export const NO_ENTRY: i32 = 20;
  export const INSUFFICIENT_SPACE: i32 = 23;
  export const NOT_DIRECTORY: i32 = 24;
  export const UNSUPPORTED: i32 = 27;
  export const NOT_PERMITTED: i32 = 31;
  /** How many cases there are. */
  export const COUNT: i32 = 37;
}

/** The cases of descriptor-type that the walk tells apart, by number. */
export namespace Kind {
  export const UNKNOWN: u8 = 0;
  export const DIRECTORY: u8 = 3;
  export const SYMBOLIC_LINK: u8 = 5;
}

const FOLLOW: i32 = 1; // path-flags: symlink-follow
const AS_DIRECTORY: i32 = 2; // open-flags: directory
const TO_READ: i32 = 1; // descriptor-flags: read

const ret: usize = memory.data(24, 8);

// @ts-ignore: decorator
@inline
function handleOrCode(): Answer {
  return load<u8>(ret) === 0 ? load<i32>(ret, 4) : ~(<i32>load<u8>(ret, 4));
}

/** The name of the directory that `preopen` gave: the prefix of every address. Lies in the page. */
export let preopenName: usize = 0;
/** Its bytes; 0 for the city itself. */
export let preopenNameSize: usize = 0;

/** The one directory this call was handed. A host that hands over none or several breaks the contract: a trap. */
export function preopen(): i32 {
  getDirectories(ret);
  if (load<usize>(ret, 4) !== 1) unreachable();
  const first = load<usize>(ret);
  preopenName = load<usize>(first, 4);
  preopenNameSize = load<usize>(first, 8);
  return load<i32>(first);
}

/** Opens the file at `name` in `dir` to read it; `follow` lets the host expand a link there. */
export function openFile(dir: i32, name: usize, size: usize, follow: bool): Answer {
  openAt(dir, follow ? FOLLOW : 0, name, size, 0, TO_READ, ret);
  return handleOrCode();
}

/** Opens the directory at `name` in `dir`; a link there is not followed. */
export function openDirectory(dir: i32, name: usize, size: usize): Answer {
  openAt(dir, 0, name, size, AS_DIRECTORY, TO_READ, ret);
  return handleOrCode();
}

/** Whether the last `readInto` reached the end of the file. */
export let atEnd: bool = false;

/** Reads at most `room` bytes of the file from `offset` into `into`; how many came. Sets `atEnd`. */
export function readInto(file: i32, into: usize, room: usize, offset: u64): Answer {
  landAt(into, room);
  read(file, <u64>room, offset, ret);
  settle();
  if (load<u8>(ret) !== 0) return ~(<i32>load<u8>(ret, 4));
  const size = load<usize>(ret, 8);
  if (size > room || (size > 0 && load<usize>(ret, 4) !== into)) unreachable();
  atEnd = size === 0 || load<u8>(ret, 12) !== 0;
  return <i32>size;
}

/** Begins to list a directory: a stream of its names. */
export function list(dir: i32): Answer {
  readDirectory(dir, ret);
  return handleOrCode();
}

/** The name that the last `nextName` gave. Lies in the arena that was named. */
export let name: usize = 0;
/** Its bytes. */
export let nameSize: usize = 0;
/** What the listing says it is: a `descriptor-type` of the WIT. Decided only at the open. */
export let nameKind: u8 = 0;

/** The next name of a listing, onto `arena`: 1, or 0 at the end. Sets `name`, `nameSize`, `nameKind`. */
export function nextName(stream: i32, arena: Arena): Answer {
  landOn(arena);
  readDirectoryEntry(stream, ret);
  settle();
  if (load<u8>(ret) !== 0) return ~(<i32>load<u8>(ret, 4));
  if (load<u8>(ret, 4) === 0) return 0;
  nameKind = load<u8>(ret, 8);
  name = load<usize>(ret, 12);
  nameSize = load<usize>(ret, 16);
  return 1;
}

/** Gives a file or directory back. */
export function close(handle: i32): void {
  dropDescriptor(handle);
}

/** Gives a listing back. */
export function closeListing(stream: i32): void {
  dropStream(stream);
}
