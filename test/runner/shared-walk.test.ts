/**
 * Threads that join a call's walk, with real threads: the answer is the one of a thread alone, nobody who waits is kept
 * waiting for them, and whatever becomes of them the call is answered. Which parts who may walk: tools/search.parts.test.ts.
 */

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { lowered } from '../../dist/runner/budget.js';
import { admitComponent } from '../../dist/runner/component.js';
import { execute, type Job } from '../../dist/runner/job.js';
import { ThreadPool } from '../../dist/runner/pool.js';
import { OtherCompany, OwnCompany, type ToWalker } from '../../dist/runner/shared-walk.js';
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
      let gave = 0;
      // On a busy machine a thread may join and find everything walked: tried until one did not.
      for (let round = 0; round < 3 || (gave === 0 && round < 50); round++) {
        const { job, given } = jobOf('walk');
        expect(await pool.run(job, {})).toEqual(await alone());
        gave += given();
      }
      expect(gave).toBeGreaterThan(0);
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

describe('a part', () => {
  const CHANGES = ['add', 'store', 'compareExchange'] as const;

  /** Ends a thread at its change number `at` of what all threads see: it does that and nothing after it. */
  function endedAt(at: number, act: () => void): void {
    let changes = 0;
    const spies = CHANGES.map((name) => {
      const change = Atomics[name] as (...given: unknown[]) => unknown; // one of three, called as it was
      return vi.spyOn(Atomics, name).mockImplementation(((...given: unknown[]) => {
        const result = change(...given);
        if (++changes === at) throw new Error('ended');
        return result;
      }) as never); // they differ in what they take alone
    });
    try {
      act();
    } catch (thrown) {
      expect(thrown).toMatchObject({ message: 'ended' });
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  }

  it.each([1, 2, 3, 4])('of a thread that was ended at its change %i is to be had, or known to be lost', (at) => {
    let hear: (message: ToWalker) => void = () => {};
    let cells: SharedArrayBuffer | undefined;
    vi.spyOn(performance, 'now').mockReturnValueOnce(-1e9);
    const own = new OwnCompany({
      say: (message) => {
        if (message.kind === 'invite') cells = message.cells;
      },
      listen: (given) => {
        hear = given;
        return () => {};
      },
    });
    own.invite();
    if (cells === undefined) throw new Error('nobody was invited');
    own.begin({}, 3);
    const other = new OtherCompany({ say: () => {}, listen: () => () => {} }, { cells, seat: 0 });
    endedAt(at, () => {
      while (other.take() !== undefined);
    });
    hear({ kind: 'gone', seat: 0 });
    const had: (number | undefined)[] = [];
    for (let part = own.take(); part !== undefined; part = own.take()) had.push(part);
    for (const part of [0, 1, 2]) expect(had.includes(part) || own.result(part) === 'lost', `${part}`).toBe(true);
  });
});
