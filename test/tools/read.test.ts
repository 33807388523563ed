/** `read`: which lines an answer carries, where it goes on, and what it refuses to be asked. Spec: read. */

import fc from 'fast-check';
import { blake3 } from 'hash-wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReadArgs, type ReadValue, read as readTool } from '../../dist/tools/read.js';
import { jsonSchema } from '../../dist/tools/tool.js';
import { city, inEverySetting, SETTINGS, type TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';

const RUNS = { numRuns: Number(process.env['PORTCULLIS_RUNS'] ?? 40) };
const KiB = 1024;
const MiB = 1024 * KiB;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const linesOf = (count: number, bytes: number): string =>
  Array.from({ length: count }, (_, number) => `${String(number).padEnd(bytes - 1, '.')}\n`).join('');

/** Every byte that is no LF but looks like the end of a line somewhere, and a file that begins and ends oddly. */
const MIXED = '\ufeffa\r\nb\0c\rd\fe\u2028f\u0085g\u000bh\n\n🙂';

const FILES: Readonly<Record<string, string>> = {
  empty: '',
  one: 'a\n',
  newline: '\n',
  unended: 'a\nb',
  mixed: MIXED,
  many: linesOf(1_200, 12),
  exactly512: linesOf(512, 4),
  wide: linesOf(100, 1_000),
  exactly64k: `${linesOf(64, KiB)}x\n`,
  over64kByOne: `${linesOf(63, KiB)}${'y'.repeat(KiB)}\nx\n`,
  line60k: 'k'.repeat(60 * KiB),
  line65537: `${'l'.repeat(65_536)}\nnext\n`,
  second65537: `first\n${'l'.repeat(65_536)}\nnext\n`,
  lineOf1m: `${'m'.repeat(MiB - 1)}\nnext\n`,
  lineOver1m: `${'m'.repeat(MiB)}\nnext\n`,
  unendedOver1m: 'm'.repeat(MiB + 1),
  line5m: `head\nx${'🙂'.repeat((5 * MiB) / 4)}\ntail\n`,
};
const THINGS: Things = Object.entries(FILES).map(([name, text]) => [`lab/${name}`, text]);

// ---- the specification, the slow way ----

/** Lines with their ends, as the bytes they are. */
function split(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0x0a, from);
    const to = end < 0 ? bytes.length : end + 1;
    lines.push(bytes.subarray(from, to));
    from = to;
  }
  return lines;
}

/** The last border of characters at or before `at`. */
function border(bytes: Uint8Array, at: number): number {
  let end = at;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

/** What `read` owes for a text, or which mistake `byte` is. */
async function naive(bytes: Uint8Array, args: ReadArgs): Promise<ReadValue | 'past' | 'inside'> {
  const { path, offset = 0, byte = 0, limit = 512 } = args;
  const lines = split(bytes);
  const version = `cas:b3-${await blake3(bytes)}`;
  const whole = lines[offset];
  if (byte > 0 && byte >= (whole?.length ?? 0)) return 'past';
  if (whole === undefined) return { path, text: '', bytes: 0, total_lines: lines.length, version };
  if (border(whole, byte) !== byte) return 'inside';
  const first = whole.subarray(byte);
  const taken: Uint8Array[] = [];
  let size = 0;
  for (const line of [first, ...lines.slice(offset + 1)]) {
    if (taken.length === Math.min(limit, 512) || (taken.length > 0 && size + line.length > 65_536)) break;
    taken.push(line);
    size += line.length;
  }
  if (first.length > MiB) {
    const end = border(first, MiB);
    return {
      path,
      text: Buffer.from(first.subarray(0, end)).toString(),
      bytes: end,
      total_lines: lines.length,
      next_offset: offset,
      next_byte: byte + end,
      cut_bytes: first.length - end,
      version,
    };
  }
  const next = offset + taken.length;
  return {
    path,
    text: Buffer.concat(taken).toString(),
    bytes: size,
    ...(next < lines.length && { total_lines: lines.length, next_offset: next }),
    version,
  };
}

/** All pages of a file, each with the next limit of `limits`, put together. */
async function pages(place: TestCity, path: string, limits: readonly number[]): Promise<Buffer> {
  const parts: string[] = [];
  let ask: ReadArgs = { path };
  for (let page = 0; ; page++) {
    const value = asValue(await place.read({ ...ask, limit: limits[page % limits.length] ?? 512 }));
    parts.push(value.text);
    if (value.next_offset === undefined) return Buffer.from(parts.join(''));
    ask = { path, offset: value.next_offset, ...(value.next_byte !== undefined && { byte: value.next_byte }) };
  }
}

describe.each(SETTINGS)('read in the $tree tree, $binding binding', (setting) => {
  let place: TestCity;
  beforeAll(() => {
    place = city(setting, THINGS);
  });
  afterAll(() => place.end());

  // ---- the table of the specification ----

  const TABLE: readonly (readonly [why: string, args: ReadArgs, expected: Partial<ReadValue>])[] = [
    ['more lines follow', { path: 'lab/many', limit: 2 }, { total_lines: 1_200, next_offset: 2 }],
    ['more follow, from the middle', { path: 'lab/many', offset: 7, limit: 2 }, { total_lines: 1_200, next_offset: 9 }],
    ['the end is reached', { path: 'lab/many', offset: 1_198 }, { bytes: 24 }],
    ['the end is reached by the last line of the limit', { path: 'lab/many', offset: 1_198, limit: 2 }, { bytes: 24 }],
    ['a last line without its end', { path: 'lab/unended' }, { text: 'a\nb' }],
    ['one line', { path: 'lab/one' }, { text: 'a\n' }],
    ['one line that is its end', { path: 'lab/newline' }, { text: '\n', bytes: 1 }],
    ['an empty file has no lines', { path: 'lab/empty' }, { text: '', total_lines: 0 }],
    ['at the end', { path: 'lab/one', offset: 1 }, { text: '', total_lines: 1 }],
    ['past the end', { path: 'lab/one', offset: 2 }, { text: '', total_lines: 1 }],
    ['past any possible text', { path: 'lab/unended', offset: 2 ** 53 + 2 }, { text: '', total_lines: 2 }],
    ['and never wrapped', { path: 'lab/unended', offset: 2 ** 64 }, { text: '', total_lines: 2 }],
    ['nor rounded', { path: 'lab/unended', offset: 1e300 }, { text: '', total_lines: 2 }],
    ['also 1e400', { path: 'lab/unended', offset: Number.POSITIVE_INFINITY }, { text: '', total_lines: 2 }],
  ];
  it.each(TABLE)(
    'answers with text, total_lines and next_offset as its case has them: %s',
    async (_, args, expected) => {
      const value = asValue(await place.read(args));
      expect(value).toMatchObject({ path: args.path, ...expected });
      expect('total_lines' in value, 'total_lines').toBe('total_lines' in expected);
      expect('next_offset' in value, 'next_offset').toBe('next_offset' in expected);
      expect(value).not.toHaveProperty('next_byte');
      expect(value).not.toHaveProperty('note');
      expect(value.bytes).toBe(Buffer.byteLength(value.text));
    },
  );

  it('gives a file that fits both ceilings byte for byte: BOM, CRLF, NUL and all', async () => {
    expect(asValue(await place.read({ path: 'lab/mixed' })).text).toBe(MIXED);
  });

  it('ends a line at LF alone: not at CR, form feed, U+2028, NEL, vertical tab', async () => {
    const second = asValue(await place.read({ path: 'lab/mixed', offset: 1, limit: 1 }));
    expect(second).toMatchObject({ text: 'b\0c\rd\fe\u2028f\u0085g\u000bh\n', total_lines: 4, next_offset: 2 });
  });

  // ---- two ceilings, the tighter one rules ----

  const CEILINGS: readonly (readonly [why: string, args: ReadArgs, lines: number, expected: Partial<ReadValue>])[] = [
    ['512 lines', { path: 'lab/many' }, 512, { next_offset: 512, total_lines: 1_200 }],
    ['512 lines, and nothing follows', { path: 'lab/exactly512' }, 512, { bytes: 2_048 }],
    ['64 KiB before 512 lines', { path: 'lab/wide' }, 65, { bytes: 65_000, next_offset: 65, total_lines: 100 }],
    ['a limit before both', { path: 'lab/wide', limit: 3 }, 3, { bytes: 3_000, next_offset: 3 }],
    ['exactly 64 KiB', { path: 'lab/exactly64k' }, 64, { bytes: 65_536, next_offset: 64, total_lines: 65 }],
    ['one byte over', { path: 'lab/over64kByOne' }, 63, { bytes: 63 * KiB, next_offset: 63, total_lines: 65 }],
    ['a long second line waits', { path: 'lab/second65537' }, 1, { text: 'first\n', next_offset: 1, total_lines: 3 }],
  ];
  it.each(CEILINGS)('takes whole lines while they stay within both ceilings: %s', async (_, args, lines, expected) => {
    const value = asValue(await place.read(args));
    expect(value).toMatchObject(expected);
    expect(value.text.split('\n').length - 1).toBe(lines);
  });

  it.each([513, 65_536, 2 ** 53 + 2, 1e300, Number.POSITIVE_INFINITY])(
    'clamps a limit of %d, and does not refuse it',
    async (limit) => {
      expect(await place.read({ path: 'lab/many', limit })).toEqual(await place.read({ path: 'lab/many', limit: 512 }));
    },
  );

  // ---- the first line is always delivered, and a very long one in parts ----

  const FIRST: readonly (readonly [why: string, args: ReadArgs, expected: Partial<ReadValue>])[] = [
    ['60 KiB', { path: 'lab/line60k' }, { bytes: 60 * KiB }],
    ['65 537 bytes', { path: 'lab/line65537' }, { bytes: 65_537, next_offset: 1, total_lines: 2 }],
    ['65 537 bytes as the second', { path: 'lab/second65537', offset: 1 }, { bytes: 65_537, next_offset: 2 }],
    ['exactly 1 MiB with its end', { path: 'lab/lineOf1m' }, { bytes: MiB, next_offset: 1, total_lines: 2 }],
  ];
  it.each(FIRST)('delivers a first line whole, however small its ceiling: %s', async (_, args, expected) => {
    const value = asValue(await place.read(args));
    expect(value).toMatchObject(expected);
    expect(value).not.toHaveProperty('next_byte');
    expect(value).not.toHaveProperty('cut_bytes');
  });

  it('cuts a first line over 1 MiB, and says where it goes on and what is left of it, its newline counted', async () => {
    expect(asValue(await place.read({ path: 'lab/lineOver1m' }))).toMatchObject({
      text: 'm'.repeat(MiB),
      total_lines: 2,
      next_offset: 0,
      next_byte: MiB,
      cut_bytes: 1,
    });
    const rest = asValue(await place.read({ path: 'lab/lineOver1m', offset: 0, byte: MiB }));
    expect(rest).toMatchObject({ text: '\nnext\n', bytes: 6 });
    expect(asValue(await place.read({ path: 'lab/unendedOver1m' }))).toMatchObject({ next_byte: MiB, cut_bytes: 1 });
    expect(asValue(await place.read({ path: 'lab/unendedOver1m', byte: MiB })).text).toBe('m');
  });

  it('cuts it on a border of characters', async () => {
    const value = asValue(await place.read({ path: 'lab/line5m', offset: 1 }));
    const length = 5 * MiB + 2;
    expect(value).toMatchObject({ bytes: MiB - 3, total_lines: 3, next_offset: 1, next_byte: MiB - 3 });
    expect(value.cut_bytes).toBe(length - (MiB - 3));
    expect(value.text).toBe(`x${'🙂'.repeat((MiB - 4) / 4)}`);
  });

  it('puts a line of 5 MiB together from its parts', async () => {
    const file = bytesOf(FILES['line5m'] ?? '');
    expect((await pages(place, 'lab/line5m', [512])).equals(file)).toBe(true);
  });

  // ---- byte ----

  it('takes the rest of a line from `byte` as the first line, and all rules apply to it', async () => {
    expect(asValue(await place.read({ path: 'lab/unended', byte: 1 })).text).toBe('\nb');
    expect(asValue(await place.read({ path: 'lab/mixed', offset: 3, byte: 0 })).text).toBe('🙂');
    expect(asValue(await place.read({ path: 'lab/wide', byte: 10, limit: 1 }))).toMatchObject({
      bytes: 990,
      next_offset: 1,
    });
    expect(asValue(await place.read({ path: 'lab/exactly64k', byte: KiB - 2 }))).toMatchObject({
      bytes: 63 * KiB + 2 + 2,
    });
  });

  const BYTES: readonly (readonly [why: string, args: ReadArgs, fact: string])[] = [
    ['behind the end of its line', { path: 'lab/unended', byte: 2 }, 'byte is past the end of that line'],
    ['behind the last byte', { path: 'lab/unended', offset: 1, byte: 1 }, 'byte is past the end of that line'],
    ['in an empty file', { path: 'lab/empty', byte: 1 }, 'byte is past the end of that line'],
    ['in a line past the end', { path: 'lab/one', offset: 9, byte: 1 }, 'byte is past the end of that line'],
    ['past any line', { path: 'lab/one', byte: 1e300 }, 'byte is past the end of that line'],
    ['inside a character', { path: 'lab/mixed', offset: 3, byte: 1 }, 'byte is inside a character'],
    ['inside its last byte', { path: 'lab/mixed', offset: 3, byte: 3 }, 'byte is inside a character'],
  ];
  it.each(BYTES)('refuses a `byte` that no answer gave: %s', async (_, args, fact) => {
    const error = asError(await place.read(args));
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [], retry: 'no', subject: `${args.path}: ${fact}` });
    expect(error.recovery).toContain('omit byte');
  });

  // ---- arguments ----

  const BAD: readonly (readonly [why: string, args: unknown, fact: RegExp])[] = [
    ['no path', {}, /^path must be text$/],
    ['a path that is no text', { path: 7 }, /^path must be text$/],
    ['a negative offset', { path: 'lab/one', offset: -1 }, /^lab\/one: offset must be a whole number of 0 or more$/],
    ['half a line', { path: 'lab/one', offset: 1.5 }, /offset must be/],
    ['an offset as text', { path: 'lab/one', offset: '1' }, /offset must be/],
    ['an offset that is no number', { path: 'lab/one', offset: Number.NaN }, /offset must be/],
    ['null', { path: 'lab/one', offset: null }, /offset must be/],
    ['a limit of 0', { path: 'lab/one', limit: 0 }, /limit must be a whole number of 1 or more$/],
    ['a negative limit', { path: 'lab/one', limit: -5 }, /limit must be/],
    ['half a limit', { path: 'lab/one', limit: 0.5 }, /limit must be/],
    ['a negative byte', { path: 'lab/one', byte: -1 }, /byte must be/],
    ['half a byte', { path: 'lab/one', byte: 2.5 }, /byte must be/],
    ['an unknown argument', { path: 'lab/one', lines: 3 }, /^lab\/one: unknown argument "lines"$/],
    [
      'an unknown argument of any name',
      JSON.parse('{"path":"lab/one","__proto__":1}'),
      /unknown argument "__proto__"$/,
    ],
    ['no object', 'lab/one', /not an object/],
    ['a list', ['lab/one'], /not an object/],
    ['nothing', null, /not an object/],
  ];
  it.each(BAD)('refuses arguments it was not made for: %s', async (_, args, fact) => {
    const error = asError(await place.call('read', args));
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', action: 'read', nearby: [], retry: 'no' });
    expect(error.subject).toMatch(fact);
    expect(error.recovery).toMatch(/\S/);
  });

  it('looks at its arguments before it looks at anything else', async () => {
    for (const path of ['lab/none', 'lab/.git/x', '/etc/passwd', 'cas:b3-0']) {
      expect(asError(await place.call('read', { path, limit: 0 })).subject).toMatch(/: limit must be/);
    }
  });

  // ---- laws ----

  const piece = fc.constantFrom(
    ...['a', 'bc', '\n', '\n', '\r\n', '\r', '\0', '\ufeff', 'é', '字', '🙂', '\u2028', '\u0085', '\f', '\u000b', ' '],
    'z'.repeat(40_000),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
  let files = 0;
  /** A name of its own for each file: what was written under an open tree is another law's. */
  const fresh = (content: string | Uint8Array): string => {
    const path = `lab/law${files++}`;
    place.world.put(path, content);
    return path;
  };

  it('is the naive answer, for any text, offset, limit and byte', async () => {
    const ask = fc.record({
      offset: fc.nat(14),
      limit: fc.constantFrom(1, 2, 3, 7, 511, 512, 513),
      byte: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(9) }),
    });
    await fc.assert(
      fc.asyncProperty(text, ask, async (content, args) => {
        const path = fresh(content);
        const outcome = await place.read({ path, ...args });
        const expected = await naive(bytesOf(content), { path, ...args });
        if (typeof expected === 'object') expect(outcome).toEqual({ ok: true, value: expected });
        else expect(asError(outcome).subject).toContain(`byte is ${expected}`);
      }),
      RUNS,
    );
  });

  it('gives the whole file once, byte for byte, in pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (content, limits) => {
        expect((await pages(place, fresh(content), limits)).equals(bytesOf(content))).toBe(true);
      }),
      RUNS,
    );
  });

  it.each([
    ['lab/mixed', [1]],
    ['lab/many', [512]],
    ['lab/many', [7, 300]],
    ['lab/wide', [512]],
    ['lab/lineOver1m', [1, 512]],
    ['lab/unendedOver1m', [512]],
  ])('covers %s exactly once in pages of %j', async (path, limits) => {
    const file = bytesOf(FILES[path.slice('lab/'.length)] ?? '');
    expect((await pages(place, path, limits)).equals(file)).toBe(true);
  });

  it('gives, at the `line` of a hit of `search`, the line of the hit', async () => {
    const needle = fc.constantFrom('a', 'é', '字', '\0', '\u2028', ' ', '\r', 'bc');
    await fc.assert(
      fc.asyncProperty(text, needle, async (content, wanted) => {
        const path = fresh(content);
        const { matches } = asValue(await place.search({ text: wanted, path }));
        for (const { line, text: shown } of matches) {
          const value = asValue(await place.read({ path, offset: line, limit: 1 }));
          const whole = value.text.replace(/\r?\n$/, '');
          if (whole.length <= 128) expect(shown).toBe(whole);
          else expect(whole).toContain(shown.replace(/\[truncated: \d+ bytes\]/g, ''));
        }
      }),
      RUNS,
    );
  });
});

describe('what models are told of read', () => {
  it('names its ceilings, its cost and what to do before: search first', () => {
    const { description } = readTool;
    for (const word of [
      '512 lines',
      '64 KiB',
      '`next_offset`',
      '`next_byte`',
      'seconds a GiB',
      '`search` first',
      'UTF-8',
    ]) {
      expect(description).toContain(word);
    }
  });

  it('describes every argument in the schema that is derived', () => {
    const { properties, required, additionalProperties } = jsonSchema(readTool);
    expect(Object.keys(properties ?? {})).toEqual(['path', 'offset', 'limit', 'byte']);
    expect([required, additionalProperties]).toEqual([['path'], false]);
    for (const property of Object.values(properties ?? {}))
      expect(property).toMatchObject({ description: expect.any(String) });
  });

  it('answers with what its own schema describes', async () => {
    await inEverySetting(THINGS, async (place) => {
      for (const args of [{ path: 'lab/many' }, { path: 'lab/line5m', offset: 1 }, { path: 'lab/empty' }]) {
        const value = asValue(await place.read(args));
        expect(readTool.value.parse(value)).toEqual(value);
      }
    });
  });
});
