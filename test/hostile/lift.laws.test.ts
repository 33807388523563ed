/**
 * Laws of the lifts and imports of the fixed world: whatever bytes lie in a guest's memory, whatever numbers it hands
 * over, what comes out is a value that keeps the world's bounds, or a `GuestFault`; never another error, never a hang.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bound } from '../../dist/judge/bound.js';
import { PATH_MAX_BYTES } from '../../dist/limits.js';
import { ERROR_CODES } from '../../dist/wasi/codes.js';
import { Filesystem } from '../../dist/wasi/filesystem.js';
import {
  GIT_FAULTS,
  type Guest,
  GuestFault,
  HISTORY_ENDINGS,
  type HistoryQuery,
  type Interval,
  type Query,
  TRAIL_ENDINGS,
  type TrailQuery,
} from '../../dist/wasi/guest.js';
import { ALLOWANCE, Meter } from '../../dist/wasi/meter.js';
import { instantiate } from '../../dist/wasi/world.js';
import { memoryWorld } from '../tree/worlds.js';
import { THINGS } from './calls.js';
import { assemble, EXPORTS, IMPORTS, world } from './text.js';

/** 64 KiB, filled from outside by `fill`; answers with the address it was told, and hands `ask`'s numbers to imports. */
const PUPPET = new WebAssembly.Module(
  new Uint8Array(
    assemble(
      world(
        {
          memory: '(memory (export "memory") 1 2)',
          search: EXPORTS['search']?.replace('unreachable', 'call $told') ?? '',
          read: EXPORTS['read']?.replace('unreachable', 'call $told') ?? '',
          history: EXPORTS['history']?.replace('unreachable', 'call $told') ?? '',
          trail: EXPORTS['trail']?.replace('unreachable', 'call $told') ?? '',
          told: `${IMPORTS['told'] ?? ''}(global $at (mut i32) (i32.const 0))
            (func $told (result i32) global.get $at)`,
        },
        '(func (export "tell") (param i32) local.get 0 global.set $at)',
      ),
    ),
  ),
);

const SIZE = 65_536;
const QUERY: Query = {
  text: 'x',
  only: undefined,
  context: 0,
  matchCap: 64,
  lineCap: 512,
  textCap: 65_536,
  fileCap: 1_048_576,
  unreadShown: 16,
  pageEntries: 1_024,
  pageBytes: 1_048_576,
};
const INTERVAL: Interval = {
  name: 'x',
  offset: 0n,
  byte: 0n,
  limit: 512,
  textCap: 65_536,
  lineCap: 1_048_576,
  whole: true,
  pageBytes: 1_048_576,
};
const HISTORY: HistoryQuery = {
  pattern: Uint8Array.of(0x78),
  branches: [],
  directories: [],
  oidBytes: 20,
  pageWork: 64,
  pageBytes: 1_048_576,
};
const TRAIL: TrailQuery = {
  commit: 'a'.repeat(40),
  path: new TextEncoder().encode('a/b'),
  branches: [],
  oidBytes: 20,
  blobMax: 1_048_576,
  pageWork: 64,
  pageBytes: 1_048_576,
};

interface Puppet {
  readonly guest: Guest;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  tell(at: number): void;
}

/** A guest over a module, and its exports: taken on their way, since they are nobody's but the world's. */
function taken(module: WebAssembly.Module, filesystem: Filesystem): { guest: Guest; exports: WebAssembly.Exports } {
  const { Instance } = WebAssembly;
  let exports: WebAssembly.Exports = {};
  WebAssembly.Instance = class extends Instance {
    constructor(made: WebAssembly.Module, imports?: WebAssembly.Imports) {
      super(made, imports);
      exports = this.exports;
    }
  };
  try {
    return { guest: instantiate(module, filesystem), exports };
  } finally {
    WebAssembly.Instance = Instance;
  }
}

/** A guest whose memory and answers the test chooses. */
function puppet(): Puppet {
  const { guest, exports } = taken(PUPPET, filesystemOf());
  const { memory, tell } = exports as { memory?: unknown; tell?: unknown }; // what the text above exports
  if (!(memory instanceof WebAssembly.Memory) || typeof tell !== 'function') throw new Error('another module');
  return { guest, bytes: new Uint8Array(memory.buffer), view: new DataView(memory.buffer), tell: (at) => tell(at) };
}

function filesystemOf(): Filesystem {
  const bound = new Bound({ reader: 'lab', entries: new Map([['hall', { kind: 'open' }]]) });
  const preopen = { kind: 'directory', shown: '', path: '', landed: '' } as const;
  return new Filesystem({ tree: memoryWorld(THINGS).open(), bound, meter: new Meter(ALLOWANCE, 60_000), preopen });
}

/** The value, or that it was a fault; anything else fails. */
function faultOr<T>(call: () => T): T | 'fault' {
  try {
    return call();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GuestFault);
    return 'fault';
  }
}

const utf8Bytes = (text: string): number => new TextEncoder().encode(text).length;

/** Numbers that are nearly right: small counts, places in memory, and the edges. */
const word = fc.oneof(
  fc.nat(40),
  fc.nat(SIZE),
  fc.nat(SIZE / 8).map((n) => n * 8),
  fc.constantFrom(SIZE - 48, SIZE - 4, SIZE, 0x7fff_ffff, 0x8000_0000, 0xffff_fffc, 0xffff_ffff),
  fc.nat(0xffff_ffff),
);

/** Lists that lie in memory, of few elements, all zero but where a word was put. */
function makeNearlyRight(bytes: Uint8Array, view: DataView, noise: Uint8Array, words: readonly number[]): void {
  bytes.fill(0);
  for (const each of words) view.setUint32((each * 4) % (SIZE - 4), each, true);
  for (const [i, place] of [0, 8, 36].entries())
    view.setUint32(4_096 + place, ((words[i] ?? 0) * 4) % (SIZE - 1_024), true);
  for (const place of [4, 12]) view.setUint32(4_096 + place, (noise[place] ?? 0) % 4, true);
  view.setUint32(4_096 + 40, ERROR_CODES.length, true);
  bytes[4_096 + 44] = (noise[1] ?? 0) % 6;
}

describe('whatever lies in memory', () => {
  it('a page keeps the bounds of the world, or is a fault', () => {
    const { guest, bytes, view, tell } = puppet();
    let values = 0;
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 64, maxLength: 512 }),
        fc.array(word, { minLength: 12, maxLength: 12 }),
        fc.boolean(),
        fc.oneof(fc.constant(4_096), word),
        (noise, words, isRight, at) => {
          for (let i = 0; i < SIZE; i += noise.length) bytes.set(noise.subarray(0, SIZE - i), i);
          for (const [i, each] of words.entries()) view.setUint32(4_096 + 4 * i, each, true);
          if (isRight) makeNearlyRight(bytes, view, noise, words);
          tell(at | 0);
          const page = faultOr(() => guest.search(QUERY));
          if (page === 'fault') return;
          values++;
          expect(page.hits.length).toBeLessThanOrEqual(QUERY.matchCap);
          expect(page.unread.length).toBeLessThanOrEqual(QUERY.unreadShown);
          expect(page.coverage.causes.length).toBe(ERROR_CODES.length);
          for (const { path, text } of page.hits) {
            expect(path.isWellFormed() && text.isWellFormed()).toBe(true);
            expect(utf8Bytes(path)).toBeLessThanOrEqual(PATH_MAX_BYTES);
            expect(utf8Bytes(text)).toBeLessThanOrEqual(QUERY.textCap + 64);
          }
          for (const { cause } of page.unread) expect(ERROR_CODES).toContain(cause);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(values, 'some were values: the law is not empty').toBeGreaterThan(10);
  });

  it('a reading keeps the bounds of the world, or is a fault', () => {
    const { guest, bytes, view, tell } = puppet();
    const kinds = new Set<string>();
    fc.assert(
      fc.property(
        fc.nat(8),
        fc.array(word, { minLength: 14, maxLength: 14 }),
        fc.array(fc.nat(3), { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        fc.oneof(fc.constant(4_096), word),
        (which, words, flags, isRight, at) => {
          bytes.fill(0x61);
          for (const [i, each] of words.entries()) view.setUint32(4_104 + 4 * i, each, true);
          bytes[4_096] = which;
          if (isRight) for (const [i, place] of [8, 32, 40].entries()) bytes[4_096 + place] = flags[i] ?? 0;
          tell(at | 0);
          const reading = faultOr(() => guest.read(INTERVAL));
          if (reading === 'fault') return;
          kinds.add(reading.kind);
          if (reading.kind === 'going') expect(Number.isSafeInteger(reading.bytes)).toBe(true);
          if (reading.kind === 'failed') expect(ERROR_CODES).toContain(reading.code);
          if (reading.kind !== 'done') return;
          const { text, totalLines, cut } = reading.slice;
          expect(text.isWellFormed()).toBe(true);
          expect(utf8Bytes(text)).toBeLessThanOrEqual(INTERVAL.lineCap);
          expect([totalLines, cut?.nextByte ?? 0, cut?.cutBytes ?? 0].every(Number.isSafeInteger)).toBe(true);
        },
      ),
      { numRuns: 4_000 },
    );
    expect([...kinds].sort()).toEqual(['done', 'failed', 'going', 'inside-character', 'not-text', 'past-line']);
  });
});

describe('whatever lies in memory of history', () => {
  /** Where a record is told to lie. */
  const AT = 4_096;
  const HEX = 8_192;

  it('a page of it keeps the bounds of the world, or is a fault', () => {
    const { guest, bytes, view, tell } = puppet();
    const kinds = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 12, maxLength: 12 }),
        fc.nat(4),
        fc.nat(5),
        fc.boolean(),
        fc.oneof(fc.constant(AT), word),
        (words, which, count, isRight, at) => {
          bytes.fill(0x61);
          for (const [i, each] of words.entries()) view.setUint32(AT + 4 * i, each, true);
          for (const [i, each] of words.entries()) view.setUint32(HEX - 1_024 + 4 * i, each, true);
          if (isRight) {
            // a list of `count` entries whose names are hex and whose paths lie anywhere
            view.setUint32(AT, which === 0 ? 1 : 0, true);
            view.setUint32(AT + 4, which === 0 ? (words[0] ?? 0) % 8 : HEX - 1_024, true);
            view.setUint32(AT + 8, count, true);
            bytes[AT + 16] = which;
            for (let i = 0; i < count; i++) {
              for (const place of [0, 16]) view.setUint32(HEX - 1_024 + 24 * i + place, HEX, true);
              for (const place of [4, 20]) view.setUint32(HEX - 1_024 + 24 * i + place, which === 3 ? 39 : 40, true);
              view.setUint32(HEX - 1_024 + 24 * i + 8, (words[i] ?? 0) % SIZE, true);
              view.setUint32(HEX - 1_024 + 24 * i + 12, (words[i + 5] ?? 0) % 60_000, true);
            }
          }
          tell(at | 0);
          const history = faultOr(() => guest.history(HISTORY));
          if (history === 'fault') return;
          kinds.add(history.ok ? history.page.ending : history.fault);
          if (!history.ok) {
            expect(GIT_FAULTS).toContain(history.fault);
            return;
          }
          const { entries, ending } = history.page;
          expect(HISTORY_ENDINGS).toContain(ending);
          expect(entries.length).toBeLessThanOrEqual(HISTORY.pageWork);
          for (const { commit, blob } of entries) expect(commit + blob).toMatch(/^[0-9a-f]{80}$/);
          expect(entries.reduce((sum, { path }) => sum + path.length, 0)).toBeLessThanOrEqual(SIZE);
        },
      ),
      { numRuns: 4_000 },
    );
    expect([...kinds]).toEqual(expect.arrayContaining([...GIT_FAULTS, 'complete', 'budget']));
  });

  it('a page of a trail keeps the bounds of the world, or is a fault', () => {
    const { guest, bytes, view, tell } = puppet();
    const kinds = new Set<string>();
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 12, maxLength: 12 }),
        fc.nat(8),
        fc.nat(3),
        fc.boolean(),
        fc.oneof(fc.constant(AT), word),
        (words, which, count, isRight, at) => {
          bytes.fill(0x61);
          for (const [i, each] of words.entries()) view.setUint32(AT + 4 * i, each, true);
          if (isRight) {
            bytes[AT] = which === 8 ? 1 : 0;
            view.setUint32(AT + 8, (words[0] ?? 0) % (which === 8 ? 8 : SIZE), true);
            view.setUint32(AT + 12, (words[1] ?? 0) % 30_000, true);
            view.setUint32(AT + 16, HEX, true);
            view.setUint32(AT + 20, count, true);
            for (let i = 0; i < count; i++) {
              view.setUint32(HEX + 8 * i, (words[i] ?? 0) % SIZE, true);
              view.setUint32(HEX + 8 * i + 4, (words[i + 3] ?? 0) % 30_000, true);
            }
            view.setUint32(AT + 24, words[6] ?? 0, true);
            view.setUint32(AT + 28, (words[7] ?? 0) % 0x40_0000, true);
            view.setUint32(AT + 32, (words[8] ?? 0) % SIZE, true);
            view.setUint32(AT + 36, (words[9] ?? 0) % 30_000, true);
            bytes[AT + 40] = which;
          }
          tell(at | 0);
          const trail = faultOr(() => guest.trail(TRAIL));
          if (trail === 'fault') return;
          kinds.add(trail.ok ? trail.page.ending : trail.fault);
          if (!trail.ok) {
            expect(GIT_FAULTS).toContain(trail.fault);
            return;
          }
          const { commit, trees, blobSize, piece, ending } = trail.page;
          expect(TRAIL_ENDINGS).toContain(ending);
          expect(trees.length).toBeLessThanOrEqual(2); // as many as the path has names
          expect(Number.isSafeInteger(blobSize)).toBe(true);
          expect([commit, piece, ...trees].reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(SIZE);
        },
      ),
      { numRuns: 4_000 },
    );
    expect([...kinds]).toEqual(expect.arrayContaining([...GIT_FAULTS, ...TRAIL_ENDINGS]));
  });
});

// ---- whatever is handed over ----

/** Calls one import with numbers that the test chooses. */
const CALLER = new WebAssembly.Module(
  new Uint8Array(
    assemble(
      world(
        {
          memory: '(memory (export "memory") 1 2)',
          search: `(func (export "search") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
            call $act i32.const 0)`,
        },
        `(global $which (mut i32) (i32.const 0)) (global $offset (mut i64) (i64.const 0))
         ${[0, 1, 2, 3, 4, 5, 6].map((n) => `(global $n${n} (mut i32) (i32.const 0))`).join('')}
         (func (export "tell") (param i32 i64 i32 i32 i32 i32 i32 i32 i32)
           local.get 0 global.set $which local.get 1 global.set $offset
           ${[0, 1, 2, 3, 4, 5, 6].map((n) => `local.get ${n + 2} global.set $n${n}`).join(' ')})
         (func $act
           i32.const 8 call $preopens
           (if (i32.eq (global.get $which) (i32.const 0)) (then global.get $n6 call $preopens))
           (if (i32.eq (global.get $which) (i32.const 1)) (then
             global.get $n0 global.get $n1 global.get $n2 global.get $n3 global.get $n4 global.get $n5 global.get $n6 call $open))
           (if (i32.eq (global.get $which) (i32.const 2)) (then
             global.get $n0 global.get $offset global.get $offset global.get $n6 call $read-at))
           (if (i32.eq (global.get $which) (i32.const 3)) (then global.get $n0 global.get $n6 call $list))
           (if (i32.eq (global.get $which) (i32.const 4)) (then global.get $n0 global.get $n6 call $entry))
           (if (i32.eq (global.get $which) (i32.const 5)) (then global.get $n0 call $drop))
           (if (i32.eq (global.get $which) (i32.const 6)) (then global.get $n0 call $drop-stream)))`,
      ),
    ),
  ),
);

it('whatever numbers an import is handed, it answers within memory or is a fault, and gives everything back', () => {
  const handle = fc.oneof(fc.nat(3), word);
  const big = fc.oneof(fc.bigInt({ min: 0n, max: 100n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
  fc.assert(
    fc.property(fc.nat(6), big, fc.tuple(handle, word, word, word, word, word, word), (which, offset, numbers) => {
      const filesystem = filesystemOf();
      const { guest, exports } = taken(CALLER, filesystem);
      const tell = exports['tell'];
      if (typeof tell !== 'function') throw new Error('another module');
      tell(which, offset, ...numbers.map((number) => number | 0));
      faultOr(() => guest.search(QUERY));
      filesystem.close();
      expect(filesystem.liveCount).toBe(0);
    }),
    { numRuns: 3_000 },
  );
});
