/**
 * The listing of one directory on a disk: raw bytes as the system gives them, decoded strictly, at most a given
 * number of names. Called by the disk trees' `list`.
 *
 * Names are asked for as latin1, which is their bytes at the price of text; only one with a byte over 0x7f is
 * decoded. Listing with utf8 would turn two different broken names into one.
 */

import { Buffer } from 'node:buffer';
import type { Dirent } from 'node:fs';

import type { Failure, Kind } from '../judge/place.js';
import { LISTING_BATCH_ENTRIES } from '../limits.js';
import { shownText, strictText } from './names.js';
import { failureOf, opendirSync, readdirSync, systemCode } from './system.js';
import type { Entry } from './tree.js';

/** Deno gives names as text whatever the encoding; one that is not UTF-8 is then met as `no-entry`. */
const NAMES_ARE_BYTES = !('deno' in process.versions);

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
const ASCII = /^[\x00-\x7f]*$/;

/**
 * All names of the directory at `path`, in no order, without `.` and `..`; `[]` if it is empty.
 * @param small - true if its size proves that it holds at most `entriesMax` names: then one system-side listing, which
 *   nothing can interrupt, is quickest (19 µs against 55 µs a directory). Else names are counted as they come.
 * @returns `too-many-entries` over `entriesMax`: nothing of it is given. O(names) time and memory.
 */
export function listDirectory(path: string, small: boolean, entriesMax: number): readonly Entry[] | Failure {
  try {
    return small ? listAtOnce(path, entriesMax) : listCounted(path, entriesMax);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

function listAtOnce(path: string, entriesMax: number): readonly Entry[] | Failure {
  try {
    const found = readdirSync(path, { withFileTypes: true, encoding: 'latin1' });
    return found.length > entriesMax ? 'too-many-entries' : found.map(entryOf);
  } catch (thrown) {
    // Where the file system gives no types, the runtime looks at each name itself, and not by its bytes: a name that
    // is not ASCII, is gone by now or may not be looked at fails all. Then names alone; what each is, is decided at
    // the open. What really ails the directory fails this too.
    if (systemCode(thrown) === undefined) throw thrown;
    const found = readdirSync(path, { encoding: 'buffer' });
    return found.length > entriesMax ? 'too-many-entries' : found.map((bytes) => entryOfBytes(bytes, 'unknown'));
  }
}

function listCounted(path: string, entriesMax: number): readonly Entry[] | Failure {
  try {
    return readCounted(path, 'latin1', entriesMax);
  } catch (thrown) {
    if (systemCode(thrown) === undefined) throw thrown;
    // As above; by bytes each name is looked at as it is.
    return readCounted(path, 'buffer', entriesMax);
  }
}

function readCounted(path: string, encoding: 'latin1' | 'buffer', entriesMax: number): readonly Entry[] | Failure {
  // The types of Node know no `buffer` here; the runtime does.
  const directory = opendirSync(path, { encoding: encoding as BufferEncoding, bufferSize: LISTING_BATCH_ENTRIES });
  try {
    const entries: Entry[] = [];
    for (let found = directory.readSync(); found !== null; found = directory.readSync()) {
      if (entries.length === entriesMax) return 'too-many-entries';
      entries.push(entryOf(found));
    }
    return entries;
  } finally {
    directory.closeSync();
  }
}

function entryOf(found: Dirent): Entry {
  // With `buffer` the name is bytes, which the type does not say.
  const name: string | Uint8Array = found.name;
  if (typeof name !== 'string') return entryOfBytes(name, kindOfEntry(found));
  if (!NAMES_ARE_BYTES || ASCII.test(name)) return { name, kind: kindOfEntry(found), nameable: true };
  return entryOfBytes(Buffer.from(name, 'latin1'), kindOfEntry(found));
}

function entryOfBytes(bytes: Uint8Array, kind: Kind | 'unknown'): Entry {
  const name = strictText(bytes);
  return name === undefined ? { name: shownText(bytes), kind, nameable: false } : { name, kind, nameable: true };
}

function kindOfEntry(found: Dirent): Kind | 'unknown' {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'directory';
  if (found.isSymbolicLink()) return 'link';
  const other = found.isFIFO() || found.isSocket() || found.isCharacterDevice() || found.isBlockDevice();
  return other ? 'other' : 'unknown';
}
