/**
 * The guest's inflate against zlib: the same bytes at any border of what goes in and what comes out; of a stream that was
 * corrupted an error or the same bytes, and always an end.
 */

import { constants, crc32, deflateSync, inflateSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { Dice } from '../support/repositories.js';
import { room } from './room.js';

interface Inflate {
  alloc(size: number): number;
  begin(at: number, size: number, each: number, scratch: number, to: number): void;
  run(limit: number, room: number): number;
  out(): number;
  slide(to: number): void;
  unused(): number;
  adler32(at: number, end: number): number;
  crc32(sum: number, at: number, end: number): number;
}
const [DONE, FULL, BAD, DRY] = [0, 1, 2, 3];
const SLACK = 320;
const MOST = 1 << 20;

let guest: Inflate & { readonly memory: WebAssembly.Memory };
let input = 0;
let scratch = 0;
let output = 0;
beforeAll(async () => {
  guest = await room<Inflate>('inflate');
  [input, scratch, output] = [guest.alloc(MOST), guest.alloc(MOST + 64), guest.alloc(2 * MOST)];
}, 60_000);

const bytesAt = (at: number, size: number) => Buffer.from(guest.memory.buffer, at, size);
const put = (stream: Uint8Array) => bytesAt(input, stream.length).set(stream);

interface Came {
  readonly how: number;
  readonly bytes: Buffer;
}
/** With room for exactly `size` bytes, and slack behind. */
function exactly(stream: Uint8Array, size: number, chunk = MOST): Came {
  put(stream);
  guest.begin(input, stream.length, chunk, scratch, output);
  const how = guest.run(output + size, output + size + SLACK);
  return { how, bytes: Buffer.from(bytesAt(output, Math.min(size, guest.out() - output))) };
}
/** In pieces of at most `piece` bytes, through a window. */
function streaming(stream: Uint8Array, piece: number, chunk: number, most = 4 * MOST): Came {
  put(stream);
  guest.begin(input, stream.length, chunk, scratch, output);
  const pieces: Buffer[] = [];
  let from = output;
  let total = 0;
  for (;;) {
    const how = guest.run(from + piece, from + piece);
    const came = Buffer.from(bytesAt(from, guest.out() - from));
    pieces.push(came);
    total += came.length;
    if (how !== FULL || total > most) return { how, bytes: Buffer.concat(pieces) };
    if (guest.out() - output > MOST) guest.slide(output);
    from = guest.out();
  }
}

const STRATEGIES = [
  constants.Z_DEFAULT_STRATEGY,
  constants.Z_FILTERED,
  constants.Z_HUFFMAN_ONLY,
  constants.Z_RLE,
  constants.Z_FIXED,
];
const TEXT = Buffer.from('the sluice follows the lantern; 中文 and Ärger, again and again. '.repeat(40));

/** Bytes of one of several kinds: noise, few letters, runs, repeats near and far. */
function plain(dice: Dice, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  const kind = dice.below(5);
  for (let i = 0; i < size; ) {
    if (kind === 4 || (kind === 3 && i > 0 && dice.may(0.7))) {
      const back = 1 + dice.below(Math.min(Math.max(i, 1), kind === 4 ? 40_000 : 12));
      for (let n = 3 + dice.below(300); n > 0 && i < size; n--, i++) bytes[i] = i >= back ? (bytes[i - back] ?? 0) : 7;
      if (i < size) bytes[i++] = dice.below(256);
    } else if (kind === 2) {
      const byte = dice.below(256);
      for (let n = dice.below(600); n >= 0 && i < size; n--) bytes[i++] = byte;
    } else bytes[i++] = kind === 0 ? dice.below(256) : 97 + Math.floor(dice.roll() ** 3 * 20);
  }
  return bytes;
}
const deflated = (dice: Dice, bytes: Buffer): Buffer =>
  deflateSync(bytes, {
    level: dice.below(10),
    strategy: dice.pick(STRATEGIES),
    memLevel: 1 + dice.below(9),
    windowBits: 9 + dice.below(7),
  });
const reference = (stream: Buffer): Buffer | undefined => {
  try {
    const { buffer, engine } = inflateSync(stream, { info: true, maxOutputLength: 4 * MOST }) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    return engine.bytesWritten <= stream.length ? buffer : undefined;
  } catch {
    return undefined;
  }
};

describe('inflate gives what zlib gives', () => {
  test('at every level, strategy, window and size, whole and in pieces', () => {
    for (let seed = 0; seed < 600; seed++) {
      const dice = new Dice(seed);
      const bytes = plain(dice, dice.may(0.5) ? dice.below(400) : dice.below(120_000));
      const stream = deflated(dice, bytes);
      const whole = exactly(stream, bytes.length);
      expect([seed, whole.how, whole.bytes.equals(bytes)]).toEqual([seed, DONE, true]);
      expect([seed, guest.unused()]).toEqual([seed, 0]);
      const piece = dice.pick([1 + dice.below(300), 1 + dice.below(70_000)]);
      const parts = streaming(stream, piece, 1 + dice.below(5_000));
      expect([seed, parts.how, parts.bytes.equals(bytes)]).toEqual([seed, DONE, true]);
    }
  });

  test('wherever the input is cut in two, and in chunks of one byte', () => {
    for (const level of [0, 1, 9]) {
      for (const bytes of [TEXT.subarray(0, 700), plain(new Dice(3), 900)]) {
        const stream = deflateSync(bytes, { level });
        for (let chunk = 1; chunk <= stream.length; chunk++) {
          const { how, bytes: came } = exactly(stream, bytes.length, chunk);
          expect([chunk, how, came.equals(bytes)]).toEqual([chunk, DONE, true]);
        }
      }
    }
  });

  test('wherever what comes out is cut', () => {
    const stream = deflateSync(TEXT);
    for (let piece = 1; piece < 400; piece++) {
      const { how, bytes } = streaming(stream, piece, MOST);
      expect([piece, how, bytes.equals(TEXT)]).toEqual([piece, DONE, true]);
    }
  });

  test('and leaves what follows the stream', () => {
    for (const tail of [1, 7, 16, 300]) {
      const { how } = exactly(Buffer.concat([deflateSync(TEXT), Buffer.alloc(tail, 0x5a)]), TEXT.length);
      expect([how, guest.unused()]).toEqual([DONE, tail]);
    }
  });

  test('nothing, too', () => {
    expect(exactly(deflateSync(Buffer.alloc(0)), 0)).toMatchObject({ how: DONE });
  });
});

describe('a size that lies', () => {
  test.each([0, 1, 5, 300, 2_000])('%i bytes more than were promised are no more than noticed', (more) => {
    for (const level of [0, 1, 9]) {
      const stream = deflateSync(TEXT.subarray(0, 100 + more), { level });
      expect(exactly(stream, 100).how).toBe(more === 0 ? DONE : FULL);
    }
  });

  test('fewer are told by where it ended', () => {
    expect(exactly(deflateSync(TEXT), TEXT.length + 50).bytes).toHaveLength(TEXT.length);
  });
});

describe('a stream that is not one', () => {
  test('cut anywhere it is dry', () => {
    for (const level of [0, 1, 9]) {
      const stream = deflateSync(TEXT.subarray(0, 600), { level });
      for (let size = 0; size < stream.length; size++) expect(exactly(stream.subarray(0, size), 600).how).toBe(DRY);
    }
  });

  test('with any bit of it flipped it is refused', () => {
    for (const [bytes, level] of [
      [TEXT.subarray(0, 300), 9],
      [TEXT.subarray(0, 120), 1],
      [plain(new Dice(5), 200), 6],
      [plain(new Dice(6), 50), 0],
    ] as const) {
      const stream = deflateSync(bytes, { level });
      for (let bit = 0; bit < stream.length * 8; bit++) {
        const flipped = Buffer.from(stream);
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const ours = exactly(flipped, bytes.length);
        const theirs = reference(flipped);
        if (theirs === undefined) expect([bit, ours.how]).not.toEqual([bit, DONE]);
        else expect([bit, ours.bytes.equals(theirs)]).toEqual([bit, true]);
      }
    }
  });

  test('of noise behind a right header it is refused where zlib refuses, and given where zlib gives', () => {
    let given = 0;
    for (let seed = 0; seed < 4_000; seed++) {
      const dice = new Dice(seed);
      const stream = Buffer.from(Array.from({ length: 40 + dice.below(200) }, () => dice.below(256)));
      stream[0] = 0x78;
      stream[1] = 0x9c;
      if (dice.may(0.5)) stream[2] = 0x04 | dice.below(2); // a block with codes of its own
      const ours = streaming(stream, 5_000, MOST);
      const theirs = reference(stream);
      expect([seed, ours.how === DONE]).toEqual([seed, theirs !== undefined]);
      if (theirs !== undefined) given++;
      if (ours.how === BAD || ours.how === DRY) continue;
      expect(ours.bytes.equals(theirs ?? Buffer.alloc(0))).toBe(true);
    }
    expect(given).toBe(0); // an Adler-32 that fits noise by chance would be news
  });

  test('with bytes changed at random it is refused, or the same bytes come out', () => {
    for (let seed = 0; seed < 3_000; seed++) {
      const dice = new Dice(seed);
      const bytes = plain(dice, 1 + dice.below(3_000));
      const stream = deflated(dice, bytes);
      for (let changes = 1 + dice.below(3); changes > 0; changes--) stream[dice.below(stream.length)] = dice.below(256);
      const ours = exactly(stream, bytes.length, 1 + dice.below(64));
      const theirs = reference(stream);
      if (ours.how === DONE && theirs !== undefined) expect([seed, ours.bytes.equals(theirs)]).toEqual([seed, true]);
      else expect([seed, ours.how === DONE]).toEqual([seed, theirs !== undefined && theirs.length <= bytes.length]);
    }
  });

  test.each([
    ['another method', [0x77, 0x85]],
    ['a window too large', [0x88, 0x1c]],
    ['a dictionary', [0x78, 0xbb]],
    ['a header that does not check', [0x78, 0x9d]],
  ])('%s', (_, header) => {
    const stream = deflateSync(TEXT);
    stream.set(header);
    expect(exactly(stream, TEXT.length).how).toBe(BAD);
  });
});

describe('the checksums are the ones of their RFCs', () => {
  test('for every length and alignment up to some hundreds, and for long runs of 0xff', () => {
    const bytes = plain(new Dice(9), 20_000).fill(0xff, 9_000);
    bytesAt(output, bytes.length).set(bytes);
    for (let size = 0; size < 20_000; size += size < 300 ? 1 : 1_237) {
      const from = size % 9;
      const span = bytes.subarray(from, from + size);
      const adler = deflateSync(span).readUInt32BE(deflateSync(span).length - 4);
      expect([size, guest.adler32(output + from, output + from + span.length) >>> 0]).toEqual([size, adler]);
      const middle = size >> 1;
      const first = guest.crc32(0, output + from, output + from + middle);
      const both = guest.crc32(first, output + from + middle, output + from + span.length);
      expect([size, both >>> 0]).toEqual([size, crc32(span)]);
    }
  });
});

test('a bomb costs only what is taken of it', () => {
  const bomb = deflateSync(Buffer.alloc(64 << 20));
  expect(exactly(bomb, 1_000).how).toBe(FULL);
  const { how, bytes } = streaming(bomb, 65_536, 4_096, 1 << 20);
  expect([how, bytes.every((byte) => byte === 0)]).toEqual([FULL, true]);
});
