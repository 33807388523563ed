/** Soak of the kernel differential: a hundred thousand lookups and no difference. */

import { expect, it } from 'vitest';
import { compareWithKernel } from '../laws/kernel.js';
import { hasOpenat2 } from '../support/native.js';
import { say, seedOf } from './say.js';

const LOOKUPS = 100_000;
/** Random paths a tree; the chain of links comes on top, and each path is looked up in two ways. */
const PATHS = 400;

it.skipIf(!hasOpenat2)(
  'on 100 000 lookups in random trees, what is opened is what openat2(RESOLVE_BENEATH) opens',
  () => {
    const seed = seedOf('kernel');
    const tally = compareWithKernel(seed, Math.ceil(LOOKUPS / (2 * (PATHS + 45))), PATHS);
    expect(tally.differences, `seed ${seed}`).toEqual([]);
    expect(tally.lookups).toBeGreaterThanOrEqual(LOOKUPS);
    const { lookups, opened, refused, allowed } = tally;
    say('kernel lookups', `${lookups} (${opened} opened, ${refused} refused, stated: ${JSON.stringify(allowed)})`);
    say('kernel differences', tally.differences.length);
  },
);
