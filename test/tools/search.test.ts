/**
 * What `search` answers: hits, lines, windows, caps and order, one claim a test, over every tree and both bindings.
 * What the walk meets is search.walk.test.ts; where it ends is search.stop.test.ts. Spec: search.
 */

import { describe, expect, it } from 'vitest';
import { FILE_CAP_BYTES, INTERVAL_CAP_BYTES, LINE_CAP_BYTES, MATCH_CAP } from '../../dist/limits.js';
import { type SearchArgs, searchWith } from '../../dist/tools/search.js';
import { SETTINGS, type TestCity } from '../support/cities.js';
import { asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';
import { begin, countsOf, hitsOf, pathsOf, utf8Length } from './cities.js';

const lines = (count: number, text = 'needle'): string => `${text}\n`.repeat(count);

describe.each(SETTINGS)('search, $tree, $binding', (setting) => {
  const search = async (things: Things, args: Partial<SearchArgs> = {}) =>
    asValue(await begin(setting, things).search({ text: 'needle', ...args }));

  describe('what is found', () => {
    it('finds a text anywhere in the city, hidden files and what ignore files name too', async () => {
      const things: Things = [
        ['lab/.gitignore', '.env\n*.log\n'],
        ['lab/.env', 'needle'],
        ['lab/.hidden/x', 'needle'],
        ['lab/a.txt', 'needle'],
        ['lab/x.log', 'needle'],
        ['top.md', 'needle'],
      ];
      expect(pathsOf(await search(things))).toEqual(['lab/.env', 'lab/.hidden/x', 'lab/a.txt', 'lab/x.log', 'top.md']);
    });

    it('takes the text literally and with its case', async () => {
      const things: Things = [['lab/a', 'a.c\nabc\nA.C\n(a.c)[0]*\\\n']];
      expect(hitsOf(await search(things, { text: 'a.c' }))).toEqual(['lab/a:0:a.c', 'lab/a:3:(a.c)[0]*\\']);
      expect(hitsOf(await search(things, { text: '[0]*\\' }))).toEqual(['lab/a:3:(a.c)[0]*\\']);
    });

    it('numbers lines from 0, as `read` does, and a hit’s line is its offset there', async () => {
      const place = begin(setting, [['lab/a', 'one\r\n\ntwo needle\nlast needle']]);
      const { matches } = asValue(await place.search({ text: 'needle' }));
      expect(matches.map(({ line }) => line)).toEqual([2, 3]);
      for (const { path, line, text } of matches) {
        expect(asValue(await place.read({ path, offset: line, limit: 1 })).text.trimEnd()).toBe(text);
      }
    });

    it('gives one hit a line, however often the text is in it', async () => {
      expect(hitsOf(await search([['lab/a', 'needle needle needle']]))).toEqual(['lab/a:0:needle needle needle']);
    });

    it('ends a line at LF alone: form feed, VT, NEL, U+2028 and a lone CR end none', async () => {
      const content = 'a\fb\u000bc\u0085d\u2028e\rneedle\nneedle';
      expect(hitsOf(await search([['lab/a', content]]))).toEqual([
        `lab/a:0:a\fb\u000bc\u0085d\u2028e\rneedle`,
        'lab/a:1:needle',
      ]);
    });

    it('drops one CR before the LF, and never takes it for part of a match', async () => {
      const things: Things = [['lab/a', 'needle\r\nneedle\r\r\nneedle\rx\nneedle\r']];
      expect(hitsOf(await search(things))).toEqual([
        'lab/a:0:needle',
        'lab/a:1:needle\r',
        'lab/a:2:needle\rx',
        'lab/a:3:needle\r',
      ]);
      expect(hitsOf(await search(things, { text: 'needle\r' })).map((hit) => hit.slice(0, 7))).toEqual([
        'lab/a:1',
        'lab/a:2',
        'lab/a:3',
      ]);
    });

    it('takes a file with a NUL for text', async () => {
      expect(hitsOf(await search([['lab/a', 'a\0needle']]))).toEqual(['lab/a:0:a\0needle']);
    });

    it('looks at a file that is not UTF-8 and gives no hit of it: `not_text` counts those that hold the text', async () => {
      const gbk = Uint8Array.of(0xc4, 0xe3, 0xba, 0xc3);
      const needle = new TextEncoder().encode('needle\n');
      const value = await search([
        ['lab/a', 'needle'],
        ['lab/gbk', gbk],
        ['lab/mixed', Uint8Array.of(...needle, ...gbk)],
      ]);
      expect(pathsOf(value)).toEqual(['lab/a']);
      expect(value).toMatchObject({ truncated: false, unreadable: 0 });
      expect(countsOf(value)).toEqual({ directories: 2, looked: 3, not_text: 1 });
    });

    it('says that nothing was found with no hit, no bound and everything looked at', async () => {
      expect(await search([['lab/a', 'none']])).toEqual({
        matches: [],
        count: 0,
        truncated: false,
        unreadable: 0,
        unread: [],
        coverage: { entries: 3, looked: 1, directories: 2, links: 0, reserved: 0, not_text: 0, unread_by_cause: {} },
      });
    });

    it('answers an empty city with its one directory', async () => {
      expect(countsOf(await search([]))).toEqual({ directories: 1 });
    });

    it('names a hit by any name a file may have', async () => {
      const names = [
        '__proto__',
        'constructor',
        'a b',
        ' lead',
        '[id]',
        '%2e%2e',
        '中文',
        'é',
        "it's",
        '...a',
        '-rf',
        '~',
      ];
      const value = await search(names.map((name) => [`lab/${name}`, 'needle']));
      expect(pathsOf(value).sort()).toEqual(names.map((name) => `lab/${name}`).sort());
    });
  });

  describe('context', () => {
    const TEN: Things = [['lab/a', 'l0\nl1\nl2\nl3\nl4\nneedle\nl6\r\nl7\nl8\nl9\n']];
    it.each<[number | undefined, string, string]>([
      [undefined, 'needle', 'none by default'],
      [0, 'needle', 'none'],
      [1, 'l4\nneedle\nl6', 'one each side, the CR of its end dropped'],
      [4, 'l1\nl2\nl3\nl4\nneedle\nl6\nl7\nl8\nl9', 'the most'],
      [5, 'l1\nl2\nl3\nl4\nneedle\nl6\nl7\nl8\nl9', 'more is clamped to 4'],
      [2 ** 60, 'l1\nl2\nl3\nl4\nneedle\nl6\nl7\nl8\nl9', 'however much more'],
    ])('context %s gives %j: %s', async (context, text) => {
      const args = context === undefined ? {} : { context };
      expect(hitsOf(await search(TEN, args))).toEqual([`lab/a:5:${text}`]);
    });

    it('ends at the file’s borders', async () => {
      expect(hitsOf(await search([['lab/a', 'needle']], { context: 4 }))).toEqual(['lab/a:0:needle']);
      expect(hitsOf(await search([['lab/a', 'needle\nz\n']], { context: 4 }))).toEqual(['lab/a:0:needle\nz']);
      expect(hitsOf(await search([['lab/a', '\nneedle']], { context: 4 }))).toEqual(['lab/a:1:\nneedle']);
    });

    it('lets the blocks of neighbouring hits repeat lines', async () => {
      expect(hitsOf(await search([['lab/a', 'a\nneedle 1\nneedle 2\nb']], { context: 1 }))).toEqual([
        'lab/a:1:a\nneedle 1\nneedle 2',
        'lab/a:2:needle 1\nneedle 2\nb',
      ]);
    });
  });

  describe('windows', () => {
    const CAP = LINE_CAP_BYTES;
    /** x before and behind the needle, as many bytes as said. */
    const long = (before: number, behind: number) => `${'x'.repeat(before)}needle${'y'.repeat(behind)}`;
    const cut = (bytes: number) => (bytes > 0 ? `[truncated: ${bytes} bytes]` : '');
    /** The window of `long`, as the spec has it. */
    function windowOf(before: number, behind: number): string {
      const line = long(before, behind);
      if (line.length <= CAP) return line;
      const start = Math.min(Math.max(before - CAP / 2, 0), line.length - CAP);
      return cut(start) + line.slice(start, start + CAP) + cut(line.length - start - CAP);
    }

    it.each([
      [0, 506, 'exactly the cap: whole'],
      [506, 0, 'exactly the cap, the match last: whole'],
      [0, 507, 'one over: cut behind only'],
      [507, 0, 'one over, the match last: cut before only'],
      [256, 400, 'the match just at the middle: nothing cut before'],
      [257, 400, 'one further: one byte cut before'],
      [2_500, 2_494, 'in the middle: both markers'],
      [5_000, 249, 'near the end: the window ends with the line'],
      [5_000, 250, 'at the last place that is centred'],
      [5_000, 251, 'one byte cut behind'],
    ])('%i bytes before and %i behind: %s', async (before, behind) => {
      expect(hitsOf(await search([['lab/a', `${long(before, behind)}\n`]]))).toEqual([
        `lab/a:0:${windowOf(before, behind)}`,
      ]);
    });

    it('is centred on the first of several occurrences', async () => {
      const line = `${long(1_000, 1_000)}${long(0, 1_000)}`;
      const [hit] = hitsOf(await search([['lab/a', line]]));
      expect(hit).toBe(`lab/a:0:${cut(744)}${line.slice(744, 744 + CAP)}${cut(line.length - 744 - CAP)}`);
    });

    it.each(['é', '中', '🙂'])('cuts between characters, moving inward, of a line of %s', async (character) => {
      const bytes = utf8Length(character);
      for (const [before, behind] of [
        [300, 300],
        [301, 299],
        [302, 298],
        [0, 400],
        [400, 0],
      ] as const) {
        const line = `${character.repeat(before)}needle${character.repeat(behind)}`;
        const [{ text = '' } = {}] = (await search([['lab/a', line]])).matches;
        const shown = text.replace(/\[truncated: \d+ bytes\]/g, '');
        const told = [...text.matchAll(/\[truncated: (\d+) bytes\]/g)].reduce((sum, [, n]) => sum + Number(n), 0);
        expect(text).toContain('needle');
        expect(text.isWellFormed() && !text.includes('\ufffd')).toBe(true);
        expect(line).toContain(shown);
        expect(utf8Length(shown)).toBeLessThanOrEqual(CAP);
        expect(utf8Length(shown)).toBeGreaterThan(CAP - 2 * bytes);
        expect(told).toBe(utf8Length(line) - utf8Length(shown));
      }
    });

    it('cuts a context line from its head', async () => {
      const [hit] = hitsOf(await search([['lab/a', `${'c'.repeat(600)}\nneedle\n${'d'.repeat(512)}`]], { context: 1 }));
      expect(hit).toBe(`lab/a:1:${'c'.repeat(512)}${cut(88)}\nneedle\n${'d'.repeat(512)}`);
    });

    it('shows of a text longer than the window its first part', async () => {
      const text = 'n'.repeat(700);
      const [hit] = hitsOf(await search([['lab/a', `x${text}`]], { text }));
      expect(hit).toBe(`lab/a:0:x${'n'.repeat(511)}${cut(189)}`);
    });

    it('gives one bounded hit for a 213 KB line with 5 000 occurrences, and 12 for 12 files of one 60 KB line', async () => {
      const [one, ...others] = (await search([['lab/a', 'needle'.padEnd(43, '.').repeat(5_000)]])).matches;
      expect(others).toEqual([]);
      expect(utf8Length(one?.text ?? '')).toBeLessThan(CAP + 64);
      const files = Array.from({ length: 12 }, (_, at): Things[number] => [`lab/f${10 + at}`, long(30_000, 30_000)]);
      expect((await search(files)).matches).toHaveLength(12);
    });
  });

  describe('the cap on hits', () => {
    it.each([
      [1, false, 'one'],
      [50, false, 'fifty'],
      [MATCH_CAP - 1, false, 'one below'],
      [MATCH_CAP, false, 'exactly 64 is everything'],
      [MATCH_CAP + 1, true, 'a 65th exists'],
      [500, true, 'many more'],
    ])('%i hits in one file: truncated is %s (%s)', async (count, truncated) => {
      const value = await search([['lab/a', lines(count)]]);
      expect(value).toMatchObject({ count: Math.min(count, MATCH_CAP), truncated });
      expect(value.matches).toHaveLength(value.count);
      expect('stopped' in value).toBe(truncated);
    });

    it('goes on after the 64th to the end, keeping nothing, and is complete if no line follows', async () => {
      const value = await search([
        ['lab/a', lines(MATCH_CAP)],
        ['lab/b', 'none'],
        ['lab/c/d', 'none'],
        ['lab/e', { link: 'nowhere' }],
      ]);
      expect(value).toMatchObject({ count: MATCH_CAP, truncated: false, unreadable: 1 });
      expect(countsOf(value)).toEqual({ directories: 3, looked: 3, link: 1 });
    });

    it('ends at the 65th, in whatever file it is: what was not taken up is not met', async () => {
      const value = await search([
        ['lab/a', lines(MATCH_CAP)],
        ['lab/b', 'none'],
        ['lab/c', 'needle'],
        ['lab/d', { link: 'nowhere' }],
        ['zoo/a', 'none'],
      ]);
      expect(value).toMatchObject({ count: MATCH_CAP, truncated: true, unreadable: 0 });
      expect(countsOf(value)).toEqual({ directories: 2, looked: 3 });
    });

    it('filters first and caps after: a match behind 1 200 files of a reserved place is found', async () => {
      const things: Things = [
        ...Array.from({ length: 1_200 }, (_, at): Things[number] => [`lab/.git/f${at}`, 'needle']),
        ['lab/z', 'needle'],
      ];
      const value = await search(things);
      expect(pathsOf(value)).toEqual(['lab/z']);
      expect(countsOf(value)).toEqual({ directories: 2, looked: 1, reserved: 1 });
    });
  });

  describe('the cap on text', () => {
    /** Eight context lines and the hit, each 511 bytes: blocks of 9 × 511 + 8 bytes. */
    const block = 9 * 511 + 8;
    const fits = Math.floor(INTERVAL_CAP_BYTES / block);
    const things = (hits: number): Things => [
      [
        'lab/a',
        `${`${'x\n'.padStart(512, 'x').repeat(4)}${'needle'.padEnd(511, '.')}\n${'x\n'.padStart(512, 'x').repeat(4)}`.repeat(hits)}`,
      ],
    ];

    it('ends before the block that would pass 64 KiB', async () => {
      const all = await search(things(fits), { context: 4 });
      expect(all).toMatchObject({ count: fits, truncated: false });
      const more = await search(things(fits + 1), { context: 4 });
      expect(more).toMatchObject({ count: fits, truncated: true });
      expect(more.matches).toEqual(all.matches);
      expect(all.matches.reduce((sum, { text }) => sum + utf8Length(text), 0)).toBe(fits * block);
    });
  });

  describe('with lower caps', () => {
    const capped = (
      place: TestCity,
      args: SearchArgs,
      caps: { matchCap?: number; textCap?: number; fileCap?: number },
    ) =>
      place.search(args, {
        work: (call) => searchWith(call, args, { matchCap: 64, textCap: 65_536, fileCap: 1_024, ...caps }),
      });

    it('a first block over the cap is cut at its tail with the marker, and the walk stops, truncated', async () => {
      const place = begin(setting, [
        ['lab/a', 'needle é and more\nneedle'],
        ['lab/b', 'needle'],
      ]);
      const value = asValue(await capped(place, { text: 'needle' }, { textCap: 8 }));
      expect(hitsOf(value)).toEqual(['lab/a:0:needle [truncated: 11 bytes]']);
      expect(value).toMatchObject({ truncated: true, count: 1 });
      expect(value.stopped).toContain('8 bytes');
      expect(countsOf(value)).toEqual({ directories: 2, looked: 1 });
    });

    it('a later block over the cap is left out whole', async () => {
      const place = begin(setting, [['lab/a', 'needle\nneedle and more']]);
      const value = asValue(await capped(place, { text: 'needle' }, { textCap: 12 }));
      expect(hitsOf(value)).toEqual(['lab/a:0:needle']);
      expect(value).toMatchObject({ truncated: true });
    });

    it('a file of exactly its cap is looked at, one byte more is unread, and the sentence says the cap', async () => {
      const place = begin(setting, [
        ['lab/at', 'needle'.padEnd(100)],
        ['lab/over', 'needle'.padEnd(101)],
      ]);
      const value = asValue(await capped(place, { text: 'needle' }, { fileCap: 100 }));
      expect(pathsOf(value)).toEqual(['lab/at']);
      expect(value.unread).toEqual([
        { path: 'lab/over', why: 'larger than 100 bytes; read it by interval with `read`' },
      ]);
    });
  });

  it('looks at a file of exactly 1 MiB, and not at one of a byte more', async () => {
    const value = await search([
      ['lab/at', `${'x'.repeat(FILE_CAP_BYTES - 6)}needle`],
      ['lab/over', `${'x'.repeat(FILE_CAP_BYTES - 5)}needle`],
    ]);
    expect(pathsOf(value)).toEqual(['lab/at']);
    expect(value).toMatchObject({
      truncated: false,
      unreadable: 1,
      unread: [{ path: 'lab/over', why: 'larger than 1 MiB; read it by interval with `read`' }],
    });
    expect(countsOf(value)).toEqual({ directories: 2, looked: 1, too_large: 1 });
  });

  describe('the order', () => {
    it.each<[string[], string]>([
      [['lab/Notes.md', 'lab/room1/Memo.md'], 'a directory is expanded in place, capitals first'],
      [['a/z', 'a.b'], 'a directory before a file whose name is longer'],
      [['a/z', 'a-b', 'a.b'], 'names are sorted, not paths: `-` is less than the `/` that is in no name'],
      [['lab/Z', 'lab/a', 'lab/é', 'lab/中'], 'by bytes, not by any language'],
      [
        ['lab/\ue000', 'lab/\uff5e', 'lab/😀'],
        'by UTF-8: an astral name after U+FF5E, though its surrogates are smaller',
      ],
      [['lab/a', 'lab/a0', 'lab/aa', 'lab/b/a', 'lab/b/b/c', 'lab/b0'], 'a prefix first, depth first'],
      [['lab/10', 'lab/9'], 'digits are bytes'],
    ])('%j: %s', async (paths) => {
      const shuffled = [...paths].reverse().map((path): Things[number] => [path, 'needle']);
      expect(pathsOf(await search(shuffled))).toEqual(paths);
    });

    it('is the same every time, byte for byte', async () => {
      const place = begin(setting, [
        ...Array.from({ length: 90 }, (_, at): Things[number] => [`lab/${(at * 37) % 90}/f`, 'needle']),
        ['lab/x', { link: 'nowhere' }],
      ]);
      const first = JSON.stringify(await place.search({ text: 'needle' }));
      for (let again = 0; again < 3; again++)
        expect(JSON.stringify(await place.search({ text: 'needle' }))).toBe(first);
    });

    it('is the walk’s for hits, unread and every number, wherever the answer ends', async () => {
      const place = begin(setting, [
        ['a/1', { link: 'nowhere' }],
        ['a/2', lines(64)],
        ['a/3', { link: 'nowhere' }],
        ['a/4', 'needle'],
        ['a/5', { link: 'nowhere' }],
      ]);
      const value = asValue(await place.search({ text: 'needle' }));
      expect(value.unread.map(({ path }) => path)).toEqual(['a/1', 'a/3']);
      expect(countsOf(value)).toEqual({ directories: 2, looked: 2, link: 2 });
    });
  });
});
