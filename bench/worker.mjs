/** What a thread of the bench loads: `search` with the caps lifted, in its own thread and in one that joins. */

import { ok } from '../dist/error.js';
import { serve } from '../dist/runner/worker.js';
import { searchWith } from '../dist/tools/search.js';
import { joinSearch } from '../dist/tools/search.parts.js';
import { LIFTED } from './lifted.mjs';

const worksFor = (job) => ({
  work: (call) => searchWith(call, job.args, LIFTED),
  join: (joined) => async (call) => {
    await joinSearch(call, joined);
    return ok(null);
  },
});

export default (task) => serve(task, worksFor);
