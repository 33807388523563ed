/** Loads: calls of many tenants at once, each answer compared with what its own city holds; and how fair the turns are. */

import type { Outcome } from '../../dist/error.js';
import type { ThreadPool } from '../../dist/runner/pool.js';
import type { SearchValue } from '../../dist/tools/search.js';
import type { DiskWorld } from '../tree/worlds.js';
import { ask, median } from './pool.js';

export interface Load {
  readonly answered: number;
  /** What was not the answer of its own city. */
  readonly wrong: readonly string[];
}

/** `calls` calls, each city one tenant with one call under way: searches and reads of the same address everywhere. */
export async function interleave(pool: ThreadPool, cities: readonly DiskWorld[], calls: number): Promise<Load> {
  const wrong: string[] = [];
  let left = calls;
  let answered = 0;
  const tenant = async (city: DiskWorld, n: number): Promise<void> => {
    while (left-- > 0) {
      const isSearch = left % 2 === 0;
      const tool = isSearch ? 'search' : 'read';
      const args = isSearch ? { text: 'the mark' } : { path: 'lab/same.md', limit: 1 };
      const outcome = await ask(pool, { tenant: `city ${n}`, spec: city.spec, tool, args });
      const told = toldBy(outcome);
      if (told === `the mark of city ${n}`) answered++;
      else wrong.push(`city ${n}: ${told}`);
    }
  };
  await Promise.all(cities.map(tenant));
  return { answered, wrong };
}

/** The one line that an answer to either tool holds here, or the answer. */
function toldBy(outcome: Outcome<unknown>): string {
  if (!outcome.ok) return JSON.stringify(outcome.error);
  // Every value here is a search's or a read's.
  const value = outcome.value as SearchValue & { readonly text?: string };
  if (value.text !== undefined) return value.text.trimEnd();
  return value.matches.length === 1 ? (value.matches[0]?.text ?? '') : JSON.stringify(value);
}

export interface Fairness {
  /** p50 of the other tenants' calls, alone. */
  readonly quietMs: number;
  /** The same under the flood. */
  readonly floodedMs: number;
  /** p50 of the flood's own calls. */
  readonly floodMs: number;
  readonly ratio: number;
}

const FLOOD_CALLS = 64;

/** Others' p50 with and without one tenant that always has FLOOD_CALLS calls waiting. */
export async function fairness(pool: ThreadPool, cities: readonly DiskWorld[], calls = 60): Promise<Fairness> {
  const [flooder, ...rest] = cities;
  if (flooder === undefined) throw new Error('no cities');
  const others = rest.slice(0, 3);
  const quiet = await timesOf(pool, others, calls);
  let isFlooding = true;
  const floodTimes: number[] = [];
  const flood = Array.from({ length: FLOOD_CALLS }, async () => {
    while (isFlooding) floodTimes.push(await timed(pool, flooder, 'flood'));
  });
  const flooded = await timesOf(pool, others, calls);
  isFlooding = false;
  await Promise.all(flood);
  const [quietMs, floodedMs, floodMs] = [median(quiet), median(flooded), median(floodTimes)];
  return { quietMs, floodedMs, floodMs, ratio: floodedMs / quietMs };
}

async function timesOf(pool: ThreadPool, cities: readonly DiskWorld[], calls: number): Promise<number[]> {
  const times: number[] = [];
  await Promise.all(
    cities.map(async (city, n) => {
      for (let call = 0; call < calls; call++) times.push(await timed(pool, city, `other ${n}`));
    }),
  );
  return times;
}

async function timed(pool: ThreadPool, city: DiskWorld, tenant: string): Promise<number> {
  const began = performance.now();
  const outcome = await ask(pool, { tenant, spec: city.spec, tool: 'search', args: { text: 'the mark' } });
  if (!outcome.ok) throw new Error(`not answered: ${outcome.error.subject}`);
  return performance.now() - began;
}
