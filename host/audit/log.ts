/**
 * A log under way: gives each decision its place in the chain and hands lines to the embedder's sink, many decisions
 * in one append. Between the door (receipts.ts) and the sink; a decision is answered when its line was taken.
 *
 * One append at a time, in the order of `seq`. A sink that fails or is late fails every decision that waited for it;
 * the next decision tries again. What the sink may have taken in spite of that is never guessed at: a sink that can
 * say where it stands (file.ts) is asked, and for any other a new log begins that names the last head it took.
 */

import { echo } from '../error.js';
import { RECEIPT_GROUP_MAX_LINES, RECEIPT_QUEUE_MAX, RECEIPT_TEXT_MAX_BYTES } from '../limits.js';
import {
  type CallFields,
  type Digest,
  type Digester,
  derivedDigester,
  digester,
  type Fields,
  type Hash,
  keyedDigester,
  type Line,
  type LogFields,
  NO_HASH,
  ReceiptError,
  type ResumedFields,
  readLine,
  type Torn,
  writeLine,
} from './record.js';

/** Where receipts go: the embedder's. Tenants that share one share its fate; give each its own. */
export interface Sink {
  /**
   * Takes whole lines, newline included, at the end of what it took before. Done when they will survive a crash.
   * Rejects if not; `signal` fires when its time is over, and then it should reject. Never called again before it
   * settled: one that never does keeps its tenants closed.
   */
  append(lines: string, signal: AbortSignal): Promise<void>;
}

/** A sink that knows what it holds: after a crash or a failed append its log goes on instead of a new one beginning. */
export interface KeptSink extends Sink {
  /** Asked before the first line and after each append that failed. */
  stand(): Promise<Standing>;
  /** Whether the next line should begin a new log. */
  isFull(): boolean;
  /** Puts the full log aside. */
  turn(): Promise<void>;
}

/** Where a kept log stands. Lines without their newlines. */
export interface Standing {
  /** Its last whole line; null: nothing stands there. */
  readonly last: Uint8Array | null;
  /** What stands behind that. */
  readonly torn: Torn | null;
  /** If nothing stands there: the last line of the log put aside before, or null. */
  readonly before: Uint8Array | null;
}

/** How a log is kept, and what is told about it. */
export interface LogOptions {
  /** 32 bytes. With it each line has a `mac`, and its digests can be made again; without, they cannot. */
  readonly key?: Uint8Array | undefined;
  /** Whether the texts themselves are kept. */
  readonly full: boolean;
  /** What becomes of answers whose line was not taken: only told in the log. */
  readonly answers: 'withheld' | 'released';
  /** Milliseconds one append may take. */
  readonly timeMs: number;
  /** Told why a sink did not take lines: for whoever runs it. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

/** Makes the fields of a decision, with the digests of the log it goes into. */
export type MakeFields = (digest: (text: string) => Digest) => CallFields;

interface Waiting {
  readonly make: MakeFields;
  readonly timeMs: number;
  settle(isTaken: boolean): void;
}

/** A log that lines can be added to. */
interface Open {
  readonly log: string;
  /** Of the next line. */
  readonly seq: number;
  /** The `prev` of the next line. */
  readonly head: Hash;
  readonly mac: Digester | undefined;
  readonly asked: Digester;
  /** The log's first line, if that is still to come. */
  readonly first?: LogFields;
  /** A log that goes on and has not said so yet. */
  readonly resumes?: { readonly torn: Torn | null };
}

/** Lines that were handed to the sink, by `seq`. */
interface Attempt {
  readonly log: string;
  readonly first: number;
  readonly last: number;
}

/** What waits to be told in the next `resumed` line. */
interface Gap {
  readonly late: readonly [number, number] | null;
  readonly lost: number;
}
const NO_GAP: Gap = { late: null, lost: 0 };

/** One log under way, on one sink. Holds the decisions that wait, at most RECEIPT_QUEUE_MAX, and one append. */
export class Log {
  readonly #sink: Sink | KeptSink;
  readonly #options: LogOptions;
  readonly #plain: Digester;
  /** Undefined: where the sink stands is not known. */
  #open: Open | undefined;
  /** The last line the sink is known to hold. */
  #taken: { readonly log: string; readonly seq: number; readonly head: Hash } | undefined;
  #attempt: Attempt | undefined;
  /** Appends that failed since then. */
  #failed = 0;
  #gap = NO_GAP;
  readonly #waiting: Waiting[] = [];
  #isGiving = false;
  #isOverdue = false;

  private constructor(sink: Sink | KeptSink, options: LogOptions, plain: Digester) {
    this.#sink = sink;
    this.#options = options;
    this.#plain = plain;
  }

  /** A log on this sink. Touches nothing yet. */
  static async on(sink: Sink | KeptSink, options: LogOptions): Promise<Log> {
    return new Log(sink, options, await digester());
  }

  /** Looks where the sink stands, so that a key that does not fit is said now. Throws what stands in the way. */
  async ready(): Promise<void> {
    this.#open ??= await this.#stand();
  }

  /** Whether an append is under way past its time: nothing can be taken before it settles. */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  /** Counts a decision that was not worth offering. */
  miss(): void {
    this.#lose(1);
  }

  /**
   * Adds a decision. Whether its line was taken in time; a decision that was not is counted in a later line. At most
   * twice the time of an append: the one under way, and its own.
   */
  offer(make: MakeFields, timeMs: number): Promise<boolean> {
    if (this.#isOverdue || this.#waiting.length >= RECEIPT_QUEUE_MAX) {
      this.#lose(1);
      return Promise.resolve(false);
    }
    return new Promise((settle) => {
      this.#waiting.push({ make, timeMs, settle });
      void this.#giveAll();
    });
  }

  async #giveAll(): Promise<void> {
    if (this.#isGiving) return;
    this.#isGiving = true;
    while (this.#waiting.length > 0) await this.#give(this.#waiting.splice(0, RECEIPT_GROUP_MAX_LINES));
    this.#isGiving = false;
  }

  async #give(group: readonly Waiting[]): Promise<void> {
    const { timeMs, onTrouble } = this.#options;
    const overdue = new AbortController();
    const timer = setTimeout(() => {
      this.#isOverdue = true;
      const late = [...group, ...this.#waiting];
      this.#lose(this.#waiting.length);
      this.#waiting.length = 0;
      overdue.abort(new Error(`the audit sink did not settle within ${timeMs} ms`));
      for (const { settle } of late) settle(false);
    }, timeMs);
    try {
      const { first, last } = await this.#write(group, overdue.signal);
      if (this.#isOverdue) this.#gap = { ...this.#gap, late: joined(this.#gap.late, [first, last]) };
    } catch (error) {
      // Refuses: the decisions have no line, whatever the reason, and the sink is asked where it stands before the next.
      this.#open = undefined;
      this.#failed++;
      this.#lose(group.length);
      onTrouble?.(error);
      for (const { settle } of group) settle(false);
    }
    clearTimeout(timer);
    this.#isOverdue = false;
    for (const { settle } of group) settle(true); // settled ones stay as they are
  }

  #lose(count: number): void {
    this.#gap = { ...this.#gap, lost: this.#gap.lost + count };
  }

  /** Writes the group's lines behind whatever has to come first. Rejects if the sink does. */
  async #write(group: readonly Waiting[], signal: AbortSignal): Promise<Attempt> {
    const open = await this.#next();
    const told = this.#gap;
    const digest = (text: string): Digest => this.#digest(open, text);
    const nowMs = Date.now();
    const before = this.#before(open, told);
    const { lines, seq, head } = this.#chain(open, [
      ...before.map((fields) => ({ fields, timeMs: nowMs })),
      ...group.map(({ make, timeMs }) => ({ fields: make(digest), timeMs })),
    ]);
    const attempt = { log: open.log, first: open.seq + before.length, last: seq - 1 };
    this.#attempt = attempt;
    await this.#sink.append(lines, signal);
    const { log, mac, asked } = open;
    this.#attempt = undefined;
    this.#failed = 0;
    this.#open = { log, seq, head, mac, asked };
    this.#taken = { log, seq: seq - 1, head };
    this.#gap = { late: null, lost: this.#gap.lost - told.lost };
    return attempt;
  }

  /** The lines that have to stand before the next decision's. */
  #before({ asked, first, resumes }: Open, { late, lost }: Gap): Fields[] {
    const isWhole = late === null && lost === 0;
    const { full, answers } = this.#options;
    const resumed: ResumedFields = {
      kind: 'resumed',
      full,
      asked_key: whichKey(asked),
      torn: resumes?.torn ?? null,
      late,
      lost,
      answers: isWhole ? null : answers,
    };
    return [...(first ? [first] : []), ...(resumes || !isWhole ? [resumed] : [])];
  }

  #chain(open: Open, entries: readonly { readonly fields: Fields; readonly timeMs: number }[]) {
    let { seq, head } = open;
    let lines = '';
    for (const { fields, timeMs } of entries) {
      const line = writeLine(fields, { log: open.log, seq, timeMs, prev: head }, this.#plain, open.mac);
      lines += `${line}\n`;
      head = this.#plain(line);
      seq++;
    }
    return { lines, seq, head };
  }

  #digest(open: Open, text: string): Digest {
    const digest = { hash: open.asked(text), bytes: Buffer.byteLength(text) };
    return this.#options.full ? { ...digest, text: echo(text, RECEIPT_TEXT_MAX_BYTES) } : digest;
  }

  /** The log the next lines go into: the one that is open, or, if that is full or none is, another. */
  async #next(): Promise<Open> {
    const open = this.#open ?? (await this.#stand());
    if (!isKept(this.#sink) || !this.#sink.isFull() || open.seq === 0) return open;
    await this.#sink.turn();
    return this.#begin({ log: open.log, head: open.head });
  }

  /** Finds out where the sink stands. Throws if that is not where its lines left it. */
  async #stand(): Promise<Open> {
    if (!isKept(this.#sink)) return this.#begin(this.#taken ?? null);
    const { last, torn, before } = await this.#sink.stand();
    if (last === null) return this.#begin(this.#previousIn(before));
    const line = this.#checked(last);
    this.#settleAttempt(line);
    const mac = await this.#macOf(line.log);
    if (!fitsKey(line, mac)) throw new ReceiptError(WRONG_KEY);
    const asked = await this.#askedOf(line.log);
    return { log: line.log, seq: line.seq + 1, head: line.hash, mac, asked, resumes: { torn } };
  }

  /** What an empty log goes on from. */
  #previousIn(before: Uint8Array | null): LogFields['previous'] {
    const line = before === null ? undefined : this.#checked(before);
    if (this.#taken !== undefined && line?.hash !== this.#taken.head) throw new ReceiptError(LINES_GONE);
    return line === undefined ? null : { log: line.log, head: line.hash };
  }

  /** Lines of a failed append that are there after all were late, not lost. */
  #settleAttempt(line: Line): void {
    const [attempt, taken] = [this.#attempt, this.#taken];
    const isOurs = line.log === attempt?.log || taken === undefined || line.log === taken.log;
    if (!isOurs || (line.log === taken?.log && line.seq < taken.seq)) throw new ReceiptError(LINES_GONE);
    this.#attempt = undefined;
    if (attempt === undefined || attempt.log !== line.log || line.seq < attempt.first) return;
    const late = [attempt.first, Math.min(attempt.last, line.seq)] as const;
    this.#gap = { late: joined(this.#gap.late, late), lost: this.#gap.lost - (late[1] - late[0] + 1) };
  }

  async #begin(previous: LogFields['previous']): Promise<Open> {
    const log = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('hex');
    const [mac, asked] = [await this.#macOf(log), await this.#askedOf(log)];
    const { full } = this.#options;
    const [keyed, failed] = [mac !== undefined, this.#failed];
    const from = previous && { log: previous.log, head: previous.head };
    const first: LogFields = {
      kind: 'log',
      version: 1,
      previous: from,
      failed,
      keyed,
      full,
      asked_key: whichKey(asked),
    };
    return { log, seq: 0, head: from?.head ?? NO_HASH, mac, asked, first };
  }

  #checked(bytes: Uint8Array): Line {
    const line = readLine(bytes, this.#plain);
    if (line === undefined) throw new ReceiptError('the audit log ends in what is no receipt');
    return line;
  }

  async #macOf(log: string): Promise<Digester | undefined> {
    return this.#options.key && derivedDigester(this.#options.key, 'mac', log);
  }

  #askedOf(log: string): Promise<Digester> {
    const { key } = this.#options;
    return key === undefined
      ? keyedDigester(crypto.getRandomValues(new Uint8Array(32)))
      : derivedDigester(key, 'asked', log);
  }
}

const WRONG_KEY =
  'the audit log is kept with another key, or without one: give the key it was begun with, or begin a new log';

const LINES_GONE = 'the audit log does not hold the lines it took: somebody cut it or put another in its place';

const fitsKey = ({ macFits }: Line, mac: Digester | undefined): boolean =>
  mac === undefined ? macFits === undefined : macFits?.(mac) === true;

const isKept = (sink: Sink | KeptSink): sink is KeptSink => 'stand' in sink;

const whichKey = (asked: Digester): string => asked('portcullis receipts: which key').slice(0, 16);

/** The range of both. */
const joined = (known: Gap['late'], more: readonly [number, number]): readonly [number, number] =>
  known === null ? more : [Math.min(known[0], more[0]), Math.max(known[1], more[1])];
