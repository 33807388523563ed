/** Soak of the races: a million opens through the whole product, while another process swaps every place. */

import { expect, it } from 'vitest';
import { race, readNaively, underAttack } from '../race/harness.js';
import { say } from './say.js';

const OPENS = 1_000_000;
/** A machine that does not come to OPENS by then is too slow or too busy for the claim: a failure, not a skip. */
const TIME_MS = 5 * 60_000;

it.skipIf(process.platform !== 'linux')(
  'in 1 000 000 racing opens nothing outside or closed is read or named',
  async () => {
    const naive = await underAttack(async (world) => readNaively(world, 100_000));
    const began = performance.now();
    const met = await underAttack((world) =>
      race(world, 2, ({ opens }) => opens >= OPENS || performance.now() - began > TIME_MS),
    );
    say('opens', met.opens);
    say('escapes', met.escapes.length);
    say('traps', met.traps);
    say('naive opens that leaked, of 100 000', naive);
    expect(met.escapes).toEqual([]);
    expect({ hung: met.hung, traps: met.traps }).toEqual({ hung: 0, traps: 0 });
    expect(naive).toBeGreaterThan(0);
    expect(met.opens).toBeGreaterThanOrEqual(OPENS);
  },
);
