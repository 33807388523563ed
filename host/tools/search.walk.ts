/**
 * One guest on its way through a search: it is made, gives its first page, and then one page after another, each checked
 * as it comes. Stands below search.ts, which asked wall 1 where to start, and beside search.parts.ts, which has several
 * of them walk one stretch each. Spec: search.
 */

import { type Asked, type AxError, changedAfterJudged } from '../error.js';
import { type Address, buildingOf } from '../judge/address.js';
import { stillJudged } from '../judge/locate.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import type { Entry, Identity } from '../tree/tree.js';
import { ERROR_CODES } from '../wasi/codes.js';
import type { Filesystem } from '../wasi/filesystem.js';
import type { Ending, Guest, Page, Query } from '../wasi/guest.js';
import type { Preopen } from '../wasi/handles.js';
import { bothUsed, fitsAllowance, NO_USAGE, type Usage } from '../wasi/meter.js';
import type { Stretch } from '../wasi/stretch.js';
import { Answer, bothFound, type Found, NO_COVERAGE, NOTHING_FOUND, type SearchCaps } from './answer.js';
import { notOpened } from './locating.js';

/** Where a search starts, once wall 1 has judged it. Plain data: it crosses between threads. */
export interface Start {
  readonly preopen: Preopen;
  /** The one name to take up, when it is a file. */
  readonly only: string | undefined;
  /** Where wall 1 landed; '' for the city. */
  readonly judged: Address | '';
}

/** What every walk of one search is asked. Plain data. */
export interface Asking {
  readonly text: string;
  readonly context: number;
  readonly caps: SearchCaps;
  readonly start: Start;
  /** The city's names, as the bound's table knows them: each walk sees the same. */
  readonly rootListing: readonly Entry[];
}

/** What walks found, and what that cost. Plain data. */
export interface Gained {
  readonly found: Found;
  readonly used: Usage;
}

/** Before the first walk. */
export const NOTHING_GAINED: Gained = { found: NOTHING_FOUND, used: NO_USAGE };

/** What one walk that begins where another one ended adds to it. */
export const bothGained = (one: Gained, other: Gained): Gained => ({
  found: bothFound(one.found, other.found),
  used: bothUsed(one.used, other.used),
});

/** Whether all of it stays within the caps and budgets of one call. */
export const fitsCall = ({ found, used }: Gained, caps: SearchCaps, call: Call): boolean =>
  found.hits.length <= caps.matchCap && found.textBytes <= caps.textCap && fitsAllowance(used, call.budgets);

/**
 * Whether what the preopen stands for is still what was judged: asked of what was opened. Without a link on the way it
 * is what now stands where wall 1 landed; the city itself is the tree's own.
 */
const stillJudgedAt =
  (call: Call, { judged }: Start) =>
  (identity: Identity): boolean =>
    judged === '' || stillJudged(call.judged(), judged, identity);

/** A guest, and the file system it holds. */
export interface Hand {
  readonly guest: Guest;
  readonly filesystem: Filesystem;
}

/** The one guest of a thread: of one search it may walk one stretch after another. */
export const takeOn = (call: Call, { start, caps, rootListing }: Asking): Hand =>
  call.open({
    preopen: start.preopen,
    rootListing,
    fileCapBytes: caps.fileCap,
    stillJudged: stillJudgedAt(call, start),
  });

/** A guest under way, between two pages. */
export class Walk {
  readonly filesystem: Filesystem;
  readonly #call: Call;
  readonly #asking: Asking;
  readonly #stretch: Stretch | undefined;
  readonly #before: Gained;
  readonly #answer: Answer;
  readonly #guest: Guest;
  #page: Page;

  /**
   * Takes the first page. A walk of a stretch goes on from what walks before it gained: so much less is left of the caps
   * and budgets.
   */
  constructor(call: Call, asking: Asking, hand: Hand, stretch?: Stretch, before: Gained = NOTHING_GAINED) {
    const { start, caps } = asking;
    this.#call = call;
    this.#asking = asking;
    this.#stretch = stretch;
    this.#before = before;
    const { guest, filesystem } = hand;
    this.filesystem = filesystem;
    this.#guest = guest;
    if (stretch !== undefined) {
      call.meter.resume(before.used);
      filesystem.turnTo(stretch);
    }
    const left = {
      ...caps,
      matchCap: caps.matchCap - before.found.hits.length,
      textCap: caps.textCap - before.found.textBytes,
    };
    this.#answer = new Answer(call, filesystem, { shown: start.preopen.shown, only: start.only }, left);
    this.#page = this.#firstPage(this.#query(left));
    this.#answer.take(this.#page);
  }

  #query(caps: SearchCaps): Query {
    const { text, context, start } = this.#asking;
    return {
      text,
      only: start.only,
      context,
      matchCap: caps.matchCap,
      lineCap: limits.LINE_CAP_BYTES,
      textCap: caps.textCap,
      fileCap: caps.fileCap,
      unreadShown: limits.UNREAD_SHOWN,
      pageEntries: limits.PAGE_ENTRIES,
      pageBytes: limits.PAGE_BYTES,
    };
  }

  get ending(): Ending {
    return this.#page.ending;
  }

  /** Whether the last page brought what may not be lost. */
  get isNews(): boolean {
    return this.#page.hits.length + this.#page.unread.length > 0;
  }

  /** The next page of a walk that paused. */
  more(): void {
    this.#page = this.#guest.more();
    this.#answer.take(this.#page);
  }

  /** Lands what was found once more, as all that leaves is: see `Answer`. */
  judgeAgain(): void {
    this.#answer.refuseWhatLeadsOut();
  }

  /** What all walks found up to now: those before, and this one. */
  found(): Found {
    const found = this.#answer.found();
    return bothFound(this.#before.found, this.#isOver(found) ? NO_HITS(found) : found);
  }

  /**
   * A first block that alone passes the cap on text is cut and told. If others told something before, it is no first
   * one: the answer ends before it.
   */
  #isOver({ textBytes }: Found): boolean {
    const { hits, textBytes: before } = this.#before.found;
    return hits.length > 0 && before + textBytes > this.#asking.caps.textCap;
  }

  /** What this walk alone found and used: of a stretch, beside the way to it. */
  gained(): Gained {
    return { found: this.#answer.found(), used: this.#call.meter.usage() };
  }

  /** Whether it could as well have been a part of a longer walk: to its end, refused nothing, forgot nothing on the way. */
  isWhole(): boolean {
    const { filesystem } = this;
    return (
      this.ending === 'complete' &&
      filesystem.startFailure === undefined &&
      filesystem.wayListed === (this.#stretch?.from.length ?? 0) &&
      this.couldBeShared()
    );
  }

  /** Whether what it costs from here on does not depend on how it came here. */
  couldBeShared(): boolean {
    return !this.#call.meter.hasRefused && !this.filesystem.hasParked && !this.filesystem.changed;
  }

  /**
   * The first page. A guest that is handed no directory traps, by the WIT's own contract; then it is the start that did
   * not open, and a budget that ended it there is still an answer.
   */
  #firstPage(query: Query): Page {
    try {
      return this.#guest.search(query);
    } catch (thrown) {
      const { startFailure } = this.filesystem;
      if (startFailure === undefined && !this.filesystem.changed) throw thrown;
      const empty = { hits: [], unread: [], coverage: NO_COVERAGE };
      if (startFailure === 'quota') return { ...empty, ending: 'budget' };
      if (startFailure !== 'insufficient-space') return { ...empty, ending: 'complete' };
      const path = buildingOf(this.#asking.start.preopen.shown);
      const causes = ERROR_CODES.map((code) => (code === startFailure ? 1 : 0));
      return {
        ...empty,
        unread: [{ path, cause: startFailure }],
        coverage: { ...NO_COVERAGE, causes },
        ending: 'complete',
      };
    }
  }

  /**
   * Why a start that wall 1 admitted is refused after all. A file that stands where it was judged and does not open is no
   * refusal: it is the answer's one unread entry. `stillThere`: whether what was judged still stands there.
   */
  startRefusal(at: Asked, stillThere: () => boolean): AxError | undefined {
    const { startFailure } = this.filesystem;
    const { preopen, only } = this.#asking.start;
    if (this.filesystem.changed) return changedAfterJudged(at);
    if (startFailure === undefined || startFailure === 'quota' || startFailure === 'insufficient-space') {
      return undefined;
    }
    if (!stillThere()) return changedAfterJudged(at);
    if (only !== undefined && startFailure !== 'not-permitted') return undefined;
    return notOpened(this.#call, at, preopen.shown, startFailure, this.filesystem);
  }
}

const NO_HITS = (found: Found): Found => ({ ...found, hits: [], textBytes: 0 });
