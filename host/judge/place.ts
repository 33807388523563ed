/**
 * What judging needs to see of a file system: an open directory from which one segment at a time is looked at.
 * `judge/` does no I/O of its own; whoever calls it hands it a `Place`, and `tree/` is who implements one.
 * Expected failures are values.
 */

/** Why the tree gave nothing. A closed set: no operating-system message passes it. */
export type Failure =
  /** There is no such name (any more). */
  | 'no-entry'
  /** The system does not permit it. */
  | 'access'
  /** A directory was wanted, and it is none (nor a link). */
  | 'not-directory'
  /** A file was wanted, and it is a directory. */
  | 'is-directory'
  /** It is a link; the tree never follows one. */
  | 'is-link'
  /** Neither file nor directory nor link: never opened for reading. */
  | 'not-regular'
  /** On another file system or mount. */
  | 'other-mount'
  /** More than one name leads to it and the policy refuses that. */
  | 'hard-link'
  /** The opened thing is not where it was looked for: moved, removed or swapped. */
  | 'moved'
  /** More names than DIR_ENTRIES_MAX. */
  | 'too-many-entries'
  /** No segment: empty, `.`, `..`, with `/` or NUL, not well-formed, or longer than the file system takes. */
  | 'bad-name'
  /** It is not among what was handed over (tree/granted.ts); no disk says this. */
  | 'not-granted'
  /** Descriptors or memory of the process are used up. */
  | 'exhausted'
  /** Anything else the disk says. */
  | 'io';

/** Tells a failure from what was asked for (everything a tree gives is an object, a boolean or a number). */
export const failed = (given: unknown): given is Failure => typeof given === 'string';

/** What a name stands for. `other` is a pipe, a socket or a device: never opened. */
export type Kind = 'directory' | 'file' | 'link' | 'other';

/** Which thing it is, whatever its name: two looks at one thing are equal, and no two things that exist at once. */
export interface Identity {
  readonly device: bigint;
  readonly inode: bigint;
}

/** Whether two looks saw one thing. */
export const sameIdentity = (a: Identity, b: Identity): boolean => a.device === b.device && a.inode === b.inode;

/** One look at a name, links not followed. */
export interface Look {
  readonly kind: Kind;
  readonly identity: Identity;
  /** As the file system says, which may lie. */
  readonly sizeBytes: number;
  /** Times in nanoseconds, for caches: any change of the file changes one of them. */
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
}

/** An open regular file. Bytes are read by position; EOF is a read of 0 bytes, never `sizeBytes`. */
export interface OpenFile {
  /** Costs a system call at the first asking. */
  identity(): Identity;
  /** At the open. */
  readonly sizeBytes: number;
  /** Reads into `into` from `offset`; how many bytes came, 0 only at the end (or for an empty `into`). */
  read(into: Uint8Array, offsetBytes: number): number | Failure;
  /** Closes; twice is once. */
  close(): void;
}

/** How a file is opened. */
export interface FileOptions {
  /** Ask where the opened file is now (a landing needs it; an entry of a walk does not). Default false. */
  readonly placed?: boolean;
}

/** What a link says. */
export interface LinkText {
  readonly text: string;
}

/** How the root is spelled, for absolute paths. Only texts are compared, nothing outside is looked at. */
export interface RootSpellings {
  /** As it was entered, absolute, without a trailing separator. */
  readonly entered: string;
  /** Its real location. */
  readonly real: string;
  /** How the platform calls a path absolute. */
  readonly style: 'posix' | 'win32';
}

/**
 * An open directory, as far as judging needs it. All names are one segment: anything else is `bad-name`, before the
 * disk is asked. `tree/` implements it, and more, as `Dir`; `D` is what its directories are.
 */
export interface Place<D> {
  readonly identity: Identity;
  /** One look at the name, links not followed. */
  look(name: string): Look | Failure;
  /** The directory of this name. Never through a link (`is-link`), never on another mount, and proved to be where it was looked for. */
  directory(name: string): D | Failure;
  /** The regular file of this name, by the handle: type, mount and hard-link policy are asked of what was opened. Never blocks on a FIFO. */
  file(name: string, options?: FileOptions): OpenFile | Failure;
  /** The text of the link of this name, in an object, since a text may be spelled like a failure; `bad-name` if it is not UTF-8. */
  linkText(name: string): LinkText | Failure;
  /**
   * Whether this spelling stands byte for byte in the directory's listing: false for the aliases of file systems
   * that fold case or Unicode. Asked only of names that came from no listing. True or false for an existing name, false for none.
   * `seen`: what `look` said of the name just now, so that it is not looked at again.
   */
  stands(name: string, seen?: Look): boolean | Failure;
  /** Closes; twice is once. Handles opened from it live on. */
  close(): void;
}
