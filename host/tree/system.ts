/**
 * The file-system functions of the disk trees, taken once at import: whoever patches `node:fs` later redirects
 * nothing here. With them the open flags, and the one map from what the system says to a `Failure`.
 * Below every disk tree; nothing here judges.
 */

import fs from 'node:fs';

import type { Failure, Identity, Kind } from '../judge/place.js';

/** The functions of `node:fs` as they were when this was loaded. */
export const {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  opendirSync,
  readFileSync,
  readSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
  statfsSync,
} = fs;

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } = fs.constants;

/** Never follows a link, never waits for a FIFO's writer, never takes a terminal. Where a system lacks a flag it is 0. */
export const FILE_FLAGS = O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0) | (O_NOCTTY ?? 0);
/** The same, and only a directory. */
const DIRECTORY_FLAGS = FILE_FLAGS | (O_DIRECTORY ?? 0);
/** Linux: a handle that stands for a place and reads nothing; `node:fs` has no name for it. */
const O_PATH = 0x200000;
/** How a directory is held as a place: nothing is read through it. */
export const PLACE_FLAGS = O_PATH | (O_NOFOLLOW ?? 0) | (O_DIRECTORY ?? 0);

/** What the system's looks and listings are made of: for runner/shapes.ts, which tells why they are kept. */
export const statsOfShapes = (directory: string): readonly unknown[] => [
  statSync(directory),
  statSync(directory, { bigint: true }),
  readdirSync(directory, { withFileTypes: true }),
];

/** What a mode says. A constant number of compares; file first, since most are. */
export function kindOfMode(mode: number): Kind {
  const type = mode & S_IFMT;
  if (type === S_IFREG) return 'file';
  if (type === S_IFDIR) return 'directory';
  return type === S_IFLNK ? 'link' : 'other';
}

/** Device and inode of a bigint look: the number form loses inodes over 2^53. */
export const identityOf = (stats: { readonly dev: bigint; readonly ino: bigint }): Identity => ({
  device: stats.dev,
  inode: stats.ino,
});

const FAILURES = new Map<string, Failure>([
  ['ENOENT', 'no-entry'],
  ['EACCES', 'access'],
  ['EPERM', 'access'],
  ['ERR_ACCESS_DENIED', 'access'], // Node under --permission
  ['ENOTDIR', 'not-directory'],
  ['EISDIR', 'is-directory'],
  ['ELOOP', 'is-link'],
  ['EMLINK', 'is-link'], // FreeBSD's word for O_NOFOLLOW on a link
  ['ENXIO', 'not-regular'], // a socket, or a device that is not there
  ['ENODEV', 'not-regular'],
  ['EOPNOTSUPP', 'not-regular'], // macOS's word for a socket
  ['EMFILE', 'exhausted'],
  ['ENFILE', 'exhausted'],
  ['ENOMEM', 'exhausted'],
  ['ENAMETOOLONG', 'bad-name'],
]);

/** The system's own code of a thrown value (`ENOENT`), or undefined for a bug of ours (`ERR_INVALID_ARG_TYPE`). */
export function systemCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  const { code } = thrown;
  if (typeof code !== 'string') return undefined;
  return FAILURES.has(code) || !code.startsWith('ERR_') ? code : undefined;
}

/**
 * What the system said, as a `Failure`: total, so that no message of it goes further; what is not known is `io`.
 * @throws what no system said (a bug) as it came.
 */
export function failureOf(thrown: unknown): Failure {
  const code = systemCode(thrown);
  if (code === undefined) throw thrown;
  return FAILURES.get(code) ?? 'io';
}

/**
 * Closes a descriptor that was only read from: what the system then says loses nothing, and the number is free.
 * @throws a bug, as it came.
 */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch (thrown) {
    failureOf(thrown);
  }
}

/**
 * Opens a directory. One that may be entered but not read (mode 0711) is opened as a mere place: its names can be
 * opened, and listing it fails with `access` then.
 * @throws what the system throws.
 */
export function openDirectorySync(path: string): number {
  try {
    return openSync(path, DIRECTORY_FLAGS);
  } catch (thrown) {
    if (systemCode(thrown) !== 'EACCES' || process.platform !== 'linux') throw thrown;
    return openSync(path, PLACE_FLAGS);
  }
}
