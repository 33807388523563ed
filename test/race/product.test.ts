/**
 * Races: another process swaps directories, files and links while guests search and read through them. A canary outside
 * the city and one in a confidential building never leave, nothing waits. The soak runs the same for a million opens.
 */

import { describe, expect, it } from 'vitest';
import { descriptorCount } from '../tree/worlds.js';
import { race, readNaively, underAttack } from './harness.js';

const SLICE_MS = 6_000;
/** At least, however busy the machine is: else nothing was raced. */
const SLICE_OPENS = 1_000;
const NAIVE_ROUNDS = 40_000;

describe.skipIf(process.platform !== 'linux')(
  'while another process swaps every place of a city',
  { timeout: 60_000 },
  () => {
    it('an open by joined path reads outside, or in the vault', async () => {
      const leaked = await underAttack(async (world) => readNaively(world, NAIVE_ROUNDS));
      expect(leaked).toBeGreaterThan(0);
    });

    it('no answer of search or read holds what is outside or closed, none waits, and no descriptor is left', async () => {
      const before = descriptorCount();
      const began = performance.now();
      const met = await underAttack((world) =>
        race(world, 2, ({ opens }) => performance.now() - began > SLICE_MS && opens > SLICE_OPENS),
      );
      expect(met.escapes).toEqual([]);
      expect({ hung: met.hung, traps: met.traps }).toEqual({ hung: 0, traps: 0 });
      // The race was run: both sides of a swap were met.
      expect(met.inside).toBeGreaterThan(0);
      expect(met.swapped).toBeGreaterThan(0);
      await expect.poll(descriptorCount).toBe(before);
      console.info(`races: ${JSON.stringify({ ...met, escapes: met.escapes.length })}`);
    });
  },
);
