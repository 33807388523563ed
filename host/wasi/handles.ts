/**
 * What a guest holds: the shapes of handles, and what it may ask of them. Made and given meaning by filesystem.ts alone;
 * a binding only passes them through.
 */

import type { Dir, Entry, Identity, OpenFile } from '../tree/tree.js';
import type { ErrorCode } from './codes.js';
import type { Share } from './meter.js';
import { below, type Stretch } from './stretch.js';

/** The one directory a guest is given. */
export type Preopen =
  /** A directory of the city, whole. */
  | {
      readonly kind: 'directory';
      /** How its entries are named in the answer: the address as asked, '' for the city. */
      readonly shown: string;
      /** The address as it was admitted: walked from the root again, link by link, by this wall's rules. */
      readonly path: string;
      /** Where wall 1 landed, if elsewhere: for the account of the call. */
      readonly landed?: string;
    }
  /** A directory that holds exactly one name: the one file that was judged. */
  | {
      readonly kind: 'single';
      /** The name of the preopened directory, '' for the city. */
      readonly shown: string;
      readonly name: string;
      /** As above, of the file. */
      readonly path: string;
      readonly landed?: string;
    };

/** Tells an error code from a handle. */
export const isCode = (given: unknown): given is ErrorCode => typeof given === 'string';

/** An open directory as the guest holds it. Its descriptor may be parked and opened again. */
export class DirHandle {
  slot = -1;
  readonly kind = 'directory';
  dir: Dir | undefined;
  /** Names this handle has listed: a name among them came from a listing. */
  listed: ReadonlySet<string> | undefined;
  /** What the guest was given of that listing. */
  met: readonly Entry[] = [];
  /** The last name of it that the guest opened. */
  last: string | undefined;
  /** What of it the guest is to walk, if not all. */
  stretch: Stretch | undefined;
  readonly shown: string;
  readonly landed: string;
  readonly parent: DirHandle | undefined;
  readonly name: string;
  readonly identity: Identity;
  readonly depth: number;
  readonly share: Share | undefined;
  constructor(at: {
    dir: Dir;
    shown: string;
    landed: string;
    parent: DirHandle | undefined;
    name: string;
    depth: number;
    share: Share | undefined;
  }) {
    this.stretch = below(at.parent?.stretch, at.name);
    this.dir = at.dir;
    this.shown = at.shown;
    this.landed = at.landed;
    this.parent = at.parent;
    this.name = at.name;
    this.identity = at.dir.identity;
    this.depth = at.depth;
    this.share = at.share;
  }
}

/** The directory that holds one name. */
export class SingleHandle {
  slot = -1;
  readonly kind = 'single';
  readonly preopen: Preopen & { kind: 'single' };
  constructor(preopen: Preopen & { kind: 'single' }) {
    this.preopen = preopen;
  }
}

/** A file the guest may read from, and nothing else. */
export class FileHandle {
  slot = -1;
  readonly kind = 'file';
  readonly file: OpenFile;
  readonly shown: string;
  readonly share: Share | undefined;
  constructor(file: OpenFile, shown: string, share: Share | undefined) {
    this.file = file;
    this.shown = shown;
    this.share = share;
  }
}

/** A listing on its way to the guest. */
export class EntryStream {
  slot = -1;
  readonly kind = 'stream';
  readonly entries: readonly Entry[];
  next = 0;
  constructor(entries: readonly Entry[]) {
    this.entries = entries;
  }
}

/** Everything a number of the guest’s can stand for. Each knows its slot among what the guest holds. */
export type Handle = DirHandle | SingleHandle | FileHandle | EntryStream;

/** What open-at is asked; the flags by name, as wasi:filesystem has them. */
export interface OpenAt {
  readonly follow: boolean;
  readonly path: string;
  readonly directory: boolean;
  /** Any of create, exclusive, truncate, write, mutate-directory, or a sync flag. */
  readonly mutates: boolean;
}
