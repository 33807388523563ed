/**
 * Laws of `search` on random cities: it is the naive search, its numbers add up with and without a stop, pages change
 * nothing, the same question has the same answer; and on plain trees it finds what grep and ripgrep find.
 * PORTCULLIS_RUNS asks for more runs; a failure prints its seed.
 */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Budgets } from '../../dist/runner/budget.js';
import { type SearchArgs, type SearchValue, searchWith } from '../../dist/tools/search.js';
import { city, GUESTS, SETTINGS, type Setting } from '../support/cities.js';
import { asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';
import { begin, countsOf } from './cities.js';
import { naiveCitySearch } from './naive.js';
import { bytes, policy, question, says, shown, things, together } from './random-cities.js';

const RUNS = Number(process.env['PORTCULLIS_RUNS'] ?? 24);
/** Many small cities on a busy machine. */
const TIME_MS = 120_000;
/** The numbers of any answer. */
function addsUp(value: SearchValue): void {
  const { entries, looked, directories, links, reserved, not_text, unread_by_cause } = value.coverage;
  expect(Object.values(unread_by_cause).reduce((sum, each) => sum + each, 0)).toBe(value.unreadable);
  expect(looked + directories + links + reserved + value.unreadable).toBe(entries);
  expect(not_text).toBeLessThanOrEqual(looked);
  expect(value.unread).toHaveLength(Math.min(16, value.unreadable));
  expect(value.count).toBe(value.matches.length);
  expect('stopped' in value).toBe(value.truncated);
  expect(value.matches.length).toBeLessThanOrEqual(64);
  for (const { path: at, text } of value.matches) {
    expect(text.isWellFormed()).toBe(true);
    expect(at).not.toMatch(/^[cd](\/|$)|(^|\/)\.(git|sprawling)(\/|$)/i);
  }
  for (const { why } of value.unread) expect(why).not.toMatch(/outside|passwd|\/tmp|ENOENT|undefined/);
}

async function inCity(
  setting: Setting,
  these: Things,
  claim: (place: ReturnType<typeof city>) => Promise<void>,
): Promise<void> {
  const place = city(setting, these);
  try {
    await claim(place);
  } finally {
    place.end();
  }
}

describe('the naive search of a city', () => {
  const CITY: Things = [
    ['a/x', 'n here'],
    ['a/to', { link: 'x' }],
    ['a/dir', { link: '../b' }],
    ['a/none', { link: 'no' }],
    ['a/out', { link: '../../x' }],
    ['a/in-c', { link: '../c/x' }],
    ['a/over', { link: '../c/../a/x' }],
    ['a/through', { link: 'x/' }],
    ['a/.git/x', 'n'],
    ['a/pipe', { other: true }],
    [['a', bytes(0x7a, 0xff)], 'n'],
    ['b/to-self', { link: 'to-self' }],
    ['c/x', 'n'],
    ['d/x', 'n'],
  ];
  it('is what a person would answer', () => {
    expect(naiveCitySearch(CITY, says, { text: 'n' })).toEqual({
      matches: [
        { path: 'a/to', line: 0, text: 'n here' },
        { path: 'a/x', line: 0, text: 'n here' },
      ],
      truncated: false,
      unread: ['a/none', 'a/pipe', 'a/through', 'a/z\ufffd', 'b/to-self', 'd'],
      unreadable: 6,
      counts: { looked: 2, directories: 3, links: 4, reserved: 1, link: 3, not_regular: 1, name: 1, rules: 1 },
    });
  });

  it('of a room names what is below it', () => {
    expect(naiveCitySearch(CITY, says, { text: 'q', path: 'b' })).toMatchObject({
      unread: ['b/to-self'],
      counts: { directories: 1, link: 1 },
    });
  });
});

describe.each(SETTINGS)('on random cities, $tree, $binding', { timeout: TIME_MS }, (setting) => {
  const numRuns = setting.tree === 'memory' ? RUNS * 4 : RUNS;

  it('search is the naive search, from the root and from any directory, and says the same twice', async () => {
    await fc.assert(
      fc.asyncProperty(things, question, async (these, args) => {
        await inCity(setting, these, async (place) => {
          for (const at of ['', 'a', 'b/a']) {
            const isThere =
              at === '' ||
              these.some(([names]) =>
                shown([...names].slice(0, -1))
                  .concat('/')
                  .startsWith(`${at}/`),
              );
            if (!isThere) continue;
            const asked: SearchArgs = { ...args, ...(at !== '' && { path: at }) };
            const value = asValue(await place.search(asked, { policy }));
            const { matches, truncated, unread, unreadable } = value;
            expect({
              matches,
              truncated,
              unread: unread.map((each) => each.path),
              unreadable,
              counts: countsOf(value),
            }).toEqual(naiveCitySearch(these, says, { ...args, path: at }));
            addsUp(value);
            expect(await place.search(asked, { policy })).toEqual({ ok: true, value });
          }
        });
      }),
      { numRuns },
    );
  });

  const one = fc.integer({ min: 1, max: 12 });
  const budgets = fc.oneof(
    ...(['opens', 'entries', 'bytes', 'handles', 'buildingOpens', 'buildingEntries', 'buildingBytes'] as const).map(
      (budget) => one.map((value): Partial<Budgets> => ({ [budget]: value })),
    ),
  );

  it('with any budget and any caps the numbers add up, and the hits are the first of the whole search', async () => {
    await fc.assert(
      fc.asyncProperty(
        things,
        question,
        budgets,
        fc.integer({ min: 1, max: 4 }),
        async (these, args, lowered, matchCap) => {
          await inCity(setting, these, async (place) => {
            const whole = asValue(await place.search(args, { policy }));
            const stopped = asValue(await place.search(args, { policy, budgets: lowered }));
            addsUp(stopped);
            const isShare = Object.keys(lowered)[0]?.startsWith('building') ?? false;
            if (!isShare) expect(whole.matches.slice(0, stopped.count)).toEqual(stopped.matches);
            else if (!whole.truncated) expect(whole.matches).toEqual(expect.arrayContaining([...stopped.matches]));
            expect(await place.search(args, { policy, budgets: lowered })).toEqual({ ok: true, value: stopped });

            const caps = { matchCap, textCap: 65_536, fileCap: 1_048_576 };
            const capped = asValue(await place.search(args, { policy, work: (call) => searchWith(call, args, caps) }));
            addsUp(capped);
            expect(capped.matches).toEqual(whole.matches.slice(0, matchCap));
            expect(capped.truncated).toBe(whole.truncated || whole.count > matchCap);
          });
        },
      ),
      { numRuns: Math.ceil(numRuns / 2) },
    );
  });

  it('paging changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(things, question, fc.integer({ min: 1, max: 5 }), async (these, args, pageEntries) => {
        await inCity(setting, these, async (place) => {
          const whole = await place.search(args, { policy });
          const unchecked = {
            guest: (filesystem: Parameters<(typeof GUESTS)['fixed']>[0]) => {
              const guest = GUESTS[setting.binding](filesystem);
              return Object.assign(Object.create(guest), {
                search: (query: Parameters<typeof guest.search>[0]) => guest.search({ ...query, pageEntries }),
                more: () => guest.more(),
              });
            },
          };
          expect(await place.search(args, { policy, unchecked })).toEqual(whole);
        });
      }),
      { numRuns: Math.ceil(numRuns / 3) },
    );
  });
});

// ---- what everybody's tools find, on trees of plain text ----

const hasTool = (tool: string): boolean => spawnSync(tool, ['--version']).status === 0;
const hasGrep = process.platform === 'linux' && hasTool('grep');
const hasRg = hasTool('rg');

describe('on random trees of plain text', { timeout: TIME_MS }, () => {
  let base = '';
  beforeAll(() => {
    base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-laws-'));
  });
  afterAll(() => fs.rmSync(base, { recursive: true }));

  const plain = fc.constantFrom('a', 'b', 'c', 'd.txt', '.hidden', 'é', '-x', 'a b');
  const text = fc
    .array(fc.constantFrom('n', 'nee', 'dle', 'é', '\n', '\n\n', ' ', '[n]', '🙂', '\t', '\f'), { maxLength: 20 })
    .map((parts) => parts.join(''));
  const files = fc
    .array(fc.tuple(fc.array(plain, { minLength: 1, maxLength: 3 }), text), { minLength: 1, maxLength: 12 })
    .map(together);
  const needle = fc.constantFrom('n', 'nee', 'needle', 'é', '[n]', ' ', '🙂');

  /** `path:number` of each line a tool prints as path, NUL, 1-based number, `:`. */
  function linesOf(tool: string, args: readonly string[], root: string): string[] {
    const { stdout, status } = spawnSync(tool, args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    });
    if (status !== 0 && status !== 1) throw new Error(`${tool} failed`);
    const found = [...stdout.matchAll(/^(?:\.\/)?([^\0\n]+)\0(\d+):/gm)];
    return found.map(([, file, number]) => `${file}:${Number(number) - 1}`).sort();
  }

  async function agree(tool: string, args: (text: string) => readonly string[]): Promise<void> {
    await fc.assert(
      fc.asyncProperty(files, needle, async (these, text) => {
        const root = fs.mkdtempSync(path.join(base, 'tree-'));
        const place = begin({ tree: 'memory', binding: 'fixed' }, these);
        for (const [names, what] of these) {
          const at = path.join(root, ...[...names].map(String));
          fs.mkdirSync(path.dirname(at), { recursive: true });
          fs.writeFileSync(at, String(what));
        }
        const lifted = { matchCap: 1e6, textCap: 1e9, fileCap: 1_048_576 };
        const ours = asValue(await place.search({ text }, { work: (call) => searchWith(call, { text }, lifted) }));
        expect(ours.matches.map(({ path: at, line }) => `${at}:${line}`).sort()).toEqual(
          linesOf(tool, args(text), root),
        );
      }),
      { numRuns: RUNS * 2 },
    );
  }

  it.skipIf(!hasGrep)('finds the lines that grep -rnF finds (needs grep)', () =>
    agree('grep', (text) => ['-rnFZ', '--', text, '.']),
  );
  it.skipIf(!hasRg)('finds the lines that rg -F -uuu finds (needs rg)', () =>
    agree('rg', (text) => [
      '-F',
      '-uuu',
      '-j1',
      '--no-config',
      '-n',
      '-0',
      '--no-heading',
      '--color=never',
      '--',
      text,
      '.',
    ]),
  );
});
