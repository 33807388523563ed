/**
 * `read`: an interval of one file, under a byte budget. This file asks wall 1, hands the guest a directory that holds
 * exactly the one judged name, hashes the bytes as they pass, and writes the answer. Lines are the guest's.
 * Spec: read.
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
  storageFatal,
} from '../error.js';
import type { Address } from '../judge/address.js';
import { type Landing, release, resolve, stillJudged } from '../judge/locate.js';
import * as limits from '../limits.js';
import { type Call, giveBack, hasher } from '../runner/call.js';
import { type Dir, sameIdentity } from '../tree/tree.js';
import type { Filesystem } from '../wasi/filesystem.js';
import { GuestFault, type Looks, type Reading, type Slice } from '../wasi/guest.js';
import { locate, notOpened, notRegular, spentError } from './locating.js';
import { nearbyMissing, nearbyWithin } from './miss.js';
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

const count = z.number().int().nonnegative();
const valueSchema = z.strictObject({
  path: z.string(),
  text: z.string(),
  bytes: count.describe('UTF-8 length of `text`.'),
  total_lines: count.optional(),
  next_offset: count.optional().describe('Present when there is more: the `offset` to go on with.'),
  next_byte: count.optional().describe('The line is not whole: the `byte` to go on with, at `next_offset`.'),
  cut_bytes: count.optional().describe('What is left of that line.'),
  version: z.string().optional().describe('Names exactly these bytes of the whole file.'),
  note: z.string().optional(),
});
/** What a read answers. */
export type ReadValue = z.infer<typeof valueSchema>;

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
  value: valueSchema,
  readOnly: true,
  timeMs: limits.READ_TIME_MS,
  asked: (args) => wordOf(args, 'path'),
  progress: () => ({ entries: 0, matches: 0 }),
  run,
};

type Cut = NonNullable<Slice['cut']>;
type File = Extract<Landing<Dir>, { kind: 'entry' }>;

async function run(call: Call, args: ReadArgs): Promise<Outcome<ReadValue>> {
  const at: Asked = { action: call.action, asked: args.path };
  if (isLocator(args.path)) return refused(noLocators(at));
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
      return landing.look.kind === 'file' ? readFile(call, at, args, address, landing) : refused(notRegular(at));
  }
}

// ---- the file ----

async function readFile(
  call: Call,
  at: Asked,
  args: ReadArgs,
  asked: Address,
  file: File,
): Promise<Outcome<ReadValue>> {
  const whole = file.look.sizeBytes <= limits.READ_WHOLE_MAX_BYTES;
  const passed = new Passed(await hasher());
  const name = asked.slice(asked.lastIndexOf('/') + 1);
  const shown = asked.slice(0, Math.max(0, asked.length - name.length - 1));
  const { guest, filesystem } = call.open({
    preopen: { kind: 'single', shown, name, path: asked, landed: file.address },
    stillJudged: (identity) => stillJudged(call.judged(), file.address, identity),
    ...(whole && { tap: (bytes, offset, end) => passed.take(bytes, offset, end) }),
  });
  let reading = guest.read({
    name,
    offset: BigInt(Math.min(args.offset ?? 0, Number.MAX_SAFE_INTEGER)),
    byte: BigInt(Math.min(args.byte ?? 0, Number.MAX_SAFE_INTEGER)),
    limit: Math.min(args.limit ?? limits.READ_CAP_LINES, limits.READ_CAP_LINES),
    textCap: limits.INTERVAL_CAP_BYTES,
    lineCap: limits.LINE_MAX_BYTES,
    whole,
    pageBytes: limits.PAGE_BYTES,
  });
  while (reading.kind === 'going') {
    if (call.meter.late()) return refused(spentError(at, call));
    if (!(await call.goOn())) return refused(cancelled(at));
    reading = guest.next();
  }
  if (reading.kind === 'failed' && reading.code === 'quota' && call.meter.spent === undefined) {
    throw new GuestFault('a budget that is not spent');
  }
  if (filesystem.changed) return refused(changedAfterJudged(at));
  if (reading.kind === 'failed' && reading.code !== 'quota' && isElsewhere(call, asked, file)) {
    return refused(changedAfterJudged(at));
  }
  return answer(call, at, asked, args, reading, filesystem, whole ? passed : undefined);
}

/**
 * Whether what was asked leads to another place or thing than the judged one now. Asked when wall 2 did not open it:
 * what it met instead, a link to a closed place or a hole, is not told. A disk that does not answer is no proof.
 */
function isElsewhere(call: Call, asked: Address, { address, look }: File): boolean {
  const landing = resolve(call.judged(), { base: [], path: asked });
  release(landing);
  if (landing.kind === 'failed') return false;
  if (landing.kind !== 'entry' || landing.address !== address) return true;
  // A disk gives the number of what was removed to what is made next, of whatever kind.
  return landing.look.kind !== look.kind || !sameIdentity(landing.look.identity, look.identity);
}

function answer(
  call: Call,
  at: Asked,
  asked: Address,
  args: ReadArgs,
  reading: Exclude<Reading, { kind: 'going' }>,
  filesystem: Filesystem,
  passed: Passed | undefined,
): Outcome<ReadValue> {
  switch (reading.kind) {
    case 'done':
      return ok(value(args, reading.slice, passed, filesystem.outgrown));
    case 'not-text':
      // Where a growing file is left, a character may be half written; anything else was met before.
      return refused(filesystem.outgrown ? growsOn(at) : notText(at, reading.looks));
    case 'past-line':
      return refused(
        invalidArgs(
          at,
          'byte is past the end of that line',
          'pass `next_byte` only with its `next_offset`, or omit byte',
        ),
      );
    case 'inside-character':
      return refused(
        invalidArgs(at, 'byte is inside a character', 'pass `next_byte` exactly as it was given, or omit byte'),
      );
    case 'failed':
      return refused(notOpened(call, at, asked, reading.code, filesystem));
  }
}

/** The answer, from what the guest cut; `passed` is what went by if the file was judged whole. */
function value(args: ReadArgs, slice: Slice, passed: Passed | undefined, outgrown: boolean): ReadValue {
  const offset = args.offset ?? 0;
  const { text, lines, more, cut } = slice;
  const bytes = encoder.encode(text).length;
  const version = passed?.version();
  const isWhole = version !== undefined && !outgrown;
  const pastTheEnd = lines === 0 && cut === undefined;
  check(slice, bytes, args, passed?.bytes);
  return {
    path: args.path,
    text,
    bytes,
    ...(isWhole && (more || pastTheEnd) && { total_lines: slice.totalLines }),
    ...(more && { next_offset: offset + lines }),
    ...(cut && { next_byte: cut.nextByte, cut_bytes: cut.cutBytes }),
    ...(isWhole && { version }),
    ...(!isWhole && { note: outgrown ? NOTE_OUTGROWN : NOTE_NOT_WHOLE }),
  };
}

const encoder = new TextEncoder();
const NOTE_OUTGROWN =
  `it grew while it was read, and was read up to ${sizeInWords(limits.GROWTH_SLACK_BYTES)} past its size at the open; ` +
  'no version and no total_lines';
const NOTE_NOT_WHOLE =
  `larger than ${sizeInWords(limits.READ_WHOLE_MAX_BYTES)}: only this interval was judged as text; ` +
  'no version and no total_lines';

/** Counts that do not fit the text or one another are a broken guest's. Linear in the text. */
function check(slice: Slice, bytes: number, args: ReadArgs, passedBytes: number | undefined): void {
  const fits =
    (slice.cut === undefined ? linesFit(slice, bytes, args) : cutFits(slice, slice.cut, bytes, args)) &&
    (passedBytes === undefined ||
      (totalFits(slice, (args.offset ?? 0) + slice.lines) && bytes <= passedBytes && slice.totalLines <= passedBytes));
  if (!fits) throw new GuestFault('counts that do not fit');
}

/** `next`: the line that follows what was given. Nothing at all is given only at the end or past it. */
function totalFits({ lines, more, totalLines }: Slice, next: number): boolean {
  if (more) return next < totalLines;
  return lines > 0 ? next === totalLines : next >= totalLines;
}

const linesFit = ({ text, lines, more }: Slice, bytes: number, args: ReadArgs): boolean =>
  lines === countLines(text) &&
  lines <= Math.min(args.limit ?? limits.READ_CAP_LINES, limits.READ_CAP_LINES) &&
  (lines > 0 || !more) &&
  (lines <= 1 || bytes <= limits.INTERVAL_CAP_BYTES);

/** A line is cut at its cap, or up to three bytes before it where a character would be: a caller always gets on. */
const cutFits = ({ text, lines, more }: Slice, cut: Cut, bytes: number, args: ReadArgs): boolean =>
  lines === 0 &&
  more &&
  !text.includes('\n') &&
  bytes > limits.LINE_MAX_BYTES - 4 &&
  cut.cutBytes > 0 &&
  cut.nextByte === (args.byte ?? 0) + bytes;

/** Lines of a text, a last one without its end too. */
const countLines = (text: string): number => text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);

/** What went by: counts only if it went by once, in order, from 0 to the end. */
class Passed {
  readonly #hasher: Awaited<ReturnType<typeof hasher>>;
  #next = 0;
  #ended = false;
  #ordered = true;

  constructor(hash: Awaited<ReturnType<typeof hasher>>) {
    this.#hasher = hash;
  }

  take(bytes: Uint8Array, offset: number, end: boolean): void {
    if (offset !== this.#next || (this.#ended && bytes.length > 0)) this.#ordered = false;
    this.#next += bytes.length;
    this.#ended ||= end;
    if (bytes.length > 0) this.#hasher.update(bytes);
  }

  /** How many went by. */
  get bytes(): number {
    return this.#next;
  }

  version(): string {
    if (!this.#ordered || !this.#ended) throw new GuestFault('read otherwise than once, in order, to the end');
    const digest = this.#hasher.digest('hex');
    giveBack(this.#hasher);
    return `cas:b3-${digest}`;
  }
}

// ---- refusals of its own ----

const isLocator = (path: string): boolean => path.startsWith('cas:') || path.startsWith('file:');

const noLocators = (at: Asked): AxError =>
  invalidArgs(
    at,
    'Locators (cas:, file:) are not served by this version',
    'read a file by its city address, like lab/notes.md',
  );

const missing = (at: Asked, nearby: readonly string[]): AxError => {
  const recovery = nearby.length > 0 ? 'read one of nearby, or find the file with `search`' : 'find it with `search`';
  return invalidArgs(at, 'there is no such file', recovery, nearby);
};

const isDirectory = (at: Asked, nearby: readonly string[]): AxError => {
  const some = nearby.length > 0 ? ' (nearby names some of what it holds)' : '';
  return invalidArgs(at, 'it is a directory', `read a file in it${some}, or \`search\` there`, nearby);
};

const growsOn = (at: Asked): AxError =>
  storageFatal(at, 'it grew while it was read', 'ask again once nothing writes to it', 'unknown');

const LOOKS_SENTENCES: Readonly<Record<Looks, string>> = {
  utf16: 'it looks like UTF-16',
  gb: 'it looks like text in a GB encoding (GB2312, GBK, GB18030)',
  binary: 'it looks like binary data',
  unknown: 'its encoding is not known',
};

const notText = (at: Asked, looks: Looks): AxError =>
  invalidArgs(
    at,
    'its bytes are not UTF-8',
    `${LOOKS_SENTENCES[looks]}; \`read\` hands over text: have it converted to UTF-8`,
  );
