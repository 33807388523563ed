/**
 * The Linux tree: what a call may open is what it can name from a directory it holds. One segment at a time through
 * `/proc/self/fd/<descriptor>/<segment>`, which is openat(2); links are never followed and no path is resolved twice,
 * so a directory that is moved, removed or swapped with a link while a call runs cannot lead it anywhere else.
 * Wall 2's floor: wasi/ calls it for the guest, judge/ through the same `Place`.
 *
 * Of each opened directory it is asked *after* the open where it is now (the text of its descriptor's link), and on
 * which mount. Texts are compared, never parsed: ` (deleted)` and newlines are legal in names.
 */

import type { Stats } from 'node:fs';

import { DIR_SMALL_BYTES } from '../limits.js';
import { DiskFile } from './disk-file.js';
import { FILE_FAULTS, refusesHardLink } from './file-faults.js';
import { listDirectory } from './listing.js';
import { Mounts, mountOf } from './mounts.js';
import { isSegment, strictText, utf8Bytes } from './names.js';
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
  closeQuietly,
  FILE_FLAGS,
  failureOf,
  fstatSync,
  identityOf,
  kindOfMode,
  lstatSync,
  openDirectorySync,
  openSync,
  PLACE_FLAGS,
  readlinkSync,
  statfsSync,
  statSync,
  systemCode,
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

/** The longest text Linux gives for a descriptor's place, in bytes (PATH_MAX without its NUL). */
const PLACE_TEXT_MAX_BYTES = 4_095;
const PROC_SUPER_MAGIC = 0x9fa0;
/** File systems (statfs types) whose directory sizes grow with their names: ext2–4, tmpfs, btrfs, xfs. */
const SIZE_TELLS_NAMES = new Set([0xef53, 0x01021994, 0x9123683e, 0x58465342]);

const descriptorPath = (fd: number): string => `/proc/self/fd/${fd}`;
const sizeTellsNames = (fd: number): boolean => SIZE_TELLS_NAMES.has(statfsSync(descriptorPath(fd)).type);

/** A city on a Linux disk, as it was pinned on entering. Data: it crosses to the thread that makes the call. */
export interface LinuxSpec {
  readonly kind: 'linux';
  /** The pinned root, owned by the thread that entered the city. */
  readonly rootFd: number;
  /** As it was entered, absolute. */
  readonly entered: string;
  /** Its real location then. */
  readonly real: string;
  readonly device: bigint;
  readonly inode: bigint;
  /** Its mount, which stays as long as the root is pinned. */
  readonly mount: number;
  /** Whether a directory's size bounds its names there. */
  readonly sizeTellsNames: boolean;
  /** Addresses of directories and files on other mounts that belong to the city. */
  readonly mounts: readonly string[];
  readonly hardLinks: HardLinks;
  /** Take up what the entered spelling leads to at each call, instead of refusing a replaced city. */
  readonly reopen: boolean;
}

/** A root that was pinned: its descriptor and what was recorded of it. */
export interface PinnedRoot extends Identity {
  readonly fd: number;
  readonly real: string;
  readonly mount: number;
  readonly sizeTellsNames: boolean;
}

/**
 * Opens the directory at `path` (links in it are the embedder's, and followed) and proves that `/proc` is procfs and
 * gives openat semantics here. The caller closes `fd`, in this thread. About ten system calls.
 */
export function pinLinuxRoot(path: string): PinnedRoot | EnterRefusal {
  let fd = -1;
  try {
    fd = openDirectoryFollowing(path);
    const pinned = proveRoot(fd);
    if (typeof pinned === 'string') closeQuietly(fd);
    return pinned;
  } catch (thrown) {
    if (fd >= 0) closeQuietly(fd);
    return enterRefusalOf(failureOf(thrown));
  }
}

/** `/.` at the end follows a last link, and fails for what is no directory. */
const openDirectoryFollowing = (path: string): number => openDirectorySync(`${path}/.`);

/** Whether `/proc` is procfs, and a path through a descriptor leads where the descriptor does. */
function procLeadsTo(fd: number, held: Identity): boolean {
  try {
    if (statfsSync('/proc/self/fd').type !== PROC_SUPER_MAGIC) return false;
    return sameIdentity(held, identityOf(statSync(`${descriptorPath(fd)}/.`, { bigint: true })));
  } catch (thrown) {
    failureOf(thrown);
    return false;
  }
}

function proveRoot(fd: number): PinnedRoot | EnterRefusal {
  const held = identityOf(fstatSync(fd, { bigint: true }));
  if (!procLeadsTo(fd, held)) return 'no-procfs';
  const real = strictText(readlinkSync(descriptorPath(fd), { encoding: 'buffer' }));
  if (real === undefined) return 'bad-name';
  const there = statSync(real, { bigint: true, throwIfNoEntry: false });
  // Its own text must lead to it, or no text below it could tell a place.
  if (there === undefined || !sameIdentity(identityOf(there), held)) return 'missing';
  return { fd, real, ...held, mount: mountOf(fd), sizeTellsNames: sizeTellsNames(fd) };
}

/**
 * Opens the city for one call, in the thread that makes it: a duplicate of the pinned root, which must be the
 * recorded directory (a number may be another's by now), still stand in its place and be what the entered spelling
 * leads to. About six system calls. `close` it in the same thread.
 */
export function openLinuxTree(spec: LinuxSpec, options: TreeOptions = {}): Tree | TreeRefusal {
  let fd = -1;
  try {
    fd = spec.reopen ? openDirectoryFollowing(spec.entered) : openDirectorySync(`${descriptorPath(spec.rootFd)}/.`);
    const root = rootOf(fd, spec);
    if (root === 'replaced') {
      closeQuietly(fd);
      return root;
    }
    return new LinuxTree(spec, root, options);
  } catch (thrown) {
    if (fd >= 0) closeQuietly(fd);
    return treeRefusalOf(failureOf(thrown));
  }
}

interface Root {
  readonly fd: number;
  readonly text: string;
  readonly stats: DirectoryStats;
}

function rootOf(fd: number, spec: LinuxSpec): Root | 'replaced' {
  const stats = fstatSync(fd, { bigint: true });
  if (stats.nlink === 0n) return 'replaced';
  const held = identityOf(stats);
  if (!spec.reopen && !sameIdentity(held, spec)) return 'replaced';
  const named = statSync(spec.entered, { bigint: true, throwIfNoEntry: false });
  if (named === undefined || !sameIdentity(identityOf(named), held)) return 'replaced';
  const text = strictText(readlinkSync(descriptorPath(fd), { encoding: 'buffer' }));
  // A place whose name became something else than text cannot be compared with.
  return text === undefined ? 'replaced' : { fd, text, stats };
}

/** What is recorded of a directory at its open. */
interface DirectoryStats {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly uid: bigint;
  /** Of the directory's own bytes, then. */
  readonly size: bigint;
}

class LinuxTree implements Tree {
  readonly kind = 'linux';
  readonly containment = 'contained';
  readonly spellings: RootSpellings;
  readonly root: LinuxDir;
  readonly held = new OpenSet<Held>();
  readonly hardLinks: HardLinks;
  readonly mounts: ReadonlySet<string>;
  readonly dirEntriesMax: number;
  readonly mountTable: Mounts;
  readonly #sizeTellsNames = new Map<bigint, boolean>();

  constructor(spec: LinuxSpec, root: Root, options: TreeOptions) {
    this.spellings = { entered: spec.entered, real: root.text, style: 'posix' };
    this.hardLinks = spec.hardLinks;
    this.mounts = new Set(spec.mounts);
    this.mountTable = new Mounts(root.text);
    this.dirEntriesMax = dirEntriesMaxOf(options);
    // The root directory of the system is the one whose text ends with the separator.
    const text = root.text === '/' ? '' : root.text;
    const place: NearPlace = { text, textBytes: utf8Bytes(text), address: '' };
    // What was recorded is of the pinned root; one that took its place may be on another mount.
    if (!spec.reopen) this.#sizeTellsNames.set(spec.device, spec.sizeTellsNames);
    const mount = spec.reopen ? mountOf(root.fd) : spec.mount;
    this.root = new LinuxDir(this, root.fd, root.stats, mount, place, true);
  }

  openCount(): number {
    return this.held.count;
  }

  close(): void {
    releaseAll(this.held);
  }

  /** Whether a directory's size bounds its names; the file system is asked once a device. */
  sizeTellsNames(fd: number, device: bigint): boolean {
    const known = this.#sizeTellsNames.get(device);
    if (known !== undefined) return known;
    const tells = sizeTellsNames(fd);
    this.#sizeTellsNames.set(device, tells);
    return tells;
  }
}

/** Where a directory must be found: the text its descriptor's link must have. */
interface NearPlace {
  /** `''` for the root of the system. */
  readonly text: string;
  readonly textBytes: number;
  /** In the city, `''` for its root: what `mounts` names. */
  readonly address: string;
  readonly far?: undefined;
}

/**
 * The same for one so deep that Linux has no text for it: the segments from the last ancestor that has one, each
 * looked up again and compared. O(steps) system calls a check.
 */
interface FarPlace {
  readonly address: string;
  readonly far: { readonly anchor: Anchor; readonly steps: Step };
}

type Whereabouts = NearPlace | FarPlace;

/** The way down from the anchor, last step first; shared by all below. */
interface Step extends Identity {
  readonly name: string;
  readonly above: Step | undefined;
}

/** The last ancestor that has a text, held for as long as something below needs it. */
class Anchor {
  readonly dir: LinuxDir;
  #users = 0;

  constructor(dir: LinuxDir) {
    this.dir = dir;
  }

  take(): void {
    this.#users += 1;
  }

  drop(): void {
    this.#users -= 1;
    if (this.#users === 0) this.dir.release();
  }
}

/** What a name is put behind to mean one in this held directory; undefined for a directory of another tree, or closed. */
export const linuxPrefixOf = (dir: Dir): string | undefined => LinuxDir.prefixOf(dir);

class LinuxDir implements Dir, Held {
  slot = -1;
  static prefixOf(dir: Dir): string | undefined {
    return #prefix in dir && dir.#fd >= 0 ? dir.#prefix : undefined;
  }

  readonly identity: Identity;
  readonly #tree: LinuxTree;
  readonly #stats: DirectoryStats;
  readonly #device: number;
  readonly #owner: number;
  readonly #mount: number;
  readonly #place: Whereabouts;
  readonly #isRoot: boolean;
  #spellings: Spellings | undefined;
  /** `/proc/self/fd/<descriptor>/`. */
  readonly #prefix: string;
  /** -1 once closed: the number may be another file's by then. */
  #fd: number;

  /** Takes `fd` over. */
  constructor(tree: LinuxTree, fd: number, stats: DirectoryStats, mount: number, place: Whereabouts, isRoot: boolean) {
    this.identity = identityOf(stats);
    this.#tree = tree;
    this.#fd = fd;
    this.#stats = stats;
    this.#device = Number(stats.dev);
    this.#owner = Number(stats.uid);
    this.#mount = mount;
    this.#place = place;
    this.#isRoot = isRoot;
    this.#prefix = `${descriptorPath(fd)}/`;
    place.far?.anchor.take();
    tree.held.add(this);
  }

  look(name: string): Look | Failure {
    const refusal = this.#refusalOf(name);
    if (refusal !== undefined) return refusal;
    try {
      const stats = lstatSync(this.#prefix + name, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined) return 'no-entry';
      return {
        kind: kindOfMode(Number(stats.mode)),
        identity: identityOf(stats),
        sizeBytes: Number(stats.size),
        modifiedNs: stats.mtimeNs,
        changedNs: stats.ctimeNs,
      };
    } catch (thrown) {
      return failureOf(thrown);
    }
  }

  directory(name: string): Dir | Failure {
    const refusal = this.#refusalOf(name);
    if (refusal !== undefined) return refusal;
    try {
      return this.#admit(openDirectorySync(this.#prefix + name), name);
    } catch (thrown) {
      return this.#linkOr(failureOf(thrown), name);
    }
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    const refusal = this.#refusalOf(name);
    if (refusal !== undefined) return refusal;
    let fd = -1;
    try {
      fd = openSync(this.#prefix + name, FILE_FLAGS);
      const stats = fstatSync(fd);
      const fault = this.#faultOf(fd, stats, name) ?? (options?.placed ? this.#misplaced(fd, name) : undefined);
      if (fault === undefined) return new DiskFile(this.#tree.held, fd, stats.size);
      closeQuietly(fd);
      return fault;
    } catch (thrown) {
      if (fd >= 0) closeQuietly(fd);
      return failureOf(thrown);
    }
  }

  linkText(name: string): LinkText | Failure {
    const refusal = this.#refusalOf(name);
    if (refusal !== undefined) return refusal;
    try {
      const text = strictText(readlinkSync(this.#prefix + name, { encoding: 'buffer' }));
      return text === undefined ? 'bad-name' : { text };
    } catch (thrown) {
      // What the system says of anything but a link: it was one when it was looked at.
      return systemCode(thrown) === 'EINVAL' ? 'moved' : failureOf(thrown);
    }
  }

  stands(name: string, seen?: Look): boolean | Failure {
    this.#spellings ??= new Spellings(this);
    return this.#spellings.stands(name, seen);
  }

  list(): readonly Entry[] | Failure {
    if (this.#fd < 0) return 'io';
    try {
      // As it was opened: a directory that grows by so much while a call holds it would take longer than the call has.
      const small = this.#stats.size <= DIR_SMALL_BYTES && this.#tree.sizeTellsNames(this.#fd, this.identity.device);
      const entries = listDirectory(descriptorPath(this.#fd), small, this.#tree.dirEntriesMax);
      // A removed directory lists as an empty one.
      return entries.length === 0 && fstatSync(this.#fd).nlink === 0 ? 'moved' : entries;
    } catch (thrown) {
      return failureOf(thrown);
    }
  }

  again(): Dir | Failure {
    if (this.#fd < 0) return 'io';
    try {
      return this.#again();
    } catch (thrown) {
      return failureOf(thrown);
    }
  }

  /** The root's does nothing: it is the tree's. */
  close(): void {
    if (!this.#isRoot) this.release();
  }

  release(): void {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    this.#tree.held.remove(this);
    closeQuietly(fd);
    this.#place.far?.anchor.drop();
  }

  #refusalOf(name: string): Failure | undefined {
    if (this.#fd < 0) return 'io';
    return isSegment(name) ? undefined : 'bad-name';
  }

  /** `not-directory` is also what the system says of a link. */
  #linkOr(failure: Failure, name: string): Failure {
    if (failure !== 'not-directory') return failure;
    const found = this.look(name);
    return !failed(found) && found.kind === 'link' ? 'is-link' : failure;
  }

  /** Why what was opened at `name` is not to be read. */
  #faultOf(fd: number, stats: Stats, name: string): Failure | undefined {
    const fault = FILE_FAULTS[kindOfMode(stats.mode)];
    if (fault !== undefined) return fault;
    // Files of an overlay have devices of their own, on the mount of their directory.
    if (stats.dev !== this.#device && this.#isForeign(mountOf(fd), this.#addressOf(name))) return 'other-mount';
    const links = { names: stats.nlink, owner: stats.uid };
    return refusesHardLink(this.#tree.hardLinks, links, this.#owner) ? 'hard-link' : undefined;
  }

  #isForeign(mount: number, address: string): boolean {
    return mount !== this.#mount && !this.#tree.mounts.has(address);
  }

  #addressOf(name: string): string {
    return this.#place.address === '' ? name : `${this.#place.address}/${name}`;
  }

  /** Whether the file opened at `name` is not there (any more), or this directory is not where it was. */
  #misplaced(fd: number, name: string): Failure | undefined {
    const place = this.#place;
    if (!place.far) {
      const textBytes = place.textBytes + 1 + utf8Bytes(name);
      if (textBytes <= PLACE_TEXT_MAX_BYTES) return notAtText(fd, `${place.text}/${name}`);
    }
    const fault = notAt(this.#fd, place);
    if (fault !== undefined) return fault;
    const named = lstatSync(this.#prefix + name, { bigint: true, throwIfNoEntry: false });
    const held = fstatSync(fd, { bigint: true });
    return named !== undefined && sameIdentity(identityOf(named), identityOf(held)) ? undefined : 'moved';
  }

  /** Takes `fd`, opened at `name` here, over: proves its mount and its place, or closes it. */
  #admit(fd: number, name: string): LinuxDir | Failure {
    let admitted: LinuxDir | Failure = 'io';
    let place: Whereabouts | undefined;
    try {
      const stats = fstatSync(fd, { bigint: true });
      const found = this.#placeOf(name, stats);
      if (failed(found)) return found;
      place = found;
      const at = { address: place.address, inode: stats.ino };
      const mount = this.#tree.mountTable.of(fd, this.#mount, stats.dev === this.#stats.dev, at);
      place.far?.anchor.take();
      const fault = this.#isForeign(mount, place.address) ? 'other-mount' : notAt(fd, place);
      admitted = fault ?? new LinuxDir(this.#tree, fd, stats, mount, place, false);
      return admitted;
    } finally {
      if (failed(admitted)) closeQuietly(fd);
      place?.far?.anchor.drop();
    }
  }

  #again(): LinuxDir | Failure {
    const fd = openDirectorySync(`${descriptorPath(this.#fd)}/.`);
    let fault: Failure | undefined = 'io';
    try {
      fault = notAt(fd, this.#place);
      return fault ?? new LinuxDir(this.#tree, fd, this.#stats, this.#mount, this.#place, false);
    } finally {
      if (fault !== undefined) closeQuietly(fd);
    }
  }

  #placeOf(name: string, stats: DirectoryStats): Whereabouts | Failure {
    const place = this.#place;
    const address = this.#addressOf(name);
    const step = { name, ...identityOf(stats) };
    if (place.far) return { address, far: { anchor: place.far.anchor, steps: { ...step, above: place.far.steps } } };
    const textBytes = place.textBytes + 1 + utf8Bytes(name);
    if (textBytes <= PLACE_TEXT_MAX_BYTES) return { text: `${place.text}/${name}`, textBytes, address };
    const dir = this.#again();
    return failed(dir) ? dir : { address, far: { anchor: new Anchor(dir), steps: { ...step, above: undefined } } };
  }

  /** Whether this directory is not at its place (any more). */
  misplaced(): Failure | undefined {
    return this.#fd < 0 ? 'io' : notAt(this.#fd, this.#place);
  }

  /** Whether the steps do not lead from here to what they led to. Links are not followed. */
  astray(steps: Step): Failure | undefined {
    const down: Step[] = [];
    for (let step: Step | undefined = steps; step !== undefined; step = step.above) down.push(step);
    let fd = this.#fd;
    try {
      for (const step of down.reverse()) {
        const next = openSync(`${descriptorPath(fd)}/${step.name}`, PLACE_FLAGS);
        if (fd !== this.#fd) closeQuietly(fd);
        fd = next;
        if (!sameIdentity(identityOf(fstatSync(fd, { bigint: true })), step)) return 'moved';
      }
      return undefined;
    } catch (thrown) {
      return failureOf(thrown) === 'exhausted' ? 'exhausted' : 'moved';
    } finally {
      if (fd !== this.#fd) closeQuietly(fd);
    }
  }
}

/** Why the directory open as `fd` is not at `place` now. */
function notAt(fd: number, place: Whereabouts): Failure | undefined {
  if (!place.far) return notAtText(fd, place.text === '' ? '/' : place.text);
  const { anchor, steps } = place.far;
  return anchor.dir.misplaced() ?? anchor.dir.astray(steps);
}

/** Why what is open as `fd` has not this place now. A removed one has ` (deleted)` behind its text, or none. */
function notAtText(fd: number, text: string): Failure | undefined {
  try {
    const found = readlinkSync(descriptorPath(fd));
    if (found !== text) return 'moved';
    // U+FFFD is how the runtime also shows a byte that is no text.
    return text.includes('\ufffd') && placeBytes(fd) !== text ? 'moved' : undefined;
  } catch (thrown) {
    return systemCode(thrown) === 'ENAMETOOLONG' ? 'moved' : failureOf(thrown);
  }
}

const placeBytes = (fd: number): string | undefined =>
  strictText(readlinkSync(descriptorPath(fd), { encoding: 'buffer' }));
