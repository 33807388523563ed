/**
 * Soak of the git reader: as fast as git on thousands of commits, answered in flat memory on hundreds of thousands.
 * What each took stands side by side in one run, so that a busy machine is busy for both.
 */

import { expect, it } from 'vitest';
import { linesOf, Reader } from '../guest/git.js';
import { makeLargeRepository, makeLongRepository, once, type Repository } from '../support/repositories.js';
import { say } from './say.js';

/** The least of some runs, in milliseconds, and what the last gave. */
function least<T>(runs: number, work: () => T): [tookMs: number, value: T] {
  let [best, value]: [number, T | undefined] = [Number.POSITIVE_INFINITY, undefined];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    value = work();
    best = Math.min(best, performance.now() - start);
  }
  return [best, value as T]; // runs is at least one
}

function history(repository: Repository, pattern: string, branches: string) {
  const reader = new Reader(repository);
  try {
    const found = reader.history(pattern, { branches: [branches] });
    if ('fault' in found) throw new Error(found.fault);
    return { ...found, memoryBytes: reader.guest.memoryBytes() };
  } finally {
    reader.end();
  }
}

it.each(['imported', 'aggressive'] as const)(
  'a history of 20 branches by 300 commits is searched in less than twice the time of git: %s',
  (packing) => {
    const repository = makeLargeRepository(20, 300, packing);
    try {
      for (const pattern of ['nothing holds this', 'summary 1']) {
        const [ours, found] = least(5, () => history(repository, pattern, 'agents/*'));
        const [theirs, hits] = least(5, () => repository.log(pattern));
        say(`history, ${packing}, ${JSON.stringify(pattern)}`, `${ours.toFixed(0)} ms, git ${theirs.toFixed(0)} ms`);
        expect(linesOf(found.entries)).toEqual(linesOf(once(hits)));
        expect(ours).toBeLessThan(2 * theirs);
      }
    } finally {
      repository.end();
    }
  },
);

it('300 000 commits, of which 100 are an agent’s, are answered in flat memory', () => {
  const repository = makeLongRepository(300_000, 3_000);
  try {
    const [ours, found] = least(1, () => history(repository, 'needle', 'main'));
    const [theirs, hits] = least(1, () => repository.log('needle', 'mai*'));
    say(
      'history of 300 000 commits',
      `${ours.toFixed(0)} ms, git ${theirs.toFixed(0)} ms, ${found.memoryBytes >> 20} MiB`,
    );
    expect(found).toMatchObject({ ending: 'complete', commits: 300_000 });
    expect(linesOf(found.entries)).toEqual(linesOf(hits));
    expect(found.memoryBytes).toBeLessThan(160 << 20);
  } finally {
    repository.end();
  }
});
