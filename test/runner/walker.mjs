/**
 * What the threads of shared-walk.test.ts load: the real search in its own thread, once somebody has joined; and threads
 * that join as `job.args.joins` says. What each gave is counted in shared memory.
 */

import { ok } from '../../dist/error.js';
import { serve } from '../../dist/runner/worker.js';
import { search, searchWith } from '../../dist/tools/search.js';
import { joinSearch } from '../../dist/tools/search.parts.js';

const CAPS = { matchCap: 100_000, textCap: 1 << 24, fileCap: 1 << 20 };
const turn = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function joinedBySomebody(company) {
  for (company.invite(); company.present === 0; company.invite()) await turn(1);
}

const JOINS = {
  /** As the tool does. */
  walk: (call, joined) => joinSearch(call, joined),
  /** Walks nothing, and stays as long as it may. */
  stay: async (_, joined) => {
    void joined.plan();
    while (joined.goOn()) await turn(1);
  },
  /** Takes a part and never gives it back. */
  hang: async (_, joined) => {
    if ((await joined.plan()) === undefined) return;
    joined.take();
    for (;;);
  },
  /** Takes a part and breaks. */
  break: async (_, joined) => {
    if ((await joined.plan()) === undefined) return;
    joined.take();
    throw new Error('a bug');
  },
};

const worksFor = ({ args }) => ({
  work: async (call) => {
    if (args.joins === undefined) return search.run(call, args.search);
    await joinedBySomebody(call.company);
    if (args.joins !== 'stay') return searchWith(call, args.search, CAPS);
    Atomics.store(new Int32Array(args.given), 0, 1);
    await turn(args.staysMs);
    return ok('stayed');
  },
  join: (joined) => async (call) => {
    const given = new Int32Array(args.given);
    const counted = {
      plan: () => joined.plan(),
      take: () => {
        if (args.joins === 'hang') Atomics.store(given, 0, 1);
        return joined.take();
      },
      goOn: () => joined.goOn(),
      give: (part, value) => {
        Atomics.add(given, 0, 1);
        joined.give(part, value);
      },
    };
    await JOINS[args.joins](call, counted);
    return ok(null);
  },
});

export default (task) => serve(task, worksFor);
