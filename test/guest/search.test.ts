/** The guest's `search` against a naive one: what is found, in which order, what is counted, what is shown. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { around, headOf, naiveSearch, textLines } from './naive.js';
import {
  type Answer,
  aDirectory,
  aFile,
  CODE,
  type Code,
  type Directory,
  type Kind,
  type Manners,
  type Place,
  QUERY,
  type Query,
  refused,
  World,
} from './world.js';

const city = (names: Record<string, Place>): Directory => aDirectory(names).directory as Directory; // just made as one

function search(root: Directory, query: Partial<Query> = {}, prefix = '', manners: Manners = {}): Answer {
  const world = new World(root, prefix, manners);
  const { pages: _, ...answer } = world.searchAll({ ...QUERY, ...query });
  expect(world.held, 'handles given back').toBe(0);
  return answer;
}

const found = (answer: Answer): string[] => answer.hits.map(({ path, line, text }) => `${path}:${line}:${text}`);
const cause = (answer: Answer, code: Code): number | undefined => answer.coverage.causes[CODE[code]];

describe('the naive search that the guest is compared with', () => {
  test('lines end with LF only, and lose one CR before it', () => {
    expect(textLines('a\r\nb\rc\f\n\nd\r')).toEqual(['a', 'b\rc\f', '', 'd\r']);
    expect(textLines('')).toEqual([]);
    expect(textLines('\n')).toEqual(['']);
  });
  test('a window has the match in its middle, and says what was cut', () => {
    expect(around('0123456789', 5, 4)).toBe('[truncated: 3 bytes]3456[truncated: 3 bytes]');
    expect(around('0123456789', 0, 4)).toBe('0123[truncated: 6 bytes]');
    expect(around('0123456789', 9, 4)).toBe('[truncated: 6 bytes]6789');
    expect(headOf('0123', 4)).toBe('0123');
  });
});

describe('search', () => {
  test('walks depth first, names sorted by bytes, a directory expanded in place', () => {
    const hit = aFile('needle');
    const root = city({
      'a.b': hit,
      b: hit,
      a: aDirectory({ z: hit, B: hit }),
      Z: hit,
      é: hit,
      '\u{10000}': hit,
      '\uffff': hit,
    });
    expect(search(root).hits.map(({ path }) => path)).toEqual([
      'Z',
      'a/B',
      'a/z',
      'a.b',
      'b',
      'é',
      '\uffff',
      '\u{10000}',
    ]);
  });

  test('an empty city is complete, and its start place is counted', () => {
    const answer = search(city({}));
    expect(answer).toMatchObject({ hits: [], unread: [], ending: 'complete', coverage: { directories: 1, looked: 0 } });
  });

  test('one name alone is taken up without a listing, whatever it is', () => {
    const root = city({ 'a.txt': aFile('needle'), lab: aDirectory({ x: aFile('needle') }), other: aFile('needle') });
    expect(search(root, { only: 'a.txt' }, 'hall')).toMatchObject({
      hits: [{ path: 'hall/a.txt', line: 0, text: 'needle' }],
      coverage: { looked: 1, directories: 0 },
    });
    expect(search(root, { only: 'lab' })).toMatchObject({
      hits: [{ path: 'lab/x' }],
      coverage: { looked: 1, directories: 1 },
    });
    expect(search(root, { only: 'gone' }).unread).toEqual([{ path: 'gone', cause: CODE['no-entry'] }]);
  });

  test('the CR of a CRLF is never part of a match; any other CR is text', () => {
    const root = city({ f: aFile('x\r\ny\rx\r\nz x\r') });
    expect(found(search(root, { text: 'x\r' }))).toEqual(['f:2:z x\r']);
    expect(found(search(root, { text: '\r' }))).toEqual(['f:1:y\rx', 'f:2:z x\r']);
    expect(found(search(root, { text: 'x' }))).toHaveLength(3);
  });

  test('a file that holds the text but is not UTF-8 is counted, not shown', () => {
    const root = city({ gbk: aFile(Uint8Array.of(0xc4, 0xe3, 10, 110)), ok: aFile('n') });
    expect(search(root, { text: 'n' })).toMatchObject({ hits: [{ path: 'ok' }], coverage: { looked: 2, notText: 1 } });
    expect(search(root, { text: 'q' }).coverage.notText).toBe(0);
  });

  test('64 hits are all; the 65th ends the answer, wherever page borders fall', () => {
    for (const pageEntries of [1, 2, 7, 1_024]) {
      const lines = (count: number) => aFile('needle\n'.repeat(count));
      const bad = aFile(Uint8Array.of(...new TextEncoder().encode('needle'), 0xff));
      const tail = { x: bad, y: aFile('none'), z: lines(1) };
      const all = search(city({ a: lines(63), b: lines(1), x: bad, y: aFile('none') }), { pageEntries });
      expect([all.hits.length, all.ending, all.coverage.looked]).toEqual([64, 'complete', 4]);
      const more = search(city({ a: lines(63), b: lines(1), ...tail }), { pageEntries });
      expect([more.hits.length, more.ending, more.coverage.looked]).toEqual([64, 'matches', 5]);
    }
  });

  test('text stops before the block that would pass the cap', () => {
    const root = city({ a: aFile('needle 1\nneedle 2\nneedle 3'), b: aFile('none') });
    expect(search(root, { textCap: 16 })).toMatchObject({
      ending: 'text',
      hits: [{ line: 0 }, { line: 1 }],
      coverage: { looked: 1 },
    });
    expect(search(root, { textCap: 24 })).toMatchObject({ ending: 'complete', coverage: { looked: 2 } });
  });

  test('a first block over the cap is cut at its tail, with the marker', () => {
    const answer = search(city({ a: aFile('needle é!\n'), b: aFile('needle') }), { textCap: 8 });
    expect(found(answer)).toEqual(['a:0:needle [truncated: 3 bytes]']);
    expect(answer.ending).toBe('text');
  });

  test('a file over the cap is found out by its bytes, and one at the cap is looked at', () => {
    const root = city({ at: aFile(`${'x'.repeat(94)}needle`), over: aFile(`${'x'.repeat(95)}needle`) });
    const answer = search(root, { fileCap: 100 });
    expect(answer.hits.map(({ path }) => path)).toEqual(['at']);
    expect(answer.unread).toEqual([{ path: 'over', cause: CODE['file-too-large'] }]);
  });

  test('reserved names are passed over at any depth, in any ASCII case, whatever they are', () => {
    const room = aDirectory({
      '.GIT': aFile('needle'),
      '.SpraWLing': aDirectory({ x: aFile('needle') }),
      '.gitlab': aFile('needle'),
    });
    const answer = search(city({ a: room, '.git': refused('io') }));
    expect(answer.hits.map(({ path }) => path)).toEqual(['a/.gitlab']);
    expect(answer.coverage).toMatchObject({ reserved: 3, looked: 1, directories: 2 });
  });

  test('a name that is no address is unread and never opened', () => {
    const names = [
      'a\\b',
      'c:',
      'a.',
      'a ',
      'x\u00a0',
      'x\u3000',
      '\t',
      'a\u0085b',
      '\u007f',
      'x\u2029',
      'x\u1680',
      'x\u205f',
      'x\u202f',
      'x\u200a',
    ];
    const answer = search(city(Object.fromEntries(names.map((name) => [name, aFile('needle')]))));
    expect(cause(answer, 'illegal-byte-sequence')).toBe(names.length);
    expect(answer.hits).toEqual([]);
    const fine = [' a', 'a b', 'é', 'x\u200b', 'À', '%2e%2e', '...a', 'a\u00a1'];
    expect(search(city(Object.fromEntries(fine.map((name) => [name, aFile('needle')])))).hits).toHaveLength(
      fine.length,
    );
  });

  test('a name that is not UTF-8 is shown, sorted as shown, and never opened', () => {
    const answer = search(city({ c: aFile('needle'), '\0b\ufffd': aFile('needle'), a: aFile('needle') }));
    expect(answer.unread).toEqual([{ path: 'b\ufffd', cause: CODE['illegal-byte-sequence'] }]);
    expect(answer.hits.map(({ path }) => path)).toEqual(['a', 'c']);
  });

  test('links to directories and refused places are passed over; links to nowhere are unread', () => {
    const answer = search(
      city({
        toDirectory: { kind: 'symbolic-link', file: 'is-directory', directory: 'loop' },
        toClosed: refused('not-permitted', 'symbolic-link'),
        toNowhere: refused('no-entry', 'symbolic-link'),
        toFile: aFile('needle', 'symbolic-link'),
        gone: refused('no-entry'),
        fifo: refused('unsupported', 'fifo'),
      }),
    );
    expect(answer.coverage).toMatchObject({ links: 2, looked: 1, directories: 1 });
    expect(answer.unread).toEqual([
      { path: 'fifo', cause: CODE.unsupported },
      { path: 'gone', cause: CODE['no-entry'] },
      { path: 'toNowhere', cause: CODE.loop },
    ]);
  });

  test('what changed since the listing is treated as what it is at the open', () => {
    const root = city({
      nowDirectory: aDirectory({ x: aFile('needle') }, 'regular-file'),
      nowFile: aFile('needle', 'directory'),
      nowLink: { kind: 'directory', file: 'is-directory', directory: 'loop' },
    });
    expect(search(root)).toMatchObject({
      hits: [{ path: 'nowDirectory/x' }, { path: 'nowFile' }],
      coverage: { directories: 2, looked: 2, links: 1 },
    });
  });

  test('a directory that cannot be listed is unread, not counted as listed', () => {
    const blind: Directory = { is: 'directory', names: [], listFails: 'access' };
    const halfway: Directory = { is: 'directory', names: [['a', aFile('needle')]], failsAfter: [1, 'io'] };
    const answer = search(
      city({ blind: { ...aDirectory({}), directory: blind }, halfway: { ...aDirectory({}), directory: halfway } }),
    );
    expect(answer.unread).toEqual([
      { path: 'blind', cause: CODE.access },
      { path: 'halfway', cause: CODE.io },
    ]);
    expect(answer).toMatchObject({ hits: [], coverage: { directories: 1 } });
    expect(search(blind).unread).toEqual([{ path: '.', cause: CODE.access }]);
    expect(search(blind, {}, 'lab/x').unread).toEqual([{ path: 'lab/x', cause: CODE.access }]);
  });

  test('a spent budget ends the page and counts nothing for the entry it met', () => {
    const answer = search(city({ a: aFile('needle'), b: refused('quota'), c: aFile('needle') }));
    expect(answer).toMatchObject({
      ending: 'budget',
      hits: [{ path: 'a' }],
      unread: [],
      coverage: { looked: 1, directories: 1 },
    });
    expect(answer.coverage.causes.every((count) => count === 0)).toBe(true);
  });

  test('a building over its share is one unread, and the walk goes on outside it', () => {
    const deep = aDirectory({
      a: aFile('needle'),
      room: aDirectory({ m: refused('insufficient-space'), n: aFile('needle') }),
      z: aFile('needle'),
    });
    const root = city({ bomb: deep, next: aFile('needle') });
    expect(search(root)).toMatchObject({
      ending: 'complete',
      hits: [{ path: 'bomb/a' }, { path: 'next' }],
      unread: [{ path: 'bomb', cause: CODE['insufficient-space'] }],
    });
    expect(search(root, {}, 'lab/x')).toMatchObject({
      ending: 'complete',
      hits: [{ path: 'lab/x/bomb/a' }],
      unread: [{ path: 'lab', cause: CODE['insufficient-space'] }],
    });
  });

  test('only the first unread are listed, all are counted, over all pages', () => {
    const names = Array.from({ length: 40 }, (_, index) => [`f${100 + index}`, refused('io')] as const);
    const answer = search({ is: 'directory', names }, { pageEntries: 3 });
    expect(answer.unread.map(({ path }) => path)).toEqual(names.slice(0, 16).map(([name]) => name));
    expect(cause(answer, 'io')).toBe(40);
  });

  test('100 000 names, 1 000 levels and 255-byte names fit in flat memory', () => {
    const file = aFile('needle');
    const names = Array.from(
      { length: 100_000 },
      (_, index) => [`n${(index * 7919) % 100_000}`, refused('not-permitted')] as const,
    );
    let deep: Place = aDirectory({ end: file });
    for (let level = 0; level < 1_000; level++) deep = aDirectory({ ['d'.repeat(255)]: deep });
    const world = new World(city({ wide: aDirectory(names), deep }));
    const answer = world.searchAll({ ...QUERY });
    expect(answer.coverage).toMatchObject({ links: 100_000, directories: 1_003, looked: 1 });
    expect(answer.hits[0]?.path).toHaveLength(5 + 256 * 1_000 + 3);
    expect(world.memoryBytes).toBeLessThan(16 << 20);
    expect(world.held).toBe(0);
  });

  test('memory does not grow with what was found on earlier pages', () => {
    const file = aFile(`${'needle '.repeat(60)}\n`.repeat(500));
    const root = {
      is: 'directory',
      names: Array.from({ length: 200 }, (_, index) => [`f${index}`, file]),
    } as Directory;
    const world = new World(root);
    const lifted = { ...QUERY, matchCap: 0xffff_ffff, textCap: 0xffff_ffff, pageEntries: 1 };
    expect(world.searchAll(lifted).hits).toHaveLength(100_000);
    expect(world.memoryBytes).toBeLessThan(4 << 20);
    expect(world.searchAll({ ...QUERY, text: 'again' }).ending).toBe('complete');
  });
});

describe('a search is the naive search', () => {
  const NEEDLES = [
    'a',
    'ab',
    'aab',
    'aaaaaaaaaaaaaaaaaaaab',
    'é',
    '中文',
    '\r',
    'a\r',
    '\ra',
    'abababababababababab',
    'éa',
  ];
  const piece = fc.constantFrom(
    'a',
    'b',
    'ab',
    'aa',
    '\n',
    '\r\n',
    '\r',
    '\n\n',
    'é',
    '中',
    '文',
    '🙂',
    ' ',
    'aaaaaaaaaaaaaaaaaaa',
  );
  const content = fc.oneof(
    { weight: 8, arbitrary: fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.from(pieces.join(''))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.array(piece, { maxLength: 20 }).map((pieces) => Buffer.from(`${pieces.join('')}a\xff`, 'latin1')),
    },
  );
  const kind = fc.constantFrom<Kind>('regular-file', 'symbolic-link', 'unknown', 'directory', 'fifo');
  const code = fc.constantFrom<Code>(
    'access',
    'quota',
    'io',
    'is-directory',
    'loop',
    'no-entry',
    'insufficient-space',
    'not-directory',
    'not-permitted',
    'unsupported',
    'not-recoverable',
  );
  const name = fc
    .oneof(
      {
        weight: 6,
        arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', 'A', '.', 'é', '-'), minLength: 1, maxLength: 3 }),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom('.git', '.GIT', '.sprawling', 'a\\', 'a:b', 'z ', 'z.', '\0a\ufffd', '\0b', '中'),
      },
    )
    .filter((text) => text !== '.' && text !== '..');
  const { place } = fc.letrec<{ place: Place; names: [string, Place][] }>((tie) => ({
    names: fc.uniqueArray(fc.tuple(name, tie('place')), { maxLength: 6, selector: ([text]) => text }),
    place: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 6, arbitrary: fc.tuple(content, kind).map(([bytes, listed]) => aFile(bytes, listed)) },
      { weight: 2, arbitrary: fc.record({ kind, file: code, directory: code }) },
      {
        weight: 1,
        arbitrary: fc.tuple(content, code).map(
          ([bytes, failed]): Place => ({
            kind: 'regular-file',
            file: { is: 'file', bytes, failsAt: [0, failed] },
            directory: 'not-directory',
          }),
        ),
      },
      {
        weight: 1,
        arbitrary: fc.tuple(tie('names'), code).map(
          ([names, failed]): Place => ({
            kind: 'directory',
            file: 'is-directory',
            directory: { is: 'directory', names, failsAfter: [names.length, failed] },
          }),
        ),
      },
      {
        weight: 6,
        arbitrary: fc
          .tuple(tie('names'), fc.constantFrom<Kind>('directory', 'directory', 'unknown', 'symbolic-link'))
          .map(([names, listed]) => aDirectory(names, listed)),
      },
    ),
  }));
  const root = fc.uniqueArray(fc.tuple(name, place), { maxLength: 8, selector: ([text]) => text });
  const query = fc.record({
    text: fc.constantFrom(...NEEDLES),
    context: fc.integer({ min: 0, max: 4 }),
    matchCap: fc.constantFrom(0, 1, 3, 64),
    lineCap: fc.constantFrom(1, 2, 5, 8, 512),
    textCap: fc.constantFrom(0, 3, 20, 200, 65_536),
    fileCap: fc.constantFrom(10, 50, 1_000),
    unreadShown: fc.constantFrom(0, 2, 16),
    pageEntries: fc.constantFrom(0, 1, 2, 5, 1_024),
    pageBytes: fc.constantFrom(0, 1, 30, 1 << 20),
  });
  const manners = fc.record({ bite: fc.constantFrom(1, 7, 8 << 20), lateEnd: fc.boolean(), roomy: fc.boolean() });

  test('on random trees, with any caps, any page size and any manners of the host', () => {
    fc.assert(
      fc.property(
        root,
        query,
        fc.constantFrom('', 'lab', 'lab/x'),
        manners,
        fc.boolean(),
        (names, asked, prefix, manner, isOne) => {
          const directory: Directory = { is: 'directory', names };
          const only = isOne ? names.map(([text]) => text).find((text) => !text.startsWith('\0')) : undefined;
          const whole = { ...asked, ...(only !== undefined && { only }) };
          expect(search(directory, whole, prefix, manner)).toEqual(
            naiveSearch(directory, prefix, { ...QUERY, ...whole }),
          );
        },
      ),
      { numRuns: Number(process.env['PORTCULLIS_RUNS'] ?? 1_000) },
    );
  });
});

describe('find', () => {
  /** Needles that a packed pair can stumble over: periods, borders, one byte, longer than a vector. */
  const SEEDS = [
    'a',
    'ab',
    'aa',
    'aaa',
    'aba',
    'abc',
    'abab',
    'aabaa',
    'abcabc',
    'zzzz',
    '    x',
    '\t\t',
    'e t',
    'the',
    'return',
    'é',
    'éé',
    '中',
    '中文',
    '🙂',
    '🙂🙂',
    'a🙂',
    '0123456',
    '01234567',
    '012345678',
    '0123456789abcde',
    '0123456789abcdef',
    '0123456789abcdefg',
    'a'.repeat(15),
    'a'.repeat(16),
    'a'.repeat(17),
    `${'a'.repeat(16)}b`,
    `b${'a'.repeat(31)}`,
    `${'ab'.repeat(20)}c`,
    'x'.repeat(100),
    '\u0000',
    '\u0000a',
    '}\r\t;',
  ];
  const PADDINGS = Array.from({ length: 69 }, (_, index) => index);

  test.each(SEEDS)('finds %j at every distance from the file’s borders, and nothing that is not there', (needle) => {
    const bytes = Buffer.from(needle);
    const other = Buffer.from(needle.slice(0, -1) || 'q');
    const rows = PADDINGS.flatMap((before) => [0, 1, 15, 16, 17, 63, 64, 65].map((after) => [before, after] as const));
    const files = rows.map(([before, after]) => {
      const filler = Buffer.from('.'.repeat(before));
      return Buffer.concat([filler, other, filler, Buffer.from('|'), bytes, Buffer.from('.'.repeat(after))]);
    });
    const without = files.map((file) =>
      Buffer.from(file.toString('latin1').replaceAll(bytes.toString('latin1'), '|'), 'latin1'),
    );
    for (const group of [files, without]) {
      const root: Directory = { is: 'directory', names: group.map((file, index) => [`f${index}`, aFile(file)]) };
      const answer = search(root, { text: needle, matchCap: 1e6, lineCap: 1e6, textCap: 1e9 });
      const wanted = group.flatMap((file, index) => (file.includes(bytes) ? [`f${index}`] : [])).sort();
      expect(answer.hits.map(({ path }) => path).sort()).toEqual(wanted);
    }
  });

  test('is linear: a long needle that nearly stands at every other place is looked for to the end', () => {
    // The two rarest bytes are a and b, and they fit everywhere; what differs is the e, after 1 500 000 bytes that agree.
    // Compared without an end this is 90 000 vectors at each of two million places: no test would see its end.
    const half = 'ab'.repeat(750_000);
    const root = city({ f: aFile('ab'.repeat(7 << 19)) });
    const world = new World(root);
    expect(world.searchAll({ ...QUERY, text: `${half}eb${half}`, fileCap: 8e6 }).hits).toEqual([]);
  });

  test('finds a long needle behind many that are nearly it', () => {
    const half = 'ab'.repeat(500);
    const text = `${half}eb${half}`;
    const root = city({
      f: aFile(`${'ab'.repeat(1 << 16)}${text}\n${text}${'ab'.repeat(900)}eb${'ab'.repeat(499)}\n${text}`),
    });
    const answer = search(root, { text });
    expect(answer.hits.map(({ line }) => line)).toEqual([0, 1, 2]);
    expect(answer).toEqual(naiveSearch(root, '', { ...QUERY, text })); // the windows tell where in the line
  });
});
