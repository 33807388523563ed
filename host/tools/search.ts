/**
 * `search`: a substring, over everything the read bound opens. This file asks wall 1 where to start, and pulls the pages
 * of one guest (search.walk.ts), or has the rest of a large walk shared (search.parts.ts); answer.ts judges what comes
 * out. The walk and the scan are the guest's. Spec: search.
 */

import { z } from 'zod';
import { type Asked, cancelled, invalidArgs, type Outcome, ok, refused } from '../error.js';
import { type Address, segmentsOf } from '../judge/address.js';
import { type Landing, release, resolve, stillJudged } from '../judge/locate.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import type { Dir } from '../tree/tree.js';
import { NOTHING_FOUND, type SearchCaps, type SearchValue, toValue, valueSchema } from './answer.js';
import { listRoot, locate, notRegular } from './locating.js';
import { type Ended, joinSearch, Sharing, tell, tellWalk } from './search.parts.js';
import { type Asking, type Start, takeOn, Walk } from './search.walk.js';
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
  join: joinSearch,
};

/** The whole of a search, with caps of the caller's choosing. */
export async function searchWith(call: Call, args: SearchArgs, caps: SearchCaps): Promise<Outcome<SearchValue>> {
  const at: Asked = { action: call.action, asked: args.path ?? args.text };
  const listing = listRoot(call, at.asked);
  if (!listing.ok) return listing;
  await call.askAll(listing.value);
  const start = await startAt(call, at, args.path);
  if (!start.ok) return start;
  const { stillThere, ...from } = start.value;
  const context = Math.min(args.context ?? 0, limits.CONTEXT_CAP_LINES);
  return walk(call, at, { text: args.text, context, caps, start: from, rootListing: listing.value }, stillThere);
}

// ---- where it starts ----

interface JudgedStart extends Start {
  /** Whether what was judged still stands there: asked when it did not open. */
  readonly stillThere: () => boolean;
}

const CITY: JudgedStart = {
  preopen: { kind: 'directory', shown: '', path: '' },
  only: undefined,
  judged: '',
  stillThere: () => true,
};

async function startAt(call: Call, at: Asked, path: string | undefined): Promise<Outcome<JudgedStart>> {
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

function startFrom(
  call: Call,
  asked: Address,
  landing: Extract<Landing<Dir>, { kind: 'directory' | 'entry' }>,
): JudgedStart {
  const { address } = landing;
  const judged = landing.kind === 'directory' ? landing.dir.identity : landing.look.identity;
  const stillThere = (): boolean =>
    standingAt(call, asked) === standing(landing) && (address === '' || stillJudged(call.judged(), address, judged));
  if (landing.kind === 'directory') {
    const preopen = { kind: 'directory', shown: asked, path: asked, landed: address } as const;
    return { preopen, only: undefined, judged: address, stillThere };
  }
  const segments = segmentsOf(asked);
  const name = segments.at(-1) ?? asked;
  const shown = segments.slice(0, -1).join('/');
  const preopen = { kind: 'single', shown, name, path: asked, landed: address } as const;
  return { preopen, only: name, judged: address, stillThere };
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

async function walk(call: Call, at: Asked, asking: Asking, stillThere: () => boolean): Promise<Outcome<SearchValue>> {
  const { caps } = asking;
  const hand = takeOn(call, asking);
  tell(call, caps, true, () => NOTHING_FOUND);
  const walk = new Walk(call, asking, hand);
  const sharing = new Sharing(call, asking, hand);
  let ended: Ended | undefined;
  while (walk.ending === 'paused' && !call.meter.late() && ended === undefined) {
    tellWalk(call, walk, caps);
    if (!(await call.goOn())) return refused(cancelled(at));
    const shared = sharing.cut(walk);
    if (shared === undefined) walk.more();
    else ended = await shared.finish(walk);
    if (shared !== undefined && ended === undefined) return refused(cancelled(at));
  }
  const refusal = (ended?.last ?? walk).startRefusal(at, stillThere);
  if (refusal !== undefined) return refused(refusal);
  if (ended !== undefined) return ok(toValue(ended.found, ended.ending, call, caps));
  walk.judgeAgain();
  return ok(toValue(walk.found(), walk.ending, call, caps));
}
