/**
 * A33: a building that is a bomb (deep, full of names, huge) costs its share of the call; its rest is one unread entry
 * each, and the rest of the city is answered. The soak has the sizes that take minutes to make.
 */

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIR_ENTRIES_MAX } from '../../dist/limits.js';
import { city, TestCity } from '../support/cities.js';
import { asValue } from '../support/outcomes.js';
import { type DiskWorld, diskWorld, type Things } from '../tree/worlds.js';
import { clear, levels, sparse } from './bombs.js';

const GROUND: Things = [
  ['a/first', 'a needle\n'],
  ['z/last', 'a needle\n'],
];

async function expectTheRest(place: TestCity, unread: Readonly<Record<string, number>>): Promise<void> {
  const found = asValue(await place.search({ text: 'needle' }, { timeMs: 100_000 }));
  expect(found.matches.map((hit) => hit.path)).toEqual(['a/first', 'z/last']);
  expect(found).toMatchObject({ truncated: false, unreadable: 1, coverage: { unread_by_cause: unread } });
}

describe('a building that is a bomb', { timeout: 120_000 }, () => {
  it('of more names in one directory than DIR_ENTRIES_MAX is unread, and the rest of the city is answered', async () => {
    const names = Array.from({ length: DIR_ENTRIES_MAX + 1 }, (_, n) => [`bomb/n${n}`, ''] as const);
    const place = city({ tree: 'memory', binding: 'fixed' }, [...GROUND, ...names]);
    await expectTheRest(place, { entries: 1 });
    place.end();
  });

  describe.skipIf(process.platform !== 'linux')('on a disk', () => {
    async function withBomb(plant: (at: string) => void, unread: Readonly<Record<string, number>>): Promise<void> {
      const world: DiskWorld = diskWorld('linux')([...GROUND, ['bomb', { directory: true }]]);
      const bomb = path.join(world.root, 'bomb');
      try {
        plant(bomb);
        await expectTheRest(new TestCity(world, 'fixed'), unread);
      } finally {
        clear(bomb);
        world.end();
      }
    }

    it('of 3 000 levels is walked to DEPTH_MAX and then unread, and the rest of the city is answered', async () => {
      await withBomb((at) => levels(at, 3_000), { depth: 1 });
    });

    it('of a sparse file of 1 TiB is not read, and the rest of the city is answered', async () => {
      await withBomb((at) => sparse(at, 2 ** 40), { too_large: 1 });
    });
  });
});
