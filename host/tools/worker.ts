/** What a worker thread loads: the harness of runner/, bound to the registry and to the scan of the shelves. Started by runner/pool.ts, by file name. */

import { type AxError, ok, refused, toolNotOffered } from '../error.js';
import type { Executed, Job, Work } from '../runner/job.js';
import { serve, type Task, type Works } from '../runner/worker.js';
import { CATALOG_JOB, scanWork } from '../store/catalog.js';
import { ERRANDS, TOOLS } from './registry.js';

/**
 * The work of a job. The tool was looked up and the arguments were parsed before they crossed; whether there is such a
 * tool for this reader is known only here, where the policy's answers are.
 */
export function workFor(job: Job): Work {
  // The door makes no such job with other arguments, and a caller cannot make one at all.
  if (job.tool === CATALOG_JOB) return scanWork(job.args as Parameters<typeof scanWork>[0]);
  const errand = ERRANDS.get(job.tool);
  if (errand !== undefined) return (call) => errand.run(call, job.args);
  const tool = TOOLS.get(job.tool);
  if (tool === undefined) throw new Error('worker: a tool that is not registered');
  return async (call) => {
    const offered = (await tool.isOffered?.(call)) ?? ok(true);
    if (!offered.ok) return offered;
    return offered.value ? tool.run(call, job.args) : refused(notOffered(job.tool));
  };
}

/** What is offered to everybody is named instead. */
const notOffered = (name: string): AxError =>
  toolNotOffered(
    name,
    [...TOOLS.values()].filter((tool) => tool.isOffered === undefined).map((tool) => tool.name),
  );

/** The same, and the work of a thread that joins the job's own; nobody joins what cannot be shared. */
const worksFor = (job: Job): Works => ({
  work: workFor(job),
  join: (joined) => async (call) => {
    await TOOLS.get(job.tool)?.join?.(call, joined);
    return ok(null);
  },
});

/** One task of the pool’s, in this thread. */
export default (task: Task): Promise<Executed> => serve(task, worksFor);
