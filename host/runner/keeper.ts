/**
 * Who holds the roots of entered cities: a thread of its own in worker mode, the embedder's thread inline. A root that
 * hangs at entering is answered at ENTER_TIME_MS or what the embedder lowered it to; its thread is left behind and counted as stuck, since a system call
 * in flight cannot be ended, and the next city gets another one.
 */

import { Worker } from 'node:worker_threads';
import { type Outcome, ok, refused, storageFatal } from '../error.js';
import { KEEPER_THREADS_MAX } from '../limits.js';
import type { EnterOptions, TreeSpec } from '../tree/spec.js';
import { enterCity, type Where } from './entering.js';
import type { FromKeeper, ToKeeper } from './keeper-thread.js';
import type { Stuck } from './stuck.js';

/** An entered city, held until `leave`. */
export interface Kept {
  readonly spec: TreeSpec;
  leave(): void;
}

/** Whoever holds the roots of the cities that were entered. `enter` refuses, never throws, for what a disk does. */
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

/** A keeper's thread, and how many cities it is entering now. */
interface Thread {
  readonly worker: Worker;
  entering: number;
  /** Set while it is stuck: to be called once it answers after all. */
  cameBack?: () => void;
}

/**
 * Holds roots on threads of their own: one, and others only while that one is entering a city, so that a root that
 * hangs does not hold up the next city.
 */
export class ThreadKeeper implements Keeper {
  readonly #threads = new Set<Thread>();
  readonly #waiting = new Map<number, (answer: Outcome<TreeSpec>) => void>();
  readonly #stuck: Stuck;
  readonly #enterTimeMs: number;
  #lastId = 0;

  constructor(stuck: Stuck, enterTimeMs: number) {
    this.#stuck = stuck;
    this.#enterTimeMs = enterTimeMs;
  }

  async enter(where: Where, reader: string | null, options: EnterOptions): Promise<Outcome<Kept>> {
    if ('path' in where && this.#stuck.isFull) return refused(tooManyHang(where.path));
    const id = ++this.#lastId;
    const thread = this.#idlest();
    const answer = await this.#ask(thread, { op: 'enter', id, where, reader, options });
    if (!answer.ok) return answer;
    return ok({ spec: answer.value, leave: () => leave(thread, id) });
  }

  async close(): Promise<void> {
    const threads = [...this.#threads];
    this.#threads.clear();
    for (const { worker } of threads) void worker.terminate();
    await Promise.all(threads.map(({ worker }) => this.#stuck.watch(worker, undefined)));
  }

  /** A thread that enters nothing now; a new one, up to KEEPER_THREADS_MAX; or the one that enters the fewest. */
  #idlest(): Thread {
    const [first] = [...this.#threads].sort((a, b) => a.entering - b.entering);
    if (first === undefined || (first.entering > 0 && this.#threads.size < KEEPER_THREADS_MAX)) return this.#start();
    return first;
  }

  #start(): Thread {
    const worker = new Worker(new URL('./keeper-thread.js', import.meta.url), { env: {}, execArgv: [] });
    const thread: Thread = { worker, entering: 0 };
    worker.on('message', ({ id, entered }: FromKeeper) => {
      thread.entering--;
      thread.cameBack?.();
      const answer = this.#waiting.get(id);
      if (answer !== undefined) answer(entered);
      // Its caller was told that the disk did not answer: nobody will leave this city.
      else if (entered.ok) leave(thread, id);
    });
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  #ask(thread: Thread, message: ToKeeper & { op: 'enter' }): Promise<Outcome<TreeSpec>> {
    thread.entering++;
    return new Promise((resolve) => {
      // The timer also keeps the process alive while it waits: the thread does not.
      const timer = setTimeout(() => {
        this.#leaveBehind(thread);
        settle(refused(hangs(message.where, this.#enterTimeMs)));
      }, this.#enterTimeMs);
      const settle = (answer: Outcome<TreeSpec>): void => {
        clearTimeout(timer);
        this.#waiting.delete(message.id);
        resolve(answer);
      };
      this.#waiting.set(message.id, settle);
      thread.worker.postMessage(message);
    });
  }

  /** It holds the roots of the cities it entered before, so it is not ended: it goes on if its disk answers after all. */
  #leaveBehind(thread: Thread): void {
    if (this.#threads.delete(thread)) thread.cameBack = this.#stuck.leaveBehind();
  }
}

const leave = ({ worker }: Thread, id: number): void => worker.postMessage({ op: 'leave', id } satisfies ToKeeper);

const tooManyHang = (asked: string) =>
  storageFatal(
    { action: 'enter', asked },
    'too many disks of this runner do not answer',
    'a person has to look at their mounts',
    'unknown',
  );

const hangs = (where: Where, timeMs: number) =>
  storageFatal(
    { action: 'enter', asked: 'path' in where ? where.path : '' },
    `the disk did not answer within ${timeMs} ms`,
    'a person has to look at its mount',
    'unknown',
  );
