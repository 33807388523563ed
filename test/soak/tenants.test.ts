/** Soak of the tenants: a hundred thousand calls leave nothing behind; turns stay fair; the largest bombs. */

import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ThreadPool } from '../../dist/runner/pool.js';
import { TestCity } from '../support/cities.js';
import { asValue } from '../support/outcomes.js';
import { clear, names } from '../tenants/bombs.js';
import { leaks } from '../tenants/leaks.js';
import { fairness } from '../tenants/load.js';
import { poolOf, twins, unrulyGuest } from '../tenants/pool.js';
import { type DiskWorld, diskWorld } from '../tree/worlds.js';
import { say } from './say.js';

const CALLS = 100_000;
const SLACK_MIB = 64;

it('100 000 calls in 50 cities leave descriptors, threads and memory as they were', async () => {
  const { warm, end, calls, wrong } = await leaks(CALLS);
  const lost = end.descriptors - warm.descriptors + (end.threads - warm.threads);
  say('calls', calls);
  say('leaks', `${lost} (descriptors, threads), memory ${warm.memoryMiB} → ${end.memoryMiB} MiB`);
  expect(wrong).toEqual([]);
  expect(lost).toBe(0);
  expect(end.memoryMiB - warm.memoryMiB).toBeLessThan(SLACK_MIB);
});

it('1 000 000 names in one building are one unread entry, and the rest of the city is answered', async () => {
  // In memory where there is such a file system: a disk takes minutes to make and to remove so many names.
  const elsewhere = process.env['TMPDIR'];
  if (fs.existsSync('/dev/shm')) process.env['TMPDIR'] = '/dev/shm';
  const world = diskWorld('linux')([
    ['a/first', 'a needle\n'],
    ['bomb', { directory: true }],
    ['z/last', 'a needle\n'],
  ]);
  const bomb = path.join(world.root, 'bomb');
  try {
    names(bomb, 1_000_000);
    const found = asValue(await new TestCity(world, 'fixed').search({ text: 'needle' }));
    expect(found.matches.map((hit) => hit.path)).toEqual(['a/first', 'z/last']);
    expect(found).toMatchObject({ truncated: false, coverage: { unread_by_cause: { entries: 1 } } });
  } finally {
    clear(bomb);
    world.end();
    if (elsewhere === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = elsewhere;
  }
});

let pool: ThreadPool;
let cities: DiskWorld[];
beforeAll(async () => {
  pool = poolOf(await unrulyGuest(), 4);
  cities = twins(8);
});
afterAll(async () => {
  await pool.close();
  for (const city of cities) city.end();
});

it('a flood of one tenant is not waited for by the others', async () => {
  const { quietMs, floodedMs, floodMs, ratio } = await fairness(pool, cities, 150);
  say(
    'fairness ratio',
    `${ratio.toFixed(2)} (p50 of others ${quietMs.toFixed(1)} → ${floodedMs.toFixed(1)} ms; the flood ${floodMs.toFixed(1)} ms)`,
  );
  expect(floodedMs * 3).toBeLessThan(floodMs);
});
