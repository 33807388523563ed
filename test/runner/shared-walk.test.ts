/**
 * Threads that join a call's walk, with real threads: the answer is the one of a thread alone, nobody who waits is kept
 * waiting for them, and whatever becomes of them the call is answered. Which parts who may walk: tools/search.parts.test.ts.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lowered } from '../../dist/runner/budget.js';
import { admitComponent } from '../../dist/runner/component.js';
import { execute, type Job } from '../../dist/runner/job.js';
import { ThreadPool } from '../../dist/runner/pool.js';
import { Stuck } from '../../dist/runner/stuck.js';
import { searchWith } from '../../dist/tools/search.js';
import { diskWorld, type Things, type World } from '../tree/worlds.js';

const TIME_MS = 60_000;
const CAPS = { matchCap: 100_000, textCap: 1 << 24, fileCap: 1 << 20 };
const ENTRY = new URL('walker.mjs', import.meta.url);

const component = await admitComponent(readFileSync('dist/portcullis.wasm'));
const budgets = lowered();
const stuck = new Stuck(budgets);

let world: World;
beforeAll(() => {
  const rooms = Array.from({ length: 40 }, (_, room) => `lab/r${100 + room}`);
  const things = rooms.flatMap(
    (room): Things =>
      Array.from({ length: 40 }, (_, file): Things[number] => [`${room}/f${100 + file}`, `line\nneedle ${file}\n`]),
  );
  world = diskWorld('linux')(things);
});
afterAll(() => world.end());

type Joins = 'walk' | 'stay' | 'hang' | 'break';
const SEARCH = { text: 'needle' };

function jobOf(joins?: Joins, tenant = 'large', staysMs = 0) {
  const given = new SharedArrayBuffer(4);
  const job: Job = {
    tool: 'search',
    args: { search: SEARCH, joins, given, staysMs },
    asked: 'needle',
    tenant,
    tree: world.spec,
    reader: null,
    deny: [],
    asksPolicy: false,
    budgets,
    timeMs: 30_000,
  };
  return { job, given: () => Atomics.load(new Int32Array(given), 0) };
}

const alone = () =>
  execute(jobOf().job, (call) => searchWith(call, SEARCH, CAPS), {
    module: component.module,
    ask: null,
    partial: () => {},
    goOn: async () => true,
  });

async function withPool<T>(threads: number, use: (pool: ThreadPool) => Promise<T>): Promise<T> {
  const pool = new ThreadPool(ENTRY, component.module, threads, budgets, stuck);
  try {
    return await use(pool);
  } finally {
    await pool.close();
  }
}

describe('threads that join a walk', { timeout: TIME_MS }, () => {
  it.each([2, 3, 4])('of %i threads give the answer of one, and its account', async (threads) => {
    await withPool(threads, async (pool) => {
      for (let round = 0; round < 3; round++) {
        const { job, given } = jobOf('walk');
        expect(await pool.run(job, {})).toEqual(await alone());
        expect(given()).toBeGreaterThan(0);
      }
    });
  });

  it('leave at once for a call that waits, also of the same pool’s only other thread', async () => {
    await withPool(2, async (pool) => {
      const large = jobOf('stay', 'large', 20_000);
      const signal = new AbortController();
      const staying = pool.run(large.job, { signal: signal.signal });
      while (large.given() === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      expect(await pool.run(jobOf(undefined, 'small').job, {})).toMatchObject({ outcome: { ok: true } });
      signal.abort();
      expect(await staying).toMatchObject({ outcome: { ok: false, error: { code: 'E_CANCELLED' } } });
    });
  });

  it.each(['break', 'hang'] as const)('and then %s are made up for by the call’s own', async (joins) => {
    await withPool(2, async (pool) => {
      const { job, given } = jobOf(joins, 'large');
      const running = pool.run(job, {});
      // Somebody who waits is what a thread that hangs is ended for.
      if (joins === 'hang') {
        while (given() === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        expect(await pool.run(jobOf(undefined, 'small').job, {})).toMatchObject({ outcome: { ok: true } });
      }
      expect(await running).toEqual(await alone());
      // All threads are there again.
      const both = [jobOf(undefined, 'a'), jobOf(undefined, 'b')].map(({ job: small }) => pool.run(small, {}));
      for (const { outcome } of await Promise.all(both)) expect(outcome).toMatchObject({ ok: true });
    });
    expect(stuck.count).toBe(0);
  });
});
