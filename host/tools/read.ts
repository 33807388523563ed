/**
 * `read`: an interval of one file, under a byte budget. This file decides what is meant and asks wall 1; interval.ts
 * hands the guest the one judged name and writes the answer. Lines are the guest's.
 * Spec: read.
 */

import { z } from 'zod';
import { type Asked, type AxError, invalidArgs, type Outcome, refused } from '../error.js';
import type { Address } from '../judge/address.js';
import { type Landing, release, resolve, stillJudged } from '../judge/locate.js';
import { isLocator } from '../judge/locator.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import { type Dir, sameIdentity } from '../tree/tree.js';
import { cutInterval, type IntervalValue, intervalSchema, type Source } from './interval.js';
import { locate, notRegular } from './locating.js';
import { nearbyMissing, nearbyWithin } from './miss.js';
import { readLocator } from './read.locator.js';
import { type Tool, wholeNumber, wordOf } from './tool.js';
import { sizeInWords } from './unread.js';

const argsSchema = z.strictObject({
  path: z
    .string('must be text')
    .max(limits.PATH_MAX_BYTES, 'is longer than any path')
    .describe('A file, as a city address like lab/notes.md: what `search` gives as path.'),
  offset: wholeNumber(0).optional().describe('The first line, counted from 0; the `line` of a hit. Default 0.'),
  limit: wholeNumber(1)
    .optional()
    .describe(`Lines at most, ${limits.READ_CAP_LINES} by default; what is more is clamped to that.`),
  byte: wholeNumber(0)
    .optional()
    .describe(
      'Where in line `offset` to begin, in bytes: only as `next_byte` of an answer, together with its `next_offset`.',
    ),
});
/** What a read is asked, validated. */
export type ReadArgs = z.infer<typeof argsSchema>;

/** What a read answers. */
export type ReadValue = IntervalValue;

/** The tool, with the caps of limits.ts. Cost: one pass over the whole file, whatever the interval; flat memory. */
export const read: Tool<ReadArgs, ReadValue> = {
  name: 'read',
  title: 'Read lines of one file',
  description: [
    'Reads an interval of lines of one text file, byte for byte, line ends included.',
    `One answer carries at most ${limits.READ_CAP_LINES} lines and ${sizeInWords(limits.INTERVAL_CAP_BYTES)}; go on with \`next_offset\` (and \`next_byte\`).`,
    'Every call passes over the whole file (3 to 4 seconds a GiB): `search` first, then read around the hit.',
    'A file that is not UTF-8 as a whole is refused, and the refusal says what it looks like.',
  ].join(' '),
  args: argsSchema,
  value: intervalSchema,
  readOnly: true,
  timeMs: limits.READ_TIME_MS,
  asked: (args) => wordOf(args, 'path'),
  progress: () => ({ entries: 0, matches: 0 }),
  run,
};

type File = Extract<Landing<Dir>, { kind: 'entry' }>;

async function run(call: Call, args: ReadArgs): Promise<Outcome<ReadValue>> {
  const at: Asked = { action: call.action, asked: args.path };
  if (isLocator(args.path)) return readLocator(call, at, args);
  const located = await locate(call, args.path);
  if (!located.ok) return located;
  if (located.value.kind === 'city') return refused(isDirectory(at, []));
  const { address, landing } = located.value;
  switch (landing.kind) {
    case 'absent':
      return refused(missing(at, nearbyMissing(call, address, landing.address, landing.deepest)));
    case 'directory':
      release(landing);
      return refused(isDirectory(at, nearbyWithin(call, address, landing.address)));
    case 'entry':
      release(landing);
      if (landing.look.kind !== 'file') return refused(notRegular(at));
      return cutInterval(call, at, args, sourceIn(call, address, landing));
  }
}

// ---- a file of the city ----

/** The one judged name, with everything wall 2 needs to open that and nothing else. */
function sourceIn(call: Call, asked: Address, file: File): Source {
  const name = asked.slice(asked.lastIndexOf('/') + 1);
  const shown = asked.slice(0, Math.max(0, asked.length - name.length - 1));
  return {
    guest: {
      preopen: { kind: 'single', shown, name, path: asked, landed: file.address },
      stillJudged: (identity) => stillJudged(call.judged(), file.address, identity),
    },
    sizeBytes: file.look.sizeBytes,
    versioned: true,
    isElsewhere: () => isElsewhere(call, asked, file),
  };
}

/**
 * Whether what was asked leads to another place or thing than the judged one now: a link to a closed place or a hole,
 * perhaps. A disk that does not answer is no proof.
 */
function isElsewhere(call: Call, asked: Address, { address, look }: File): boolean {
  const landing = resolve(call.judged(), { base: [], path: asked });
  release(landing);
  if (landing.kind === 'failed') return false;
  if (landing.kind !== 'entry' || landing.address !== address) return true;
  // A disk gives the number of what was removed to what is made next, of whatever kind.
  return landing.look.kind !== look.kind || !sameIdentity(landing.look.identity, look.identity);
}

// ---- refusals of its own ----

const missing = (at: Asked, nearby: readonly string[]): AxError => {
  const recovery = nearby.length > 0 ? 'read one of nearby, or find the file with `search`' : 'find it with `search`';
  return invalidArgs(at, 'there is no such file', recovery, nearby);
};

const isDirectory = (at: Asked, nearby: readonly string[]): AxError => {
  const some = nearby.length > 0 ? ' (nearby names some of what it holds)' : '';
  return invalidArgs(at, 'it is a directory', `read a file in it${some}, or \`search\` there`, nearby);
};
