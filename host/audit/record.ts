/**
 * One line of a receipt log: how it is written, chained and recognized. Text in, text out; no I/O. The log (log.ts)
 * makes lines of what the door decided, `verify` (verify.ts) reads them back.
 *
 * A line is one JSON object, closed by up to three digests, each of everything before it:
 *
 *     {"log":…,"seq":…, … ,"prev":"<64>","mac":"<64>","sum":"<16>"}
 *
 * `prev`: BLAKE3 of the whole line before (without its newline), which makes the chain. `mac`: keyed BLAKE3, only in
 * a log that is kept with a key. `sum`: the first digits of a BLAKE3, against accident alone: it lets a broken last
 * line be seen, which no later line vouches for.
 */

import { createBLAKE3 } from 'hash-wasm';
import { RECEIPT_KEY_BYTES, RECEIPT_LINE_MAX_BYTES } from '../limits.js';
import type { HandedKind } from '../runner/job.js';

/** How a key is kept, in words: for refusals and for `--help`. */
export const KEY_IN_WORDS = `${RECEIPT_KEY_BYTES} bytes, or ${2 * RECEIPT_KEY_BYTES} hex digits`;

/** What a person has to look at: a log, its lock or a key that is not as it should be. The message says what to do. */
export class ReceiptError extends Error {}

/** BLAKE3, 64 hex digits. */
export type Hash = string;

/** What was asked, or where it landed: never the text itself unless the log is kept `full`. */
export interface Digest {
  /** Keyed BLAKE3 with a key of this log: equal texts are equal, and who lacks the key cannot try texts out. */
  readonly hash: Hash;
  /** UTF-8 length of the text. */
  readonly bytes: number;
  /** Only in a log kept `full`; cut to RECEIPT_TEXT_MAX_BYTES with the usual marker. */
  readonly text?: string;
}

/** The decision about a call, as its line tells it. */
export interface CallFields {
  readonly kind: 'call';
  readonly tenant: string | null;
  readonly run: string | null;
  /** Null for a name that is no tool's. */
  readonly tool: string | null;
  /** By argument. Numbers and booleans as they are; all else as a digest. */
  readonly asked: Readonly<Record<string, Digest | number | boolean | null>>;
  readonly verdict: 'admitted' | 'refused' | 'failed';
  readonly code: string | null;
  /** The fact of the refusal, one of the project's own sentences: no path, no text of a caller. */
  readonly rule: string | null;
  /** The address of the directory the guest held, or null if there was no guest or nothing is known. */
  readonly landing: Digest | null;
  /** The kind of capability handed over; `unknown` for a call that was ended from outside. */
  readonly handed: HandedKind | 'none' | 'unknown';
  /** Null where nothing is known. */
  readonly opens: number | null;
  readonly entries: number | null;
  readonly bytes_read: number | null;
  /** UTF-8 length of the answer as JSON, value or error. */
  readonly bytes_out: number;
  /** Milliseconds from the call to its decision. */
  readonly ms: number;
  /** BLAKE3 of the component. */
  readonly component: Hash;
}

/** The first line of a log. */
export interface LogFields {
  readonly kind: 'log';
  readonly version: 1;
  /** The log this one goes on from. */
  readonly previous: { readonly log: string; readonly head: Hash } | null;
  /** Appends that failed since `previous`: what they held may stand between, acknowledged by nobody. */
  readonly failed: number;
  /** Whether its lines have a `mac`. */
  readonly keyed: boolean;
  readonly full: boolean;
  /** Which key made the digests: they can be compared between lines of one value. Tells nothing of the key. */
  readonly asked_key: string;
}

/** A log that goes on: opened again, or after a sink that failed or was late. */
export interface ResumedFields {
  readonly kind: 'resumed';
  readonly full: boolean;
  readonly asked_key: string;
  /** What stood after the last whole line, closed off by this one; null if nothing did. */
  readonly torn: Torn | null;
  /** Lines that the sink took after their time was over, by `seq`, first and last. */
  readonly late: readonly [first: number, last: number] | null;
  /** Decisions that have no line. */
  readonly lost: number;
  /** What became of the answers of the late and the lost ones. */
  readonly answers: 'withheld' | 'released' | null;
}

/** Bytes that are no whole line. */
export interface Torn {
  readonly bytes: number;
  /** BLAKE3 of them. */
  readonly hash: Hash;
}

/** What a line tells: the decision about a call, the beginning of a log, or that it went on. */
export type Fields = CallFields | LogFields | ResumedFields;

/** Where a line stands in its log. */
export interface Place {
  readonly log: string;
  readonly seq: number;
  /** Milliseconds since 1970. Tells when, never the order. */
  readonly timeMs: number;
  readonly prev: Hash;
}

/** What `prev` is in a first line that goes on from nothing. */
export const NO_HASH: Hash = '0'.repeat(64);

/** BLAKE3 of a text (as UTF-8) or of bytes, 64 hex digits; synchronous once it is made. */
export type Digester = (data: string | Uint8Array) => Hash;

/** A digester with a key of 32 bytes. Costs an instance of the compiled hasher, about a millisecond. */
export async function keyedDigester(key: Uint8Array): Promise<Digester> {
  const state = await createBLAKE3(256, key);
  return (data) => state.init().update(data).digest('hex');
}

/** The digester without a key: one for all, since it holds nothing between two calls. */
export function digester(): Promise<Digester> {
  plain ??= createBLAKE3().then((state) => (data) => state.init().update(data).digest('hex'));
  return plain;
}
let plain: Promise<Digester> | undefined;

/**
 * A digester of one log and purpose, derived from the embedder's key: the key of the digests does not make macs, and
 * no digest of one log can be found again in another.
 */
export async function derivedDigester(key: Uint8Array, purpose: 'asked' | 'mac', log: string): Promise<Digester> {
  const derived = (await createBLAKE3(256, key)).update(`portcullis receipts 1 ${purpose} ${log}`).digest('binary');
  return keyedDigester(derived);
}

const MAC_OPENS = ',"mac":"';
const SUM_OPENS = ',"sum":"';
const SUM_DIGITS = 16;
const LINE_CLOSES = '"}';
const SUM_SIZE = SUM_OPENS.length + SUM_DIGITS + LINE_CLOSES.length;
const MAC_SIZE = MAC_OPENS.length + 64 + 1;

/** Writes a line, without its newline. Throws for one over RECEIPT_LINE_MAX_BYTES, which no fields make. */
export function writeLine(fields: Fields, at: Place, plain: Digester, mac: Digester | undefined): string {
  const { log, seq, timeMs, prev } = at;
  const record = { log, seq, time: new Date(timeMs).toISOString(), ...fields, prev };
  let line = JSON.stringify(record).slice(0, -1);
  if (mac !== undefined) line += `${MAC_OPENS}${mac(line)}"`;
  line += `${SUM_OPENS}${plain(line).slice(0, SUM_DIGITS)}${LINE_CLOSES}`;
  if (Buffer.byteLength(line) > RECEIPT_LINE_MAX_BYTES) throw new Error('a receipt is longer than a line may be');
  return line;
}

/** A line that holds in itself: its `sum` fits, it is JSON, and it says where it stands. */
export interface Line {
  /** BLAKE3 of the line: the `prev` of the next one, and the head of a log that ends here. */
  readonly hash: Hash;
  readonly log: string;
  readonly seq: number;
  readonly prev: Hash;
  readonly fields: LogFields | ResumedFields | { readonly kind: 'call' };
  /** Whether its `mac` is that of the digester given; undefined for a line without one. */
  readonly macFits: ((mac: Digester) => boolean) | undefined;
}

/** Reads a line, given without its newline; undefined for bytes that are none. Linear in it. */
export function readLine(bytes: Uint8Array, plain: Digester): Line | undefined {
  if (bytes.length > RECEIPT_LINE_MAX_BYTES || bytes.length < SUM_SIZE) return undefined;
  const sumAt = bytes.length - SUM_SIZE;
  const sum = plain(bytes.subarray(0, sumAt)).slice(0, SUM_DIGITS);
  if (ascii(bytes.subarray(sumAt)) !== `${SUM_OPENS}${sum}${LINE_CLOSES}`) return undefined;
  const record = recordOf(bytes);
  if (record === undefined) return undefined;
  return { ...record, hash: plain(bytes), macFits: macOf(bytes.subarray(0, sumAt)) };
}

/**
 * Whether bytes that are no line end like one: then they are a line that was changed, and not the beginning of one
 * whose end was never written.
 */
export const endsLikeLine = (bytes: Uint8Array): boolean => ascii(bytes.subarray(-LINE_CLOSES.length)) === LINE_CLOSES;

function macOf(closed: Uint8Array): Line['macFits'] {
  const macAt = Math.max(0, closed.length - MAC_SIZE);
  const written = ascii(closed.subarray(macAt));
  if (!/^,"mac":"[0-9a-f]{64}"$/.test(written)) return undefined;
  return (mac) => written === `${MAC_OPENS}${mac(closed.subarray(0, macAt))}"`;
}

const ascii = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function recordOf(bytes: Uint8Array): Pick<Line, 'log' | 'seq' | 'prev' | 'fields'> | undefined {
  let record: unknown;
  try {
    record = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    // Bytes that are not UTF-8 (TypeError) or text that is not JSON (SyntaxError) are no line.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    return undefined;
  }
  if (typeof record !== 'object' || record === null) return undefined;
  const { log, seq, prev } = record as Record<string, unknown>; // an object has fields of any type
  const fields = fieldsOf(record);
  if (typeof log !== 'string' || !isCount(seq) || !isHash(prev) || fields === undefined) return undefined;
  return { log, seq, prev, fields };
}

/** What the chain needs of a line's fields; of a call, nothing. */
function fieldsOf(record: object): Line['fields'] | undefined {
  const { kind, previous, failed, keyed, torn } = record as Record<string, unknown>; // as above
  switch (kind) {
    case 'call':
      return { kind };
    case 'log':
      return typeof keyed === 'boolean' && isCount(failed) && isPrevious(previous) ? (record as LogFields) : undefined;
    case 'resumed':
      return isTorn(torn) ? (record as ResumedFields) : undefined;
    default:
      return undefined;
  }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isHash = (value: unknown): value is Hash => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

function isPrevious(value: unknown): value is LogFields['previous'] {
  if (typeof value !== 'object') return false;
  const { log, head } = (value ?? { log: '', head: NO_HASH }) as Record<string, unknown>; // an object, as above
  return typeof log === 'string' && isHash(head);
}

function isTorn(value: unknown): value is Torn | null {
  if (typeof value !== 'object') return false;
  const { bytes, hash } = (value ?? { bytes: 0, hash: NO_HASH }) as Record<string, unknown>; // an object, as above
  return isCount(bytes) && isHash(hash);
}
