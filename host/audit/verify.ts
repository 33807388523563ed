/**
 * Verifying a receipt log: every line is held against the chain, in one pass and bounded memory, and the first line
 * that does not hold is named. Beside the path of a call: `portcullis audit verify`. No I/O of its own.
 *
 * A chain shows what somebody changed who could not, or did not, write all of it anew. Who can write the file can;
 * against them stands a key they lack, or a head that was kept elsewhere, which also is what shows a cut tail.
 */

import { createBLAKE3 } from 'hash-wasm';
import { RECEIPT_GROUP_MAX_LINES, RECEIPT_LINE_MAX_BYTES } from '../limits.js';
import {
  type Digester,
  derivedDigester,
  digester,
  endsLikeLine,
  type Hash,
  type Line,
  type LogFields,
  NO_HASH,
  readLine,
} from './record.js';

/** One file of a log. */
export interface LogFile {
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** What the verifier has besides the log: each shows more than the chain alone. */
export interface VerifyOptions {
  /** The key the log is kept with. Then every line's mac must fit. */
  readonly key?: Uint8Array | undefined;
  /** A head that was kept elsewhere: the hash of some line of the log. */
  readonly head?: Hash | undefined;
}

/** What came of it. `lines`, `head` and `seq` tell how far the log holds: up to the first bad line, if there is one. */
export interface Verified {
  /**
   * `torn`: it ends within a line, as after a crash, and holds up to there. `cut`: it holds, and the head that was kept
   * is not in it. `changed`: a line was changed, dropped, inserted or moved.
   */
  readonly verdict: 'intact' | 'torn' | 'cut' | 'changed';
  readonly lines: number;
  /** Logs in it, each going on from the one before. */
  readonly logs: number;
  /** BLAKE3 of the last line that holds; null if none does. */
  readonly head: Hash | null;
  readonly seq: number | null;
  /** What the first log goes on from, which was not looked at. */
  readonly previous: LogFields['previous'];
  readonly bad: { readonly file: string; readonly line: number; readonly why: string } | null;
  /** Places where a crash cut a line and the log went on. */
  readonly torn: number;
  /** Decisions that have no line, as the log itself says. */
  readonly lost: number;
  /** Lines after the one whose hash is the head that was kept; null without one. */
  readonly since_head: number | null;
  /** What stands against somebody who can write the file. */
  readonly proof: 'key and head' | 'key' | 'head' | 'none';
}

/** Verifies files in the order they were written. Linear; holds a line, and the hashes of one append. */
export async function verifyLog(files: Iterable<LogFile>, options: VerifyOptions = {}): Promise<Verified> {
  const chain = new Chain(options, await digester());
  for (const { name, chunks } of files) {
    chain.enter(name);
    for await (const piece of lines(chunks)) {
      await chain.take(piece);
      if (chain.isBroken) return chain.verified();
    }
    chain.leave();
    if (chain.isBroken) break;
  }
  return chain.verified();
}

/** A piece of a file between newlines. */
interface Piece {
  /** At most a little over RECEIPT_LINE_MAX_BYTES of it: more is no line, and goes on in the next piece. */
  readonly bytes: Uint8Array;
  /** `newline`: it is whole. `end`: the file ends without one. `long`: it goes on. */
  readonly ends: 'newline' | 'end' | 'long';
}

const NEWLINE = 0x0a;

async function* lines(chunks: LogFile['chunks']): AsyncGenerator<Piece> {
  let held: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield { bytes: bytes.subarray(start, end), ends: 'newline' };
      start = end + 1;
    }
    held = Uint8Array.from(bytes.subarray(start)); // a copy: whoever gives chunks may use theirs again
    if (held.length > RECEIPT_LINE_MAX_BYTES) {
      yield { bytes: held, ends: 'long' };
      held = new Uint8Array(0);
    }
  }
  if (held.length > 0) yield { bytes: held, ends: 'end' };
}

/** Bytes that are no line, where a line was expected: torn, if a later line says so or the file ends in them. */
interface Gap {
  readonly line: number;
  readonly bytes: number;
  /** Whether each newline in it follows the beginning of a line, and not a whole one that was changed. */
  readonly isCut: boolean;
  readonly isEnded: boolean;
  readonly why: string;
}

class Chain {
  readonly #options: VerifyOptions;
  readonly #plain: Digester;
  /** Hashes what is no line, piece by piece. */
  #gapHash: Awaited<ReturnType<typeof createBLAKE3>> | undefined;
  #file = '';
  /** Lines of this file that were looked at. */
  #number = 0;
  #isFirstOfFile = true;
  #last: { readonly log: string; readonly seq: number; readonly hash: Hash } | undefined;
  #keyed = false;
  #mac: Digester | undefined;
  #gap: Gap | undefined;
  /** Hashes of the last lines, oldest first: what a log that begins after a failed append may go on from. */
  #recent: Hash[] = [];
  #lines = 0;
  #logs = 0;
  #torn = 0;
  #lost = 0;
  /** The same before the log that is being read. */
  #lostBefore = 0;
  #isTorn = false;
  #headAt: number | undefined;
  #previous: LogFields['previous'] = null;
  /** What the log that is being read goes on from. */
  #from: LogFields['previous'] = null;
  #bad: Verified['bad'] = null;

  constructor(options: VerifyOptions, plain: Digester) {
    this.#options = options;
    this.#plain = plain;
  }

  get isBroken(): boolean {
    return this.#bad !== null;
  }

  enter(file: string): void {
    if (this.#isTorn) return this.#break('the file before it ends within a line', 1, file);
    this.#file = file;
    this.#number = 0;
    this.#isFirstOfFile = true;
  }

  async take({ bytes, ends }: Piece): Promise<void> {
    const goesOn = this.#gap !== undefined && !this.#gap.isEnded;
    if (!goesOn) this.#number++;
    const line = ends === 'newline' && !goesOn ? readLine(bytes, this.#plain) : undefined;
    if (line === undefined) return this.#widenGap(bytes, ends);
    if (this.#gap !== undefined && !this.#closesGap(line, this.#gap)) return this.#break(this.#gap.why, this.#gap.line);
    const wrong = await this.#wrongWith(line);
    if (wrong !== undefined) return this.#break(wrong);
    this.#accept(line);
  }

  /** The end of a file: what is no line there is torn, or was changed. */
  leave(): void {
    const gap = this.#gap;
    if (gap === undefined) return;
    if (gap.isCut && !gap.isEnded) this.#isTorn = true;
    else this.#break(gap.why, gap.line);
  }

  verified(): Verified {
    const { key, head } = this.#options;
    const isFound = head === undefined || this.#headAt !== undefined;
    return {
      verdict: this.#bad !== null ? 'changed' : !isFound ? 'cut' : this.#isTorn ? 'torn' : this.#ending(),
      lines: this.#lines,
      logs: this.#logs,
      head: this.#last?.hash ?? null,
      seq: this.#last?.seq ?? null,
      previous: this.#previous,
      bad: this.#bad,
      torn: this.#torn,
      lost: this.#lost,
      since_head: this.#headAt === undefined ? null : this.#lines - this.#headAt,
      proof: key === undefined ? (head === undefined ? 'none' : 'head') : head === undefined ? 'key' : 'key and head',
    };
  }

  /** A log has a first line: an empty file is one that was cut to nothing. */
  #ending(): 'intact' | 'cut' {
    return this.#lines > 0 ? 'intact' : 'cut';
  }

  #break(why: string, line = this.#number, file = this.#file): void {
    this.#bad ??= { file, line, why };
  }

  // ---- what is no line ----

  async #widenGap(bytes: Uint8Array, ends: Piece['ends']): Promise<void> {
    const known = this.#gap;
    this.#gapHash ??= await createBLAKE3();
    if (known === undefined) this.#gapHash.init();
    // The newline that closed the piece before is part of what was torn only if more of it follows.
    else if (known.isEnded) this.#gapHash.update(new Uint8Array([NEWLINE]));
    this.#gapHash.update(bytes);
    this.#gap = {
      line: known?.line ?? this.#number,
      bytes: (known === undefined ? 0 : known.bytes + Number(known.isEnded)) + bytes.length,
      isCut: (known?.isCut ?? true) && (ends !== 'newline' || !endsLikeLine(bytes)),
      isEnded: ends === 'newline',
      why: known?.why ?? 'it is not a line that was written: something in it was changed',
    };
  }

  /** Whether the line says that these very bytes were torn. */
  #closesGap({ fields, prev }: Line, gap: Gap): boolean {
    if (fields.kind !== 'resumed' || fields.torn === null || prev !== this.#last?.hash) return false;
    return gap.isEnded && fields.torn.bytes === gap.bytes && fields.torn.hash === this.#gapHash?.digest('hex');
  }

  // ---- what is one ----

  async #wrongWith(line: Line): Promise<string | undefined> {
    if (line.fields.kind === 'log') return this.#wrongWithFirst(line, line.fields);
    const last = this.#last;
    if (last === undefined) return 'the first line does not begin a log';
    if (this.#isFirstOfFile) return 'the first line of a file begins a log that goes on from the file before it';
    if (line.log !== last.log) return 'it is a line of another log';
    if (line.prev !== last.hash || line.seq !== last.seq + 1) {
      return 'it does not follow the line before it: one was changed, dropped, inserted or moved';
    }
    if (line.fields.kind === 'resumed' && line.fields.torn !== null && this.#gap === undefined) {
      return 'it closes off a torn line that is not there';
    }
    return this.#wrongMac(line);
  }

  async #wrongWithFirst(line: Line, fields: LogFields): Promise<string | undefined> {
    const { previous, keyed } = fields;
    if (line.seq !== 0 || line.prev !== (previous?.head ?? NO_HASH))
      return 'it does not begin a log as the first line does';
    if (this.#last !== undefined && !this.#isGoneOnFrom(this.#last, fields)) {
      return 'it begins a log that does not go on from the one before it';
    }
    const { key } = this.#options;
    if (key !== undefined && !keyed) return 'it begins a log that is kept without a key';
    this.#keyed = keyed;
    this.#mac = key && (await derivedDigester(key, 'mac', line.log));
    return this.#wrongMac(line);
  }

  /**
   * A log goes on from where the one before it ends. In one file it may also follow lines that nobody acknowledged: some
   * of the last ones of a log, or a log as a whole, which then goes on from the same place.
   */
  #isGoneOnFrom(last: { readonly log: string; readonly hash: Hash }, { previous, failed }: LogFields): boolean {
    if (previous?.log === last.log && previous.head === last.hash) return true;
    if (this.#isFirstOfFile || failed === 0) return false;
    if (previous?.log === last.log) return this.#recent.includes(previous.head);
    return previous?.log === this.#from?.log && previous?.head === this.#from?.head;
  }

  #wrongMac({ macFits }: Line): string | undefined {
    if ((macFits !== undefined) !== this.#keyed) return 'it has a mac where the log has none, or none where it has';
    if (this.#mac !== undefined && macFits?.(this.#mac) !== true) return 'its mac is not that of the key';
    return undefined;
  }

  #accept(line: Line): void {
    const { fields, log, seq, hash } = line;
    if (this.#gap !== undefined) this.#torn++;
    this.#gap = undefined;
    if (fields.kind === 'log') this.#beginLog(fields);
    if (fields.kind === 'resumed') this.#lost += Number(fields.lost);
    this.#isFirstOfFile = false;
    this.#last = { log, seq, hash };
    this.#lines++;
    if (hash === this.#options.head) this.#headAt = this.#lines;
    this.#recent.push(hash);
    if (this.#recent.length > 4 * RECEIPT_GROUP_MAX_LINES)
      this.#recent = this.#recent.slice(-2 * RECEIPT_GROUP_MAX_LINES);
  }

  #beginLog({ previous }: LogFields): void {
    if (this.#logs === 0) {
      this.#previous = previous;
      if (previous !== null && previous.head === this.#options.head) this.#headAt = 0;
    }
    // A log nobody acknowledged is told of by the one that begins anew: what it told itself is told again there.
    if (previous?.log !== this.#last?.log) this.#lost = this.#lostBefore;
    this.#lostBefore = this.#lost;
    this.#logs++;
    this.#from = previous;
    this.#recent = [];
  }
}
