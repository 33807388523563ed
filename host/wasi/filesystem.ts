/**
 * Wall 2: what `wasi:filesystem` means here, once, for both bindings (world.ts by hand, reference.ts through jco).
 * The guest holds handles that this file made; at every open the bound's table, the reserved rule and link expansion
 * are asked again, of this wall's own copy of the bound, whatever the judge said before.
 *
 * Read-only by construction: there is no function here that changes anything. The guest learns listings and error
 * codes; why something failed is kept here by address until the call ends, bounded.
 *
 * Departures from POSIX-like hosts, each on purpose: a directory opened without the `directory` flag is
 * `is-directory`; a name that is not UTF-8 is listed behind a NUL and never opens; a file over the call's cap is
 * `file-too-large`; a building over its share is `insufficient-space`; over depth is `name-too-long`.
 */

import { type AddressRule, isReservedSegment, joined, segmentRule } from '../judge/address.js';
import type { Bound, Denial } from '../judge/bound.js';
import { type Landing, release, resolve } from '../judge/locate.js';
import {
  DEPTH_MAX,
  GROWTH_SLACK_BYTES,
  GUEST_READ_MAX_BYTES,
  HELD_DIRS_MAX,
  NAME_MAX_BYTES,
  PATH_MAX_BYTES,
  UNREAD_SHOWN,
} from '../limits.js';
import { listedWithin } from '../tree/granted.js';
import { utf8Bytes } from '../tree/names.js';
import { OpenSet } from '../tree/open-set.js';
import { type Dir, type Entry, type Failure, failed, type Identity, type OpenFile, type Rooted } from '../tree/tree.js';
import { CODE_OF_FAILURE, type ErrorCode } from './codes.js';
import {
  DirHandle,
  EntryStream,
  FileHandle,
  type Handle,
  isCode,
  type OpenAt,
  type Preopen,
  SingleHandle,
} from './handles.js';
import { HeldDirs } from './held.js';
import { type Meter, Share } from './meter.js';
import { Metered, Toll } from './metered.js';
import { isOnTheWay, meets, placesAhead, type Stretch } from './stretch.js';

/** Why an address could not be looked at, for the host's own sentence about it. */
export interface Reason {
  readonly code: ErrorCode;
  /** What the tree said, if it did. */
  readonly failure?: Failure;
  /** Of a link that leads to a name that is no address: the rule broken. */
  readonly rule?: AddressRule;
  /** Of rules that did not read: which file and what about it, never its text. */
  readonly rules?: string;
}

/** All that wall 2 is told: what it opens from, and what to hold every open against. */
export interface FilesystemOptions {
  /** In a call: what wall 1 grants of the city (tree/granted.ts). */
  readonly tree: Rooted;
  /** This wall's own copy. */
  readonly bound: Bound;
  readonly meter: Meter;
  readonly preopen: Preopen;
  /** The root's listing, if it was listed for the bound's table: guest and table see the same names. */
  readonly rootListing?: readonly Entry[];
  /** Larger files answer `file-too-large`. None by default. */
  readonly fileCapBytes?: number;
  /**
   * Asked once, of the thing the preopen stands for, when it is first opened and before the guest has it: is it still
   * what was judged? False refuses it.
   */
  readonly stillJudged?: (identity: Identity) => boolean;
  /** Sees every byte that is handed to the guest, in the guest's order, and whether the file ended with them. */
  readonly tap?: (bytes: Uint8Array, offsetBytes: number, end: boolean) => void;
  /** What is handed over is one thing, not a city: no building in it has a share. Default false. */
  readonly isOneThing?: boolean;
  /** Directories whose descriptors are held at once; for tests. */
  readonly heldDirsMax?: number;
}

const firstSegment = (path: string): string => {
  const slash = path.indexOf('/');
  return slash < 0 ? path : path.slice(0, slash);
};
/** Whether every name below a directory still fits PATH_MAX_BYTES: an answer names no longer path, and no worse one. */
const leavesRoom = (shown: string): boolean => {
  const room = PATH_MAX_BYTES - 3 * NAME_MAX_BYTES - 1; // a byte that is no UTF-8 is shown by three
  return 3 * shown.length <= room || utf8Bytes(shown) <= room;
};
/** Whether a walk opens a name that it takes up: the others are judged by their names alone. */
const isOpened = ({ name, nameable }: Entry): boolean =>
  nameable && segmentRule(name) === undefined && !isReservedSegment(name);
/** Without an array between: every name of a walk passes here. */
function namesOf(entries: readonly Entry[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of entries) names.add(name);
  return names;
}
const isPlain = (path: string): boolean => path !== '' && path !== '.' && path !== '..' && !path.includes('/');

/** One call's file system. Not shared, not reused; `close` gives everything back, also after a trap. */
export class Filesystem {
  readonly #tree: Rooted;
  readonly #bound: Bound;
  readonly #meter: Meter;
  readonly #preopen: Preopen;
  readonly #fileCapBytes: number;
  readonly #rootListing: readonly Entry[] | undefined;
  readonly #stillJudged: FilesystemOptions['stillJudged'];
  readonly #tap: FilesystemOptions['tap'];
  readonly #isOneThing: boolean;
  readonly #reasons = new Map<string, Reason>();
  readonly #live = new OpenSet<Handle>();
  readonly #held: HeldDirs;
  #changed = false;
  #outgrown = false;
  #startFailure: ErrorCode | undefined;
  #stretch: Stretch | undefined;
  #start: DirHandle | undefined;
  /** Directories on the way to the first place of the stretch: opened, listed. */
  #way = { opened: 0, listed: 0 };

  constructor(options: FilesystemOptions) {
    this.#tree = options.tree;
    this.#bound = options.bound;
    this.#meter = options.meter;
    this.#preopen = options.preopen;
    this.#fileCapBytes = options.fileCapBytes ?? Number.POSITIVE_INFINITY;
    this.#rootListing = options.rootListing;
    this.#stillJudged = options.stillJudged;
    this.#tap = options.tap;
    this.#isOneThing = options.isOneThing === true;
    const { meter, heldDirsMax = HELD_DIRS_MAX } = options;
    this.#held = new HeldDirs(heldDirsMax, meter, (handle) => this.#reopenTop(handle));
  }

  /** Why this address was not looked at, if it was asked and failed. */
  reason(shown: string): Reason | undefined {
    return this.#reasons.get(shown);
  }

  /** Whether the thing judged was another thing when it was opened. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Whether a file was left before its end, because it had grown by GROWTH_SLACK_BYTES since its open. */
  get outgrown(): boolean {
    return this.#outgrown;
  }

  /** What the preopen answered instead of opening, though wall 1 admitted it. */
  get startFailure(): ErrorCode | undefined {
    return this.#startFailure;
  }

  /**
   * The guest is to walk only this stretch, from its next `preopened` on: listings leave out the rest. The way to its
   * first place is not charged to the meter, which was told so (`resume`). What was remembered of a walk before is
   * forgotten.
   */
  turnTo(stretch: Stretch): void {
    this.#stretch = stretch;
    this.#start = undefined;
    this.#way = { opened: 0, listed: 0 };
    this.#reasons.clear();
  }

  /** How many directories on the way to the first place of its stretch the guest has listed: others counted them. */
  get wayListed(): number {
    return this.#way.listed;
  }

  /** Whether so deep a walk was met that directories had to be closed and opened again. */
  get hasParked(): boolean {
    return this.#held.hasParked;
  }

  /**
   * The places below the preopened directory that a walk, standing between two entries, has yet to take up: see
   * `placesAhead`. Undefined if the guest does not walk as ours does.
   */
  ahead(most: number): readonly (readonly string[])[] | undefined {
    const levels: DirHandle[] = [];
    const inside = new Map<DirHandle | undefined, DirHandle>();
    for (const handle of this.#live.all()) if (handle.kind === 'directory') inside.set(handle.parent, handle);
    for (let level = this.#start; level !== undefined; level = inside.get(level)) levels.push(level);
    const standing = levels.map(({ met, last }) => ({ names: met, last }));
    const names = levels.slice(1).map(({ name }) => name);
    return placesAhead(standing, names, isOpened, most);
  }

  /** Handles the guest holds. */
  get liveCount(): number {
    return this.#live.count;
  }

  /** The preopened directory and its name. A code if it does not open: the guest then has no directory at all. */
  preopened(): { readonly handle: DirHandle | SingleHandle; readonly name: string } | ErrorCode {
    const over = this.#meter.hold(this.#live.count);
    if (over !== undefined) return over;
    const preopen = this.#preopen;
    if (preopen.kind === 'single') return { handle: this.#keep(new SingleHandle(preopen)), name: preopen.shown };
    const opened = this.#openDirectoryAt(preopen.path, preopen.shown);
    if (isCode(opened)) {
      this.#startFailure = opened;
      return opened;
    }
    if (!this.#admitLanding(opened.identity)) {
      this.drop(opened);
      return 'not-permitted';
    }
    this.#start = opened;
    opened.stretch = this.#stretch;
    return { handle: opened, name: preopen.shown };
  }

  /**
   * Opens a path below a directory: a plain name of it, or anything POSIX would walk, never above it.
   * Cost of a plain name: one open of the tree. A link: one lookup a segment, from the root.
   */
  openAt(from: Handle, asked: OpenAt): DirHandle | FileHandle | ErrorCode {
    if (from.kind === 'file' || from.kind === 'stream') return 'not-directory';
    if (asked.mutates) return 'read-only';
    this.#way.opened++;
    if (asked.path.length > PATH_MAX_BYTES) return 'name-too-long';
    const over = this.#meter.hold(this.#live.count);
    if (over !== undefined) return over;
    if (from.kind === 'single') return this.#openSingle(from, asked);
    return isPlain(asked.path) ? this.#openName(from, asked.path, asked) : this.#openRoute(from, asked.path, asked);
  }

  /** Bytes into `into` from an offset: how many, and whether that was the end. Never more than `into` holds. */
  read(
    from: Handle,
    into: Uint8Array,
    offsetBytes: number,
  ): { readonly bytes: number; readonly end: boolean } | ErrorCode {
    if (from.kind !== 'file') return 'is-directory';
    const { file } = from;
    // A share keeps one building from taking a walk from the others; a call that is one file's has no others.
    const share = this.#preopen.kind === 'single' ? undefined : from.share;
    const refusal = this.#meter.mayRead(share);
    if (refusal !== undefined) return refusal === 'quota' ? refusal : this.#refuse(from.shown, refusal);
    const limit = file.sizeBytes === 0 ? Number.POSITIVE_INFINITY : file.sizeBytes + GROWTH_SLACK_BYTES;
    const wanted = Math.min(into.length, Math.max(0, limit - offsetBytes));
    if (wanted === 0) {
      this.#outgrown ||= into.length > 0;
      this.#tap?.(into.subarray(0, 0), offsetBytes, into.length > 0);
      return { bytes: 0, end: into.length > 0 };
    }
    const bytes = file.read(wanted === into.length ? into : into.subarray(0, wanted), offsetBytes);
    if (failed(bytes)) return this.#refuse(from.shown, CODE_OF_FAILURE[bytes], bytes);
    this.#meter.read(bytes, share);
    // A read that stops short exactly at the size seen at the open has met the end; a size of 0 proves nothing.
    const end = bytes === 0 || (bytes < wanted && offsetBytes + bytes === file.sizeBytes);
    this.#tap?.(into.subarray(0, bytes), offsetBytes, end);
    return { bytes, end };
  }

  /** How much a guest's wish to read is worth: its length, clamped by ours, and by what the file can hold. */
  readLength(from: Handle, lengthBytes: number): number {
    const most = Math.min(lengthBytes, GUEST_READ_MAX_BYTES);
    if (from.kind !== 'file' || from.file.sizeBytes === 0) return most;
    return Math.min(most, from.file.sizeBytes + GROWTH_SLACK_BYTES);
  }

  /** The names of a directory. Of the city itself: without what is closed to the run. */
  readDirectory(from: Handle): EntryStream | ErrorCode {
    if (from.kind === 'file' || from.kind === 'stream') return 'not-directory';
    const over = this.#meter.hold(this.#live.count);
    if (over !== undefined) return over;
    if (from.kind === 'single') return this.#keep(new EntryStream([this.#singleEntry(from)]));
    const entries = this.#list(from);
    if (failed(entries)) return this.#refuse(from.shown, CODE_OF_FAILURE[entries], entries);
    const refusal = this.#meter.list(entries.length, from.share);
    if (refusal !== undefined) return refusal === 'quota' ? refusal : this.#refuse(from.shown, refusal);
    from.listed = namesOf(entries);
    const { stretch } = from;
    from.met = stretch === undefined ? entries : entries.filter(({ name }) => meets(stretch, name));
    if (isOnTheWay(stretch)) this.#passOn(from);
    return this.#keep(new EntryStream(from.met));
  }

  /** The next name, or undefined after the last. */
  readEntry(from: Handle): Entry | undefined | ErrorCode {
    if (from.kind !== 'stream') return 'bad-descriptor';
    return from.entries[from.next++];
  }

  /** Gives a handle back. Twice is once. */
  drop(handle: Handle): void {
    if (!this.#live.remove(handle)) return;
    if (handle.kind === 'file') handle.file.close();
    if (handle.kind === 'directory') this.#held.park(handle);
  }

  /** Gives everything back. */
  close(): void {
    for (const handle of this.#live.all()) this.drop(handle);
    this.#held.close();
  }

  // ---- opening ----

  #openSingle(from: SingleHandle, asked: OpenAt): DirHandle | FileHandle | ErrorCode {
    const { name, path, shown } = from.preopen;
    if (asked.path !== name) return 'no-entry';
    const opened = this.#openRouteFrom([], path, joined(shown, name), { ...asked, follow: true }, undefined);
    if (isCode(opened)) {
      this.#startFailure = opened;
      return opened;
    }
    if (opened.kind === 'file' && this.#admitLanding(opened.file.identity())) return opened;
    this.drop(opened);
    return opened.kind === 'file' ? 'not-permitted' : 'is-directory';
  }

  #openName(from: DirHandle, name: string, asked: OpenAt): DirHandle | FileHandle | ErrorCode {
    from.last = name;
    if (segmentRule(name) !== undefined) return this.#refuse(joined(from.shown, name), 'illegal-byte-sequence');
    // Each handle's own place passed this bound before the handle was made.
    const denial = this.#bound.judgeWithin(from.landed, name);
    if (denial !== undefined) return this.#deny(joined(from.shown, name), denial);
    if (this.#isDeniedAsWritten(from, name)) return 'not-permitted';
    const share = from.share ?? this.#shareIn(name);
    const refusal = this.#meter.open(share);
    if (refusal !== undefined) return refusal === 'quota' ? refusal : this.#refuse(joined(from.shown, name), refusal);
    const dir = this.#held.use(from);
    if (failed(dir)) return this.#fail(joined(from.shown, name), dir);
    if (from.listed?.has(name) !== true) {
      const stands = dir.stands(name);
      if (failed(stands)) return this.#fail(joined(from.shown, name), stands);
      if (!stands && !failed(dir.look(name))) return 'not-permitted';
    }
    return asked.directory ? this.#enter(from, dir, name, share, asked) : this.#file(from, dir, name, share, asked);
  }

  #enter(
    from: DirHandle,
    dir: Dir,
    name: string,
    share: Share | undefined,
    asked: OpenAt,
  ): DirHandle | FileHandle | ErrorCode {
    const shown = joined(from.shown, name);
    if (from.depth >= DEPTH_MAX || !leavesRoom(shown)) return this.#refuse(shown, 'name-too-long');
    const opened = dir.directory(name);
    if (opened === 'is-link') return asked.follow ? this.#openRoute(from, name, asked) : 'not-directory';
    if (opened === 'not-directory') return 'not-directory';
    if (failed(opened)) return this.#fail(shown, opened);
    const depth = from.depth + 1;
    const landed = joined(from.landed, name);
    return this.#hold(new DirHandle({ dir: opened, shown, landed, parent: from, name, depth, share }));
  }

  #file(
    from: DirHandle,
    dir: Dir,
    name: string,
    share: Share | undefined,
    asked: OpenAt,
  ): DirHandle | FileHandle | ErrorCode {
    const opened = dir.file(name);
    if (opened === 'is-link' && asked.follow) return this.#openRoute(from, name, asked);
    if (opened === 'is-directory') return 'is-directory';
    const shown = joined(from.shown, name);
    if (failed(opened)) return this.#fail(shown, opened);
    return this.#keepFile(opened, shown, share);
  }

  #keepFile(file: OpenFile, shown: string, share: Share | undefined): FileHandle | ErrorCode {
    if (file.sizeBytes <= this.#fileCapBytes) return this.#keep(new FileHandle(file, shown, share));
    file.close();
    return this.#refuse(shown, 'file-too-large');
  }

  /** A link, or more than one segment: resolved from the root by the one resolver, with this wall's bound. */
  #openRoute(from: DirHandle, path: string, asked: OpenAt): DirHandle | FileHandle | ErrorCode {
    if (from.shown.length + path.length >= PATH_MAX_BYTES) return 'name-too-long';
    const base = from.landed === '' ? [] : from.landed.split('/');
    return this.#openRouteFrom(base, path, joined(from.shown, path), asked, from.share);
  }

  #openRouteFrom(
    base: readonly string[],
    path: string,
    shown: string,
    asked: OpenAt,
    share: Share | undefined,
  ): DirHandle | FileHandle | ErrorCode {
    const account = share ?? this.#shareOf(firstSegment(base[0] ?? path));
    const toll = new Toll(this.#meter, account);
    const root = new Metered(this.#tree.root, toll, true);
    const landing = resolve({ root, spellings: this.#tree.spellings, bound: this.#bound }, { base, path });
    if (toll.refusal === undefined) return this.#land(landing, shown, asked, account);
    release(landing);
    return toll.refusal === 'quota' ? 'quota' : this.#refuse(shown, toll.refusal);
  }

  /** The account of a building that may be entered. What is closed has none: a guest invents names without end. */
  #shareOf(building: string): Share | undefined {
    return this.#bound.judge(building) === undefined ? this.#shareIn(building) : new Share();
  }

  #shareIn(building: string): Share | undefined {
    return this.#isOneThing ? undefined : this.#meter.share(building);
  }

  #land(
    landing: Landing<Metered>,
    shown: string,
    asked: OpenAt,
    share: Share | undefined,
  ): DirHandle | FileHandle | ErrorCode {
    switch (landing.kind) {
      case 'directory':
        return this.#landDirectory(landing, shown, asked, share);
      case 'entry':
        return this.#landEntry(landing, shown, asked, share);
      case 'absent':
        return this.#refuse(shown, 'no-entry');
      case 'denied':
        // Behind a link even broken rules are only "not permitted": naming them would tell where it leads.
        return landing.linked ? 'not-permitted' : this.#deny(shown, landing.denial);
      case 'outside':
      case 'alias':
        return 'not-permitted';
      case 'unresolved':
        return this.#refuse(shown, 'loop');
      case 'through-file':
        return this.#refuse(shown, landing.linked ? 'loop' : 'not-directory');
      case 'not-address':
        if (landing.linked) return this.#remember(shown, { code: 'loop', rule: landing.rule });
        return this.#refuse(shown, 'illegal-byte-sequence');
      case 'failed':
        return this.#fail(shown, landing.failure);
    }
  }

  #landDirectory(
    landing: Landing<Metered> & { kind: 'directory' },
    shown: string,
    asked: OpenAt,
    share: Share | undefined,
  ): DirHandle | ErrorCode {
    if (!asked.directory || (landing.linked && !asked.follow)) {
      release(landing);
      return asked.directory ? 'not-directory' : 'is-directory';
    }
    const dir = landing.dir.give();
    if (failed(dir)) return this.#fail(shown, dir);
    const depth = landing.address === '' ? 0 : landing.address.split('/').length;
    const own = landing.address === '' ? undefined : share;
    return this.#hold(
      new DirHandle({ dir, shown, landed: landing.address, parent: undefined, name: '', depth, share: own }),
    );
  }

  #landEntry(
    landing: Landing<Metered> & { kind: 'entry' },
    shown: string,
    asked: OpenAt,
    share: Share | undefined,
  ): FileHandle | ErrorCode {
    const { parent, name, look, linked } = landing;
    try {
      if (linked && !asked.follow) return 'loop';
      if (asked.directory) return 'not-directory';
      if (look.kind !== 'file') return this.#refuse(shown, 'unsupported', 'not-regular');
      const file = parent.file(name, { placed: true });
      if (file === 'is-link' || file === 'is-directory') return this.#refuse(shown, 'no-entry', 'moved');
      if (failed(file)) return this.#fail(shown, file);
      return this.#keepFile(file, shown, share);
    } finally {
      release(landing);
    }
  }

  /** The preopened directory itself, walked from the root: no link, unless this wall admits where it leads. */
  #openDirectoryAt(path: string, shown: string): DirHandle | ErrorCode {
    const asked: OpenAt = { follow: true, path, directory: true, mutates: false };
    const opened = path === '' ? this.#openRoot(shown) : this.#openRouteFrom([], path, shown, asked, undefined);
    if (isCode(opened)) return opened;
    if (opened.kind === 'directory') return opened;
    this.drop(opened);
    return 'not-directory';
  }

  #openRoot(shown: string): DirHandle | ErrorCode {
    const dir = this.#tree.root.again();
    if (failed(dir)) return this.#fail(shown, dir);
    return this.#hold(
      new DirHandle({ dir, shown, landed: '', parent: undefined, name: '', depth: 0, share: undefined }),
    );
  }

  #admitLanding(identity: Identity): boolean {
    const still = this.#stillJudged?.(identity) ?? true;
    if (!still) this.#changed = true;
    return still;
  }

  // ---- listing ----

  #list(from: DirHandle): readonly Entry[] | Failure {
    const root = from.landed === '';
    const listing = root ? this.#rootListing : undefined;
    if (listing !== undefined) return this.#met(from, listing);
    const dir = this.#held.use(from);
    if (failed(dir)) return dir;
    const entries = dir.list();
    return failed(entries) ? entries : this.#met(from, entries);
  }

  /** Of a listing, what the guest meets. A name that is no address is shown, and is never opened. */
  #met(from: DirHandle, entries: readonly Entry[]): readonly Entry[] {
    const met = listedWithin(this.#bound, from.landed, entries);
    if (from.shown === from.landed || !this.#bound.hidesIn(from.shown)) return met;
    return met.filter(({ name, nameable }) => !nameable || !this.#isDeniedAsWritten(from, name));
  }

  /** Whether a deny pattern covers the name as the caller writes it: another way where the start was reached by a link. */
  #isDeniedAsWritten({ shown, landed }: DirHandle, name: string): boolean {
    if (shown === landed || !this.#bound.hidesIn(shown)) return false;
    return this.#bound.judge(joined(shown, name))?.kind === 'pattern';
  }

  #singleEntry(from: SingleHandle): Entry {
    return { name: from.preopen.name, kind: 'file', nameable: true };
  }

  /**
   * A step of the way to the first place is done. What it cost is forgiven at its end only if no other open was made on
   * it: else a guest would walk for nothing.
   */
  #passOn({ stretch }: DirHandle): void {
    this.#way.listed++;
    const isEnd = stretch?.from.length === 1;
    if (isEnd && this.#way.opened === this.#way.listed - 1) this.#meter.arrived();
  }

  // ---- keeping, and opening again what was parked ----

  #reopenTop(handle: DirHandle): Dir | Failure {
    if (handle.landed === '') return this.#tree.root.again();
    const root = new Metered(this.#tree.root, new Toll(this.#meter, handle.share), true);
    const scene = { root, spellings: this.#tree.spellings, bound: this.#bound };
    const landing = resolve(scene, { base: [], path: handle.landed });
    if (landing.kind === 'directory') return landing.dir.give();
    release(landing);
    return 'moved';
  }

  #hold(handle: DirHandle): DirHandle {
    this.#held.add(handle);
    return this.#keep(handle);
  }

  #keep<H extends Handle>(handle: H): H {
    this.#live.add(handle);
    return handle;
  }

  // ---- refusing, and remembering why ----

  #fail(shown: string, failure: Failure): ErrorCode {
    if (failure === 'exhausted' && this.#meter.spent !== undefined) return 'quota';
    return this.#refuse(shown, CODE_OF_FAILURE[failure], failure);
  }

  #deny(shown: string, denial: Denial): ErrorCode {
    if (denial.kind !== 'rules-unreadable') return 'not-permitted';
    return this.#remember(shown, { code: 'not-recoverable', rules: denial.subject });
  }

  #refuse(shown: string, code: ErrorCode, failure?: Failure): ErrorCode {
    return this.#remember(shown, failure === undefined ? { code } : { code, failure });
  }

  /** The first reasons are kept: the walk reports in its order, and an answer lists no more of them. */
  #remember(shown: string, reason: Reason): ErrorCode {
    const known = this.#reasons.has(shown);
    if (known || this.#reasons.size < 2 * UNREAD_SHOWN) this.#reasons.set(shown, reason);
    return reason.code;
  }
}
