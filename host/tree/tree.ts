/**
 * The tree: wall 2's floor and the only way to a file system. A `Dir` is a capability, an open directory,
 * from which one *segment* at a time is looked at or opened; no path string is ever resolved twice.
 * Every tree (disk-linux, disk-portable, memory) keeps this contract and runs the same tests.
 *
 * Stands between judge (rules, no I/O) and wasi (what the guest sees). Expected failures are values.
 */

import type { Failure, Kind, Place, RootSpellings } from '../judge/place.js';

export * from '../judge/place.js';

/** A name of a listing. */
export interface Entry {
  /** The name; of one that is not UTF-8, how it is shown (with U+FFFD). */
  readonly name: string;
  /** What the listing says it is; `unknown` is decided at the open. */
  readonly kind: Kind | 'unknown';
  /** False if the name is not UTF-8: it is shown and can never be opened. */
  readonly nameable: boolean;
}

/** An open directory, all of it: what judging needs, and the listing. */
export interface Dir extends Place<Dir> {
  /** All names, in no order, without `.` and `..`. O(names) time and memory. */
  list(): readonly Entry[] | Failure;
  /** Another handle on the same directory, with its own life. */
  again(): Dir | Failure;
}

/** Whether containment holds by construction, or only while nobody untrusted writes (see docs/SECURITY.md). */
export type Containment = 'contained' | 'portable';

/** All that opening things in a city takes: where it starts, and how that is spelled. */
export interface Rooted {
  readonly spellings: RootSpellings;
  /** The root; owned by the tree, closed with it. */
  readonly root: Dir;
}

/** One city's tree, held open for one call. */
export interface Tree extends Rooted {
  readonly kind: 'linux' | 'portable' | 'memory';
  readonly containment: Containment;
  /** How many descriptors are open now, the root's included: 0 after `close`. */
  openCount(): number;
  /** Closes the root and everything still open. */
  close(): void;
}

/** Which hard links a tree opens: a file with more than one name may have one outside. */
export type HardLinks = 'allow' | 'same-owner' | 'deny';
