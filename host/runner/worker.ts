/**
 * The thread side: one slot. Receives a job and a port, runs it, and answers. While it runs, the port carries what the
 * call would answer if it were ended now, and the questions for the embedder's policy. `tools/worker.ts` binds the
 * registry; this file knows no tool.
 */

import { type MessagePort, threadId, workerData } from 'node:worker_threads';
import type { Verdict } from '../judge/bound.js';
import { PARTIAL_EVERY_MS } from '../limits.js';
import type { Surroundings } from './call.js';
import { type Executed, execute, type Job, type Work } from './job.js';
import { keepShapes } from './shapes.js';

/** What a worker is sent with each job. */
export interface Task {
  readonly job: Job;
  readonly port: MessagePort;
}

/** What the worker says while it works. */
export type FromWorker =
  | { readonly kind: 'started'; readonly threadId: number }
  | { readonly kind: 'partial'; readonly value: unknown }
  | { readonly kind: 'ask'; readonly buildings: readonly string[] };

/** What is answered to `ask`. */
export interface Verdicts {
  readonly verdicts: readonly Verdict[];
}

/** Serves one task. */
export async function serve(task: Task, workFor: (job: Job) => Work): Promise<Executed> {
  keepShapes(moduleOfThread());
  const { job, port } = task;
  const say = (message: FromWorker): void => port.postMessage(message);
  say({ kind: 'started', threadId });
  try {
    return await execute(job, workFor(job), surroundings(job, port, say));
  } finally {
    port.close();
  }
}

function surroundings(job: Job, port: MessagePort, say: (message: FromWorker) => void): Surroundings {
  return {
    module: moduleOfThread(),
    ask: job.asksPolicy ? (buildings) => askThrough(port, say, buildings) : null,
    partial: seldom((value) => say({ kind: 'partial', value })),
    // The pool ends this thread when the caller's signal fires: nothing has to be asked here.
    goOn: async () => true,
  };
}

/** News at once, else at most once in PARTIAL_EVERY_MS: a guest whose pages hold nothing would flood the embedder's thread. */
function seldom(say: (value: unknown) => void): Surroundings['partial'] {
  let nextAt = 0;
  return (value, isNews) => {
    const now = performance.now();
    if (!isNews && now < nextAt) return;
    nextAt = now + PARTIAL_EVERY_MS;
    say(value);
  };
}

function askThrough(
  port: MessagePort,
  say: (message: FromWorker) => void,
  buildings: readonly string[],
): Promise<readonly Verdict[]> {
  return new Promise((resolve) => {
    port.once('message', ({ verdicts }: Verdicts) => resolve(verdicts));
    say({ kind: 'ask', buildings });
  });
}

/** The compiled guest, given to the thread when it was made: through piscina, which wraps what the pool passes. */
function moduleOfThread(): WebAssembly.Module {
  const given: unknown = Array.isArray(workerData) ? workerData[1] : workerData;
  const module: unknown = (given as { module?: unknown } | undefined)?.module;
  if (!(module instanceof WebAssembly.Module)) throw new Error('worker: it was made without the guest');
  return module;
}
