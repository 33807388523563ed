/**
 * Changing a directory of a disk tree: the only code of the host that makes, renames or removes anything in a city, and
 * the block store (store/) its only caller. No guest reaches it: wasi/ knows `Dir`, which reads.
 *
 * Everything is done by one name in a directory that is held, as the trees read: on Linux through the held descriptor,
 * so that a link planted on the way, or a directory swapped under it, leads nowhere else. A link is never followed, and
 * a file with a second name (which may stand outside) is never written to.
 */

import fs from 'node:fs';
import { linuxPrefixOf } from './disk-linux.js';
import { portablePrefixOf } from './disk-portable.js';
import { isSegment } from './names.js';
import { closeQuietly, failureOf, fstatSync, kindOfMode, openSync, readSync, systemCode } from './system.js';
import { type Dir, type Failure, failed, type Tree } from './tree.js';

const { fsyncSync, mkdirSync, renameSync, unlinkSync, writeSync } = fs;
const { O_APPEND, O_CREAT, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;
const SAFELY = (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0) | (O_NOCTTY ?? 0);

/** Why something was not written. `read-only`: this tree, or its disk, takes nothing. `taken`: the name is another's. */
export type WriteFailure = Failure | 'no-space' | 'read-only' | 'taken';

/** Tells a failure from what was asked for. */
export const wroteNot = (given: unknown): given is WriteFailure => typeof given === 'string';

const CODES: ReadonlyMap<string, WriteFailure> = new Map([
  ['ENOSPC', 'no-space'],
  ['EDQUOT', 'no-space'],
  ['EFBIG', 'no-space'],
  ['EROFS', 'read-only'],
  ['EEXIST', 'taken'],
  ['ENOTEMPTY', 'taken'],
]);

/** @throws what no system said, as it came. */
const writeFailureOf = (thrown: unknown): WriteFailure => CODES.get(systemCode(thrown) ?? '') ?? failureOf(thrown);

function attempt<T>(act: () => T): T | WriteFailure {
  try {
    return act();
  } catch (thrown) {
    return writeFailureOf(thrown);
  }
}

const done = (act: () => void): WriteFailure | undefined =>
  attempt(() => {
    act();
    return undefined;
  });

/** A held directory, to be written in. It owns `dir`. */
export class WriteDir {
  readonly dir: Dir;
  readonly #prefix: string;

  private constructor(dir: Dir, prefix: string) {
    this.dir = dir;
    this.#prefix = prefix;
  }

  /** Takes `dir` over; `read-only` for a directory that is not a disk's. */
  static over(dir: Dir): WriteDir | WriteFailure {
    const prefix = linuxPrefixOf(dir) ?? portablePrefixOf(dir);
    if (prefix !== undefined) return new WriteDir(dir, prefix);
    dir.close();
    return 'read-only';
  }

  /** Makes a directory and puts its name on disk; one that is there is `taken`, whatever it is. */
  make(name: string): WriteFailure | undefined {
    return this.#refusal(name) ?? done(() => mkdirSync(this.#prefix + name)) ?? this.sync();
  }

  /** Writes a file that is not there yet, whole, and puts its bytes on disk. What fails half-way is left to be removed. */
  create(name: string, bytes: Uint8Array): WriteFailure | undefined {
    return (
      this.#refusal(name) ??
      attempt(() => {
        const fd = openSync(this.#prefix + name, O_WRONLY | O_CREAT | O_EXCL | SAFELY, 0o666);
        try {
          return writeAll(fd, bytes) ?? done(() => fsyncSync(fd));
        } finally {
          closeQuietly(fd);
        }
      })
    );
  }

  /**
   * The regular file of this name, to be read and added to; made if it is not there, or `taken` if somebody made it at
   * the same moment. Nothing else is opened.
   */
  added(name: string): AddedFile | WriteFailure {
    const refusal = this.#refusal(name);
    if (refusal !== undefined) return refusal;
    const look = this.dir.look(name);
    if (failed(look) && look !== 'no-entry') return look;
    if (!failed(look) && look.kind === 'link') return 'is-link';
    if (!failed(look) && look.kind !== 'file') return 'not-regular';
    return attempt(() => {
      const made = failed(look) ? O_EXCL : 0;
      const fd = openSync(this.#prefix + name, O_RDWR | O_CREAT | O_APPEND | SAFELY | made, 0o666);
      const stats = fstatSync(fd);
      const fault = kindOfMode(stats.mode) !== 'file' ? 'not-regular' : stats.nlink !== 1 ? 'hard-link' : undefined;
      if (fault === undefined) return new AddedFile(fd);
      closeQuietly(fd);
      return fault;
    });
  }

  /** Moves a file into another held directory, over a file of that name if there is one. `no-entry`: it is gone. */
  move(name: string, to: WriteDir, toName: string): WriteFailure | undefined {
    return (
      this.#refusal(name) ?? to.#refusal(toName) ?? done(() => renameSync(this.#prefix + name, to.#prefix + toName))
    );
  }

  /** Removes a name that is no directory's; a link is removed, not what it leads to. */
  remove(name: string): WriteFailure | undefined {
    return this.#refusal(name) ?? done(() => unlinkSync(this.#prefix + name));
  }

  /** Puts the directory's own names on disk: what was made or moved into it survives a crash only then. */
  sync(): WriteFailure | undefined {
    if (process.platform === 'win32') return undefined; // directories do not open there
    return attempt(() => {
      const fd = openSync(`${this.#prefix}.`, O_RDONLY);
      try {
        fsyncSync(fd);
      } finally {
        closeQuietly(fd);
      }
      return undefined;
    });
  }

  close(): void {
    this.dir.close();
  }

  /** A directory that was moved since it was opened is not written in. */
  #refusal(name: string): WriteFailure | undefined {
    if (!isSegment(name)) return 'bad-name';
    const again = this.dir.again();
    if (failed(again)) return again;
    again.close();
    return undefined;
  }
}

/** A file that is read and added to. */
export class AddedFile {
  readonly #fd: number;

  /** Takes `fd` over. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** As `OpenFile.read`. */
  read(into: Uint8Array, offsetBytes: number): number | WriteFailure {
    return attempt(() => readSync(this.#fd, into, 0, into.length, offsetBytes));
  }

  /** Adds the bytes in one piece, behind whatever others added meanwhile, and puts them on disk. */
  add(bytes: Uint8Array): WriteFailure | undefined {
    return attempt(() => {
      // One write: the system lets no other append in between. A shorter one is a disk that is full.
      if (writeSync(this.#fd, bytes) < bytes.length) return 'no-space';
      fsyncSync(this.#fd);
      return undefined;
    });
  }

  close(): void {
    closeQuietly(this.#fd);
  }
}

function writeAll(fd: number, bytes: Uint8Array): WriteFailure | undefined {
  for (let at = 0; at < bytes.length; ) {
    const wrote = writeSync(fd, bytes, at);
    if (wrote === 0) return 'no-space';
    at += wrote;
  }
  return undefined;
}

/**
 * The directory below `segments` from the root of `tree`, each made if it is missing. No link is followed on the way:
 * `is-link`. The caller closes it. Costs a few system calls a segment, and one sync for each that was made.
 */
export function madeBelow(tree: Tree, segments: readonly string[]): WriteDir | WriteFailure {
  const root = tree.root.again();
  let at = failed(root) ? root : WriteDir.over(root);
  for (const segment of segments) {
    if (wroteNot(at)) return at;
    const next = roomIn(at, segment);
    at.close();
    at = failed(next) || wroteNot(next) ? next : WriteDir.over(next);
  }
  return at;
}

function roomIn(at: WriteDir, name: string): Dir | WriteFailure {
  const found = at.dir.directory(name);
  if (found !== 'no-entry') return spelledSo(at, name, found);
  const made = at.make(name);
  // Somebody else may have made it meanwhile: what it is, is asked again.
  if (made !== undefined && made !== 'taken') return made;
  return spelledSo(at, name, at.dir.directory(name));
}

/** An alias of a file system that folds names is not that name. */
function spelledSo(at: WriteDir, name: string, found: Dir | Failure): Dir | WriteFailure {
  if (failed(found)) return found;
  const stands = at.dir.stands(name);
  if (stands === true) return found;
  found.close();
  return failed(stands) ? stands : 'taken';
}
