/** Soak of history: three hundred repositories of every storage and format, each held against the real git. */

import { expect, it } from 'vitest';
import { agrees } from '../history/differential.js';
import { FORMATS, GRAPHS, makeRepository, STORAGES } from '../support/repositories.js';
import { say, seedOf } from './say.js';

const REPOSITORIES = 300;
/** Three thousand searches, and a process of git for each: some minutes where nothing else runs, more where something does. */
const TIME_MS = 30 * 60_000;

it(
  'in 300 repositories the addresses, their order and the bytes are git’s',
  async () => {
    const first = seedOf('history');
    let hits = 0;
    for (let number = 0; number < REPOSITORIES; number++) {
      const [storage, format] = [STORAGES[number % STORAGES.length], FORMATS[Math.floor(number / STORAGES.length) % 2]];
      // Every other turn of storages and formats has a commit-graph.
      const turn = Math.floor(number / (2 * STORAGES.length));
      const graph = turn % 2 === 0 ? undefined : GRAPHS[Math.floor(turn / 2) % GRAPHS.length];
      const options = {
        ...(storage && { storage }),
        ...(format && { format }),
        ...(graph && { graph }),
        commits: 12 + (number % 60),
      };
      const repository = makeRepository({ seed: first + number, ...options });
      try {
        hits += await agrees(repository);
      } finally {
        repository.end();
      }
    }
    say('repositories held against git', REPOSITORIES);
    say('entries found in them', hits);
    expect(hits).toBeGreaterThan(10 * REPOSITORIES);
  },
  TIME_MS,
);
