/**
 * What the guest finds in history, against the real git: the same hits, in the same order, in every storage and format.
 */

import { describe, expect, test } from 'vitest';
import { FORMATS, makeRepository, once, STORAGES, WORDS } from '../support/repositories.js';
import { linesOf, reading } from './git.js';

const SETTINGS = STORAGES.flatMap((storage) => FORMATS.map((format) => ({ storage, format })));

describe.each(SETTINGS)('in a repository that git made, $storage, $format', ({ storage, format }) => {
  test.each([0, 1])('the same hits in the same order, seed %i', (seed) => {
    const repository = makeRepository({ seed, storage, format });
    try {
      reading(repository, (reader) => {
        for (const word of WORDS) {
          const found = reader.history(word);
          const theirs = linesOf(once(repository.log(word)));
          if ('fault' in found) throw new Error(`${word}: ${found.fault}`);
          expect([word, linesOf(found.entries)]).toEqual([word, theirs]);
          expect(found.ending).toBe('complete');
        }
      });
    } finally {
      repository.end();
    }
  });
});
