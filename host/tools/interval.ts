/**
 * An interval of one judged file: the guest is handed a directory that holds exactly that one, and what it cuts becomes
 * the answer, checked and with its `version`. What is read, and why it may be, was decided before, in read.ts and its
 * neighbours: a file of the city, a block, a document or a package of a shelf, bytes of a commit.
 * Spec: read.
 */

import { z } from 'zod';
import {
  type Asked,
  type AxError,
  cancelled,
  casCorrupt,
  changedAfterJudged,
  invalidArgs,
  type Outcome,
  ok,
  refused,
  storageFatal,
} from '../error.js';
import * as limits from '../limits.js';
import { type Call, type GuestOptions, giveBack, hasher } from '../runner/call.js';
import type { Filesystem } from '../wasi/filesystem.js';
import { GuestFault, type Looks, type Reading, type Slice } from '../wasi/guest.js';
import type { Preopen } from '../wasi/handles.js';
import { notOpened, spentError } from './locating.js';
import { sizeInWords } from './unread.js';

/** Which lines: what `read` was asked, validated and not yet clamped. */
export interface Interval {
  /** As the caller wrote it; the answer repeats it. */
  readonly path: string;
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
  readonly byte?: number | undefined;
}

const count = z.number().int().nonnegative();
/** What a read answers, as data: types and JSON Schema are derived from it. */
export const intervalSchema = z.strictObject({
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
export type IntervalValue = z.infer<typeof intervalSchema>;

/** One file that may be read, and how the guest comes to hold it. */
export interface Source {
  /** What `call.open` is told; its preopen holds the one name. */
  readonly guest: Omit<GuestOptions, 'preopen' | 'tap'> & { readonly preopen: Preopen & { readonly kind: 'single' } };
  /** As it was judged. */
  readonly sizeBytes: number;
  /** Whether the answer names its bytes: not where what was asked is their name already. */
  readonly versioned: boolean;
  /** What its bytes must hash to, where what was asked is their name: else nothing of them is handed out. */
  readonly mustBe?: Named;
  /** Said in the answer. */
  readonly note?: string;
  /**
   * Whether what was asked leads to another place or thing than the judged one now. Asked when wall 2 did not open it:
   * what it met instead is not told.
   */
  readonly isElsewhere: () => boolean;
}

/** What a source is named by. */
export interface Named {
  /** BLAKE3 of the whole, 64 hex digits. */
  readonly hash: string;
  /**
   * Whether it is what its name says, asked by the host itself where the guest did not come to its end: it stopped at
   * bytes that are no text, which may be the ones that were changed.
   */
  readonly holds: () => Promise<boolean>;
}

type Cut = NonNullable<Slice['cut']>;

/**
 * Cuts the interval out of the source. One pass over the whole file, if it is at most READ_WHOLE_MAX_BYTES; flat memory.
 */
export async function cutInterval(
  call: Call,
  at: Asked,
  asked: Interval,
  source: Source,
): Promise<Outcome<IntervalValue>> {
  const whole = source.sizeBytes <= limits.READ_WHOLE_MAX_BYTES;
  const passed = new Passed(await hasher());
  const { name, path } = source.guest.preopen;
  const { guest, filesystem } = call.open({
    ...source.guest,
    ...(whole && { tap: (bytes: Uint8Array, offset: number, end: boolean) => passed.take(bytes, offset, end) }),
  });
  let reading = guest.read({
    name,
    offset: BigInt(Math.min(asked.offset ?? 0, Number.MAX_SAFE_INTEGER)),
    byte: BigInt(Math.min(asked.byte ?? 0, Number.MAX_SAFE_INTEGER)),
    limit: Math.min(asked.limit ?? limits.READ_CAP_LINES, limits.READ_CAP_LINES),
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
  if (reading.kind === 'failed' && reading.code !== 'quota' && source.isElsewhere()) {
    return refused(changedAfterJudged(at));
  }
  if (source.mustBe !== undefined && whole && !(await isNamedSo(source.mustBe, reading, passed, filesystem.outgrown))) {
    return refused(casCorrupt(at));
  }
  return answer(call, at, asked, path, source, reading, filesystem, whole ? passed : undefined);
}

/** Whether what went by is what its name says. Nothing went by, or not all of it, where it did not open. */
async function isNamedSo(
  named: Named,
  reading: Exclude<Reading, { kind: 'going' }>,
  passed: Passed,
  outgrown: boolean,
): Promise<boolean> {
  switch (reading.kind) {
    case 'failed':
      return true;
    case 'not-text':
      return named.holds();
    default:
      return !outgrown && passed.version() === `cas:b3-${named.hash}`;
  }
}

function answer(
  call: Call,
  at: Asked,
  asked: Interval,
  shown: string,
  source: Source,
  reading: Exclude<Reading, { kind: 'going' }>,
  filesystem: Filesystem,
  passed: Passed | undefined,
): Outcome<IntervalValue> {
  switch (reading.kind) {
    case 'done':
      return ok(value(asked, source, reading.slice, passed, filesystem.outgrown));
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
      return refused(notOpened(call, at, shown, reading.code, filesystem));
  }
}

/** The answer, from what the guest cut; `passed` is what went by if the file was judged whole. */
function value(
  args: Interval,
  { versioned, note }: Source,
  slice: Slice,
  passed: Passed | undefined,
  outgrown: boolean,
): IntervalValue {
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
    ...(isWhole && versioned && { version }),
    ...(isWhole ? note !== undefined && { note } : { note: outgrown ? NOTE_OUTGROWN : NOTE_NOT_WHOLE }),
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
function check(slice: Slice, bytes: number, args: Interval, passedBytes: number | undefined): void {
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

const linesFit = ({ text, lines, more }: Slice, bytes: number, args: Interval): boolean =>
  lines === countLines(text) &&
  lines <= Math.min(args.limit ?? limits.READ_CAP_LINES, limits.READ_CAP_LINES) &&
  (lines > 0 || !more) &&
  (lines <= 1 || bytes <= limits.INTERVAL_CAP_BYTES);

/** A line is cut at its cap, or up to three bytes before it where a character would be: a caller always gets on. */
const cutFits = ({ text, lines, more }: Slice, cut: Cut, bytes: number, args: Interval): boolean =>
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
  #version: string | undefined;

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
    this.#version ??= this.#digest();
    return this.#version;
  }

  #digest(): string {
    const digest = this.#hasher.digest('hex');
    giveBack(this.#hasher);
    return `cas:b3-${digest}`;
  }
}

// ---- refusals ----

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
