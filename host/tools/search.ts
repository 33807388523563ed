/**
 * `search`: a substring, over everything the read bound opens. This file asks wall 1, hands the guest one view of the
 * start place and pulls its pages; answer.ts, the next, judges what comes out. The walk and the scan are the guest's.
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
import { type Address, buildingOf, segmentsOf } from '../judge/address.js';
import { type Landing, release, resolve, stillJudged } from '../judge/locate.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import type { Dir, Entry, Identity } from '../tree/tree.js';
import { ERROR_CODES } from '../wasi/codes.js';
import type { Filesystem } from '../wasi/filesystem.js';
import type { Guest, Page, Query } from '../wasi/guest.js';
import type { Preopen } from '../wasi/handles.js';
import { Answer, NO_COVERAGE, type SearchCaps, type SearchValue, valueSchema } from './answer.js';
import { listRoot, locate, notOpened, notRegular } from './locating.js';
import { type Tool, wholeNumber, wordOf } from './tool.js';

const argsSchema = z.strictObject({
  text: z
    .string('must be text')
    .min(1, 'is empty')
    .max(limits.FILE_CAP_BYTES, 'is longer than any file that is searched')
    .refine((text) => text.isWellFormed(), { message: 'has an unpaired surrogate' })
    .refine((text) => !text.includes('\n'), { message: 'has a newline' })
    .describe('The literal text to find, case-sensitive, within one line: search for one line of it, not a pattern.'),
  path: z
    .string('must be text')
    .min(1, 'is empty')
    .max(limits.PATH_MAX_BYTES, 'is longer than any path')
    .optional()
    .describe(
      'Where to search: a directory or one file, as a city address like lab/notes. Omit it to search everything.',
    ),
  context: wholeNumber(0)
    .optional()
    .describe(`Lines shown on each side of a hit, 0 by default, at most ${limits.CONTEXT_CAP_LINES}.`),
});
/** What a search is asked, validated. */
export type SearchArgs = z.infer<typeof argsSchema>;
export type { SearchValue };

const CAPS: SearchCaps = {
  matchCap: limits.MATCH_CAP,
  textCap: limits.INTERVAL_CAP_BYTES,
  fileCap: limits.FILE_CAP_BYTES,
};

/** The tool, with the caps of limits.ts. Cost: linear in the names and bytes of what is walked. */
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
  run: (call, args) => searchWith(call, args, CAPS),
};

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
  const answer = new Answer(call, filesystem, { shown: start.preopen.shown, only: start.only }, caps);
  call.partial(
    () => answer.value('paused'),
    true,
    () => answer.progress(),
  );
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
    // It is what a call leaves that is ended from outside: judged as an answer is. Made only if somebody is told.
    const judged = (): SearchValue => {
      answer.refuseWhatLeadsOut();
      return answer.value('paused');
    };
    call.partial(judged, page.hits.length + page.unread.length > 0, () => answer.progress());
    if (!(await call.goOn())) return refused(cancelled(at));
    page = guest.more();
    answer.take(page);
  }
  const refusal = startRefusal(call, at, start, filesystem);
  if (refusal !== undefined) return refused(refusal);
  answer.refuseWhatLeadsOut();
  return ok(answer.value(page.ending));
}

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
    const empty = { hits: [], unread: [], coverage: NO_COVERAGE };
    if (startFailure === 'quota') return { ...empty, ending: 'budget' };
    if (startFailure !== 'insufficient-space') return { ...empty, ending: 'complete' };
    const path = buildingOf(start.preopen.shown);
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
