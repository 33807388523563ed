/**
 * What `search_history` answers of a repository, held against the real git: the addresses, their order, and every byte of
 * every entry. A slice of it is in the suite, three hundred repositories in the soak.
 */

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Outcome } from '../../dist/error.js';
import { lowered } from '../../dist/runner/budget.js';
import type { Call } from '../../dist/runner/call.js';
import { admitComponent } from '../../dist/runner/component.js';
import { execute } from '../../dist/runner/job.js';
import {
  type HistoryHits,
  type SearchHistoryValue,
  searchHistory,
  searchHistoryWith,
} from '../../dist/tools/search-history.js';
import { enterDisk } from '../../dist/tree/spec.js';
import { asValue } from '../support/outcomes.js';
import { type GitHit, once, type Repository, WORDS } from '../support/repositories.js';

const component = await admitComponent(readFileSync('dist/portcullis.wasm'));
const LIFTED = { addressesBytes: Number.MAX_SAFE_INTEGER, shown: 5 };

/** The bare repository as a city of its own, as an outsider who was named its agents' branches. `leave` it. */
export function entered(dir: string) {
  const city = enterDisk(dir);
  if (typeof city === 'string') throw new Error(`not entered: ${city}`);
  const run = async <T>(args: object, work: (call: Call) => Promise<Outcome<T>>): Promise<Outcome<T>> => {
    const job = {
      tool: 'search_history',
      args,
      asked: '',
      tenant: 'test',
      tree: city.spec,
      reader: null,
      deny: [],
      asksPolicy: false,
      budgets: lowered(),
      timeMs: 60_000,
      history: { branches: ['agents/*'], repository: null },
    };
    const around = { module: component.module, ask: null, partial: () => {}, goOn: async () => true };
    const { outcome } = await execute(job, work, around);
    return outcome as Outcome<T>; // what `work` gives
  };
  return {
    find: (pattern: string) => run<HistoryHits>({ pattern }, (call) => searchHistoryWith(call, pattern, LIFTED)),
    entry: (address: string) =>
      run<SearchHistoryValue>({ entry: address }, (call) => searchHistory.run(call, { entry: address })),
    leave: () => city.close(),
  };
}

const addressOf = ({ commit, path }: GitHit): string => `${commit}:${path.toString()}`;
const isText = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes);

/** Holds every word, and each entry that it leads to, against git. How many hits there were. */
export async function agrees(repository: Repository): Promise<number> {
  const ours = entered(repository.dir);
  try {
    let hits = 0;
    for (const word of WORDS) {
      const theirs = once(repository.log(word));
      const { addresses, truncated, text } = asValue(await ours.find(word));
      expect([word, addresses]).toEqual([word, theirs.map(addressOf)]);
      expect(truncated).toBe(false);
      expect(text.match(/^<entry address=.* bytes="\d+">$/gm)?.length ?? 0).toBeGreaterThanOrEqual(
        Math.min(5, theirs.length),
      );
      hits += theirs.length;
      await sameBytes(repository, ours, theirs.slice(0, 3));
    }
    return hits;
  } finally {
    ours.leave();
  }
}

async function sameBytes(repository: Repository, ours: ReturnType<typeof entered>, hits: readonly GitHit[]) {
  const blobs = contents(repository, hits);
  for (const [index, hit] of hits.entries()) {
    // Another repository's commit: found as git finds it, and no blob.
    const bytes = blobs[index];
    if (bytes === undefined) continue;
    // An address that is not UTF-8 cannot be asked for; a longer entry is over one answer's budget.
    if (!isText(hit.path) || bytes.length > 49_152) continue;
    const value = asValue(await ours.entry(addressOf(hit)));
    expect(value).toEqual(isText(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') });
  }
}

/** What git has under the names of the blobs, all at once: a process for each would be most of the time. */
function contents(repository: Repository, hits: readonly GitHit[]): (Buffer | undefined)[] {
  const printed = repository.git(['cat-file', '--batch=%(objectsize)'], hits.map(({ blob }) => `${blob}\n`).join(''));
  let at = 0;
  return hits.map(() => {
    const newline = printed.indexOf('\n', at);
    const start = newline + 1;
    const said = printed.toString('latin1', at, newline);
    const end = start + Number(said);
    if (said.endsWith(' missing')) {
      at = start;
      return undefined;
    }
    at = end + 1;
    return printed.subarray(start, end);
  });
}
