/**
 * One question put to a city by a command, from nothing: a runner, the log of receipts if there is to be one, the city
 * entered, the call, and everything closed again. Stands between answering.ts, which says what is asked and shows what
 * came of it, and node.ts.
 */

import { ReceiptError } from '../audit/record.js';
import { configInvalid, type Outcome, ok, refused } from '../error.js';
import { CLOSE_PATIENCE_MS, PROGRESS_AFTER_MS, PROGRESS_EVERY_MS } from '../limits.js';
import type { City, CityOptions as Entering, Runner } from './api.js';
import type { Incoming } from './blocks.js';
import type { openRunner } from './node.js';
import type { ReceiptFiles } from './receipts.js';

/** One of the process's streams. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Done when the words, or bytes, are handed on; a reader that went away (`| head`) is no error. */
  write(words: string | Uint8Array): Promise<void>;
}

/** Everything the command meets outside itself, so that a test can be all of it. */
export interface Surroundings extends Incoming {
  readonly openRunner: typeof openRunner;
  readonly receipts: ReceiptFiles;
  readonly out: Sink;
  readonly err: Sink;
  /** Calls back once, at the first interrupt; what comes back stops listening. */
  readonly onInterrupt: (interrupted: () => void) => () => void;
  /** Ends the process although a thread of it cannot be ended. */
  readonly kill: () => void;
  readonly now: () => number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly platform: string;
  readonly version: string;
}

/** The options every subcommand has. */
export interface CityOptions {
  readonly city?: string;
  readonly reader?: string;
  readonly portable?: true;
  readonly shelf?: readonly string[];
  readonly store?: string;
  readonly history?: string;
  readonly branches?: readonly string[];
  readonly receipts?: string;
  readonly receiptsKey?: string;
  readonly color: boolean;
}

/** What came of one call. */
export interface Answered<T> {
  readonly outcome: Outcome<T>;
  readonly interrupted: boolean;
  /** To be called when the answer is out: what holds the closing up must not hold up the answer. */
  readonly close: () => Promise<void>;
}

/** One call from nothing: a runner, the city, the tool. */
export async function ask(
  tool: string,
  args: unknown,
  options: CityOptions,
  around: Surroundings,
  onProgress?: Report,
): Promise<Answered<unknown>> {
  const progress = onProgress === undefined ? {} : { onProgress };
  return inCity(tool, options, around, (city, signal) => city.call(tool, args, { signal, ...progress }));
}

/** Whatever is asked of a city, from nothing. */
export async function inCity<T>(
  action: string,
  options: CityOptions,
  around: Surroundings,
  work: (city: City, signal: AbortSignal) => Promise<Outcome<T>>,
): Promise<Answered<T>> {
  const cancel = new AbortController();
  const stopListening = around.onInterrupt(() => cancel.abort());
  const opened = await openFor(action, options, around);
  if (!opened.ok) return { outcome: opened, interrupted: false, close: async () => {} };
  const { runner, close } = opened.value;
  const city = await runner.enter(options.city ?? around.directory, await entering(options, around));
  const outcome = city.ok ? await work(city.value, cancel.signal) : city;
  stopListening();
  return { outcome, interrupted: cancel.signal.aborted, close };
}

interface Opened {
  readonly runner: Runner;
  readonly close: () => Promise<void>;
}

/** A runner, and the log of receipts if there is to be one. A log that does not open is a refusal: nothing is asked then. */
async function openFor(tool: string, options: CityOptions, around: Surroundings): Promise<Outcome<Opened>> {
  const { receipts: file, receiptsKey: keyFile } = options;
  if (file === undefined) {
    const runner = await around.openRunner({ workers: 1 });
    return ok({ runner, close: () => closed(runner, around) });
  }
  let sink: Awaited<ReturnType<ReceiptFiles['open']>> | undefined;
  try {
    const key = keyFile === undefined ? {} : { key: await around.receipts.readKey(keyFile) };
    sink = await around.receipts.open(file);
    const runner = await around.openRunner({ workers: 1, receipts: { sink, ...key } });
    return ok({ runner, close: () => closed(runner, around).finally(() => sink?.close()) });
  } catch (error) {
    await sink?.close();
    if (!(error instanceof ReceiptError)) throw error;
    const fact = `no receipts can be written there (${error.message})`;
    return refused(configInvalid({ action: tool, asked: file }, fact, LOG_RECOVERY));
  }
}

const LOG_RECOVERY =
  'name a log that is whole or a new file, in a directory that is there and may be written, and the key the log began with';

/** The runner closed, or the process ended over it: a system call that hangs cannot be ended, only left. */
async function closed(runner: Runner, { kill }: Surroundings): Promise<void> {
  const patience = setTimeout(kill, CLOSE_PATIENCE_MS);
  await runner.close();
  clearTimeout(patience);
  if (runner.stuckWorkers > 0) kill();
}

/**
 * How the city is entered. Only Linux can open a file relative to a held directory; elsewhere the one person
 * at this terminal gets the portable tree without asking, and is told. On Linux a failed check never does this.
 */
async function entering(
  { reader, portable, store, shelf: shelves, history: repository, branches }: CityOptions,
  around: Surroundings,
): Promise<Entering> {
  const fallsBack = portable === undefined && around.platform !== 'linux';
  if (fallsBack) {
    await around.err.write(
      'portcullis: this system cannot open files relative to a directory; reading as with --portable\n',
    );
  }
  const history = {
    ...(repository === undefined ? {} : { repository }),
    ...(branches === undefined ? {} : { branches }),
  };
  return {
    reader: reader ?? null,
    ...(portable || fallsBack ? { tree: 'portable' as const } : {}),
    ...(shelves === undefined ? {} : { shelves }),
    ...(store === undefined ? {} : { store }),
    ...(repository === undefined && branches === undefined ? {} : { history }),
  };
}

/** What is told how far a walk has come. */
export type Report = (so: { readonly entries: number; readonly matches: number }) => void;

/** The line that says how far a long walk is: only on a terminal, only after a while, gone before the answer. */
export function progressLine({ err, now }: Surroundings): {
  readonly report: Report;
  readonly clear: () => Promise<void>;
} {
  // From the first report on: what came before it was not the walk.
  let startedAt: number | undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  let pending = Promise.resolve();
  const show = (words: string): void => {
    pending = pending.then(() => err.write(`\r\u001b[2K${words}`));
  };
  return {
    report: ({ entries, matches }) => {
      const at = now();
      startedAt ??= at;
      if (!err.isTerminal || at - startedAt < PROGRESS_AFTER_MS || at - shownAt < PROGRESS_EVERY_MS) return;
      shownAt = at;
      show(`${entries} entries so far, hits: ${matches}`);
    },
    clear: () => {
      if (shownAt !== Number.NEGATIVE_INFINITY) show('');
      return pending;
    },
  };
}
