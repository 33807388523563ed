/**
 * The block store under power cuts: a process that stores blocks is killed at a random moment, again and again in the
 * same city, and after each time every block is its name's and every acknowledged one is there with its origin.
 */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { faultsOf, heard, putter } from '../store/crash.js';
import { type DiskWorld, diskWorld } from '../tree/worlds.js';
import { say, seedOf } from './say.js';

/** SOAK_KILLS lowers it, to try the test itself. */
const KILLS = Number(process.env['SOAK_KILLS'] ?? 1_000);
/** Cities are begun anew, so that looking at all of one does not take longer and longer. */
const KILLS_A_CITY = 50;
const AT_ONCE = 2;

it(
  'holds no wrong block, and every acknowledged one with its origin, after kills at random moments',
  async () => {
    const seed = seedOf('store');
    const moments = fc.sample(fc.nat({ max: 40 }), { numRuns: KILLS, seed });
    let [kills, kept] = [0, 0];
    const faults: string[] = [];
    while (kills < KILLS) {
      const world = diskWorld('linux')([['lab/notes.md', '']]) as DiskWorld;
      const acknowledged = new Set<string>();
      for (const end = kills + KILLS_A_CITY; kills < Math.min(end, KILLS); ) {
        const batch = moments.slice(kills, Math.min(kills + AT_ONCE, end));
        const killed = batch.map((moment, index) =>
          heard(putter(world.root, 'linux', `run${kills + index}`, 0, `city ${kills}`), moment),
        );
        for (const hash of (await Promise.all(killed)).flat()) acknowledged.add(hash);
        kills += batch.length;
        if (kills % 10 === 0) faults.push(...(await faultsOf(world.root, acknowledged)));
      }
      faults.push(...(await faultsOf(world.root, acknowledged)));
      kept += acknowledged.size;
      world.end();
    }
    say('store kills', kills);
    say('store blocks acknowledged', kept);
    say('store faults', faults.length);
    expect(faults).toEqual([]);
    expect(kept).toBeGreaterThan(0);
  },
  30 * 60_000,
);
