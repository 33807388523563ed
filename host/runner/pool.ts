/**
 * The embedder's side of a call: queue, deadline, the caller's signal, and what pages gave so far. Two ways to run a
 * job: in a pool of threads, where whatever happens the caller is answered at the deadline; and inline, on the caller's
 * own thread, which cannot end a guest that loops.
 */

import type { MessagePort, Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import {
  type Asked,
  type AxError,
  cancelled,
  guestTrap,
  limitReached,
  type Outcome,
  ok,
  refused,
  storageFatal,
} from '../error.js';
import type { Verdict } from '../judge/bound.js';
import { DEADLINE_GRACE_MS, WORKER_HEAP_MB } from '../limits.js';
import type { Budgets } from './budget.js';
import type { Progress } from './call.js';
import { type Executed, execute, type Job, NO_ACCOUNT, type Work } from './job.js';
import { heard } from './port.js';
import { keepShapes } from './shapes.js';
import { type Helper, Helpers, type Seat } from './shared-walk.js';
import { type NoSlot, type Slot, Slots } from './slots.js';
import { diskOf, type Stuck } from './stuck.js';
import type { FromWorker, Opening, Task, ToWorker } from './worker.js';

/** How a job is accompanied. */
export interface Company {
  readonly signal?: AbortSignal | undefined;
  /** Present when the job asks it. Never throws, never late: see policy.ts. */
  readonly policy?: ((buildings: readonly string[]) => Promise<readonly Verdict[]>) | undefined;
  /** What the call would answer if it ended now. */
  readonly onPartial?: ((value: unknown, progress: Progress) => void) | undefined;
}

/** Where calls are run. `run` gives an outcome for whatever a caller, a guest or a disk does; it rejects for a bug. */
export interface Pool {
  run(job: Job, company: Company): Promise<Executed>;
  close(): Promise<void>;
}

// ---- inline ----

/** Runs jobs on the caller's thread, one page at a time between turns of its event loop. */
export function inlinePool(module: WebAssembly.Module, workFor: (job: Job) => Work): Pool {
  let calls = 0;
  return {
    run: (job, company) => {
      // A program that makes one call need not get ready for more.
      if (++calls === 2) keepShapes(module);
      return execute(job, workFor(job), {
        module,
        ask: company.policy ?? null,
        partial: (make, _, progress) => company.onPartial?.(make(), progress()),
        goOn: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return company.signal?.aborted !== true;
        },
      }).then((done) =>
        company.signal?.aborted === true ? { ...done, outcome: refused(cancelled(askedOf(job))) } : done,
      );
    },
    async close() {},
  };
}

const askedOf = (job: Job): Asked => ({ action: job.tool, asked: job.asked });

// ---- threads ----

type End = 'cancelled' | 'time';

/** A pool of threads. Each call has one, and a fresh guest; a thread that had to be ended is replaced. */
export class ThreadPool implements Pool {
  readonly #threads: Piscina<Task, Executed>;
  readonly #slots: Slots;
  readonly #budgets: Budgets;
  readonly #stuck: Stuck;
  /** By the number of the call. */
  readonly #underWay = new Map<number, Pick<Running, 'hear'>>();
  /** Of the threads that are there. */
  readonly #lines = new Set<MessagePort>();
  #lastCall = 0;
  #closed = false;

  /** `entry`: the file each thread loads; its default export serves one task. */
  constructor(entry: URL, module: WebAssembly.Module, threads: number, budgets: Budgets, stuck: Stuck) {
    this.#budgets = budgets;
    this.#stuck = stuck;
    this.#slots = new Slots(threads, budgets);
    this.#threads = new Piscina({
      filename: entry.href,
      workerData: { module },
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      // Nothing of the embedder's surroundings is in a thread: no environment, no flags.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: WORKER_HEAP_MB },
    });
    this.#threads.on('message', ({ line }: Opening) => this.#listen(line));
    // A thread that dies without a call is replaced, and there is nobody to tell. Unheard, this would end the process.
    this.#threads.on('error', () => {});
  }

  /** Hears a thread. What it says of a call that has ended meanwhile goes nowhere. */
  #listen(line: MessagePort): void {
    heard<FromWorker>(line, (message) => this.#underWay.get(message.call)?.hear(message, line));
    this.#lines.add(line);
    line.addEventListener('close', () => this.#lines.delete(line));
    // A call under way keeps the process alive, not its line.
    line.unref();
  }

  async run(job: Job, company: Company): Promise<Executed> {
    if (this.#stuck.refuses(diskOf(job.tree))) return untouched(refused(hangs(job)));
    const slot = await this.#slots.take(job.tenant, company.signal);
    if (typeof slot === 'string') return untouched(refused(noSlot(job, slot, this.#budgets)));
    const refusal = this.#refusal(job, company);
    if (refusal !== undefined) {
      slot.release();
      return untouched(refused(refusal));
    }
    return this.#runIn(slot, job, company);
  }

  /** What became of the runner, the caller or the disk while the call waited: a signal is not heard again later. */
  #refusal(job: Job, { signal }: Company): AxError | undefined {
    if (this.#closed || signal?.aborted === true) return cancelled(askedOf(job));
    return this.#stuck.refuses(diskOf(job.tree)) ? hangs(job) : undefined;
  }

  async #runIn(slot: Slot, job: Job, company: Company): Promise<Executed> {
    const helpers = new Helpers({
      lend: (recall) => (this.#closed || this.#stuck.refuses(diskOf(job.tree)) ? undefined : this.#slots.lend(recall)),
      run: (helper, seat) => this.#runHelper(helper, seat, job),
    });
    const running = new Running(job, company, helpers, (abort) => this.#endThread(abort));
    const task: Task = { call: ++this.#lastCall, job };
    this.#underWay.set(task.call, running);
    try {
      return await this.#threads.run(task, { signal: running.signal });
    } catch (thrown) {
      const outcome = this.#closed ? refused(cancelled(askedOf(job))) : (running.ended() ?? broken(job, thrown));
      return { outcome, account: null };
    } finally {
      this.#underWay.delete(task.call);
      running.close();
      void this.#giveBack(slot, running, job);
    }
  }

  /** A thread that joins the walk of a call. Whatever becomes of it, the call's own thread walks what it left. */
  async #runHelper(helper: Helper, seat: Seat, job: Job): Promise<void> {
    const abort = new AbortController();
    const task: Task = { call: ++this.#lastCall, job, seat };
    this.#underWay.set(task.call, {
      hear: (message, line) =>
        helper.hear(message, (told) => line.postMessage({ call: task.call, ...told } satisfies ToWorker)),
    });
    helper.runs(() => this.#endThread(abort));
    try {
      await this.#threads.run(task, { signal: abort.signal });
      await helper.hasLeft;
    } catch {
      // It was ended, or died: nobody is told but the call's own thread, which meets the same and says it.
    } finally {
      this.#underWay.delete(task.call);
      helper.gone();
    }
    if (helper.thread !== undefined) await this.#stuck.watch(helper.thread, diskOf(job.tree));
  }

  /** Ends the thread of the call that `abort` belongs to. The pool does not say which it was: the one that is missing then. */
  #endThread(abort: AbortController): Worker | undefined {
    const before = this.#threads.threads;
    abort.abort();
    const after = new Set(this.#threads.threads);
    return before.find((thread) => !after.has(thread));
  }

  /**
   * The slot is free once its thread is, or counts as stuck: the caller has long been answered, and there are never
   * more threads than slots and stuck ones.
   */
  async #giveBack(slot: Slot, { thread }: Running, job: Job): Promise<void> {
    if (thread !== undefined) await this.#stuck.watch(thread, diskOf(job.tree));
    slot.release();
  }

  /** Ends all threads, and those under way; what does not end counts as stuck, and is not waited for. */
  async close(): Promise<void> {
    this.#closed = true;
    const threads = this.#threads.threads;
    const ended = threads.map((thread) => this.#stuck.watch(thread, undefined));
    void this.#threads.destroy();
    await Promise.all(ended);
    // Deno leaves the line of a thread that has ended open, and then does not end itself.
    for (const line of this.#lines) line.close();
  }
}

/** One call under way, on the embedder's side. */
class Running {
  readonly #job: Job;
  readonly #company: Company;
  readonly #helpers: Helpers;
  readonly #abort = new AbortController();
  readonly #endThread: (abort: AbortController) => Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #thread: Worker | undefined;
  #end: End | undefined;
  #partial: unknown;
  readonly #onCancel = (): void => this.#stop('cancelled');

  constructor(job: Job, company: Company, helpers: Helpers, endThread: (abort: AbortController) => Worker | undefined) {
    this.#helpers = helpers;
    this.#endThread = endThread;
    this.#job = job;
    this.#company = company;
    company.signal?.addEventListener('abort', this.#onCancel, { once: true });
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The thread that was ended for it, if one was. */
  get thread(): Worker | undefined {
    return this.#thread;
  }

  hear(message: FromWorker, line: MessagePort): void {
    switch (message.kind) {
      case 'started':
        this.#timer = setTimeout(() => this.#stop('time'), this.#job.timeMs + DEADLINE_GRACE_MS);
        return;
      case 'partial':
        this.#partial = message.value;
        this.#company.onPartial?.(message.value, message.progress);
        return;
      case 'ask':
        void this.#answer(message.call, message.buildings, line);
        return;
      default:
        this.#helpers.hear(message, (told) => line.postMessage({ call: message.call, ...told } satisfies ToWorker));
    }
  }

  async #answer(call: number, buildings: readonly string[], line: MessagePort): Promise<void> {
    const verdicts = (await this.#company.policy?.(buildings)) ?? [];
    line.postMessage({ call, kind: 'verdicts', verdicts } satisfies ToWorker);
  }

  #stop(end: End): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#thread = this.#endThread(this.#abort);
  }

  /** What the caller is told when the call was ended from here. */
  ended(): Outcome<unknown> | undefined {
    const at = askedOf(this.#job);
    switch (this.#end) {
      case undefined:
        return undefined;
      case 'cancelled':
        return refused(cancelled(at));
      case 'time':
        if (this.#partial !== undefined) return ok(this.#partial);
        return refused(limitReached(at, `its time is over (${this.#job.timeMs} ms)`, 'ask for less', 'unknown'));
    }
  }

  close(): void {
    this.#helpers.end();
    clearTimeout(this.#timer);
    this.#company.signal?.removeEventListener('abort', this.#onCancel);
  }
}

/** The answer of a call that never ran. */
const untouched = (outcome: Outcome<unknown>): Executed => ({ outcome, account: NO_ACCOUNT });

function noSlot(job: Job, why: NoSlot, budgets: Budgets): AxError {
  const at = askedOf(job);
  switch (why) {
    case 'cancelled':
      return cancelled(at);
    case 'full':
      return limitReached(
        at,
        `its queue is full (${budgets.queue} calls, ${budgets.tenantQueue} of one tenant)`,
        LATER,
        'yes',
      );
    case 'late':
      return limitReached(at, `no worker was free within ${budgets.queueTimeMs} ms`, LATER, 'yes');
  }
}
const LATER = 'ask again a little later';

const hangs = (job: Job): AxError =>
  storageFatal(
    askedOf(job),
    'the city’s disk does not answer',
    'a person has to look at its mount; ask again once it answers',
    'unknown',
  );

/** A thread that ran out of its heap, which only its guest can have filled; anything else is a bug. */
function broken(job: Job, thrown: unknown): Outcome<unknown> {
  const code = (thrown as { code?: unknown } | null)?.code;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return refused(guestTrap(askedOf(job), 'its worker ran out of memory'));
  throw thrown;
}
