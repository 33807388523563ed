/** What a worker thread loads: the harness of runner/, bound to the registry. Started by runner/pool.ts, by file name. */

import type { Executed, Job, Work } from '../runner/job.js';
import { serve, type Task } from '../runner/worker.js';
import { TOOLS } from './registry.js';

/** The work of a job. The tool was looked up and the arguments were parsed before they crossed. */
export function workFor(job: Job): Work {
  const tool = TOOLS.get(job.tool);
  if (tool === undefined) throw new Error('worker: a tool that is not registered');
  return (call) => tool.run(call, job.args);
}

/** One task of the pool’s, in this thread. */
export default (task: Task): Promise<Executed> => serve(task, workFor);
