/** The guest's `read` against a naive one: lines, cuts, what is text, in one pass and in order. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isUtf8, naiveRead } from './naive.js';
import {
  aDirectory,
  aFile,
  CODE,
  type Directory,
  type File,
  INTERVAL,
  type Interval,
  type Manners,
  type Reading,
  refused,
  World,
} from './world.js';

const CHUNK_BYTES = 256 << 10;

function read(content: string | Uint8Array, ask: Partial<Interval> = {}, manners: Manners = {}): Reading {
  const root = aDirectory({ f: aFile(content) }).directory as Directory; // just made as one
  const world = new World(root, '', manners);
  const reading = world.readAll('f', { ...INTERVAL, ...ask });
  expect(world.held, 'handles given back').toBe(0);
  // What the host hashes is what passed: once, in order, with no gap.
  let passed = 0;
  for (const [from, size] of world.reads) {
    expect(from).toBe(passed);
    passed += size;
  }
  return reading;
}

const textOf = (reading: Reading): string => {
  if (reading.is !== 'done') throw new Error(`not done: ${reading.is}`);
  return Buffer.from(reading.text).toString();
};

/** Whether each of the files, given in parts, is read as text. */
function verdicts(files: readonly Uint8Array[][], bite: number): boolean[] {
  const names = files.map((parts, index) => [`f${index}`, aFile(Buffer.concat(parts))] as const);
  const world = new World({ is: 'directory', names }, '', { bite });
  return names.map(([name]) => world.readAll(name, INTERVAL).is === 'done');
}

describe('read', () => {
  test('a file that fits comes back byte for byte: BOM, CRLF, NUL and a last line without its end', () => {
    const content = '\ufeffa\r\nb\0c\rd\n\n🙂';
    expect(textOf(read(content))).toBe(content);
    expect(read(content)).toMatchObject({ lines: 4, totalLines: 4n, more: false });
  });

  test('the empty file has no lines', () => {
    expect(read('')).toMatchObject({ is: 'done', lines: 0, totalLines: 0n, more: false });
    expect(textOf(read('', { offset: 7n }))).toBe('');
  });

  test('lines are taken while their bytes stay within the cap', () => {
    expect(read('aa\nbb\ncc\n', { textCap: 6 })).toMatchObject({ lines: 2, totalLines: 3n, more: true });
    expect(read('aa\nbb\ncc\n', { textCap: 5 })).toMatchObject({ lines: 1, more: true });
    expect(textOf(read('aa\nbb', { textCap: 5 }))).toBe('aa\nbb');
  });

  test('the first line is delivered however small the cap, and a line over its own cap in parts', () => {
    expect(textOf(read('a long line\nb', { textCap: 2 }))).toBe('a long line\n');
    expect(read('ééé\nb', { lineCap: 5 })).toEqual({
      is: 'done',
      text: new Uint8Array(Buffer.from('éé')),
      lines: 0,
      totalLines: 2n,
      more: true,
      cut: { nextByte: 4n, cutBytes: 3n },
    });
    expect(textOf(read('ééé\nb', { lineCap: 5, byte: 4n }))).toBe('é\nb');
    expect(read('ééé\nb', { lineCap: 7 })).not.toHaveProperty('cut');
  });

  test('byte is inside the line and on a character, or told so', () => {
    expect(read('é\nb', { byte: 3n })).toEqual({ is: 'past-line' });
    expect(read('é\nb', { byte: 1n })).toEqual({ is: 'inside-character' });
    expect(textOf(read('é\nb', { byte: 2n }))).toBe('\nb');
    expect(read('é\nb', { offset: 1n, byte: 1n })).toEqual({ is: 'past-line' });
    expect(read('é\nb', { offset: 2n, byte: 1n })).toEqual({ is: 'past-line' });
    expect(read('', { byte: 1n })).toEqual({ is: 'past-line' });
  });

  test('an offset past any possible text is past the end', () => {
    expect(read('a\nb', { offset: (1n << 64n) - 1n })).toMatchObject({ lines: 0, totalLines: 2n, more: false });
    expect(read('a\nb', { byte: (1n << 64n) - 1n })).toEqual({ is: 'past-line' });
  });

  test('bytes that are not UTF-8 are no text, wherever they stand, and say what they look like', () => {
    const gbk = Buffer.from('c4e3bac3cac0bde7', 'hex');
    const utf16 = Buffer.from('h\u00e9llo, w\u00f6rld', 'utf16le');
    const rows: [Uint8Array, string][] = [
      [gbk, 'gb'],
      [Buffer.concat([Buffer.from('plain\n'.repeat(50_000)), gbk]), 'gb'],
      [Buffer.concat([Buffer.of(0xff, 0xfe), utf16]), 'utf16'],
      [utf16, 'utf16'],
      [Buffer.from('7f454c460201010000000000000000000300ff', 'hex'), 'binary'],
      [Buffer.from('caf\xe9', 'latin1'), 'unknown'],
      [Buffer.from('e4b8', 'hex'), 'gb'],
      [Buffer.from('61eda080', 'hex'), 'unknown'],
    ];
    for (const [bytes, looks] of rows)
      expect(read(bytes), Buffer.from(bytes.subarray(-8)).toString('hex')).toEqual({ is: 'not-text', looks });
  });

  test.each([
    ['c080', false],
    ['c1bf', false],
    ['c280', true],
    ['dfbf', true],
    ['e09fbf', false],
    ['e0a080', true],
    ['ed9fbf', true],
    ['eda080', false],
    ['edbfbf', false],
    ['ee8080', true],
    ['efbfbf', true],
    ['f08fbfbf', false],
    ['f0908080', true],
    ['f48fbfbf', true],
    ['f4908080', false],
    ['f5808080', false],
    ['80', false],
    ['bf', false],
    ['c2', false],
    ['e180', false],
    ['f18080', false],
    ['c3c3', false],
    ['e18041', false],
    ['f1808041', false],
    ['fe', false],
    ['ff', false],
  ])('%s is UTF-8: %s, at every place of a vector and across every chunk’s border', (hex, isText) => {
    const sequence = Buffer.from(hex, 'hex');
    expect(isUtf8(sequence)).toBe(isText);
    const files = [0, 1, 11, 12, 13, 14, 15, 16, 17, 31, 40].flatMap((at) =>
      ['', 'x'.repeat(40), 'é'.repeat(20)].map((after) => [Buffer.from('x'.repeat(at)), sequence, Buffer.from(after)]),
    );
    for (const bite of [1, 8 << 20]) expect(verdicts(files, bite), `bites of ${bite}`).toEqual(files.map(() => isText));
    const atBorders = [4, 3, 2, 1, 0].map((before) => [
      Buffer.alloc(CHUNK_BYTES - before, 'y'),
      sequence,
      Buffer.from('z'),
    ]);
    expect(verdicts(atBorders, 8 << 20)).toEqual(atBorders.map(() => isText));
  });

  test('codes of the open and of a read are passed on', () => {
    const failing: File = { is: 'file', bytes: Buffer.from('abc'), failsAt: [0, 'io'] };
    const root: Directory = {
      is: 'directory',
      names: [
        ['closed', refused('access')],
        ['broken', { kind: 'regular-file', file: failing, directory: 'not-directory' }],
      ],
    };
    expect(new World(root).readAll('closed', INTERVAL)).toEqual({ is: 'failed', code: CODE.access });
    expect(new World(root).readAll('broken', INTERVAL)).toEqual({ is: 'failed', code: CODE.io });
    expect(new World(root).readAll('gone', INTERVAL)).toEqual({ is: 'failed', code: CODE['no-entry'] });
  });

  test('not asked for the whole file, it stops once the interval is known, and judges the interval alone', () => {
    const bytes = Buffer.concat([Buffer.from('\xff\nfirst\nsecond\n', 'latin1'), Buffer.alloc(3 * CHUNK_BYTES, 0xff)]);
    const world = new World(aDirectory({ f: aFile(bytes) }).directory as Directory); // just made as one
    const reading = world.readAll('f', { ...INTERVAL, offset: 1n, limit: 2, whole: false });
    expect([textOf(reading), world.reads.length]).toEqual(['first\nsecond\n', 1]);
    expect(world.readAll('f', { ...INTERVAL, limit: 2, whole: false })).toEqual({ is: 'not-text', looks: 'unknown' });
  });

  test('memory is flat, whatever the file’s size, its lines, and how far in the interval lies', () => {
    const lines = Buffer.from('0123456789abcde\n'.repeat(1 << 22)); // 64 MiB
    const one = Buffer.alloc(64 << 20, 'x');
    for (const [bytes, ask] of [
      [lines, { offset: (1n << 22n) - 10n }],
      [one, {}],
      [one, { byte: 63n << 20n }],
    ] as const) {
      const world = new World(aDirectory({ f: aFile(bytes) }).directory as Directory); // just made as one
      const reading = world.readAll('f', { ...INTERVAL, ...ask });
      expect(reading.is).toBe('done');
      expect(world.memoryBytes).toBeLessThan(4 << 20);
    }
  });

  test('one instance serves one call after another, also one left half-way', () => {
    const root = aDirectory({ f: aFile('a needle\n'.repeat(100_000)) }).directory as Directory; // just made as one
    const world = new World(root);
    expect(world.read('f', { ...INTERVAL, pageBytes: 1 })).toEqual({ is: 'going', bytes: BigInt(CHUNK_BYTES) });
    expect(textOf(world.readAll('f', { ...INTERVAL, limit: 1 }))).toBe('a needle\n');
    expect(world.held).toBe(0);
    expect(() => world.next()).toThrow(WebAssembly.RuntimeError);
    expect(() => world.more()).toThrow(WebAssembly.RuntimeError);
  });
});

describe('a read is the naive read', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '\n',
    '\r\n',
    '\r',
    '\n\n',
    'é',
    '中',
    '🙂',
    '\0',
    'aaaaaaaaaaaaaaaaaaaaaaaa',
    '\ufeff',
  );
  const content = fc.oneof(
    { weight: 8, arbitrary: fc.array(piece, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join(''))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
  );
  const ask = fc.record({
    offset: fc.bigInt({ min: 0n, max: 12n }),
    byte: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 30n })),
    limit: fc.constantFrom(1, 2, 5, 512),
    textCap: fc.constantFrom(1, 5, 20, 65_536),
    lineCap: fc.constantFrom(4, 5, 9, 30, 1 << 20),
    whole: fc.constant(true),
    pageBytes: fc.constantFrom(0, 1, 10, 1 << 20),
  });
  const manners = fc.record({ bite: fc.constantFrom(1, 2, 3, 7, 8 << 20), lateEnd: fc.boolean(), roomy: fc.boolean() });
  const runs = { numRuns: Number(process.env['PORTCULLIS_RUNS'] ?? 500) };

  test('on random text, with any caps, any page size and any manners of the host', () => {
    fc.assert(
      fc.property(content, ask, manners, (bytes, asked, manner) => {
        const reading = read(bytes, asked, manner);
        const naive = naiveRead(bytes, asked);
        expect(naive.is === 'not-text' ? reading.is : reading).toEqual(naive.is === 'not-text' ? 'not-text' : naive);
        // Without `whole` the same interval, unless what lies outside it was to be judged.
        const short = read(bytes, { ...asked, whole: false }, manner);
        if (naive.is === 'done') expect(short).toMatchObject({ ...naive, totalLines: expect.anything() });
        else if (naive.is !== 'not-text') expect(short).toEqual(naive);
      }),
      runs,
    );
  });

  test('pages of any kind, put together, are the file', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), ask, manners, (pieces, asked, manner) => {
        const file = Buffer.from(pieces.join(''));
        const parts: Uint8Array[] = [];
        let [offset, byte] = [0n, 0n];
        for (let more = true; more; ) {
          const page = read(file, { ...asked, offset, byte }, manner);
          if (page.is !== 'done') throw new Error(page.is);
          parts.push(page.text);
          more = page.more;
          byte = page.cut?.nextByte ?? 0n;
          offset += BigInt(page.lines);
        }
        expect(Buffer.concat(parts).equals(file)).toBe(true);
      }),
      runs,
    );
  });
});
