/**
 * Where a search ends before its end: budgets, shares, caps and the sentence that says so; and what it answers when
 * something moves between the judge, the open and the answer, or when the guest lies. Spec: search, DESIGN "Budgets".
 */

import { describe, expect, it } from 'vitest';
import { MATCH_CAP, PAGE_ENTRIES } from '../../dist/limits.js';
import type { Budgets } from '../../dist/runner/budget.js';
import type { SearchValue } from '../../dist/tools/search.js';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import { type Guest, GuestFault, type Page, type Query } from '../../dist/wasi/guest.js';
import { ANSWERS_NOTHING, GUESTS, SETTINGS, type TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';
import { begin, countsOf, hitsOf, pathsOf } from './cities.js';

const NARROW = 'narrow it with `path`, a longer `text` or less `context`';
const lines = (count: number): string => 'needle\n'.repeat(count);
const many = (count: number, content = 'none'): Things =>
  Array.from({ length: count }, (_, at): Things[number] => [`lab/f${10_000 + at}`, content]);
const CITY: Things = [
  ['lab/a', 'needle'],
  ['lab/b', 'needle'],
  ['lab/room/c', 'needle'],
  ['zoo/d', 'needle'],
];

describe.each(SETTINGS)('a search that stops, $tree, $binding', (setting) => {
  /** The binding's guest, with what it answers changed on its way to the host. */
  const guestThat =
    (change: (page: Page, filesystem: Filesystem) => Page, ask: (query: Query) => Query = (query) => query) =>
    (filesystem: Filesystem): Guest => {
      const guest = GUESTS[setting.binding](filesystem);
      return {
        ...ANSWERS_NOTHING,
        search: (query) => change(guest.search(ask(query)), filesystem),
        more: () => change(guest.more(), filesystem),
        memoryBytes: () => guest.memoryBytes(),
      };
    };
  /** Pages of one entry: where a border can fall, it does. */
  const smallPages = guestThat(
    (page) => page,
    (query) => ({ ...query, pageEntries: 1 }),
  );

  describe('a budget that is spent gives what was found, never an error and never an empty success', () => {
    const STARTS: readonly (string | undefined)[] = [undefined, 'lab', 'lab/room', 'lab/a'];
    const ROWS: readonly [Partial<Budgets>, RegExp][] = [
      [{ opens: 1 }, /^stopped: its opens are used up \(1\)/],
      [{ opens: 2 }, /^stopped: its opens are used up \(2\)/],
      [{ entries: 1 }, /^stopped: its directory entries are used up \(1\)/],
      [{ bytes: 1 }, /^stopped: its bytes are used up \(1\)/],
      [{ handles: 1 }, /^stopped: its open handles are used up \(1\)/],
    ];
    it.each(ROWS)('%j', async (budgets, sentence) => {
      const place = begin(setting, CITY);
      for (const path of STARTS) {
        const args = { text: 'needle', ...(path !== undefined && { path }) };
        const whole = asValue(await place.search(args));
        const value = asValue(await place.search(args, { budgets }));
        if (value.truncated) {
          expect(value.stopped).toMatch(sentence);
          expect(value.stopped).toContain(NARROW);
        } else expect(value).toEqual(whole);
        expect(whole.matches.slice(0, value.count)).toEqual(value.matches);
        expect(value.unread).toEqual([]);
      }
    });

    it('gives the hits of before, and counts nothing for the entry it met', async () => {
      const value = asValue(await begin(setting, CITY).search({ text: 'needle' }, { budgets: { bytes: 7 } }));
      expect(hitsOf(value)).toEqual(['lab/a:0:needle', 'lab/b:0:needle']);
      expect(value).toMatchObject({ truncated: true, unreadable: 0 });
      expect(countsOf(value)).toEqual({ directories: 3, looked: 2 });
    });

    it('time over before anything was found is still this value, wherever it starts', async () => {
      const place = begin(setting, CITY);
      for (const path of STARTS) {
        const args = { text: 'needle', ...(path !== undefined && { path }) };
        const value = asValue(await place.search(args, { timeMs: 0 }));
        expect(value).toEqual({
          matches: [],
          count: 0,
          truncated: true,
          stopped: `stopped: its time is over (0 ms); ${NARROW}`,
          unreadable: 0,
          unread: [],
          coverage: { entries: 0, looked: 0, directories: 0, links: 0, reserved: 0, not_text: 0, unread_by_cause: {} },
        });
      }
    });

    it('a millisecond on thousands of names: what was found, and that the time is over', async () => {
      const place = begin(setting, many(1_500, 'needle'));
      const value = asValue(await place.search({ text: 'none' }, { timeMs: 1 }));
      expect(value).toMatchObject({ truncated: true, stopped: `stopped: its time is over (1 ms); ${NARROW}` });
    });
  });

  describe('no building takes more than its share', () => {
    const BOMB: Things = [
      ['bomb/a', 'needle'],
      ['bomb/b', 'needle'],
      ['bomb/c', 'needle'],
      ['bomb/room/d', 'needle'],
      ['bomb/y', { link: 'nowhere' }],
      ['lab/x', 'needle'],
      ['zoo/x', 'needle'],
    ];
    const WHY = 'it is over its share of one call; its rest was not looked at: search it, or rooms of it, by `path`';

    it.each<[Partial<Budgets>, string[], string]>([
      [{ buildingOpens: 3 }, ['bomb/a', 'bomb/b', 'lab/x', 'zoo/x'], 'opens: itself and two files'],
      [{ buildingEntries: 4 }, ['lab/x', 'zoo/x'], 'names: it has five'],
      [{ buildingEntries: 5 }, ['bomb/a', 'bomb/b', 'bomb/c', 'lab/x', 'zoo/x'], 'names: its room has one more'],
      [{ buildingBytes: 7 }, ['bomb/a', 'bomb/b', 'lab/x', 'zoo/x'], 'bytes'],
    ])('%j: %j (%s), its rest is one unread, and the walk goes on', async (budgets, paths) => {
      const place = begin(setting, BOMB);
      const value = asValue(await place.search({ text: 'needle' }, { budgets }));
      expect(pathsOf(value)).toEqual(paths);
      expect(value).toMatchObject({ truncated: false, unread: [{ path: 'bomb', why: WHY }], unreadable: 1 });
      expect(value.coverage.unread_by_cause).toEqual({ share: 1 });
      expect(JSON.stringify(await place.search({ text: 'needle' }, { budgets }))).toBe(
        JSON.stringify({ ok: true, value }),
      );
    });

    it.each([
      ['bomb', { buildingOpens: 1 }],
      ['bomb/room', { buildingOpens: 1 }],
      ['bomb/a', { buildingOpens: 1 }],
      ['bomb', { buildingEntries: 1 }],
    ] as const)('of a start in it, %s with %j, too', async (path, budgets) => {
      const value = asValue(await begin(setting, BOMB).search({ text: 'none', path }, { budgets }));
      expect(value).toMatchObject({ truncated: false, unread: [{ path: 'bomb', why: WHY }], unreadable: 1 });
    });
  });

  describe('the sentence', () => {
    it.each<[string, Things, number, string]>([
      ['one building has them all', [['lab/a', lines(65)]], 0, ' (64 of the 64 hits are in lab)'],
      [
        'more than half',
        [
          ['a', lines(31)],
          ['b/x', lines(40)],
        ],
        0,
        ' (33 of the 64 hits are in b)',
      ],
      [
        'exactly half is not more',
        [
          ['a', lines(32)],
          ['b/x', lines(40)],
        ],
        0,
        '',
      ],
      [
        'no building has half',
        [
          ['a', lines(22)],
          ['b/x', lines(22)],
          ['c', lines(22)],
        ],
        0,
        '',
      ],
      [
        'a file at the top is a building',
        [
          ['a', lines(40)],
          ['b/x', lines(40)],
        ],
        0,
        ' (40 of the 64 hits are in a)',
      ],
    ])('names a building that gave more than half of the hits: %s', async (_, things, context, majority) => {
      const value = asValue(await begin(setting, things).search({ text: 'needle', context }));
      expect(value.stopped).toBe(`stopped: there are more than 64 hits (MATCH_CAP); ${NARROW}${majority}`);
    });

    it('says the cap on text', async () => {
      const wide = `${'needle'.padEnd(2_000, '.')}\n`.repeat(100);
      const value = asValue(await begin(setting, [['lab/a', wide]]).search({ text: 'needle', context: 4 }));
      expect(value.stopped).toBe(
        `stopped: the hits' text reached 64 KiB (INTERVAL_CAP_BYTES); ${NARROW} (${value.count} of the ${value.count} hits are in lab)`,
      );
    });
  });

  describe('pages', () => {
    it('change nothing, wherever their borders fall', async () => {
      const place = begin(setting, [
        ['a/1', lines(63)],
        ['a/2', { link: 'nowhere' }],
        ['a/.git/x', 'needle'],
        ['b/1', 'none'],
        ['b/2', lines(1)],
        ['c/1', 'none'],
        ['c/2', { link: '../b' }],
      ]);
      for (const more of [
        [],
        [
          ['d/1', 'none\nneedle'],
          ['d/2', 'needle'],
        ],
      ] as const) {
        for (const [at, thing] of more) place.world.put(at, thing);
        const whole = await place.search({ text: 'needle', context: 1 });
        expect(asValue(whole)).toMatchObject({ count: 64, truncated: more.length > 0 });
        expect(await place.search({ text: 'needle', context: 1 }, { unchecked: { guest: smallPages } })).toEqual(whole);
      }
    });

    it('each gives the host what the answer would be if it ended now: a whole value that says it stopped', async () => {
      const partials: SearchValue[] = [];
      const place = begin(setting, CITY);
      const whole = asValue(
        await place.search(
          { text: 'needle' },
          { unchecked: { guest: smallPages }, onPartial: (value) => partials.push(value as SearchValue) }, // of `search`
        ),
      );
      expect(partials.length).toBeGreaterThan(4);
      expect(partials[0]).toMatchObject({ count: 0, coverage: { entries: 0 } }); // a guest may hang on its first page
      for (const partial of partials) {
        expect(partial).toMatchObject({ truncated: true, stopped: expect.stringContaining('its time is over') });
        expect(whole.matches.slice(0, partial.count)).toEqual(partial.matches);
        const { entries, looked, directories } = partial.coverage;
        expect(entries).toBe(looked + directories);
      }
    });

    it('let the caller’s signal be seen: E_CANCELLED', async () => {
      const place = begin(setting, many(PAGE_ENTRIES + 2));
      const error = asError(await place.search({ text: 'needle' }, { goOn: async () => false }));
      expect(error).toMatchObject({ code: 'E_CANCELLED', action: 'search', retry: 'no' });
      expect(error.subject).toBe('needle: the caller cancelled it');
    });
  });

  describe('what moves between the judge and the open', () => {
    const START: Things = [
      ['lab/room/x', 'needle'],
      ['lab/file', 'needle'],
      ['lab/other/x', 'needle'],
      ['lab/other-file', 'needle'],
      ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
      ['vault/x', 'needle'],
    ];
    const swap = (at: string, link: string | undefined) => (place: TestCity) => {
      place.world.remove(at);
      if (link !== undefined) place.world.put(at, { link });
    };
    it.each<[path: string, change: (place: TestCity) => void, why: string]>([
      ['lab/room', swap('lab/room', '../../outside'), 'a directory becomes a link outward'],
      ['lab/room', swap('lab/room', '../vault'), 'a directory becomes a link into a closed building'],
      ['lab/room', swap('lab/room', 'other'), 'a directory becomes a link that stays in the bound'],
      ['lab/room', swap('lab/room', undefined), 'a directory vanishes'],
      ['lab/room', swap('lab', undefined), 'what it is in vanishes'],
      ['lab/file', swap('lab/file', '../../outside/secret'), 'a file becomes a link outward'],
      ['lab/file', swap('lab/file', '../vault/x'), 'a file becomes a link into a closed building'],
      ['lab/file', swap('lab/file', 'other-file'), 'a file becomes a link that stays in the bound'],
      ['lab/file', swap('lab/file', 'nowhere'), 'a file becomes a link to nothing'],
      ['lab/file', swap('lab/file', undefined), 'a file vanishes'],
      [
        'lab/file',
        ({ world }) => {
          world.remove('lab/file');
          world.put('lab/file', { other: true });
        },
        'a file becomes a pipe',
      ],
      [
        'lab/file',
        ({ world }) => {
          world.remove('lab/file');
          world.put('lab/file/x', 'needle');
        },
        'a file becomes a directory',
      ],
      [
        'lab/room',
        ({ world }) => {
          world.remove('lab/room');
          world.put('lab/room', 'needle');
        },
        'a directory becomes a file',
      ],
    ])('%s: changed after it was judged, ask again (%#)', async (path, change) => {
      const place = begin(setting, START);
      const error = asError(
        await place.search({ text: 'needle', path }, { unchecked: { betweenWalls: () => change(place) } }),
      );
      expect(error).toMatchObject({ code: 'E_GATE_DENIED', retry: 'yes', nearby: [] });
      expect(error.subject).toBe(`${path}: it changed after it was judged`);
      expect(error.retry_after_ms).toBeGreaterThan(0);
      expect(JSON.stringify(error)).not.toMatch(/outside|vault|other/);
    });

    it('a file that is truncated, grown or replaced by another in its place is read as it is', async () => {
      const place = begin(setting, START);
      const change = () => {
        place.world.remove('lab/file');
        place.world.put('lab/file', 'other needle');
      };
      const value = await place.search({ text: 'needle', path: 'lab/file' }, { unchecked: { betweenWalls: change } });
      expect(hitsOf(asValue(value))).toEqual(['lab/file:0:other needle']);
    });

    it('an entry that is another thing at the open than in the listing is what it is at the open', async () => {
      const place = begin(setting, [
        ['lab/a', 'none'],
        ['lab/b-to-directory', 'needle'],
        ['lab/c-to-link-out', 'needle'],
        ['lab/d-to-link', 'needle'],
        ['lab/e-gone', 'needle'],
        ['lab/f-to-file/x', 'needle'],
        ['lab/g-to-link/x', 'needle'],
        ['lab/z', 'needle'],
      ]);
      const { world } = place;
      let pages = 0;
      const change = (page: Page): Page => {
        if (++pages !== 3) return page; // the city, lab and its first file were taken up; lab is listed
        for (const name of ['b-to-directory', 'c-to-link-out', 'd-to-link', 'e-gone', 'f-to-file', 'g-to-link']) {
          world.remove(`lab/${name}`);
        }
        world.put('lab/b-to-directory/x', 'needle');
        world.put('lab/c-to-link-out', { link: '../../outside/secret' });
        world.put('lab/d-to-link', { link: 'z' });
        world.put('lab/f-to-file', 'needle');
        world.put('lab/g-to-link', { link: 'b-to-directory' });
        return page;
      };
      const guest = guestThat(change, (query) => ({ ...query, pageEntries: 1 }));
      const value = asValue(await place.search({ text: 'needle' }, { unchecked: { guest } }));
      expect(pathsOf(value)).toEqual(['lab/b-to-directory/x', 'lab/d-to-link', 'lab/f-to-file', 'lab/z']);
      expect(value.unread).toEqual([{ path: 'lab/e-gone', why: 'it vanished since it was listed' }]);
      expect(countsOf(value)).toEqual({ directories: 3, looked: 5, links: 2, vanished: 1 });
    });
  });

  describe('what comes out is judged again', () => {
    it('a link that leads out by the time of the answer gives no hits: it is counted as a link', async () => {
      const place = begin(setting, [
        ['lab/a', 'needle'],
        ['lab/b', { link: 'a' }],
        ['lab/c', 'needle'],
      ]);
      const change = (page: Page): Page => {
        if (page.ending !== 'complete') return page;
        place.world.remove('lab/b');
        place.world.put('lab/b', { link: '../../outside/secret' });
        return page;
      };
      const value = asValue(await place.search({ text: 'needle' }, { unchecked: { guest: guestThat(change) } }));
      expect(pathsOf(value)).toEqual(['lab/a', 'lab/c']);
      expect(value.count).toBe(2);
      expect(countsOf(value)).toEqual({ directories: 2, looked: 2, links: 1 });
    });

    it('so is what a call would leave that is ended between two pages', async () => {
      const place = begin(setting, [
        ['lab/a', 'needle'],
        ['lab/b', 'needle'],
      ]);
      const change = (page: Page): Page => {
        if (!page.hits.some(({ path }) => path === 'lab/a')) return page;
        place.world.remove('lab/a');
        place.world.put('lab/a', { link: '../../outside/secret' });
        return page;
      };
      const left: unknown[] = [];
      const guest = guestThat(change, (query) => ({ ...query, pageEntries: 1 }));
      const onPartial = (value: unknown) => left.push(value);
      const value = asValue(await place.search({ text: 'needle' }, { unchecked: { guest }, onPartial }));
      expect(left.length).toBeGreaterThan(1);
      expect(JSON.stringify(left)).not.toContain('"lab/a"');
      // The guest goes on from its own counts: what was taken out of its pages is not held against it.
      expect(pathsOf(value)).toEqual(['lab/b']);
      expect(countsOf(value)).toEqual({ directories: 2, looked: 1, links: 1 });
    });

    it('hits taken out between two pages stay counted against the cap that the guest was given', async () => {
      const names = Array.from({ length: MATCH_CAP + 2 }, (_, n) => `lab/f${100 + n}`);
      const place = begin(
        setting,
        names.map((name) => [name, 'needle']),
      );
      const change = (page: Page): Page => {
        if (!page.hits.some(({ path }) => path === names[0])) return page;
        place.world.remove('lab/f100');
        place.world.put('lab/f100', { link: '../../outside/secret' });
        return page;
      };
      const guest = guestThat(change, (query) => ({ ...query, pageEntries: 1 }));
      const value = asValue(await place.search({ text: 'needle' }, { unchecked: { guest }, onPartial: () => {} }));
      expect(pathsOf(value)).toEqual(names.slice(1, MATCH_CAP));
      expect(value).toMatchObject({ count: MATCH_CAP - 1, truncated: true });
    });

    it('a guest that counts no more files than were taken out of its answer is a broken one', async () => {
      const place = begin(setting, [
        ['lab/a', 'needle'],
        ['lab/b', 'needle'],
      ]);
      let looked = 0;
      const change = (page: Page): Page => {
        const path = page.hits[0]?.path;
        if (path !== undefined) {
          place.world.remove(path);
          place.world.put(path, { link: '../../outside/secret' });
          looked ||= page.coverage.looked;
        }
        return { ...page, coverage: { ...page.coverage, looked: Math.min(page.coverage.looked, looked) } };
      };
      const guest = guestThat(change, (query) => ({ ...query, pageEntries: 1 }));
      const outcome = await place.search({ text: 'needle' }, { unchecked: { guest }, onPartial: () => {} });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'E_GUEST_TRAP' } });
    });

    const hit = { path: 'lab/x', line: 0, text: 'lie' };
    const unread = { path: 'lab/x', cause: 'io' } as const;
    const CITY: Things = [
      ['lab/x', 'none'],
      ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
      ['vault/x', 'none'],
    ];
    it.each<[string, string | undefined, Partial<Page>]>([
      ['a path in a closed building', undefined, { hits: [{ ...hit, path: 'vault/x' }] }],
      ['a path in a reserved place', undefined, { hits: [{ ...hit, path: 'lab/.git/x' }] }],
      ['a path that climbs', undefined, { hits: [{ ...hit, path: 'lab/../../x' }] }],
      ['an absolute path', undefined, { hits: [{ ...hit, path: '/etc/passwd' }] }],
      ['no path', undefined, { hits: [{ ...hit, path: '' }] }],
      ['a path outside its start', 'lab', { hits: [{ ...hit, path: 'labs/x' }] }],
      ['another file than its start', 'lab/x', { hits: [{ ...hit, path: 'lab/y' }] }],
      ['a line no such file has', undefined, { hits: [{ ...hit, line: 2 ** 31 }] }],
      ['more hits than the cap', undefined, { hits: Array.from({ length: 65 }, () => hit) }],
      ['more text than the cap', undefined, { hits: [{ ...hit, text: 'x'.repeat(70_000) }] }],
      ['an unread in a closed building', undefined, { unread: [{ ...unread, path: 'vault/x' }] }],
      ['an unread in a reserved place', undefined, { unread: [{ ...unread, path: 'lab/.git/x' }] }],
      ['an unread outside its start', 'lab', { unread: [{ ...unread, path: 'hall/x' }] }],
      ['more unread than the cap', undefined, { unread: Array.from({ length: 17 }, () => unread) }],
    ])('a guest that gives %s is a broken guest: E_GUEST_TRAP, and nothing of it leaves', async (_, path, lie) => {
      for (const ending of ['complete', 'paused'] as const) {
        const left: unknown[] = [];
        const guest = guestThat((page) => ({ ...page, ...lie, ending }));
        const outcome = await begin(setting, CITY).search(
          { text: 'needle', ...(path !== undefined && { path }) },
          { unchecked: { guest }, onPartial: (value) => left.push(value) },
        );
        expect(asError(outcome)).toMatchObject({ code: 'E_GUEST_TRAP', action: 'search' });
        expect(JSON.stringify([outcome, left])).not.toMatch(/"lie|xxx|vault|passwd|\.git/);
      }
    });

    it('a guest that throws is a broken guest; the next call is served', async () => {
      const place = begin(setting, [['lab/x', 'needle']]);
      const guest = guestThat(() => {
        throw new GuestFault('a test');
      });
      const error = asError(await place.search({ text: 'needle' }, { unchecked: { guest } }));
      expect(error).toMatchObject({ code: 'E_GUEST_TRAP', subject: 'needle: the sandboxed component trapped' });
      expect(pathsOf(asValue(await place.search({ text: 'needle' })))).toEqual(['lab/x']);
    });
  });
});
