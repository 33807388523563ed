/**
 * `read`: an interval of one file, under a byte budget. This file decides what is meant, a Locator (read.locator.ts), a
 * name of the catalog (read.catalog.ts) or a path of the city, of which it asks wall 1; interval.ts hands the guest the
 * one judged name and writes the answer. Lines are the guest's.
 * Spec: read.
 */

import { z } from 'zod';
import { type Asked, type Outcome, refused } from '../error.js';
import type { Address } from '../judge/address.js';
import { release, stillJudged } from '../judge/locate.js';
import { isLocator } from '../judge/locator.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import { cutInterval, type IntervalValue, intervalSchema, type Source } from './interval.js';
import { isElsewhere, type LandedFile, locate, notRegular } from './locating.js';
import { inCity, isDirectory, missing, nearbyMissing, nearbyWithin } from './miss.js';
import { readNamed } from './read.catalog.js';
import { readLocator } from './read.locator.js';
import { type Tool, wholeNumber, wordOf } from './tool.js';
import { sizeInWords } from './unread.js';

const argsSchema = z.strictObject({
  path: z
    .string('must be text')
    .max(limits.PATH_MAX_BYTES, 'is longer than any path')
    .describe(
      'A file, as a city address like lab/notes.md: what `search` gives as path. Or a name of this run’s catalog, or name/rest for a file of the package of that name. Or a Locator, cas:b3-<64 hex digits>, with a range where only that is meant: #L1-20 lines from 1, #B0-99 bytes from 0; or file:<address>@<commit>, for a file as it was then.',
    ),
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
  opensByName: true,
  timeMs: limits.READ_TIME_MS,
  asked: (args) => wordOf(args, 'path'),
  run,
};

async function run(call: Call, args: ReadArgs): Promise<Outcome<ReadValue>> {
  const at: Asked = { action: call.action, asked: args.path };
  if (isLocator(args.path)) return readLocator(call, at, args);
  const named = await readNamed(call, at, args);
  if (named !== undefined) return named;
  const located = await locate(call, args.path);
  if (!located.ok) return located;
  if (located.value.kind === 'city') return refused(isDirectory(at, []));
  const { address, landing } = located.value;
  switch (landing.kind) {
    case 'absent':
      return refused(missing(at, nearbyMissing(inCity(call, address), landing.address, landing.deepest)));
    case 'directory':
      release(landing);
      return refused(isDirectory(at, nearbyWithin(inCity(call, address), landing.address)));
    case 'entry':
      release(landing);
      if (landing.look.kind !== 'file') return refused(notRegular(at));
      return cutInterval(call, at, args, sourceIn(call, address, landing));
  }
}

// ---- a file of the city ----

/** The one judged name, with everything wall 2 needs to open that and nothing else. */
function sourceIn(call: Call, asked: Address, file: LandedFile): Source {
  const name = asked.slice(asked.lastIndexOf('/') + 1);
  const shown = asked.slice(0, Math.max(0, asked.length - name.length - 1));
  return {
    guest: {
      preopen: { kind: 'single', shown, name, path: asked, landed: file.address },
      stillJudged: (identity) => stillJudged(call.judged(), file.address, identity),
    },
    sizeBytes: file.look.sizeBytes,
    versioned: true,
    isElsewhere: () => isElsewhere(call.judged(), asked, file),
  };
}
