/**
 * The portable tree: for systems without `/proc`, where nobody untrusted writes in the city during a call. Each step
 * is a look, an open and another look, with identities compared before and after; between two of them a swap that is
 * taken back in time is not seen (docs/SECURITY.md). Never chosen by itself.
 *
 * Directories are paths here, not descriptors: `openCount` counts them all the same. Mounts are told by device only,
 * and of directories only (files of an overlay have devices of their own).
 */

import { sep } from 'node:path';

import { DiskFile } from './disk-file.js';
import { FILE_FAULTS, refusesHardLink } from './file-faults.js';
import { listDirectory } from './listing.js';
import { isSegment, strictText } from './names.js';
import { type Held, OpenSet, releaseAll } from './open-set.js';
import {
  dirEntriesMaxOf,
  type EnterRefusal,
  enterRefusalOf,
  type TreeOptions,
  type TreeRefusal,
  treeRefusalOf,
} from './opening.js';
import { Spellings } from './spelling.js';
import {
  FILE_FLAGS,
  failureOf,
  fstatSync,
  identityOf,
  kindOfMode,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from './system.js';
import type {
  Dir,
  Entry,
  Failure,
  FileOptions,
  HardLinks,
  Identity,
  LinkText,
  Look,
  OpenFile,
  RootSpellings,
  Tree,
} from './tree.js';
import { failed, sameIdentity } from './tree.js';

/** A city on any disk, as it was on entering. Data: it crosses to the thread that makes the call. */
export interface PortableSpec extends Identity {
  readonly kind: 'portable';
  /** As it was entered, absolute. */
  readonly entered: string;
  /** Its real location then. */
  readonly real: string;
  readonly hardLinks: HardLinks;
  /** Take up what the entered spelling leads to at each call, instead of refusing a replaced city. */
  readonly reopen: boolean;
}

/** The root as it is found now; nothing is held open. */
export interface FoundRoot extends Identity {
  readonly real: string;
}

/** Looks the directory at `path` up, links followed. Three system calls. */
export function findPortableRoot(path: string): FoundRoot | EnterRefusal {
  try {
    const real = realpathSync.native(path);
    const stats = lstatSync(real, { bigint: true });
    if (kindOfMode(Number(stats.mode)) !== 'directory') return 'not-directory';
    return { real, ...identityOf(stats) };
  } catch (thrown) {
    return enterRefusalOf(failureOf(thrown));
  }
}

/** Opens the city for one call: it must be the recorded directory, found by its entered spelling. Few system calls. */
export function openPortableTree(spec: PortableSpec, options: TreeOptions = {}): Tree | TreeRefusal {
  try {
    const named = statSync(spec.entered, { bigint: true });
    const real = realpathSync.native(spec.entered);
    const found = lstatSync(real, { bigint: true });
    const identity = identityOf(found);
    const same = sameIdentity(identity, identityOf(named)) && (spec.reopen || sameIdentity(identity, spec));
    if (!same || kindOfMode(Number(found.mode)) !== 'directory') return 'replaced';
    return new PortableTree(spec, real, found, options);
  } catch (thrown) {
    return treeRefusalOf(failureOf(thrown));
  }
}

interface DirectoryStats {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly uid: bigint;
}

/** A path and what was found there, and the same of each directory above, up to the root. */
interface Found {
  readonly path: string;
  readonly identity: Identity;
  readonly ownerUid: number;
  readonly above: Found | undefined;
}

const foundAt = (path: string, stats: DirectoryStats, above: Found | undefined): Found => ({
  path,
  identity: identityOf(stats),
  ownerUid: Number(stats.uid),
  above,
});

/** Whether the path still leads to the same directory. One look. */
function same(found: Found): boolean {
  const now = lstatSync(found.path, { bigint: true, throwIfNoEntry: false });
  return now !== undefined && sameIdentity(identityOf(now), found.identity);
}

/**
 * Whether every directory on the way is still what it was: a link above may lead back to the same directory, moved.
 * O(depth) looks, and each costs the system O(depth): asked after each directory open and at each landing only.
 */
function stands(found: Found): boolean {
  for (let step: Found | undefined = found; step !== undefined; step = step.above) {
    if (!same(step)) return false;
  }
  return true;
}

class PortableTree implements Tree {
  readonly kind = 'portable';
  readonly containment = 'portable';
  readonly spellings: RootSpellings;
  readonly root: PortableDir;
  readonly held = new OpenSet<Held>();
  readonly hardLinks: HardLinks;
  readonly dirEntriesMax: number;

  constructor(spec: PortableSpec, real: string, stats: DirectoryStats, options: TreeOptions) {
    this.spellings = { entered: spec.entered, real, style: sep === '\\' ? 'win32' : 'posix' };
    this.hardLinks = spec.hardLinks;
    this.dirEntriesMax = dirEntriesMaxOf(options);
    this.root = new PortableDir(this, foundAt(real, stats, undefined));
  }

  openCount(): number {
    return this.held.count;
  }

  close(): void {
    releaseAll(this.held);
  }
}

/** What a name is put behind to mean one in this directory; undefined for a directory of another tree, or closed. */
export const portablePrefixOf = (dir: Dir): string | undefined => PortableDir.prefixOf(dir);

class PortableDir implements Dir, Held {
  slot = -1;
  static prefixOf(dir: Dir): string | undefined {
    if (!(#found in dir) || !dir.#open) return undefined;
    const { path } = dir.#found;
    return path.endsWith(sep) ? path : path + sep;
  }

  readonly identity: Identity;
  readonly #tree: PortableTree;
  readonly #found: Found;
  #open = true;
  #spellings: Spellings | undefined;

  constructor(tree: PortableTree, found: Found) {
    this.identity = found.identity;
    this.#tree = tree;
    this.#found = found;
    tree.held.add(this);
  }

  look(name: string): Look | Failure {
    return this.#named(name, (path) => {
      const stats = lstatSync(path, { bigint: true });
      return {
        kind: kindOfMode(Number(stats.mode)),
        identity: identityOf(stats),
        sizeBytes: Number(stats.size),
        modifiedNs: stats.mtimeNs,
        changedNs: stats.ctimeNs,
      };
    });
  }

  directory(name: string): Dir | Failure {
    const found = this.#named<Found>(name, (path) => {
      const stats = lstatSync(path, { bigint: true });
      const kind = kindOfMode(Number(stats.mode));
      if (kind !== 'directory') return kind === 'link' ? 'is-link' : 'not-directory';
      return stats.dev === this.identity.device ? foundAt(path, stats, this.#found) : 'other-mount';
    });
    return failed(found) ? found : this.#opened(found);
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    return this.#named(name, (path) => {
      if (options?.placed && !stands(this.#found)) return 'moved';
      return this.#openFile(path);
    });
  }

  linkText(name: string): LinkText | Failure {
    return this.#named(name, (path) => {
      const before = lstatSync(path, { bigint: true });
      if (kindOfMode(Number(before.mode)) !== 'link') return 'moved';
      const text = strictText(readlinkSync(path, { encoding: 'buffer' }));
      if (!sameIdentity(identityOf(before), identityOf(lstatSync(path, { bigint: true })))) return 'moved';
      return text === undefined ? 'bad-name' : { text };
    });
  }

  stands(name: string, seen?: Look): boolean | Failure {
    this.#spellings ??= new Spellings(this);
    return this.#spellings.stands(name, seen);
  }

  list(): readonly Entry[] | Failure {
    if (!this.#open) return 'io';
    return this.#steady(() => listDirectory(this.#found.path, false, this.#tree.dirEntriesMax));
  }

  again(): Dir | Failure {
    return this.#open ? this.#opened(this.#found) : 'io';
  }

  /** The root's does nothing: it is the tree's. */
  close(): void {
    if (this !== this.#tree.root) this.release();
  }

  release(): void {
    this.#open = false;
    this.#tree.held.remove(this);
  }

  /** What `give` gives of the path of `name`, while this directory stands where it was. */
  #named<T extends object>(name: string, give: (path: string) => T | Failure): T | Failure {
    if (!this.#open) return 'io';
    if (!isSegment(name) || (sep === '\\' && WINDOWS_SYNTAX.test(name))) return 'bad-name';
    const { path } = this.#found;
    return this.#steady(() => give(path.endsWith(sep) ? path + name : path + sep + name));
  }

  #steady<T extends object>(give: () => T | Failure): T | Failure {
    try {
      if (!same(this.#found)) return 'moved';
      const given = give();
      if (same(this.#found)) return given;
      if (given instanceof DiskFile) given.release();
      return 'moved';
    } catch (thrown) {
      return failureOf(thrown); // a file opened before is the tree's to close
    }
  }

  #opened(found: Found): PortableDir | Failure {
    try {
      return stands(found) ? new PortableDir(this.#tree, found) : 'moved';
    } catch (thrown) {
      return failureOf(thrown);
    }
  }

  #openFile(path: string): DiskFile | Failure {
    const before = lstatSync(path, { bigint: true });
    const fault = FILE_FAULTS[kindOfMode(Number(before.mode))];
    if (fault !== undefined) return fault;
    const links = { names: Number(before.nlink), owner: Number(before.uid) };
    if (refusesHardLink(this.#tree.hardLinks, links, this.#found.ownerUid)) return 'hard-link';
    const file = this.#take(openSync(path, FILE_FLAGS));
    if (sameIdentity(file.identity(), identityOf(before))) {
      const after = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (after !== undefined && sameIdentity(file.identity(), identityOf(after))) return file;
    }
    file.release();
    return 'moved';
  }

  #take(fd: number): DiskFile {
    const stats = fstatSync(fd, { bigint: true });
    return new DiskFile(this.#tree.held, fd, Number(stats.size), identityOf(stats));
  }
}

/** What a segment must not hold where it would be syntax: another separator, a drive, a stream. */
const WINDOWS_SYNTAX = /[\\:]/;
