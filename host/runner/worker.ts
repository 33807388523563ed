/**
 * The thread side: one slot. Receives a job, runs it, and answers. While it runs, the thread's line carries what the
 * call would answer if it were ended now, and the questions for the embedder's policy. `tools/worker.ts` binds the
 * registry; this file knows no tool.
 *
 * One line a thread, not one a call: Node keeps about 3 KB of each port that was ever sent to a thread until that ends.
 */

import { MessageChannel, type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Verdict } from '../judge/bound.js';
import { PARTIAL_EVERY_MS } from '../limits.js';
import type { Progress, Surroundings } from './call.js';
import { type Executed, execute, type Job, type Work } from './job.js';
import { heard } from './port.js';
import { keepShapes } from './shapes.js';
import {
  type FromWalker,
  type Joined,
  lineOf,
  OtherCompany,
  OwnCompany,
  type Seat,
  type ToWalker,
} from './shared-walk.js';

/** What a worker is sent. */
export interface Task {
  /** The number of the call: what is said of it carries it. */
  readonly call: number;
  readonly job: Job;
  /** Present in a thread that joins the walk of another one's call: then `call` is its own number. */
  readonly seat?: Seat;
}

/** What a job is run by: in its own thread, and in one that joins it. */
export interface Works {
  readonly work: Work;
  readonly join: (joined: Joined) => Work;
}

/** What a thread sends before all else: its line. */
export interface Opening {
  readonly line: MessagePort;
}

/** What the worker says while it works. */
export type FromWorker = { readonly call: number } & (
  | { readonly kind: 'started' }
  | { readonly kind: 'partial'; readonly value: unknown; readonly progress: Progress }
  | { readonly kind: 'ask'; readonly buildings: readonly string[] }
  | FromWalker
);

/** What is said to it. A thread has one call after another: what comes late is not for the next one. */
export type ToWorker = { readonly call: number } & (
  | { readonly kind: 'verdicts'; readonly verdicts: readonly Verdict[] }
  | ToWalker
);

let line: MessagePort | undefined;

/** The line of this thread, opened with its first call. */
function lineOfThread(): MessagePort {
  if (line !== undefined) return line;
  const { port1, port2 } = new MessageChannel();
  parentPort?.postMessage({ line: port2 } satisfies Opening, [port2]);
  line = port1;
  return line;
}

/** Serves one task. */
export async function serve(task: Task, worksFor: (job: Job) => Works): Promise<Executed> {
  keepShapes(moduleOfThread());
  const { call, job, seat } = task;
  const to = lineOfThread();
  to.postMessage({ call, kind: 'started' } satisfies FromWorker);
  return seat === undefined
    ? serveOwn(job, worksFor(job).work, call, to)
    : serveOther(job, worksFor(job).join, seat, call, to);
}

async function serveOwn(job: Job, work: Work, call: number, to: MessagePort): Promise<Executed> {
  const company = new OwnCompany(lineOf(to, call));
  try {
    return await execute(job, work, {
      module: moduleOfThread(),
      ask: job.asksPolicy ? (buildings) => askThrough(to, call, buildings) : null,
      partial: seldom((value, progress) =>
        to.postMessage({ call, kind: 'partial', value, progress } satisfies FromWorker),
      ),
      // The pool ends this thread when the caller's signal fires: nothing has to be asked here.
      goOn: async () => true,
      company,
    });
  } finally {
    company.close();
  }
}

/** The policy was asked by the call's own thread, and nobody is told anything from here. */
async function serveOther(
  job: Job,
  join: (joined: Joined) => Work,
  seat: Seat,
  call: number,
  to: MessagePort,
): Promise<Executed> {
  const joined = new OtherCompany(lineOf(to, call), seat);
  try {
    return await execute(job, join(joined), {
      module: moduleOfThread(),
      ask: null,
      partial: () => {},
      goOn: async () => joined.goOn(),
    });
  } finally {
    joined.close();
  }
}

/** News at once, else at most once in PARTIAL_EVERY_MS: a guest whose pages hold nothing would flood the embedder's thread. */
function seldom(say: (value: unknown, progress: Progress) => void): Surroundings['partial'] {
  let nextAt = 0;
  return (make, isNews, progress) => {
    const now = performance.now();
    if (!isNews && now < nextAt) return;
    nextAt = now + PARTIAL_EVERY_MS;
    say(make(), progress());
  };
}

/** A thread has one call at a time, and each question is answered, or the thread is ended. */
function askThrough(to: MessagePort, call: number, buildings: readonly string[]): Promise<readonly Verdict[]> {
  return new Promise((resolve) => {
    const stop = heard<ToWorker>(to, (message) => {
      if (message.call !== call || message.kind !== 'verdicts') return;
      stop();
      resolve(message.verdicts);
    });
    to.postMessage({ call, kind: 'ask', buildings } satisfies FromWorker);
  });
}

/** The compiled guest, given to the thread when it was made: through piscina, which wraps what the pool passes. */
function moduleOfThread(): WebAssembly.Module {
  const given: unknown = Array.isArray(workerData) ? workerData[1] : workerData;
  const module: unknown = (given as { module?: unknown } | undefined)?.module;
  if (!(module instanceof WebAssembly.Module)) throw new Error('worker: it was made without the guest');
  return module;
}
