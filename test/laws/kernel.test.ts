/**
 * Law: over the Linux tree, `resolve` and `openAt` lead where the kernel's openat2 leads, or both refuse. A slice of
 * what the soak runs; see kernel.ts for the differences that are allowed, and why.
 */

import { expect, it } from 'vitest';
import { hasOpenat2 } from '../support/native.js';
import { compareWithKernel } from './kernel.js';

const SEED = 20_260_731;

it.skipIf(!hasOpenat2)(
  'on 5 000 lookups in random trees, what is opened is what openat2(RESOLVE_BENEATH) opens, or both refuse (needs gcc, openat2)',
  () => {
    const tally = compareWithKernel(SEED, 14, 140);
    expect(tally.differences, `seed ${SEED}`).toEqual([]);
    expect(tally.lookups).toBeGreaterThanOrEqual(5_000);
    // The law would be empty if the trees led to one kind of answer, or never to a stated difference.
    expect(tally.opened).toBeGreaterThan(500);
    expect(tally.refused).toBeGreaterThan(500);
    for (const [why, count] of Object.entries(tally.allowed)) expect(count, why).toBeGreaterThan(0);
    console.info(`kernel differential, seed ${SEED}: ${JSON.stringify({ ...tally, differences: 0 })}`);
  },
);
