/** The guest's SHA-1 and SHA-256 against node:crypto: every length around a block's borders, and every cut of what comes. */

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { room } from './room.js';

interface Digest {
  alloc(size: number): number;
  begin(size: number): void;
  take(from: number, end: number): void;
  end(to: number): void;
}
const HASHES = [
  ['sha1', 20],
  ['sha256', 32],
] as const;
const MOST = 1 << 20;

let guest: Digest & { readonly memory: WebAssembly.Memory };
let input = 0;
let result = 0;
beforeAll(async () => {
  guest = await room<Digest>('digest');
  [input, result] = [guest.alloc(MOST + 64), guest.alloc(32)];
}, 60_000);

/** Of bytes that come in pieces of these sizes, the rest as one; they lie at an address `lean` bytes from a multiple of 8. */
function ours(size: 20 | 32, bytes: Uint8Array, pieces: readonly number[] = [], lean = 0): string {
  const at = input + lean;
  Buffer.from(guest.memory.buffer, at, bytes.length).set(bytes);
  guest.begin(size);
  let from = at;
  const end = at + bytes.length;
  for (const piece of pieces) {
    const to = Math.min(from + piece, end);
    guest.take(from, to);
    from = to;
  }
  guest.take(from, end);
  guest.end(result);
  return Buffer.from(guest.memory.buffer, result, size).toString('hex');
}

describe.each(HASHES)('%s is the one of its standard', (name, size) => {
  const theirs = (bytes: Uint8Array): string => createHash(name).update(bytes).digest('hex');

  test('of nothing, and of every length up to five blocks', () => {
    const bytes = Buffer.from(Array.from({ length: 320 }, (_, index) => (index * 167 + 13) & 0xff));
    for (let length = 0; length <= bytes.length; length++) {
      const part = bytes.subarray(0, length);
      expect([length, ours(size, part)]).toEqual([length, theirs(part)]);
    }
  });

  test('wherever the bytes are cut in two', () => {
    const bytes = Buffer.from(Array.from({ length: 200 }, (_, index) => (index * 31 + 7) & 0xff));
    const right = theirs(bytes);
    for (let cut = 0; cut <= bytes.length; cut++) expect([cut, ours(size, bytes, [cut])]).toEqual([cut, right]);
  });

  test('of any bytes in any pieces at any address', () => {
    const pieces = fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 30 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), pieces, fc.integer({ min: 0, max: 15 }), (bytes, cuts, lean) => {
        expect(ours(size, bytes, cuts, lean)).toBe(theirs(bytes));
      }),
    );
  });

  test('of a megabyte, each byte of which counts', () => {
    const bytes = Buffer.alloc(MOST, 'the sluice follows the lantern; ');
    expect(ours(size, bytes)).toBe(theirs(bytes));
    bytes[777_777] = (bytes[777_777] ?? 0) ^ 1;
    expect(ours(size, bytes)).toBe(theirs(bytes));
  });
});
