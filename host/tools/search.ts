/**
 * `search`: a substring, over everything the read bound opens. This file asks wall 1, hands the guest one view of the
 * start place, pulls its pages, judges what comes out and writes the answer. The walk and the scan are the guest's.
 * Spec: search.
 */

import { z } from 'zod';
import {
  type Asked,
  type AxError,
  cancelled,
  changedAfterJudged,
  invalidArgs,
  type Outcome,
  ok,
  refused,
} from '../error.js';
import { type Address, buildingOf, isBroken, parseAddress, segmentsOf } from '../judge/address.js';
import { admit } from '../judge/admit.js';
import { type Landing, release, resolve, stillJudged } from '../judge/locate.js';
import { Recent } from '../judge/recent.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import { utf8Bytes } from '../tree/names.js';
import type { Dir, Entry, Identity } from '../tree/tree.js';
import { ERROR_CODES, type ErrorCode } from '../wasi/codes.js';
import type { Filesystem } from '../wasi/filesystem.js';
import type { Preopen } from '../wasi/handles.js';
import {
  type Ending,
  type Guest,
  type GuestCoverage,
  GuestFault,
  type GuestUnread,
  type Hit,
  type Page,
  type Query,
} from '../wasi/world.js';
import { listRoot, locate, notOpened, notRegular, SPENT_SENTENCES } from './locating.js';
import { type Tool, wholeNumber, wordOf } from './tool.js';
import { byCause, CAUSES, sizeInWords, whyUnread } from './unread.js';

const argsSchema = z.strictObject({
  text: z
    .string('must be text')
    .min(1, 'is empty')
    .refine((text) => text.isWellFormed(), { message: 'has an unpaired surrogate' })
    .refine((text) => !text.includes('\n'), { message: 'has a newline' })
    .describe('The literal text to find, case-sensitive, within one line: search for one line of it, not a pattern.'),
  path: z
    .string('must be text')
    .min(1, 'is empty')
    .optional()
    .describe(
      'Where to search: a directory or one file, as a city address like lab/notes. Omit it to search everything.',
    ),
  context: wholeNumber(0)
    .optional()
    .describe(`Lines shown on each side of a hit, 0 by default, at most ${limits.CONTEXT_CAP_LINES}.`),
});
export type SearchArgs = z.infer<typeof argsSchema>;

const count = z.number().int().nonnegative();
const valueSchema = z.strictObject({
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
export type SearchValue = z.infer<typeof valueSchema>;

/** The caps of one search. Only the tool and the bench set them. */
export interface SearchCaps {
  readonly matchCap: number;
  readonly textCap: number;
  readonly fileCap: number;
}
const CAPS: SearchCaps = {
  matchCap: limits.MATCH_CAP,
  textCap: limits.INTERVAL_CAP_BYTES,
  fileCap: limits.FILE_CAP_BYTES,
};

export const search: Tool<SearchArgs, SearchValue> = {
  name: 'search',
  title: 'Find a text in everything that may be read',
  description: [
    'Finds a literal text (no pattern, case-sensitive, within one line) in every file that may be read, hidden ones too.',
    `Answers up to ${limits.MATCH_CAP} hits in a fixed order, each with its address, its 0-based line and the line's text;`,
    'pass the address as `path` and the line as `offset` to `read` for what stands around it.',
    'What could not be looked at is counted in `unreadable` and named in `unread`: it is not the same as not found.',
    '`truncated` says that there is more; `stopped` says how to narrow. Ignore files are not obeyed.',
  ].join(' '),
  args: argsSchema,
  value: valueSchema,
  readOnly: true,
  timeMs: limits.CALL_TIME_MS,
  asked: (args) => wordOf(args, 'path') || wordOf(args, 'text'),
  // Only `searchWith` makes partial values, and they are whole values.
  progress: (partial) => progressOf(partial as SearchValue),
  run: (call, args) => searchWith(call, args, CAPS),
};

const progressOf = ({ coverage, count }: SearchValue) => ({ entries: coverage.entries, matches: count });

/** The whole of a search, with caps of the caller's choosing. */
export async function searchWith(call: Call, args: SearchArgs, caps: SearchCaps): Promise<Outcome<SearchValue>> {
  const at: Asked = { action: call.action, asked: args.path ?? args.text };
  const listing = listRoot(call, at.asked);
  if (!listing.ok) return listing;
  await call.askAll(listing.value);
  const start = await startAt(call, at, args.path);
  if (!start.ok) return start;
  return walk(call, at, args, caps, start.value, listing.value);
}

// ---- where it starts ----

interface Start {
  readonly preopen: Preopen;
  /** The one name to take up, when it is a file. */
  readonly only: string | undefined;
  /** Whether what was opened is what was judged. */
  readonly stillJudged: (identity: Identity) => boolean;
  /** Whether what was judged still stands there: asked when it did not open. */
  readonly stillThere: () => boolean;
}

const CITY: Start = {
  preopen: { kind: 'directory', shown: '', path: '' },
  only: undefined,
  stillJudged: () => true,
  stillThere: () => true,
};

async function startAt(call: Call, at: Asked, path: string | undefined): Promise<Outcome<Start>> {
  if (path === undefined) return ok(CITY);
  const located = await locate(call, path);
  if (!located.ok) return located;
  if (located.value.kind === 'city') return ok(CITY);
  const { address, landing } = located.value;
  if (landing.kind === 'absent') {
    return refused(
      invalidArgs(at, 'there is no such place', 'name an existing place, or omit `path` to search everything'),
    );
  }
  release(landing);
  if (landing.kind === 'entry' && landing.look.kind !== 'file') return refused(notRegular(at));
  return ok(startFrom(call, address, landing));
}

function startFrom(call: Call, asked: Address, landing: Extract<Landing<Dir>, { kind: 'directory' | 'entry' }>): Start {
  const { address } = landing;
  const judged = landing.kind === 'directory' ? landing.dir.identity : landing.look.identity;
  const still = (identity: Identity): boolean => address === '' || stillJudged(call.judged(), address, identity);
  const isSame = () => standingAt(call, asked) === standing(landing) && still(judged);
  const whether = { stillJudged: still, stillThere: isSame };
  if (landing.kind === 'directory') {
    return { preopen: { kind: 'directory', shown: asked, path: asked, landed: address }, only: undefined, ...whether };
  }
  const segments = segmentsOf(asked);
  const name = segments.at(-1) ?? asked;
  const shown = segments.slice(0, -1).join('/');
  return { preopen: { kind: 'single', shown, name, path: asked, landed: address }, only: name, ...whether };
}

/** What a landing is, and where. Asked beside its identity: the inode of what was removed may come back as another kind. */
function standing(landing: Landing<Dir>): string {
  if (landing.kind === 'entry') return `${landing.look.kind} ${landing.address}`;
  return landing.kind === 'directory' ? `directory ${landing.address}` : landing.kind;
}

function standingAt(call: Call, path: string): string {
  const landing = resolve(call.judged(), { base: [], path });
  release(landing);
  return standing(landing);
}

// ---- the walk, page by page ----

async function walk(
  call: Call,
  at: Asked,
  args: SearchArgs,
  caps: SearchCaps,
  start: Start,
  rootListing: readonly Entry[],
): Promise<Outcome<SearchValue>> {
  const { guest, filesystem } = call.open({
    preopen: start.preopen,
    rootListing,
    fileCapBytes: caps.fileCap,
    stillJudged: start.stillJudged,
  });
  const answer = new Answer(call, filesystem, start, caps);
  call.partial(answer.value('paused'), true);
  let page = firstPage(guest, filesystem, start, {
    text: args.text,
    only: start.only,
    context: Math.min(args.context ?? 0, limits.CONTEXT_CAP_LINES),
    matchCap: caps.matchCap,
    lineCap: limits.LINE_CAP_BYTES,
    textCap: caps.textCap,
    fileCap: caps.fileCap,
    unreadShown: limits.UNREAD_SHOWN,
    pageEntries: limits.PAGE_ENTRIES,
    pageBytes: limits.PAGE_BYTES,
  });
  answer.take(page);
  while (page.ending === 'paused' && !call.meter.late()) {
    call.partial(answer.value('paused'), page.hits.length + page.unread.length > 0);
    if (!(await call.goOn())) return refused(cancelled(at));
    page = guest.more();
    answer.take(page);
  }
  const refusal = startRefusal(call, at, start, filesystem);
  if (refusal !== undefined) return refused(refusal);
  answer.refuseWhatLeadsOut();
  return ok(answer.value(page.ending));
}

const NOTHING: GuestCoverage = { looked: 0, directories: 0, links: 0, reserved: 0, notText: 0, causes: [] };

/**
 * The first page. A guest that is handed no directory traps, by the WIT's own contract; then it is the start that did
 * not open, and a budget that ended it there is still an answer.
 */
function firstPage(guest: Guest, filesystem: Filesystem, start: Start, query: Query): Page {
  try {
    return guest.search(query);
  } catch (thrown) {
    const { startFailure } = filesystem;
    if (startFailure === undefined && !filesystem.changed) throw thrown;
    const empty = { hits: [], unread: [], coverage: NOTHING };
    if (startFailure === 'quota') return { ...empty, ending: 'budget' };
    if (startFailure !== 'insufficient-space') return { ...empty, ending: 'complete' };
    const path = buildingOf(start.preopen.shown);
    const causes = ERROR_CODES.map((code) => (code === startFailure ? 1 : 0));
    return { ...empty, unread: [{ path, cause: startFailure }], coverage: { ...NOTHING, causes }, ending: 'complete' };
  }
}

/**
 * Why a start that wall 1 admitted is refused after all. A file that stands where it was judged and does not open is no
 * refusal: it is the answer's one unread entry.
 */
function startRefusal(call: Call, at: Asked, start: Start, filesystem: Filesystem): AxError | undefined {
  const { startFailure } = filesystem;
  if (filesystem.changed) return changedAfterJudged(at);
  if (startFailure === undefined || startFailure === 'quota' || startFailure === 'insufficient-space') return undefined;
  if (!start.stillThere()) return changedAfterJudged(at);
  if (start.only !== undefined && startFailure !== 'not-permitted') return undefined;
  return notOpened(call, at, start.preopen.shown, startFailure, filesystem);
}

// ---- the answer: collected, validated, judged again ----

/** What pages gave, checked as it comes in: the guest may lie. A lie that can be seen is a `GuestFault`. */
class Answer {
  readonly #call: Call;
  readonly #filesystem: Filesystem;
  readonly #start: Start;
  readonly #caps: SearchCaps;
  readonly #prefix: string;
  #hits: Hit[] = [];
  #textBytes = 0;
  #unread: GuestUnread[] = [];
  #coverage: GuestCoverage = NOTHING;

  constructor(call: Call, filesystem: Filesystem, start: Start, caps: SearchCaps) {
    this.#call = call;
    this.#filesystem = filesystem;
    this.#start = start;
    this.#caps = caps;
    this.#prefix = start.preopen.shown;
  }

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
    const { opens, entries } = this.#call.meter.used;
    const unreadable = sumOf(causes);
    const before = this.#coverage;
    return (
      notText <= looked &&
      looked + directories <= opens + 1 &&
      looked + directories + links + reserved + unreadable <= entries + 1 &&
      new Set(this.#hits.map((hit) => hit.path)).size <= looked &&
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
    if (ending === 'matches') return this.#hits.length === this.#caps.matchCap;
    return ending !== 'text' || this.#hits.length > 0;
  }

  #takeHit(hit: Hit): void {
    if (!this.#isBelowStart(hit.path)) throw new GuestFault('a path outside its start');
    if (hit.path !== this.#hits.at(-1)?.path) this.#admit(hit.path);
    if (hit.line > this.#caps.fileCap) throw new GuestFault('a line that no file of its size has');
    this.#hits.push(hit);
    this.#textBytes += utf8Bytes(hit.text);
    const slack = this.#hits.length === 1 ? MARKER_SLACK_BYTES : 0;
    if (this.#hits.length > this.#caps.matchCap || this.#textBytes > this.#caps.textCap + slack) {
      throw new GuestFault('more hits than its caps');
    }
  }

  #admit(path: string): void {
    if (!admit(path, this.#call.action, this.#call.judged().bound).ok)
      throw new GuestFault('a path that may not be read');
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
    if (this.#start.only !== undefined)
      return path === joined(this.#prefix, this.#start.only) || path === this.#building();
    return (
      this.#prefix === '' || path === this.#prefix || path.startsWith(`${this.#prefix}/`) || path === this.#building()
    );
  }

  /** An entry over its building's share is reported by the building's address. */
  #building(): string {
    return buildingOf(this.#prefix);
  }

  /**
   * Wall 1 again, on every path that would leave: each was admitted when it came in. A link that leads out by now,
   * whoever moved it, takes its hits out of the answer and is counted as what it is.
   */
  refuseWhatLeadsOut(): void {
    const scene = this.#call.judged();
    const root = new Recent(scene.root);
    try {
      for (const path of new Set(this.#hits.map((hit) => hit.path))) {
        const { kind } = resolve({ ...scene, root }, { base: [], path });
        if (kind === 'denied' || kind === 'outside' || kind === 'alias') this.#refuseLink(path);
      }
    } finally {
      root.forget();
    }
  }

  #refuseLink(path: string): void {
    this.#hits = this.#hits.filter((hit) => hit.path !== path);
    this.#coverage = { ...this.#coverage, looked: this.#coverage.looked - 1, links: this.#coverage.links + 1 };
  }

  /** The answer as it is, with the ending given. */
  value(ending: Ending): SearchValue {
    const stopped = ending === 'complete' ? undefined : stoppedSentence(ending, this.#hits, this.#call, this.#caps);
    const { looked, directories, links, reserved, notText, causes } = this.#coverage;
    const unreadable = sumOf(causes);
    return {
      matches: this.#hits.map(({ path, line, text }) => ({ path, line, text })),
      count: this.#hits.length,
      truncated: stopped !== undefined,
      ...(stopped !== undefined && { stopped }),
      unreadable,
      unread: this.#unread.map(({ path, cause }) => ({
        path,
        why: whyUnread(path, cause, this.#filesystem.reason(path), this.#caps.fileCap),
      })),
      coverage: {
        entries: looked + directories + links + reserved + unreadable,
        looked,
        directories,
        links,
        reserved,
        not_text: notText,
        unread_by_cause: byCause(causes),
      },
    };
  }
}

/** Room for the marker after a first block that was cut. */
const MARKER_SLACK_BYTES = 64;
/** A name that a listing gives and no address has: with a character that addresses do not have, or shown with U+FFFD. */
const isUnspeakable = (name: string): boolean =>
  !['', '.', '..'].includes(name) && (isBroken(parseAddress(name)) || name.includes('\ufffd'));
const COUNTS = ['looked', 'directories', 'links', 'reserved', 'notText'] as const;
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, each) => sum + each, 0);
const joined = (prefix: string, name: string): string => (prefix === '' ? name : `${prefix}/${name}`);

/** The one place that says why a search stopped, and how to narrow it. */
export function stoppedSentence(
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
