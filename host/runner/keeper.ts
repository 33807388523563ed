/**
 * Who holds the roots of entered cities: a thread of its own in worker mode, the embedder's thread inline. A root that
 * hangs at entering is answered at ENTER_TIME_MS; its thread is left behind, since a system call in flight cannot be
 * ended, and the next city gets a new one.
 */

import { Worker } from 'node:worker_threads';
import { type Outcome, ok, refused, storageFatal } from '../error.js';
import { ENTER_TIME_MS } from '../limits.js';
import type { EnterOptions, TreeSpec } from '../tree/spec.js';
import { enterCity, type Where } from './entering.js';
import type { FromKeeper, ToKeeper } from './keeper-thread.js';

/** An entered city, held until `leave`. */
export interface Kept {
  readonly spec: TreeSpec;
  leave(): void;
}

export interface Keeper {
  enter(where: Where, reader: string | null, options: EnterOptions): Promise<Outcome<Kept>>;
  close(): Promise<void>;
}

/** Holds roots on the caller's own thread. */
export function inlineKeeper(): Keeper {
  return {
    async enter(where, reader, options) {
      const entered = enterCity(where, reader, options);
      if (!entered.ok) return entered;
      return ok({ spec: entered.value.spec, leave: () => entered.value.close() });
    },
    async close() {},
  };
}

/** Holds roots on a thread of its own, started at the first city. */
export class ThreadKeeper implements Keeper {
  #thread: Worker | undefined;
  readonly #waiting = new Map<number, (answer: Outcome<TreeSpec>) => void>();
  #lastId = 0;

  async enter(where: Where, reader: string | null, options: EnterOptions): Promise<Outcome<Kept>> {
    const id = ++this.#lastId;
    const thread = this.#start();
    const answer = await this.#ask(thread, { op: 'enter', id, where, reader, options });
    if (!answer.ok) return answer;
    return ok({ spec: answer.value, leave: () => thread.postMessage({ op: 'leave', id } satisfies ToKeeper) });
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
    this.#thread = undefined;
  }

  #start(): Worker {
    if (this.#thread !== undefined) return this.#thread;
    const thread = new Worker(new URL('./keeper-thread.js', import.meta.url), { env: {}, execArgv: [] });
    thread.on('message', ({ id, entered }: FromKeeper) => this.#waiting.get(id)?.(entered));
    thread.unref();
    this.#thread = thread;
    return thread;
  }

  #ask(thread: Worker, message: ToKeeper & { op: 'enter' }): Promise<Outcome<TreeSpec>> {
    return new Promise((resolve) => {
      // The timer also keeps the process alive while it waits: the thread does not.
      const timer = setTimeout(() => {
        this.#thread = undefined;
        settle(refused(hangs(message.where)));
      }, ENTER_TIME_MS);
      const settle = (answer: Outcome<TreeSpec>): void => {
        clearTimeout(timer);
        this.#waiting.delete(message.id);
        resolve(answer);
      };
      this.#waiting.set(message.id, settle);
      thread.postMessage(message);
    });
  }
}

const hangs = (where: Where) =>
  storageFatal(
    { action: 'enter', asked: 'path' in where ? where.path : '' },
    `the disk did not answer within ${ENTER_TIME_MS} ms`,
    'a person has to look at its mount',
    'unknown',
  );
