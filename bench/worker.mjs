/**
 * What a thread of the bench loads: `search` with the caps lifted, in its own thread and in one that joins. An answer of
 * thousands of hits, which no caller can have, crosses by file, as a part of a shared walk does.
 */

import { ok } from '../dist/error.js';
import { serve } from '../dist/runner/worker.js';
import { packHits } from '../dist/tools/hits.js';
import { searchWith } from '../dist/tools/search.js';
import { joinSearch } from '../dist/tools/search.parts.js';
import { LIFTED } from './lifted.mjs';

const worksFor = (job) => ({
  work: async (call) => {
    const outcome = await searchWith(call, job.args, LIFTED);
    return outcome.ok ? ok({ ...outcome.value, matches: packHits(outcome.value.matches) }) : outcome;
  },
  join: (joined) => async (call) => {
    await joinSearch(call, joined);
    return ok(null);
  },
});

export default (task) => serve(task, worksFor);
