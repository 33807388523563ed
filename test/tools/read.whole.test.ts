/**
 * `read`: a file is judged and named as a whole, whatever the interval; its size is never believed, its memory stays
 * flat, and a guest that read it otherwise than once, in order and to the end gets no answer. Spec: read.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { blake3 } from 'hash-wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Outcome } from '../../dist/error.js';
import { GROWTH_SLACK_BYTES, READ_CAP_LINES, READ_WHOLE_MAX_BYTES } from '../../dist/limits.js';
import type { ReadArgs, ReadValue } from '../../dist/tools/read.js';
import { enterDisk, type TreeSpec } from '../../dist/tree/spec.js';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import type { Guest, Interval, Reading, Slice } from '../../dist/wasi/guest.js';
import { type FileHandle, isCode } from '../../dist/wasi/handles.js';
import {
  ANSWERS_NOTHING,
  BINDINGS,
  type CallOptions,
  city,
  GUESTS,
  SETTINGS,
  type Setting,
  TestCity,
} from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import { descriptorCount, diskWorld, memoryWorld, type Things } from '../tree/worlds.js';

/** What the guest reads at once: its borders are where sequences are split. */
const CHUNK_BYTES = 256 * 1024;
const MiB = 1024 * 1024;
const versionOf = async (bytes: Uint8Array | string): Promise<string> => `cas:b3-${await blake3(bytes)}`;
const concat = (...parts: (Uint8Array | string)[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))));

const GBK = Buffer.from('c4e3bac3cac0bde7', 'hex');
const LINES = Array.from({ length: 60_000 }, (_, number) => `line ${number}\n`).join('');
const UTF16_LE = Buffer.from('Hello, world\nwide\n', 'utf16le');
const UTF16_BE = Buffer.from(UTF16_LE).swap16();

describe.each(SETTINGS)('a file as a whole, in the $tree tree, $binding binding', (setting) => {
  let place: TestCity;
  const lineOver1m = `${'é'.repeat(MiB)}\n`;
  const things: Things = [
    ['lab/many', LINES],
    ['lab/empty', ''],
    ['lab/long', lineOver1m],
    ['lab/gbk', concat(GBK, '\n')],
  ];
  beforeAll(() => {
    place = city(setting, things);
  });
  afterAll(() => place.end());
  let files = 0;
  const fresh = (content: Uint8Array | string): string => {
    const at = `lab/fresh${files++}`;
    place.world.put(at, content);
    return at;
  };

  // ---- version ----

  const INTERVALS: readonly (readonly [why: string, args: ReadArgs, content: string])[] = [
    ['the beginning', { path: 'lab/many' }, LINES],
    ['one line of it', { path: 'lab/many', limit: 1 }, LINES],
    ['its middle', { path: 'lab/many', offset: 30_000, limit: 3 }, LINES],
    ['its end', { path: 'lab/many', offset: 59_999 }, LINES],
    ['past its end', { path: 'lab/many', offset: 1e300 }, LINES],
    ['a part of a line', { path: 'lab/many', offset: 9, byte: 3 }, LINES],
    ['an empty file', { path: 'lab/empty' }, ''],
    ['a line that is cut', { path: 'lab/long' }, lineOver1m],
    ['the rest of it', { path: 'lab/long', byte: MiB }, lineOver1m],
  ];
  it.each(INTERVALS)('carries the BLAKE3 of the whole file, whatever the interval: %s', async (_, args, content) => {
    expect(asValue(await place.read(args)).version).toBe(await versionOf(content));
  });

  // ---- UTF-8 ----

  it.each(['é', '字', '🙂'])('takes %s for text at every place across a border of chunks', async (character) => {
    const size = Buffer.byteLength(character);
    for (let before = CHUNK_BYTES - size; before <= CHUNK_BYTES; before++) {
      const content = `${'x'.repeat(before - 2)}\ny${character}\nend`;
      const value = asValue(await place.read({ path: fresh(content), offset: 1 }));
      expect(value, `${before} bytes before it`).toMatchObject({
        text: `y${character}\nend`,
        version: await versionOf(content),
      });
    }
  });

  const NOT_TEXT: readonly (readonly [why: string, content: Uint8Array])[] = [
    ['a sequence that the end of the file cuts', concat('x'.repeat(9), Buffer.from('f09f99', 'hex'))],
    ['the same at the border of chunks', concat('x'.repeat(CHUNK_BYTES - 2), Buffer.from('e5ad', 'hex'))],
    ['a sequence that the next chunk does not go on with', concat('x'.repeat(CHUNK_BYTES - 1), Buffer.of(0xc3), 'xx')],
    ['a trail byte that begins a chunk', concat('x'.repeat(CHUNK_BYTES), Buffer.of(0x80))],
    ['an overlong form', Buffer.from('c0af', 'hex')],
    ['a surrogate', Buffer.from('eda080', 'hex')],
    ['what is above U+10FFFF', Buffer.from('f4908080', 'hex')],
  ];
  it.each(NOT_TEXT)('refuses bytes that are not UTF-8: %s', async (_, content) => {
    const error = asError(await place.read({ path: fresh(content) }));
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [], retry: 'no' });
    expect(error.subject).toMatch(/^lab\/fresh\d+: its bytes are not UTF-8$/);
  });

  it('gives every interval of one file the same verdict: a bad byte outside of it counts as well', async () => {
    for (const at of [0, 7, CHUNK_BYTES + 9, LINES.length]) {
      const bytes = concat(LINES.slice(0, at), Buffer.of(0xff), LINES.slice(at));
      const file = fresh(bytes);
      const first = asError(await place.read({ path: file }));
      expect(first.subject).toContain('its bytes are not UTF-8');
      for (const args of [{ limit: 1 }, { offset: 40_000, limit: 1 }, { offset: 59_999 }, { offset: 1e9 }]) {
        expect(asError(await place.read({ path: file, ...args })), `${at}`).toEqual(first);
      }
    }
  });

  const LOOKS: readonly (readonly [why: string, content: Uint8Array, recovery: RegExp])[] = [
    ['UTF-16, little end first, with its mark', concat(Buffer.of(0xff, 0xfe), UTF16_LE), /looks like UTF-16/],
    ['UTF-16, big end first, with its mark', concat(Buffer.of(0xfe, 0xff), UTF16_BE), /looks like UTF-16/],
    ['UTF-16 without it', concat(UTF16_LE, Buffer.of(0xe9, 0)), /looks like UTF-16/],
    ['big end first without it', concat(UTF16_BE, Buffer.of(0, 0xe9)), /looks like UTF-16/],
    ['GBK', concat('name: ', GBK, '\n'), /looks like text in a GB encoding/],
    ['GBK after much ASCII', concat(LINES, GBK, '\n'), /looks like text in a GB encoding/],
    ['a program', Buffer.from('7f454c4602010100000000000000000002003e00ff', 'hex'), /looks like binary data/],
    ['an image', Buffer.from('89504e470d0a1a0a0000000d49484452000001000000010008', 'hex'), /looks like binary data/],
    ['Latin-1', Buffer.from('caf\xe9 au lait', 'latin1'), /its encoding is not known/],
  ];
  it.each(LOOKS)('says what a file that is no text looks like: %s', async (_, content, recovery) => {
    const error = asError(await place.read({ path: fresh(content) }));
    expect(error.recovery).toMatch(recovery);
    expect(error.recovery).toMatch(/`read` hands over text/);
  });

  it('takes NUL for text: a byte of UTF-8 like any other', async () => {
    expect(asValue(await place.read({ path: fresh('a\0b\n\0') })).text).toBe('a\0b\n\0');
  });
});

// ---- sizes that lie ----

describe.each(BINDINGS)('a size is never believed, %s binding', (binding) => {
  const content = `${LINES}end\n`;
  const reads = async (file: string | Uint8Array, reportedSizeBytes: number, args: Partial<ReadArgs> = {}) => {
    const place = city({ tree: 'memory', binding }, [['lab/f', { file, reportedSizeBytes }]]);
    const outcome = await place.read({ path: 'lab/f', ...args });
    place.end();
    return outcome;
  };

  it.each([
    ['0, as in /proc', 0],
    ['less than it is: it grew', content.length - 1_000],
    ['one less', content.length - 1],
    ['more than it is: it was cut off', content.length + 1],
    ['much more', content.length * 2],
  ])('reads to the end of what says its size is %s', async (_, reported) => {
    const value = asValue(await reads(content, reported, { offset: 60_000 }));
    expect(value).toEqual({ path: 'lab/f', text: 'end\n', bytes: 4, version: await versionOf(content) });
  });

  it('reads an empty file of any size, as one that was truncated meanwhile', async () => {
    const version = await versionOf('');
    expect(asValue(await reads('', 10))).toEqual({ path: 'lab/f', text: '', bytes: 0, total_lines: 0, version });
  });

  it('leaves a file that outgrew its reading 1 MiB past its size, says so, and names no version', async () => {
    const large = 'x'.repeat(1_023).concat('\n').repeat(2_048);
    const value = asValue(await reads(large, 1_024, { limit: 1 }));
    expect(value).toMatchObject({ bytes: 1_024, next_offset: 1 });
    expect(value.note).toMatch(/it grew while it was read, and was read up to 1 MiB past its size/);
    expect(value).not.toHaveProperty('version');
    expect(value).not.toHaveProperty('total_lines');
    const last = asValue(await reads(large, 1_024, { offset: GROWTH_SLACK_BYTES / 1_024 }));
    expect(last).toMatchObject({ bytes: 1_024, note: value.note });
    expect(last).not.toHaveProperty('next_offset');
    expect(asValue(await reads(large, 1_024, { offset: 1_500 }))).toMatchObject({ text: '', note: value.note });
    // All of it is read where the size says nothing.
    expect(asValue(await reads(large, 0, { offset: 2_047 }))).toMatchObject({ bytes: 1_024 });
  });

  it('does not call a character in two that is half written where it left a growing file', async () => {
    const error = asError(await reads('é'.repeat(MiB), 1));
    expect(error).toMatchObject({ code: 'E_STORAGE_FATAL', retry: 'unknown', nearby: [] });
    expect(error.subject).toBe('lab/f: it grew while it was read');
  });

  // ---- over READ_WHOLE_MAX ----

  const OVER = READ_WHOLE_MAX_BYTES + 1;

  it('judges only the interval of a file over 8 GiB, and says so: no version, no total_lines', async () => {
    const value = asValue(await reads(content, OVER, { offset: 5, limit: 2 }));
    expect(value).toEqual({
      path: 'lab/f',
      text: 'line 5\nline 6\n',
      bytes: 14,
      next_offset: 7,
      note: expect.stringMatching(/^larger than 8 GiB: only this interval was judged.*no version and no total_lines$/),
    });
    expect(asValue(await reads(content, OVER, { offset: 1e9 }))).toMatchObject({ text: '', note: value.note });
    expect(asValue(await reads(content, OVER, { offset: 1e9 }))).not.toHaveProperty('total_lines');
  });

  it('does not look at bad bytes outside of its interval, and refuses those inside', async () => {
    const bad = concat('first\nsecond\n', GBK, '\n');
    expect(asValue(await reads(bad, OVER, { offset: 1, limit: 1 })).text).toBe('second\n');
    expect(asError(await reads(bad, OVER, { offset: 1 })).recovery).toMatch(/GB encoding/);
  });

  it('cuts a line over 1 MiB of it as of any other, and goes on with it', async () => {
    const long = `${'m'.repeat(MiB + 5)}\nx\n`;
    const value = asValue(await reads(long, OVER));
    expect(value).toMatchObject({ bytes: MiB, next_offset: 0, next_byte: MiB, cut_bytes: 6 });
    expect(asValue(await reads(long, OVER, { byte: MiB })).text).toBe('mmmmm\nx\n');
  });

  it('judges a file of exactly 8 GiB as a whole', async () => {
    expect(asValue(await reads(content, READ_WHOLE_MAX_BYTES))).toMatchObject({ version: await versionOf(content) });
  });
});

/** Runs `before` at each read of the guest, with how often that was. */
const beforeReads = (binding: Setting['binding'], before: (times: number) => void): CallOptions['unchecked'] => ({
  guest: (filesystem) => {
    const read = filesystem.read.bind(filesystem);
    let times = 0;
    filesystem.read = (...asked) => {
      before(times++);
      return read(...asked);
    };
    return GUESTS[binding](filesystem);
  },
});

describe.each(SETTINGS.filter(({ tree }) => tree !== 'memory'))(
  'a file on a disk changes while it is read ($tree, $binding)',
  (setting) => {
    const inCity = async (claim: (place: TestCity, at: string) => Promise<void>) => {
      const world = diskWorld(setting.tree === 'linux' ? 'linux' : 'portable')([['lab/f', LINES]]);
      try {
        await claim(new TestCity(world, setting.binding), path.join(world.root, 'lab/f'));
      } finally {
        world.end();
      }
    };

    it('and is named by its bytes, not by its clock', () =>
      inCity(async (place, at) => {
        const version = async () => asValue(await place.read({ path: 'lab/f' })).version;
        const [before, { atimeMs, mtimeMs }] = [await version(), fs.statSync(at)];
        fs.utimesSync(at, 1, 1);
        expect(await version(), 'touched').toBe(before);
        fs.writeFileSync(at, LINES.replace('line 7\n', 'line 8\n'));
        fs.utimesSync(at, atimeMs / 1000, mtimeMs / 1000);
        expect(await version(), 'as large and as old').not.toBe(before);
      }));

    it('what it grew by is read, hashed and counted', () =>
      inCity(async (place, at) => {
        const unchecked = beforeReads(setting.binding, (times) => times === 1 && fs.appendFileSync(at, 'more\n'));
        const value = asValue(await place.read({ path: 'lab/f', offset: 60_000 }, { unchecked: unchecked ?? {} }));
        expect(value).toMatchObject({ text: 'more\n', version: await versionOf(`${LINES}more\n`) });
      }));

    it('truncated to nothing, it ends where it was: what passed is what the version names', () =>
      inCity(async (place, at) => {
        const unchecked = beforeReads(setting.binding, (times) => times === 1 && fs.truncateSync(at, 0));
        const value = asValue(await place.read({ path: 'lab/f', limit: 1 }, { unchecked: unchecked ?? {} }));
        expect(value).toMatchObject({ text: 'line 0\n', version: await versionOf(LINES.slice(0, CHUNK_BYTES)) });
      }));

    it('removed, it is read to its end from the handle', () =>
      inCity(async (place, at) => {
        const unchecked = beforeReads(setting.binding, (times) => times === 1 && fs.rmSync(at));
        const value = asValue(await place.read({ path: 'lab/f', offset: 59_999 }, { unchecked: unchecked ?? {} }));
        expect(value).toMatchObject({ text: 'line 59999\n', version: await versionOf(LINES) });
      }));
  },
);

// ---- sparse files ----

interface SparseCity {
  readonly root: string;
  readonly spec: TreeSpec;
  end(): void;
}

/** A disk reads a hole through its cache, 10 s a GiB on a busy machine; tmpfs gives zeros at once. */
const SPARSE_BASE = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();

/** A city with `lab/sparse`: `head`, zeros, `tail`, of this size; undefined where the disk has no sparse files. */
function sparseCity(sizeBytes: number, head: string, tail: string): SparseCity | undefined {
  const root = fs.mkdtempSync(path.join(SPARSE_BASE, 'portcullis-sparse-'));
  const remove = () => fs.rmSync(root, { recursive: true, force: true });
  const at = path.join(root, 'lab/sparse');
  fs.mkdirSync(path.join(root, 'lab'));
  fs.writeFileSync(path.join(root, 'lab/small'), 'small\n');
  fs.writeFileSync(at, head);
  fs.truncateSync(at, sizeBytes - tail.length);
  if (fs.statSync(at).blocks * 512 >= MiB) return void remove();
  fs.appendFileSync(at, tail);
  const entered = enterDisk(root);
  if (typeof entered === 'string') throw new Error(`not entered: ${entered}`);
  const end = () => {
    entered.close();
    remove();
  };
  return { root, spec: entered.spec, end };
}

const probe = sparseCity(4 * MiB, '', '');
probe?.end();
const hasSparse = probe !== undefined;

describe.skipIf(!hasSparse)('sparse files (needs a disk that has them)', () => {
  it('reads the last lines of 2 GiB in under 64 MiB of memory', { timeout: 120_000 }, async () => {
    const tail = Array.from({ length: 10 }, (_, number) => `last ${number}\n`);
    const world = sparseCity(2 ** 31, 'head\n', `\n${tail.join('')}`);
    if (world === undefined) throw new Error('the disk had sparse files a moment ago');
    try {
      const child = [path.resolve('test/tools/read.peak.mjs'), world.root, 'lab/sparse', '2'];
      const { outcome, tookMs, growthBytes } = JSON.parse(
        execFileSync(process.execPath, child, { encoding: 'utf8' }),
      ) as { outcome: Outcome<ReadValue>; tookMs: number; growthBytes: number }; // what the script prints
      console.log(`2 GiB: ${(tookMs / 1_000).toFixed(1)} s, ${(growthBytes / MiB).toFixed(1)} MiB`);
      expect(asValue(outcome)).toMatchObject({ text: tail.join(''), bytes: 70 });
      expect(asValue(outcome)).not.toHaveProperty('next_offset');
      expect(growthBytes).toBeLessThan(64 * MiB);
    } finally {
      world.end();
    }
  });

  it('reads the first lines of 8 GiB and a byte without passing over it', async () => {
    const world = sparseCity(READ_WHOLE_MAX_BYTES + 1, 'head\nnext\n', '\n');
    if (world === undefined) throw new Error('the disk had sparse files a moment ago');
    const place = new TestCity({ ...memoryWorld([]), ...world }, 'fixed');
    const value = asValue(await place.read({ path: 'lab/sparse', limit: 1 }));
    place.end();
    expect(value).toMatchObject({ text: 'head\n', next_offset: 1, note: expect.stringContaining('larger than 8 GiB') });
  });
});

// ---- budgets and signals ----

describe.each(SETTINGS)('a read that does not come to its end, in the $tree tree, $binding binding', (setting) => {
  let place: TestCity;
  const FILE = 'x'.repeat(CHUNK_BYTES + 9);
  beforeAll(() => {
    place = city(setting, [['lab/f', FILE]]);
  });
  afterAll(() => place.end());
  const args = { path: 'lab/f' };

  it('is E_LIMIT, and perhaps worth asking again, where its time is over', async () => {
    const error = asError(await place.read(args, { timeMs: 0 }));
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'unknown', nearby: [] });
    expect(error.subject).toBe('lab/f: its time is over (0 ms); 0 bytes were read');
  });

  it.each([
    ['opens', { opens: 1 }, 'its opens are used up (1); 0 bytes were read'],
    ['bytes', { bytes: 9 }, `its bytes are used up (9); ${CHUNK_BYTES} bytes were read`],
    ['one building’s opens', { buildingOpens: 1 }, 'its building’s share of one call is used up'],
  ])('is E_LIMIT, and not to be asked again, where its budget of %s is spent', async (_, budgets, fact) => {
    const error = asError(await place.read(args, { budgets }));
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'no', subject: `lab/f: ${fact}` });
  });

  it('is not held to its building’s share of bytes: one file is all it asks for', async () => {
    expect(asValue(await place.read(args, { budgets: { buildingBytes: 9 } })).bytes).toBe(FILE.length);
  });
});

describe.each(BINDINGS)('a long read, %s binding', (binding) => {
  const long = (): TestCity => new TestCity(memoryWorld([['lab/f', new Uint8Array(65 * MiB)]]), binding);

  it('is E_CANCELLED between two pages once the caller’s signal has fired', async () => {
    const error = asError(await long().read({ path: 'lab/f' }, { goOn: async () => false }));
    expect(error).toMatchObject({ code: 'E_CANCELLED', retry: 'no', subject: 'lab/f: the caller cancelled it' });
  });

  it('is E_LIMIT between two pages once its time is over', async () => {
    const wait = (times: number) => {
      for (const end = performance.now() + 300; times === 9 && performance.now() < end; );
    };
    const unchecked = beforeReads(binding, wait) ?? {};
    const error = asError(await long().read({ path: 'lab/f' }, { timeMs: 300, unchecked }));
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'unknown' });
    expect(error.subject).toMatch(/^lab\/f: its time is over \(300 ms\); \d+ bytes were read$/);
  });
});

// ---- guests that are not ours ----

describe('a guest that breaks the contract gets no answer', () => {
  const CONTENT = 'a\nb\nc';
  const GOOD: Slice = { text: 'a\nb\n', lines: 2, totalLines: 3, more: true, cut: undefined };
  const place = new TestCity(
    memoryWorld([
      ['lab/f', CONTENT],
      ['lab/long', `${'m'.repeat(MiB + 5)}\nx\n`],
      ['lab/lines', 'x\n'.repeat(999)],
      ['lab/g', 'g\n'],
    ]),
    'fixed',
  );

  const open = (filesystem: Filesystem, { name }: Interval): FileHandle => {
    const preopened = filesystem.preopened();
    if (isCode(preopened)) throw new Error(preopened);
    const asked = { follow: true, path: name, directory: false, mutates: false };
    const file = filesystem.openAt(preopened.handle, asked);
    if (isCode(file) || file.kind !== 'file') throw new Error('not opened');
    return file;
  };
  /** A guest whose `read` is this, and which does nothing else. */
  const guest = (read: (filesystem: Filesystem, interval: Interval) => Reading): CallOptions => ({
    unchecked: {
      guest: (filesystem): Guest => {
        const going = (): Reading => ({ kind: 'going', bytes: 0 });
        return {
          ...ANSWERS_NOTHING,
          next: going,
          read: (asked) => read(filesystem, asked),
        };
      },
    },
  });
  /** A guest that reads these spans, `[start, end)`, and then gives this slice. */
  const reading = (spans: readonly (readonly [number, number])[], slice: Slice = GOOD): CallOptions =>
    guest((filesystem, interval) => {
      const file = open(filesystem, interval);
      for (const [start, end] of spans) filesystem.read(file, new Uint8Array(end - start), start);
      return { kind: 'done', slice };
    });
  const ASK = { path: 'lab/f', limit: 2 };

  it.each([
    ['at once', [[0, 9]]],
    [
      'to the byte, and then once more',
      [
        [0, 5],
        [5, 9],
      ],
    ],
    [
      'in bites',
      [
        [0, 1],
        [1, 3],
        [3, 5],
        [5, 6],
      ],
    ],
    [
      'and asks at its end again',
      [
        [0, 9],
        [5, 9],
      ],
    ],
  ] as const)('one that reads once, in order, from 0 to the end has one: %s', async (_, spans) => {
    const value = asValue(await place.read(ASK, reading(spans)));
    expect(value).toMatchObject({ text: GOOD.text, version: await versionOf(CONTENT) });
  });

  it.each([
    ['reads nothing', []],
    ['stops before the end', [[0, 4]]],
    ['reads all and does not meet the end', [[0, 5]]],
    ['leaves the beginning out', [[1, 9]]],
    [
      'leaves a gap',
      [
        [0, 2],
        [3, 9],
      ],
    ],
    [
      'reads something twice',
      [
        [0, 3],
        [2, 9],
      ],
    ],
    [
      'reads all twice',
      [
        [0, 9],
        [0, 9],
      ],
    ],
    [
      'reads backwards',
      [
        [3, 9],
        [0, 3],
      ],
    ],
    [
      'looks once more at the beginning after the end',
      [
        [0, 9],
        [0, 1],
      ],
    ],
  ] as const)('E_GUEST_TRAP for one that %s', async (_, spans) => {
    const error = asError(await place.read(ASK, reading(spans)));
    expect(error).toMatchObject({ code: 'E_GUEST_TRAP', action: 'read', nearby: [], retry: 'no' });
    expect(error.subject).toBe('lab/f: the sandboxed component trapped');
  });

  const all = [[0, 4 * MiB]] as const;
  const lines513 = 'x\n'.repeat(READ_CAP_LINES + 1);
  it.each<[string, Partial<Slice>, Partial<ReadArgs>?]>([
    ['more lines than its text', { lines: 3, more: false }, { limit: 3 }],
    ['fewer lines than its text', { lines: 1 }],
    ['lines and no text', { text: '' }],
    ['text and no lines', { lines: 0 }],
    ['more lines than were asked', {}, { limit: 1 }],
    ['nothing follows, of more lines', { more: false }],
    ['more follows, of no more lines', { totalLines: 2 }],
    ['fewer lines in all than it gives', { totalLines: 1, more: false }],
    ['more follows and nothing was given', { text: '', lines: 0 }],
    ['nothing there, of a line that is', { text: '', lines: 0, more: false }],
    ['more text than passed', { text: 'abcdef\nb\n' }],
    ['more lines in all than bytes that passed', { totalLines: 6 }],
    ['513 lines', { text: lines513, lines: 513, totalLines: 999 }, { path: 'lab/lines', limit: 9_999 }],
    ['over 64 KiB in two lines', { text: `${'x'.repeat(65_535)}\nx\n` }, { path: 'lab/long' }],
  ])('E_GUEST_TRAP for counts that do not fit: %s', async (_, slice, args = {}) => {
    const outcome = await place.read({ ...ASK, ...args }, reading(all, { ...GOOD, ...slice }));
    expect(asError(outcome).code).toBe('E_GUEST_TRAP');
  });

  const CUT: Slice = {
    text: 'm'.repeat(MiB),
    lines: 0,
    totalLines: 2,
    more: true,
    cut: { nextByte: MiB, cutBytes: 6 },
  };
  const ASK_LONG = { path: 'lab/long' };

  it.each<[string, Partial<Slice>, Partial<ReadArgs>?]>([
    ['of whole lines', { cut: { nextByte: 4, cutBytes: 6 }, text: GOOD.text, lines: 2, totalLines: 3 }],
    ['and nothing follows', { more: false }],
    ['of nothing', { cut: { nextByte: MiB, cutBytes: 0 } }],
    ['that does not go on where its text ends', { cut: { nextByte: MiB - 1, cutBytes: 6 } }],
    ['that goes on where it began', { cut: { nextByte: MiB, cutBytes: 6 } }, { byte: 1 }],
    ['long before its cap', { text: 'm', cut: { nextByte: 1, cutBytes: 6 } }],
    ['that stands still', { text: '', cut: { nextByte: 4, cutBytes: 6 } }, { byte: 4 }],
    ['across lines', { text: `${'m'.repeat(MiB - 1)}\n` }],
    ['past the end', { totalLines: 0 }],
  ])('E_GUEST_TRAP for a cut that does not fit: %s', async (_, slice, args = {}) => {
    const outcome = await place.read({ ...ASK_LONG, ...args }, reading(all, { ...CUT, ...slice }));
    expect(asError(outcome).code).toBe('E_GUEST_TRAP');
  });

  it('takes lines and cuts whose counts fit', async () => {
    expect(asValue(await place.read(ASK, reading(all)))).toMatchObject({ next_offset: 2, total_lines: 3 });
    const value = asValue(await place.read(ASK_LONG, reading(all, CUT)));
    expect(value).toMatchObject({ next_byte: MiB, cut_bytes: 6 });
  });

  it('E_GUEST_TRAP for one that traps, or uses up its stack', async () => {
    for (const thrown of [new WebAssembly.RuntimeError('unreachable'), new RangeError('stack')]) {
      const outcome = await place.read(
        ASK,
        guest(() => {
          throw thrown;
        }),
      );
      expect(asError(outcome)).toMatchObject({ code: 'E_GUEST_TRAP', retry: 'no' });
    }
  });

  it('E_LIMIT for one that goes on for ever', async () => {
    const error = asError(await place.read(ASK, { ...guest(() => ({ kind: 'going', bytes: 0 })), timeMs: 20 }));
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'unknown' });
  });

  it('leaves nothing open and nothing else affected', async () => {
    const world = diskWorld('linux')([['lab/f', CONTENT]]);
    const disk = new TestCity(world, 'fixed');
    const before = descriptorCount();
    for (let times = 0; times < 3; times++) await disk.read(ASK, reading([[1, 9]]));
    expect(descriptorCount()).toBe(before);
    expect(asValue(await disk.read(ASK)).text).toBe(GOOD.text);
    world.end();
    expect(asValue(await place.read({ path: 'lab/g' })).text).toBe('g\n');
  });
});
