/**
 * Every budget, reached from the caller's side: what the embedder lowered ends the call; a search gives back what it
 * found, with `stopped`; where there is no room for that, `E_LIMIT` names the limit, its value and how far it got.
 * (From the guest's side: test/hostile.) And every limit there is, with the test that reaches it.
 */

import fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { memoryCity, openRunner } from '../../dist/index.js';
import * as limits from '../../dist/limits.js';
import { BUDGETS, type Budgets } from '../../dist/runner/budget.js';
import { city, type Setting, TREES } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';

const FILES = 40;
/** One hit first, then many files without one. */
const THINGS: Things = [
  ['a/first', 'a needle\n'],
  ...Array.from({ length: FILES }, (_, n) => [`b/f${n}`, 'x'.repeat(1_000)] as const),
  ['c/last', 'a needle\n'],
  ['deep/1/2/3/4/5/6/leaf', 'deep\n'],
];

/** Budgets of a call that a search gives way to: lowered to `value`, it stops, and says `words`. */
const STOPS: readonly (readonly [name: keyof Budgets, value: number, words: string, why: string])[] = [
  ['opens', 12, 'its opens are used up (12)', 'a city of many small files'],
  ['entries', 44, 'its directory entries are used up (44)', 'a city of many names'],
  ['bytes', 4_000, 'its bytes are used up (4000)', 'a city of large files'],
];

/** What one building may take: its rest is one unread entry, and the walk goes on. */
const SHARES: readonly (readonly [name: keyof Budgets, value: number, why: string])[] = [
  ['buildingOpens', 12, 'a building of many files'],
  ['buildingEntries', 10, 'a building of many names'],
  ['buildingBytes', 4_000, 'a building of large files'],
];

describe.each(TREES)('a search over a budget, in a city on the %s tree', (tree) => {
  const setting: Setting = { tree, binding: 'fixed' };

  it.each(STOPS)(
    '%s, lowered to %i: gives back what it found, and says which and its value (%s; %s)',
    async (name, value, words) => {
      const place = city(setting, THINGS);
      const found = asValue(await place.search({ text: 'needle' }, { budgets: { [name]: value } }));
      place.end();
      expect(found.matches.map(({ path }) => path)).toEqual(['a/first']);
      expect(found.truncated).toBe(true);
      expect(found.stopped).toContain(words);
    },
  );

  it('handles, lowered to 4: gives back what it found, and says which and its value', async () => {
    const place = city(setting, THINGS);
    const found = asValue(await place.search({ text: 'needle' }, { budgets: { handles: 4 } }));
    place.end();
    expect(found.count).toBe(2);
    expect(found.stopped).toContain('its open handles are used up (4)');
  });

  it.each(SHARES)('%s, lowered to %i: is the end of that building alone (%s)', async (name, value) => {
    const place = city(setting, THINGS);
    const found = asValue(await place.search({ text: 'needle' }, { budgets: { [name]: value } }));
    place.end();
    expect(found.matches.map(({ path }) => path)).toEqual(['a/first', 'c/last']);
    expect(found).toMatchObject({
      truncated: false,
      unread: [{ path: 'b' }],
      coverage: { unread_by_cause: { share: 1 } },
    });
    expect(found.unread[0]?.why).toContain('its share of one call');
  });

  it('of time: a call that is late gives back what it has', async () => {
    const place = city(setting, THINGS);
    const found = asValue(await place.search({ text: 'needle' }, { timeMs: 0.001 }));
    place.end();
    expect(found).toMatchObject({ truncated: true, count: 0 });
    expect(found.stopped).toContain('its time is over');
  });
});

describe.each(TREES)('a read over a budget, in a city on the %s tree', (tree) => {
  const setting: Setting = { tree, binding: 'fixed' };
  const big: Things = [['a/big', 'line\n'.repeat(4_000_000)]];

  it('of bytes is E_LIMIT that names it, its value and how far the read got', async () => {
    const place = city(setting, big);
    const error = asError(await place.read({ path: 'a/big' }, { budgets: { bytes: 1_000 } }));
    place.end();
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'no' });
    expect(error.subject).toMatch(/^a\/big: its bytes are used up \(1000\); \d+ bytes were read$/);
  });

  it('of opens is E_LIMIT that names it and its value', async () => {
    const place = city(setting, [['a/b/c/d/e/f', 'x']]);
    const error = asError(await place.read({ path: 'a/b/c/d/e/f' }, { budgets: { opens: 1 } }));
    place.end();
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'no' });
    expect(error.subject).toContain('its opens are used up (1)');
  });

  it('of time is E_LIMIT that names it and its value, and may be asked again', async () => {
    const place = city(setting, big);
    const error = asError(await place.read({ path: 'a/big' }, { timeMs: 0.001 }));
    place.end();
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'unknown' });
    expect(error.subject).toContain('its time is over (0.001 ms)');
  });
});

describe('what an answer carries', () => {
  it('is at most CONTEXT_CAP_LINES of context each side: more is clamped', async () => {
    const lines = Array.from({ length: 30 }, (_, n) => (n === 15 ? 'needle' : `line ${n}`)).join('\n');
    const place = city({ tree: 'memory', binding: 'fixed' }, [['a/text', lines]]);
    const found = asValue(await place.search({ text: 'needle', context: 99 }));
    place.end();
    expect(found.matches[0]?.text.split('\n')).toHaveLength(2 * limits.CONTEXT_CAP_LINES + 1);
  });
});

describe('a runner over a budget', () => {
  const slow = (ms: number) => () =>
    new Promise<{ kind: 'open' }>((resolve) => setTimeout(() => resolve({ kind: 'open' }), ms));
  const place = memoryCity([['lab/a', 'needle']]);

  it('of one tenant’s queue (TENANT_QUEUE_MAX) refuses that tenant, names the limit, and serves the others', async () => {
    const runner = await openRunner({ workers: 2, limits: { tenantQueue: 2 } });
    const flood = asValue(await runner.enter(place, { tenant: 'flood', policy: slow(300) }));
    const other = asValue(await runner.enter(place, { tenant: 'other' }));
    const flooded = Array.from({ length: 8 }, () => flood.call('search', { text: 'needle' }));
    expect((await other.call('search', { text: 'needle' })).ok).toBe(true);
    const refused = (await Promise.all(flooded)).filter((answer) => !answer.ok);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(asError(answer)).toMatchObject({ code: 'E_LIMIT', retry: 'yes' });
      expect(asError(answer).subject).toContain('2 of one tenant');
    }
    await runner.close();
  });

  it('of calls in flight: one tenant never holds every slot, so another is served while it waits', async () => {
    const runner = await openRunner({ workers: 2 });
    const ever = asValue(await runner.enter(place, { tenant: 'ever', policy: () => new Promise(() => {}) }));
    const other = asValue(await runner.enter(place, { tenant: 'other' }));
    const abort = new AbortController();
    const waiting = [1, 2, 3, 4].map(() => ever.call('search', { text: 'needle' }, { signal: abort.signal }));
    expect((await other.call('search', { text: 'needle' })).ok).toBe(true);
    abort.abort();
    for (const answer of await Promise.all(waiting)) expect(asError(answer).code).toBe('E_CANCELLED');
    await runner.close();
  });

  it('takes lower budgets and no higher ones', async () => {
    const runner = await openRunner({ mode: 'inline', limits: { opens: 10 ** 12 } });
    const own = asValue(await runner.enter(place));
    expect((await own.call('read', { path: 'lab/a' })).ok).toBe(true);
    await runner.close();
  });
});

// ---- every limit, and the test that reaches it ----

/** A limit that no call can reach by itself, or only in hours: why, and what stands for it. */
const NOT_REACHED: Readonly<Record<string, string>> = {
  PAGE_BYTES: 'a page: seen as progress, never by an answer',
  POLICY_BATCH: 'how many names are asked at once, which no answer tells',
  NAME_MAX_BYTES: 'the file system’s own, used in a relation',
  DIR_SMALL_BYTES: 'when a listing needs no counting first; DIR_ENTRIES_MAX is what is shown',
  WORKER_HEAP_MB: 'the host’s own objects; a guest’s memory has GUEST_MEMORY_MAX_PAGES',
  PUT_ATTEMPTS_MAX:
    'reached only where every unfinished block is taken away in time; that one theft is got over is shown',
  LISTING_BATCH_ENTRIES: 'how many names are asked for at once; DIR_ENTRIES_MAX is what is shown',
  SPAN_CHUNK_BYTES: 'how much is read at once, which no answer tells; ranges across its borders are shown',
  STORE_CHUNK_BYTES: 'the first size of a buffer that grows',
  SHARE_TRIES_MAX: 'what a guest that hides where it stands costs the host: its answer is the same',
  RELATIONS: 'the relations themselves, each shown in test/limits.test.ts',
};

/** The budget an embedder lowers, by the limit it is lowered from: reached under that name. */
const BY_BUDGET: Readonly<Record<string, keyof Budgets>> = {
  CALL_OPENS_MAX: 'opens',
  CALL_ENTRIES_MAX: 'entries',
  CALL_BYTES_MAX: 'bytes',
  HANDLES_MAX: 'handles',
  BUILDING_OPENS_MAX: 'buildingOpens',
  BUILDING_ENTRIES_MAX: 'buildingEntries',
  BUILDING_BYTES_MAX: 'buildingBytes',
  CALL_TIME_MS: 'timeMs',
  READ_TIME_MS: 'readTimeMs',
  QUEUE_MAX: 'queue',
  TENANT_QUEUE_MAX: 'tenantQueue',
  QUEUE_TIME_MS: 'queueTimeMs',
  ENTER_TIME_MS: 'enterTimeMs',
  STUCK_WORKERS_MAX: 'stuckWorkers',
  CITY_STUCK_WORKERS_MAX: 'cityStuckWorkers',
};

/** A limit that no test calls by its name: the file and the title of the test that reaches it. */
const BY_TITLE: Readonly<Record<string, readonly [file: string, title: string]>> = {
  LINE_MAX_BYTES: ['tools/read', 'cuts a first line over 1 MiB'],
  DEADLINE_GRACE_MS: ['tenants/neighbours', 'end an endless loop at its deadline'],
  KEEPER_THREADS_MAX: ['tenants/silent-mount', 'is not entered where its root hangs, and holds up no other root'],
  STUCK_AFTER_MS: ['tenants/silent-mount', 'does not keep a runner from closing'],
  RECEIPT_TIME_MS: ['audit/log', 'is overdue while an append hangs'],
  RECEIPT_TEXT_MAX_BYTES: ['audit/receipts', 'kept full cuts a long text'],
  RECEIPT_GROUP_MAX_LINES: ['audit/receipts', 'have a thousand lines, gapless'],
  RECEIPT_FILE_MAX_BYTES: ['audit/file', 'is put aside under a number'],
  PROGRESS_AFTER_MS: ['door/command', 'progress'],
  PROGRESS_EVERY_MS: ['door/command', 'progress'],
  CLOSE_PATIENCE_MS: ['door/command', 'comes after the answer is out, and ends the process'],
  SHARE_AFTER_MS: ['runner/shared-walk', 'threads give the answer of one, and its account'],
  SHARED_PARTS_MAX: ['tools/search.parts', 'cuts a walk deep inside'],
  WALK_THREADS_MAX: ['runner/shared-walk', 'threads give the answer of one, and its account'],
  LEAVE_GRACE_MS: ['runner/shared-walk', 'made up for by the call’s own'],
  GUEST_READ_MAX_BYTES: ['hostile/guests/a_read_of_2_to_the_64_is_bounded', ''],
};

/** All tests but the tables that list every limit. */
const TESTS = fs
  .readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|mts)$/.test(name) && !/(^limits|tenants\/budgets)\.test\.ts$/.test(name))
  .map((name) => fs.readFileSync(`test/${name}`, 'utf8'))
  .concat(fs.readFileSync('test/tenants/budgets.test.ts', 'utf8').split('// ---- every limit')[0] ?? '')
  .join('\n');

/** Whether a test speaks of it: by its name, by the budget it is lowered as, or by its title. */
function isReached(limit: string): boolean {
  const names = [limit, BY_BUDGET[limit]].filter((name) => name !== undefined);
  if (names.some((name) => new RegExp(`\\b${name}\\b`).test(TESTS))) return true;
  const [file, title] = BY_TITLE[limit] ?? [];
  const source = [`test/${file}.test.ts`, `test/${file}.ts`].find((place) => fs.existsSync(place));
  return source !== undefined && title !== undefined && fs.readFileSync(source, 'utf8').includes(title);
}

describe('the limits of limits.ts', () => {
  it.each(Object.keys(limits))('%s: a test reaches it, or it is said why none can', (limit) => {
    expect(isReached(limit) || limit in NOT_REACHED).toBe(true);
  });

  it('have a budget for each row, and a row for each budget', () => {
    expect(Object.values(BY_BUDGET).sort()).toEqual(Object.keys(BUDGETS).sort());
    for (const [limit, budget] of Object.entries(BY_BUDGET))
      expect(BUDGETS[budget]).toBe(new Map(Object.entries(limits)).get(limit));
  });
});
