/** Logs for the tests of receipts: kept in memory, with sinks that fail or hang as they are told, and read back line by line. */

import { Log, type LogOptions, type Sink } from '../../dist/audit/log.js';
import type { CallFields } from '../../dist/audit/record.js';
import { type Verified, type VerifyOptions, verifyLog } from '../../dist/audit/verify.js';

export const KEY = new Uint8Array(32).fill(7);
export const OTHER_KEY = new Uint8Array(32).fill(8);

/** What a sink does with an append: takes it, fails before or after it took it, or never settles until `release`. */
export type Mood = 'takes' | 'fails' | 'takes and fails' | 'hangs' | 'throws';

/** A sink in memory, whose mood a test changes. */
export class MemorySink implements Sink {
  text = '';
  appends = 0;
  mood: Mood = 'takes';
  #release = (): void => {};

  append(lines: string): Promise<void> {
    this.appends++;
    if (this.mood === 'throws') throw new Error('canary: the sink threw');
    if (this.mood === 'hangs') {
      return new Promise((resolve) => {
        this.#release = () => {
          this.text += lines;
          resolve();
        };
      });
    }
    if (this.mood !== 'fails') this.text += lines;
    return this.mood === 'takes' ? Promise.resolve() : Promise.reject(new Error('canary: the sink failed'));
  }

  /** Takes what hangs, late. */
  release(): void {
    this.#release();
  }
}

/** A decision as fields; only `run` tells one from another. */
export const decision = (run: string): CallFields => ({
  kind: 'call',
  tenant: 'a tenant',
  run,
  tool: 'read',
  asked: { path: { hash: '1'.repeat(64), bytes: 5 }, offset: 2 },
  verdict: 'refused',
  code: 'E_GATE_DENIED',
  rule: 'it is in a confidential building',
  landing: null,
  handed: 'none',
  opens: 1,
  entries: 2,
  bytes_read: 3,
  bytes_out: 4,
  ms: 0.5,
  component: '2'.repeat(64),
});

export const OPTIONS: LogOptions = { full: false, answers: 'withheld', timeMs: 5_000 };

/** A whole log of `calls` decisions, a decision a line; one append each. Its first line makes it `calls + 1` long. */
export async function logOf(calls: number, options: Partial<LogOptions> = {}): Promise<string> {
  const sink = new MemorySink();
  const log = await Log.on(sink, { ...OPTIONS, ...options });
  for (let call = 0; call < calls; call++) await log.offer(() => decision(`run ${call}`), call);
  return sink.text;
}

/** Verifies texts as the files of one log, named 1, 2, …; each comes in chunks of `chunk` bytes. */
export function verified(
  texts: string | Uint8Array | readonly string[],
  options: VerifyOptions = {},
  chunk = 4_096,
): Promise<Verified> {
  const files = typeof texts === 'string' || texts instanceof Uint8Array ? [texts] : texts;
  return verifyLog(
    files.map((text, index) => ({ name: String(index + 1), chunks: chunks(Buffer.from(text), chunk) })),
    options,
  );
}

function* chunks(bytes: Buffer, size: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** The records of a log's text. */
export const records = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
