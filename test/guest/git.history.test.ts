/**
 * What the guest finds in history, against the real git: the same hits, in the same order, in every storage and format.
 */

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FORMATS, makeRepository, once, Repository, STORAGES, WORDS } from '../support/repositories.js';
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

/** Committer lines as no client writes them, and as a hostile one may: whoever reads a clock must not be led by it. */
const CLOCKS: readonly string[] = [
  'committer C <c@x> 1700000000 +0000',
  'committer C <c@x> 1700000001 +0000',
  'committer C <c@x> 0 +0000',
  'committer C <c@x> -1 +0000',
  'committer C <c@x> -99999999999999999999999 +0000',
  'committer C <c@x> 18446744073709551615 +0000',
  'committer C <c@x> 18446744073709551616 +0000',
  'committer C <c@x> 9223372036854775808 +0000',
  'committer C <c@x> 4294967296 +0000',
  'committer C <c@x> +1650000000 +0000',
  'committer C <c@x>\t 1650000001 +0000',
  'committer C <c@x> 1650000002',
  'committer C <c@x> 16500x +0000',
  'committer C <c@x> soon +0000',
  'committer C <c@x>',
  'committer C <c@x> > 1750000000 +0000',
  'committer C 1750000000 +0000',
  'committed C <c@x> 1750000000 +0000',
];

describe('a commit whose clock is', () => {
  // The entry is in every one of them, under a name of its own, so the order is all there is to tell.
  test('anything at all stands where git puts it', () => {
    const repository = new Repository();
    try {
      const blob = repository.say(['hash-object', '-w', '--stdin'], 'the needle');
      for (const [index, clock] of CLOCKS.entries()) {
        const messages = repository.say(['mktree'], `100644 blob ${blob}\t${100 + index}.json\n`);
        const tree = repository.say(['mktree'], `040000 tree ${messages}\tmessages\n`);
        const text = `tree ${tree}\nauthor A <a@x> 1 +0000\n${clock}\n\nx\n`;
        const commit = repository.say(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], text);
        fs.mkdirSync(path.join(repository.dir, 'refs/heads/agents'), { recursive: true });
        fs.writeFileSync(path.join(repository.dir, `refs/heads/agents/a${100 + index}`), `${commit}\n`);
      }
      reading(repository, (reader) => {
        const found = reader.history('needle');
        if ('fault' in found) throw new Error(found.fault);
        expect(linesOf(found.entries)).toEqual(linesOf(repository.log('needle')));
        expect(found.entries).toHaveLength(CLOCKS.length);
      });
    } finally {
      repository.end();
    }
  });
});
