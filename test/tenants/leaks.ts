/** Leaks: what a runner holds before and after many calls of many cities, measured in the process that embeds it. */

import { setTimeout as wait } from 'node:timers/promises';
import { type City, openRunner } from '../../dist/index.js';
import { asValue } from '../support/outcomes.js';
import { descriptorCount } from '../tree/worlds.js';
import { threadCount, twins } from './pool.js';

export interface Held {
  readonly descriptors: number;
  readonly threads: number;
  readonly memoryMiB: number;
}

export interface Leaks {
  /** After the first part of the calls, when everything is warm; and at the end. */
  readonly warm: Held;
  readonly end: Held;
  readonly calls: number;
  readonly wrong: readonly string[];
}

const CITIES = 50;
const UNDER_WAY = 8;

/**
 * Makes `calls` calls in 50 cities, a few at once: searches, reads, misses and refusals, some cancelled, and now and
 * then a city that is left and entered again. `warmShare` of them come before the first measure.
 */
export async function leaks(calls: number, warmShare = 0.3): Promise<Leaks> {
  const worlds = twins(CITIES);
  const runner = await openRunner({ workers: 2 });
  try {
    const cities: City[] = [];
    for (const { root } of worlds) cities.push(asValue(await runner.enter(root)));
    const wrong: string[] = [];
    let turn = 0;
    const until = async (end: number): Promise<void> => {
      while (turn < end) {
        const at = turn++;
        await call(cities[at % CITIES], at, wrong);
      }
    };
    const part = (end: number) => Promise.all(Array.from({ length: UNDER_WAY }, () => until(end)));
    await part(Math.floor(calls * warmShare));
    const warm = await held();
    for (let half = 1; half <= 2; half++) {
      await part(Math.floor(calls * (warmShare + ((1 - warmShare) * half) / 2)));
      const [root] = worlds.map((world) => world.root);
      await cities[0]?.leave();
      if (root !== undefined) cities[0] = asValue(await runner.enter(root));
    }
    const end = await held();
    return { warm, end, calls: turn, wrong };
  } finally {
    await runner.close();
    for (const world of worlds) world.end();
  }
}

async function call(city: City | undefined, turn: number, wrong: string[]): Promise<void> {
  const n = turn % CITIES;
  switch (turn % 5) {
    case 0:
      return judge(await city?.call('search', { text: 'the mark' }), `"the mark of city ${n}"`, wrong);
    case 1:
      return judge(await city?.call('read', { path: 'lab/same.md' }), `the mark of city ${n}\\n`, wrong);
    case 2:
      return judge(await city?.call('read', { path: 'lab/nothing' }), 'lab/same.md', wrong);
    case 3:
      return judge(await city?.call('read', { path: 'vault/same.md' }), 'E_GATE_DENIED', wrong);
    default:
      return judge(await city?.call('search', { text: 'the mark', path: 'lab' }), `"the mark of city ${n}"`, wrong);
  }
}

/** `holds`: what the answer's JSON has in it, and no other city's has. */
function judge(answer: unknown, holds: string, wrong: string[]): void {
  const told = JSON.stringify(answer);
  if (!told?.includes(holds)) wrong.push(`${told} does not hold ${holds}`);
}

/** What is held once nothing is under way: the smallest of some looks, since closing takes a moment. */
async function held(): Promise<Held> {
  let least: Held | undefined;
  for (let look = 0; look < 5; look++) {
    await wait(50);
    globalThis.gc?.();
    const now = {
      descriptors: descriptorCount(),
      threads: threadCount(),
      memoryMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
    };
    least = {
      descriptors: Math.min(least?.descriptors ?? Number.POSITIVE_INFINITY, now.descriptors),
      threads: Math.min(least?.threads ?? Number.POSITIVE_INFINITY, now.threads),
      memoryMiB: Math.min(least?.memoryMiB ?? Number.POSITIVE_INFINITY, now.memoryMiB),
    };
  }
  if (least === undefined) throw new Error('not looked');
  return least;
}
