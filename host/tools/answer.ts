/**
 * The answer of a `search`: what the guest's pages gave, validated as it comes in, judged again before it leaves, and
 * written for the caller. Between the guest, who may lie, and whoever asked.
 * Spec: search.
 */

import { z } from 'zod';
import { buildingOf, isBroken, joined, parseAddress } from '../judge/address.js';
import { admit } from '../judge/admit.js';
import { resolve } from '../judge/locate.js';
import { Recent } from '../judge/recent.js';
import * as limits from '../limits.js';
import type { Call, Progress } from '../runner/call.js';
import { utf8Bytes } from '../tree/names.js';
import { ERROR_CODES, type ErrorCode } from '../wasi/codes.js';
import type { Filesystem } from '../wasi/filesystem.js';
import { type Ending, type GuestCoverage, GuestFault, type GuestUnread, type Hit, type Page } from '../wasi/guest.js';
import { SPENT_SENTENCES } from './locating.js';
import { byCause, CAUSES, sizeInWords, whyUnread } from './unread.js';

const count = z.number().int().nonnegative();
/** What a search answers: types and JSON Schema are derived from it, and the runner holds every value against it. */
export const valueSchema = z.strictObject({
  matches: z.array(
    z.strictObject({
      path: z.string().describe('An address, ready for `read`.'),
      line: count.describe('0-based: the `offset` for `read`.'),
      text: z.string().describe('The line, or a window of it, with its context lines.'),
    }),
  ),
  count,
  truncated: z.boolean().describe('True exactly when the answer is not everything.'),
  stopped: z.string().optional().describe('Only when truncated: which bound ended it, and how to narrow.'),
  unreadable: count.describe('Directories and files that could not be looked at: not the same as not found.'),
  unread: z.array(z.strictObject({ path: z.string(), why: z.string() })),
  coverage: z.strictObject({
    entries: count,
    looked: count,
    directories: count,
    links: count,
    reserved: count,
    not_text: count,
    unread_by_cause: z.partialRecord(z.enum(CAUSES), count),
  }),
});
/** The answer; its arrays are as long as the caps allow, and empty where nothing was found. */
export type SearchValue = z.infer<typeof valueSchema>;

/** The caps of one search. Only the tool, its tests and the bench set them. */
export interface SearchCaps {
  /** Hits. */
  readonly matchCap: number;
  /** Bytes of all hits' text. */
  readonly textCap: number;
  /** Bytes of a file that is scanned. */
  readonly fileCap: number;
}

/** Where the guest was told to walk, as the caller asked it: what its paths must be below. */
export interface Walked {
  /** The address of the directory it was handed; '' for the city. */
  readonly shown: string;
  /** The one name to take up there, when a file was asked. */
  readonly only: string | undefined;
}

/** Nothing was taken up yet. */
export const NO_COVERAGE: GuestCoverage = { looked: 0, directories: 0, links: 0, reserved: 0, notText: 0, causes: [] };

/** What a walk found, checked and with its sentences: plain data, it crosses between threads. */
export interface Found {
  readonly hits: readonly Hit[];
  /** Bytes of all hits' text. */
  readonly textBytes: number;
  /** At most UNREAD_SHOWN. */
  readonly unread: SearchValue['unread'];
  readonly coverage: GuestCoverage;
}

/** Before the first page. */
export const NOTHING_FOUND: Found = { hits: [], textBytes: 0, unread: [], coverage: NO_COVERAGE };

/** What two stretches of one walk found, the first one's before the other's. O(hits). */
export function bothFound(one: Found, other: Found): Found {
  return {
    hits: [...one.hits, ...other.hits],
    textBytes: one.textBytes + other.textBytes,
    unread: [...one.unread, ...other.unread].slice(0, limits.UNREAD_SHOWN),
    coverage: sumOfCoverage(one.coverage, other.coverage),
  };
}

function sumOfCoverage(one: GuestCoverage, other: GuestCoverage): GuestCoverage {
  return {
    looked: one.looked + other.looked,
    directories: one.directories + other.directories,
    links: one.links + other.links,
    reserved: one.reserved + other.reserved,
    notText: one.notText + other.notText,
    causes: ERROR_CODES.map((_, number) => (one.causes[number] ?? 0) + (other.causes[number] ?? 0)),
  };
}

/**
 * What pages gave, checked as it comes in: the guest may lie. A lie that can be seen is a `GuestFault`.
 * Holds what the caps allow and no more; a page costs what it brings.
 */
export class Answer {
  readonly #call: Call;
  readonly #filesystem: Filesystem;
  readonly #walked: Walked;
  readonly #caps: SearchCaps;
  #hits: Hit[] = [];
  /** Files among the hits: those of one stand together, or the guest lies. */
  #files = new Set<string>();
  /** Of the hit that came last. */
  #lastPath: string | undefined;
  /** Hits that came in, those that were taken out again too: what the guest is held against. */
  #taken = 0;
  /** Files whose hits were taken out, since their path led out by then. What the guest counted of them stays as it was. */
  readonly #ledOut = new Set<string>();
  #textBytes = 0;
  #unread: GuestUnread[] = [];
  #coverage: GuestCoverage = NO_COVERAGE;

  constructor(call: Call, filesystem: Filesystem, walked: Walked, caps: SearchCaps) {
    this.#call = call;
    this.#filesystem = filesystem;
    this.#walked = walked;
    this.#caps = caps;
  }

  /** Adds a page. Throws a `GuestFault` at the first thing in it that cannot be true. */
  take(page: Page): void {
    for (const hit of page.hits) this.#takeHit(hit);
    this.#unread.push(...page.unread);
    if (this.#unread.length > limits.UNREAD_SHOWN) throw new GuestFault('more unread entries than its cap');
    for (const unread of page.unread) this.#checkUnread(unread);
    if (!this.#countsFit(page.coverage)) throw new GuestFault('counts that do not fit');
    if (!this.#endingFits(page.ending)) throw new GuestFault('an ending that cannot be');
    this.#coverage = page.coverage;
  }

  /**
   * Each name counts once: so no more of them than were listed and the start place, no more looked into than were opened
   * and the start place, no fewer than pages before had, nor than were named.
   */
  #countsFit(coverage: GuestCoverage): boolean {
    const { looked, directories, links, reserved, notText, causes } = coverage;
    const { opens, entries } = this.#call.meter.walked;
    const unreadable = sumOf(causes);
    const before = this.#coverage;
    return (
      notText <= looked &&
      looked + directories <= opens + 1 &&
      looked + directories + links + reserved + unreadable <= entries + 1 &&
      this.#files.size + this.#ledOut.size <= looked &&
      directories >= this.#filesystem.wayListed &&
      this.#unread.length === Math.min(limits.UNREAD_SHOWN, unreadable) &&
      ERROR_CODES.every((code, number) => this.#namedAs(code) <= (causes[number] ?? 0)) &&
      COUNTS.every((count) => before[count] <= coverage[count]) &&
      before.causes.every((count, number) => count <= (causes[number] ?? 0))
    );
  }

  #namedAs(code: ErrorCode): number {
    return this.#unread.filter(({ cause }) => cause === code).length;
  }

  #endingFits(ending: Ending): boolean {
    if (ending === 'budget') return this.#call.meter.spent !== undefined;
    if (ending === 'matches') return this.#taken === this.#caps.matchCap;
    return ending !== 'text' || this.#taken > 0;
  }

  #takeHit(hit: Hit): void {
    if (hit.path !== this.#lastPath) this.#takeFile(hit.path);
    if (hit.line > this.#caps.fileCap) throw new GuestFault('a line that no file of its size has');
    if (this.#ledOut.size === 0 || !this.#ledOut.has(hit.path)) this.#hits.push(hit);
    this.#taken++;
    this.#textBytes += utf8Bytes(hit.text);
    // A first block may be cut, and then says so.
    const slack = this.#taken === 1 ? limits.MARKER_MAX_BYTES : 0;
    if (this.#taken > this.#caps.matchCap || this.#textBytes > this.#caps.textCap + slack) {
      throw new GuestFault('more hits than its caps');
    }
  }

  #takeFile(path: string): void {
    if (!this.#isBelowStart(path)) throw new GuestFault('a path outside its start');
    this.#admit(path);
    this.#lastPath = path;
    if (!this.#ledOut.has(path)) this.#files.add(path);
  }

  #admit(path: string): void {
    const admitted = admit(path, this.#call.action, this.#call.judged().bound);
    if (!admitted.ok) throw new GuestFault('a path that may not be read');
  }

  /**
   * What is closed is not met, so it cannot have been unread: what holds it was walked, and of the top it is at most a
   * building whose rules do not read. A name that is no address is in no bound, but it is one name.
   */
  #checkUnread({ path, cause }: GuestUnread): void {
    if (!this.#isBelowStart(path)) throw new GuestFault('a path outside its start');
    const { bound } = this.#call.judged();
    const slash = path.lastIndexOf('/');
    const [parent, name] = [path.slice(0, Math.max(0, slash)), path.slice(slash + 1)];
    const isWalked = slash < 0 || (!isBroken(parseAddress(parent)) && bound.judge(parent) === undefined);
    if (!isWalked) throw new GuestFault('a path that is not met');
    if (cause === 'illegal-byte-sequence' && isUnspeakable(name)) return;
    const denial = isBroken(parseAddress(path)) ? 'no address' : bound.judge(path);
    if (denial !== undefined && (slash >= 0 || denial === 'no address' || denial.kind !== 'rules-unreadable')) {
      throw new GuestFault('a path that is not met');
    }
  }

  #isBelowStart(path: string): boolean {
    const { shown, only } = this.#walked;
    if (path === this.#building()) return true;
    if (only !== undefined) return path === joined(shown, only);
    return shown === '' || path === shown || path.startsWith(`${shown}/`);
  }

  /** An entry over its building's share is reported by the building's address. */
  #building(): string {
    return buildingOf(this.#walked.shown);
  }

  /**
   * Wall 1 again, on every path that would leave: each was admitted when it came in. A link that leads out by now,
   * whoever moved it, takes its hits out of the answer and is counted as what it is.
   */
  refuseWhatLeadsOut(): void {
    const judged = this.#call.judged();
    const root = new Recent(judged.root);
    const scene = { ...judged, root };
    try {
      for (const path of this.#files) {
        const { kind } = resolve(scene, { base: [], path });
        if (kind === 'denied' || kind === 'outside' || kind === 'alias') this.#refuseLink(path);
      }
    } finally {
      root.forget();
    }
  }

  #refuseLink(path: string): void {
    this.#hits = this.#hits.filter((hit) => hit.path !== path);
    this.#files.delete(path);
    this.#ledOut.add(path);
  }

  /** What was found so far. Directories that only led to where the walk began were counted by another. */
  found(): Found {
    const { wayListed } = this.#filesystem;
    const { looked, links, directories } = this.#coverage;
    return {
      hits: this.#hits,
      textBytes: this.#textBytes,
      unread: this.#unread.map(({ path, cause }) => ({
        path,
        why: whyUnread(path, cause, this.#filesystem.reason(path), this.#caps.fileCap),
      })),
      coverage: {
        ...this.#coverage,
        looked: looked - this.#ledOut.size,
        links: links + this.#ledOut.size,
        directories: Math.max(0, directories - wayListed),
      },
    };
  }
}

/** How far a walk has come that found this. */
export const progressOf = ({ coverage, hits }: Found): Progress => ({
  entries: entriesOf(coverage),
  matches: hits.length,
});

function entriesOf({ looked, directories, links, reserved, causes }: GuestCoverage): number {
  return looked + directories + links + reserved + sumOf(causes);
}

/** The value of what was found, with the ending given. */
export function toValue(found: Found, ending: Ending, call: Pick<Call, 'meter'>, caps: SearchCaps): SearchValue {
  const { hits, unread } = found;
  const stopped = ending === 'complete' ? undefined : stoppedSentence(ending, hits, call, caps);
  const { looked, directories, links, reserved, notText, causes } = found.coverage;
  const unreadable = sumOf(causes);
  return {
    matches: [...hits],
    count: hits.length,
    truncated: stopped !== undefined,
    ...(stopped !== undefined && { stopped }),
    unreadable,
    unread: [...unread],
    coverage: {
      entries: entriesOf(found.coverage),
      looked,
      directories,
      links,
      reserved,
      not_text: notText,
      unread_by_cause: byCause(causes),
    },
  };
}

/** A name that a listing gives and no address has: with a character that addresses do not have, or shown with U+FFFD. */
const isUnspeakable = (name: string): boolean =>
  !['', '.', '..'].includes(name) && (isBroken(parseAddress(name)) || name.includes('\ufffd'));
const COUNTS = ['looked', 'directories', 'links', 'reserved', 'notText'] as const;
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, each) => sum + each, 0);

/** The one place that says why a search stopped, and how to narrow it. */
function stoppedSentence(
  ending: Exclude<Ending, 'complete'>,
  hits: readonly Hit[],
  call: Pick<Call, 'meter'>,
  caps: SearchCaps,
): string {
  const narrow = 'narrow it with `path`, a longer `text` or less `context`';
  return `stopped: ${boundInWords(ending, call, caps)}; ${narrow}${majority(hits)}`;
}

function boundInWords(ending: Exclude<Ending, 'complete'>, call: Pick<Call, 'meter'>, caps: SearchCaps): string {
  switch (ending) {
    case 'matches':
      return `there are more than ${caps.matchCap} hits (MATCH_CAP)`;
    case 'text':
      return `the hits' text reached ${sizeInWords(caps.textCap)} (INTERVAL_CAP_BYTES)`;
    case 'budget':
    case 'paused': {
      // A page that only paused was the last one because the time was over.
      const { budget, value } = call.meter.spent ?? { budget: 'time', value: call.meter.timeMs };
      return SPENT_SENTENCES[budget](value);
    }
  }
}

/** When one building gave more than half of the hits, its name and share. */
function majority(hits: readonly Hit[]): string {
  const counts = new Map<string, number>();
  for (const { path } of hits) {
    const building = buildingOf(path);
    counts.set(building, (counts.get(building) ?? 0) + 1);
  }
  for (const [building, hitsThere] of counts) {
    if (hitsThere * 2 > hits.length) return ` (${hitsThere} of the ${hits.length} hits are in ${building})`;
  }
  return '';
}
