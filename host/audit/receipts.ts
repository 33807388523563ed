/**
 * Receipts, as the door uses them: a desk for each entered city, one line for each decision, before its answer leaves.
 * The last station of a call: door → … → judge → receipt. Nothing of a file's content comes this far: a line has what
 * was asked (as digests), what was decided, what was handed over and what it took.
 */

import { type Asked, type AxCode, type AxError, echo, type Outcome, storageFatal } from '../error.js';
import { RECEIPT_KEY_BYTES, RECEIPT_TEXT_MAX_BYTES, RECEIPT_TIME_MS } from '../limits.js';
import type { Account } from '../runner/job.js';
import { type KeptSink, Log, type LogOptions, type Sink } from './log.js';
import type { CallFields, Digest } from './record.js';

type AnySink = Sink | KeptSink;

/** How the decisions of a runner are put on record. */
export interface ReceiptOptions {
  /**
   * Where lines go, of all tenants or of each: a function is asked once a city, and gives the same object for the same
   * log. A tenant that was not named is null.
   */
  readonly sink: AnySink | ((tenant: string | null) => AnySink | Promise<AnySink>);
  /** RECEIPT_KEY_BYTES secret bytes. With them lines cannot be forged by who can write the log, and digests can be made again. */
  readonly key?: Uint8Array;
  /** `full`: keeps the texts and paths that were asked. Default `hashed`: keyed hashes and lengths. */
  readonly asked?: 'hashed' | 'full';
  /** When a sink fails or is late: `close` (default) withholds the answer, `open` gives it without a receipt. */
  readonly onFailure?: 'close' | 'open';
  /** Milliseconds one append may take, lowered from RECEIPT_TIME_MS. */
  readonly timeMs?: number;
  /** Told why a sink did not take a line, for whoever runs this; callers only that it did not. What it throws is dropped. */
  readonly onTrouble?: (error: unknown) => void;
}

/** A decision, before it is a line. */
export interface Decision {
  /** Null for a name that is no tool's. */
  readonly tool: string | null;
  /** What a refusal quotes. */
  readonly at: Asked;
  /** The arguments as the schema gave them; undefined if it did not. */
  readonly args: unknown;
  /** Null: a bug of the host, and no outcome. */
  readonly outcome: Outcome<unknown> | null;
  /** The sentence for `rule`, where the outcome's own may hold words of the caller. */
  readonly rule?: string;
  /** Bytes of the answer, where it is not JSON. */
  readonly bytesOut?: number | undefined;
  /** What was handed over and used; null if that is not known. */
  readonly account: Account | null;
  readonly timeMs: number;
  readonly ms: number;
}

/** Where one city's decisions are put on record. */
export interface Desk {
  /** The refusal of a call that is not worth running, because its answer could not leave; undefined: go on. */
  closed(at: Asked): AxError | undefined;
  /** Puts the decision on record. The refusal that is told instead of it if that fails; undefined: it may leave. */
  put(decision: Decision): Promise<AxError | undefined>;
}

/** Without receipts every answer leaves as it is. */
export const NO_DESK: Desk = {
  closed: () => undefined,
  put: async () => undefined,
};

/** The receipts of one runner. */
export class Receipts {
  readonly #options: ReceiptOptions;
  readonly #timeMs: number;
  readonly #component: string;
  /** Cities that write to one sink write one log. */
  readonly #logs = new WeakMap<AnySink, Promise<Log>>();

  private constructor(options: ReceiptOptions, component: string) {
    if (options.key !== undefined && options.key.length !== RECEIPT_KEY_BYTES) {
      throw new RangeError(`receipts.key must be ${RECEIPT_KEY_BYTES} bytes`);
    }
    if (options.timeMs !== undefined && !(options.timeMs > 0)) throw new RangeError('receipts.timeMs must be positive');
    this.#options = options;
    this.#timeMs = Math.min(options.timeMs ?? RECEIPT_TIME_MS, RECEIPT_TIME_MS);
    this.#component = component;
  }

  /** Receipts for a component. Throws if one sink for all was given and its log cannot go on: wrong key, or no log. */
  static async open(options: ReceiptOptions, component: string): Promise<Receipts> {
    const receipts = new Receipts(options, component);
    if (typeof options.sink !== 'function') await (await receipts.#logOn(options.sink)).ready();
    return receipts;
  }

  /** The desk of a city. `tenant` null: not named. */
  desk(tenant: string | null, run: string | null): Desk {
    const { onFailure } = this.#options;
    const about = { tenant: cut(tenant), run: cut(run), component: this.#component };
    let log: Log | undefined;
    let finding: Promise<Log | undefined> | undefined;
    const find = async (): Promise<Log | undefined> => {
      finding ??= this.#logFor(tenant);
      log = await finding;
      // A sink that could not be had is asked for again.
      finding = undefined;
      return log;
    };
    return {
      closed(at) {
        // Only a log that is known to be stuck: whatever else may fail is tried.
        if (log?.isOverdue !== true || onFailure === 'open') return undefined;
        log.miss();
        return notTaken(at);
      },
      async put(decision) {
        const found = log ?? (await find());
        const isTaken = await found?.offer((digest) => fieldsOf(decision, about, digest), decision.timeMs);
        return isTaken === true || onFailure === 'open' ? undefined : notTaken(decision.at);
      },
    };
  }

  /** The tenant's log, or undefined if the embedder's function fails or is late. */
  async #logFor(tenant: string | null): Promise<Log | undefined> {
    const { sink } = this.#options;
    if (typeof sink !== 'function') return this.#logOn(sink);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(LATE)), this.#timeMs);
    });
    try {
      const found = await Promise.race([sink(tenant), late]);
      return await this.#logOn(found);
    } catch (error) {
      // Refuses: without a sink there is no receipt, and without a receipt no answer.
      this.#tell(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  #tell(trouble: unknown): void {
    try {
      this.#options.onTrouble?.(trouble);
    } catch {
      // Nobody is left to be told. Thrown on, it would end the process, or leave a log that takes no line any more.
    }
  }

  #logOn(sink: AnySink): Promise<Log> {
    const known = this.#logs.get(sink);
    if (known !== undefined) return known;
    const log = Log.on(sink, this.#logOptions());
    this.#logs.set(sink, log);
    return log;
  }

  #logOptions(): LogOptions {
    const { key, asked, onFailure } = this.#options;
    const onTrouble = (error: unknown): void => this.#tell(error);
    const answers = onFailure === 'open' ? 'released' : 'withheld';
    return { key, full: asked === 'full', answers, timeMs: this.#timeMs, onTrouble };
  }
}

const LATE = 'no audit sink was given for a tenant in time';

const notTaken = (at: Asked): AxError =>
  storageFatal(
    at,
    'the audit sink did not take the line',
    'nothing is answered without a receipt; ask again, and if it stays so, a person has to look at the audit sink',
    'unknown',
  );

const cut = (text: string | null): string | null => (text === null ? null : echo(text, RECEIPT_TEXT_MAX_BYTES));

// ---- a decision as a line ----

interface About {
  readonly tenant: string | null;
  readonly run: string | null;
  readonly component: string;
}

function fieldsOf(decision: Decision, about: About, digest: (text: string) => Digest): CallFields {
  const { tool, outcome, account, ms } = decision;
  const { tenant, run, component } = about;
  const error = outcome?.ok === false ? outcome.error : undefined;
  const landed = account?.handed?.landed ?? null;
  return {
    kind: 'call',
    tenant,
    run,
    tool,
    asked: askedOf(decision, digest),
    verdict: outcome === null ? 'failed' : error === undefined ? 'admitted' : VERDICTS[error.code],
    code: error?.code ?? null,
    rule: decision.rule ?? (error === undefined ? null : factOf(error, decision.at.asked)),
    landing: landed === null ? null : digest(landed),
    handed: account === null ? 'unknown' : (account.handed?.kind ?? 'none'),
    opens: account?.opens ?? null,
    entries: account?.entries ?? null,
    bytes_read: account?.bytes ?? null,
    bytes_out: decision.bytesOut ?? lengthOf(outcome),
    ms: Math.round(ms * 1_000) / 1_000,
    component,
  };
}

const lengthOf = (outcome: Decision['outcome']): number =>
  outcome === null ? 0 : Buffer.byteLength(JSON.stringify(outcome.ok ? outcome.value : outcome.error));

/** Arguments as the schema gave them, by name; what it refused, or a tool there is not, by what a refusal quotes. */
function askedOf({ args, at }: Decision, digest: (text: string) => Digest): CallFields['asked'] {
  if (typeof args !== 'object' || args === null) return { asked: digest(at.asked) };
  return Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, argumentOf(value, digest)]),
  );
}

function argumentOf(value: unknown, digest: (text: string) => Digest): CallFields['asked'][string] {
  // A number beyond JSON's is Infinity, which JSON writes as null.
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  return digest(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The fact of a refusal: what stands behind the words it quotes. Null if it does not quote them: then nothing is kept. */
function factOf({ subject }: AxError, asked: string): string | null {
  if (asked === '') return subject;
  const quoted = `${echo(asked)}: `;
  return subject.startsWith(quoted) ? subject.slice(quoted.length) : null;
}

/** Whether a code is a decision against the call, or a call that came to nothing. */
const VERDICTS: Readonly<Record<AxCode, 'refused' | 'failed'>> = {
  E_INVALID_ARGS: 'refused',
  E_GATE_DENIED: 'refused',
  E_OUTSIDE_WRITE_DOMAIN: 'refused',
  E_VERSION_CONFLICT: 'refused',
  E_TOOL_UNKNOWN: 'refused',
  E_PATH_NOT_FOUND: 'failed',
  E_CAS_CORRUPT: 'failed',
  E_CONFIG_INVALID: 'failed',
  E_STORAGE_FATAL: 'failed',
  E_LIMIT: 'failed',
  E_CANCELLED: 'failed',
  E_GUEST_TRAP: 'failed',
};
