/**
 * What a guest is asked and gives: wit/world.wit in TypeScript. The tools speak to a guest in these words; world.ts (what
 * ships) and reference.ts (jco's glue) carry them.
 */

import type { ErrorCode } from './codes.js';

/** The guest broke its contract. Never its text: guests do not write messages. */
export class GuestFault extends Error {
  override readonly name = 'GuestFault';
}

/** One search, in the words of `query` in wit/world.wit. Every cap is an argument: the guest knows no number of its own. */
export interface Query {
  readonly text: string;
  readonly only: string | undefined;
  readonly context: number;
  readonly matchCap: number;
  readonly lineCap: number;
  readonly textCap: number;
  readonly fileCap: number;
  readonly unreadShown: number;
  readonly pageEntries: number;
  readonly pageBytes: number;
}

/** One line that contains the text: `path` an address, `line` 0-based, `text` the line or a window of it with its context. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** An entry that could not be looked at, with the code the host itself gave. */
export interface GuestUnread {
  readonly path: string;
  readonly cause: ErrorCode;
}

/** How many names were taken up so far, by what became of them. Of the whole search, not of a page. */
export interface GuestCoverage {
  readonly looked: number;
  readonly directories: number;
  readonly links: number;
  readonly reserved: number;
  readonly notText: number;
  /** By cause, in the order of ERROR_CODES. */
  readonly causes: readonly number[];
}

/** Why a page ends, in the order of the enum in wit/world.wit: `paused` has more to come, the others are the last. */
export const ENDINGS = ['paused', 'complete', 'matches', 'text', 'budget'] as const;
/** One of them. */
export type Ending = (typeof ENDINGS)[number];

/** What one call of `search` or `more` gives: new hits, new unread entries, the counts so far. */
export interface Page {
  readonly hits: readonly Hit[];
  readonly unread: readonly GuestUnread[];
  readonly coverage: GuestCoverage;
  readonly ending: Ending;
}

/** One read, in the words of `interval` in wit/world.wit: lines and bytes count from 0. */
export interface Interval {
  readonly name: string;
  readonly offset: bigint;
  readonly byte: bigint;
  readonly limit: number;
  readonly textCap: number;
  readonly lineCap: number;
  readonly whole: boolean;
  readonly pageBytes: number;
}

/** What bytes that are not UTF-8 look like, in the order of the enum in wit/world.wit. */
export const LOOKS = ['utf16', 'gb', 'binary', 'unknown'] as const;
/** One of them. */
export type Looks = (typeof LOOKS)[number];

/** The interval, in the words of `slice` in wit/world.wit: `totalLines` is of the file only if all of it was read. */
export interface Slice {
  readonly text: string;
  readonly lines: number;
  readonly totalLines: number;
  readonly more: boolean;
  readonly cut: { readonly nextByte: number; readonly cutBytes: number } | undefined;
}

/** What one call of `read` or `next` gives: `going` has more to come, the others are the end. */
export type Reading =
  | { readonly kind: 'going'; readonly bytes: number }
  | { readonly kind: 'done'; readonly slice: Slice }
  | { readonly kind: 'not-text'; readonly looks: Looks }
  | { readonly kind: 'past-line' }
  | { readonly kind: 'inside-character' }
  | { readonly kind: 'failed'; readonly code: ErrorCode };

/** One search of what was committed, in the words of `history-query` in wit/world.wit. */
export interface HistoryQuery {
  readonly pattern: Uint8Array;
  readonly branches: readonly string[];
  readonly directories: readonly string[];
  readonly oidBytes: number;
  readonly pageWork: number;
  readonly pageBytes: number;
}

/** A file that a commit added: `path` byte for byte, the names of objects in lower-case hex. */
export interface HistoryEntry {
  readonly commit: string;
  readonly path: Uint8Array;
  readonly blob: string;
}

/** Why a page of history ends, in the order of the enum in wit/world.wit: `paused` has more to come. */
export const HISTORY_ENDINGS = ['paused', 'complete', 'budget'] as const;
/** One of them. */
export type HistoryEnding = (typeof HISTORY_ENDINGS)[number];

/** What one call of `history` or `older` gives: new entries, newest first, and the commits taken up so far. */
export interface HistoryPage {
  readonly entries: readonly HistoryEntry[];
  readonly commits: number;
  readonly ending: HistoryEnding;
}

/** Why a repository gives no answer, in the order of the enum in wit/world.wit. */
export const GIT_FAULTS = ['no-repository', 'corrupt', 'missing', 'unsupported', 'too-large', 'disk'] as const;
/** One of them. */
export type GitFault = (typeof GIT_FAULTS)[number];

/** A page of history, or why there is none. */
export type History =
  | { readonly ok: true; readonly page: HistoryPage }
  | { readonly ok: false; readonly fault: GitFault };

/** One blob of one commit, in the words of `trail-query` in wit/world.wit. */
export interface TrailQuery {
  readonly commit: string;
  readonly path: Uint8Array;
  readonly branches: readonly string[];
  readonly oidBytes: number;
  readonly blobMax: number;
  readonly pageWork: number;
  readonly pageBytes: number;
}

/** Why a page of a trail ends, in the order of the enum in wit/world.wit: `paused` has more to come. */
export const TRAIL_ENDINGS = ['paused', 'whole', 'absent', 'not-file', 'no-commit', 'unreachable', 'budget'] as const;
/** One of them. */
export type TrailEnding = (typeof TRAIL_ENDINGS)[number];

/**
 * What one call of `trail` or `further` gives: the objects an address hangs on, on one page, and the blob in pieces.
 * None of it is checked here: whoever asked hashes them and follows the names.
 */
export interface TrailPage {
  readonly commit: Uint8Array;
  readonly trees: readonly Uint8Array[];
  readonly blobSize: number;
  readonly piece: Uint8Array;
  readonly ending: TrailEnding;
}

/** A page of a trail, or why there is none. */
export type Trail = { readonly ok: true; readonly page: TrailPage } | { readonly ok: false; readonly fault: GitFault };

/** A running guest, whichever binding carries it. Each call may throw: a fault, a trap, a bug. */
export interface Guest {
  search(query: Query): Page;
  more(): Page;
  read(interval: Interval): Reading;
  next(): Reading;
  history(query: HistoryQuery): History;
  older(): History;
  trail(query: TrailQuery): Trail;
  further(): Trail;
  /** Bytes of memory it has now. */
  memoryBytes(): number;
}
