/** What a worker thread loads: the harness of runner/, bound to the registry and to the scan of the shelves. Started by runner/pool.ts, by file name. */

import type { Executed, Job, Work } from '../runner/job.js';
import { serve, type Task } from '../runner/worker.js';
import { CATALOG_JOB, scanWork } from '../store/catalog.js';
import { ERRANDS, TOOLS } from './registry.js';

/** The work of a job. The tool was looked up and the arguments were parsed before they crossed. */
export function workFor(job: Job): Work {
  // The door makes no such job with other arguments, and a caller cannot make one at all.
  if (job.tool === CATALOG_JOB) return scanWork(job.args as Parameters<typeof scanWork>[0]);
  const tool = TOOLS.get(job.tool) ?? ERRANDS.get(job.tool);
  if (tool === undefined) throw new Error('worker: a tool that is not registered');
  return (call) => tool.run(call, job.args);
}

/** One task of the pool’s, in this thread. */
export default (task: Task): Promise<Executed> => serve(task, workFor);
