/**
 * Repositories that somebody made to hurt, or that a disk spoiled: an error or the right answer, never a wrong one, never
 * a trap, never for ever.
 */

import fs from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  commitOf,
  copies,
  deltaOf,
  inserts,
  oidOf,
  type PackEntry,
  type PackOptions,
  TYPE,
  treeOf,
  writePack,
} from '../support/packs.js';
import { Dice, FORMATS, makeRepository, Repository, STORAGES } from '../support/repositories.js';
import { type FoundOrFault, linesOf, Reader, reading } from './git.js';

describe('a byte that was spoiled', () => {
  const filesOf = (dir: string): string[] =>
    fs
      .readdirSync(path.join(dir, 'objects'), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(dir, 'objects', name))
      .filter((name) => fs.statSync(name).isFile() && !/\.(rev|bitmap)$|commit-graph$|packs$/.test(name))
      .sort();

  test.each(STORAGES.flatMap((storage) => FORMATS.map((format) => [storage, format] as const)))(
    'anywhere in what holds objects, is a fault or changes nothing: %s, %s',
    { timeout: 60_000 },
    (storage, format) => {
      const repository = makeRepository({ seed: 21, storage, format, commits: 20 });
      try {
        const words = ['sluice', 'Subproject'];
        const right = words.map((word) => reading(repository, (reader) => reader.history(word)));
        const files = filesOf(repository.dir);
        const outcomes = { same: 0, faults: 0 };
        for (let seed = 0; seed < 50; seed++) {
          const dice = new Dice(seed);
          const file = dice.pick(files);
          const sound = fs.readFileSync(file);
          const spoiled = Buffer.from(sound);
          const at = dice.below(spoiled.length);
          spoiled[at] = dice.may(0.5) ? (spoiled[at] ?? 0) ^ (1 << dice.below(8)) : dice.below(256);
          fs.chmodSync(file, 0o644);
          fs.writeFileSync(file, dice.may(0.1) ? spoiled.subarray(0, at) : spoiled);
          const which = seed % 2;
          const found = reading(repository, (reader) => reader.history(words[which] ?? ''));
          if ('fault' in found) outcomes.faults++;
          else {
            expect([seed, file, at, found]).toEqual([seed, file, at, right[which]]);
            outcomes.same++;
          }
          fs.writeFileSync(file, sound);
        }
        expect(outcomes.faults).toBeGreaterThan(0);
        expect(outcomes.same).toBeGreaterThan(0);
      } finally {
        repository.end();
      }
    },
  );
});

// ---- made by hand ----

const [COMMIT, ROOT, MESSAGES, BLOB, BASE] = ['commit', 'root', 'messages', 'blob', 'base'].map(oidOf) as [
  string,
  string,
  string,
  string,
  string,
];
const TEXT = Buffer.from('a needle in the blob');
const commit: PackEntry = { oid: COMMIT, type: TYPE.commit, bytes: commitOf(ROOT) };
const root: PackEntry = { oid: ROOT, type: TYPE.tree, bytes: treeOf([['40000', 'messages', MESSAGES]]) };
const messages: PackEntry = { oid: MESSAGES, type: TYPE.tree, bytes: treeOf([['100644', '1.md', BLOB]]) };
const blob: PackEntry = { oid: BLOB, type: TYPE.blob, bytes: TEXT };
const base: PackEntry = { oid: BASE, type: TYPE.blob, bytes: Buffer.from('a needle in') };
const above = [commit, root, messages];
const delta = (bytes: Buffer, how: Partial<PackEntry> = {}): PackEntry => ({
  oid: BLOB,
  type: TYPE.ofsDelta,
  base: 3,
  bytes,
  ...how,
});
const ALL: readonly PackEntry[] = [...above, blob];
const HIT = { entries: [{ commit: COMMIT, blob: BLOB }], ending: 'complete' };

let repository: Repository;
beforeEach(() => {
  repository = new Repository();
  fs.writeFileSync(path.join(repository.dir, 'refs/heads/a'), `${COMMIT}\n`);
});
afterEach(() => repository.end());
const found = (entries: readonly PackEntry[], options?: PackOptions): FoundOrFault => {
  writePack(repository.dir, entries, options);
  return reading(repository, (reader) => reader.history('needle', { branches: ['*'] }));
};

describe('a pack made by hand is read', () => {
  test.each<[why: string, entries: readonly PackEntry[], options?: PackOptions]>([
    ['whole objects', ALL],
    ['with offsets in the table of large ones', ALL, { large: true }],
    ['a delta by offset', [...above, base, delta(deltaOf(11, 20, copies(0, 11), inserts(' the blob')))]],
    [
      'a delta by name, whose base follows',
      [
        ...above,
        { ...delta(deltaOf(11, 20, copies(0, 11), inserts(' the blob'))), type: TYPE.refDelta, baseOid: BASE },
        base,
      ],
    ],
    ['a delta that copies nothing', [...above, base, delta(deltaOf(11, 6, inserts('needle')))]],
    [
      'a delta with a copy of 65 536',
      [...above, { ...base, bytes: Buffer.alloc(65_536, 'needle') }, delta(deltaOf(65_536, 65_536, [0x80]))],
    ],
    ['stored without compression', ALL.map((entry) => ({ ...entry, stream: deflateSync(entry.bytes, { level: 0 }) }))],
  ])('%s', (_, entries, options) => {
    expect(found(entries, options)).toMatchObject(HIT);
  });

  test('a chain of 4 095 deltas, and of more', () => {
    expect(found([...above, ...chain(4_095)])).toMatchObject(HIT);
  });
});

/** The last entry's bytes are the first one's, by so many deltas. */
function chain(links: number): PackEntry[] {
  const size = TEXT.length;
  return Array.from({ length: links + 1 }, (_, index): PackEntry => {
    const oid = index === links ? BLOB : (0x1000_0000 + index).toString(16).padEnd(40, '0');
    if (index === 0) return { oid, type: TYPE.blob, bytes: TEXT };
    return { oid, type: TYPE.ofsDelta, base: 3 + index - 1, bytes: deltaOf(size, size, copies(0, size)) };
  });
}

describe('a pack made to hurt is refused', () => {
  const said = (change: (pack: Buffer, index: Buffer) => void): PackOptions => ({
    change: (pack, index) => {
      change(pack, index);
      return [pack, index];
    },
  });
  test.each<[why: string, entries: readonly PackEntry[], fault: string, options?: PackOptions]>([
    [
      'a delta that is its own base',
      [...above, delta(Buffer.alloc(4), { type: TYPE.refDelta, baseOid: BLOB })],
      'corrupt',
    ],
    [
      'two deltas that are each other’s base',
      [
        ...above,
        delta(Buffer.alloc(4), { type: TYPE.refDelta, baseOid: BASE }),
        { ...delta(Buffer.alloc(4), { type: TYPE.refDelta, baseOid: BLOB }), oid: BASE },
      ],
      'corrupt',
    ],
    ['a chain without end', [...above, ...chain(12_000)], 'corrupt'],
    ['a base that is nowhere', [...above, delta(Buffer.alloc(4), { type: TYPE.refDelta, baseOid: BASE })], 'missing'],
    ['a base before the pack', [...above, delta(Buffer.alloc(4), { distance: 100_000 })], 'corrupt'],
    ['a base at no distance', [...above, delta(Buffer.alloc(4), { distance: 0 })], 'corrupt'],
    [
      'a base in the middle of another entry',
      [...above, base, delta(deltaOf(11, 6, inserts('needle')), { distance: 9 })],
      'corrupt',
    ],
    ['a delta for a base of another size', [...above, base, delta(deltaOf(12, 6, inserts('needle')))], 'corrupt'],
    ['a result shorter than was said', [...above, base, delta(deltaOf(11, 7, inserts('needle')))], 'corrupt'],
    ['a result longer than was said', [...above, base, delta(deltaOf(11, 5, inserts('needle')))], 'corrupt'],
    ['a copy past the base', [...above, base, delta(deltaOf(11, 6, copies(6, 6)))], 'corrupt'],
    ['a copy from past the base', [...above, base, delta(deltaOf(11, 6, copies(12, 1)))], 'corrupt'],
    ['an insert that is cut', [...above, base, delta(deltaOf(11, 6, [6, 110]))], 'corrupt'],
    ['a copy that is cut', [...above, base, delta(deltaOf(11, 6, [0xff, 1]))], 'corrupt'],
    ['the instruction 0', [...above, base, delta(deltaOf(11, 6, inserts('needle'), [0]))], 'corrupt'],
    ['an empty delta', [...above, base, delta(Buffer.alloc(0))], 'corrupt'],
    ['a delta of sizes only', [...above, base, delta(Buffer.alloc(20, 0xff))], 'corrupt'],
    ['a result of a TiB', [...above, base, delta(deltaOf(11, 2 ** 40, inserts('needle')))], 'too-large'],
    ['a size of 2^60', [...above, { ...blob, type: TYPE.tree, size: 2n ** 59n }], 'too-large'],
    ['a blob that says 2^59', [...above, { ...blob, size: 2n ** 59n }], 'corrupt'],
    ['a size without end', [...above, { ...blob, size: 2n ** 66n }], 'corrupt'],
    ['a blob that is longer', [...above, { ...blob, size: 3 }], 'corrupt'],
    ['a blob that is shorter', [...above, { ...blob, size: 100 }], 'corrupt'],
    ['a blob that is a tree', [...above, { ...blob, type: TYPE.tree }], 'corrupt'],
    ['a tree that is a blob', [commit, root, { ...messages, type: TYPE.blob }, blob], 'corrupt'],
    ['an object of type 0', [...above, { ...blob, type: 0 }], 'corrupt'],
    ['an object of type 5', [...above, { ...blob, type: 5 }], 'corrupt'],
    ['a stream that is none', [...above, { ...blob, stream: Buffer.alloc(60, 7) }], 'corrupt'],
    ['a blob that is nowhere', above, 'missing'],
    ['a parent that is nowhere', [{ ...commit, bytes: commitOf(ROOT, [BASE]) }, root, messages, blob], 'missing'],
    ['a parent that is a blob', [{ ...commit, bytes: commitOf(ROOT, [BLOB]) }, root, messages, blob], 'corrupt'],
    ['a commit without a tree', [{ ...commit, bytes: Buffer.from('author A') }, root, messages, blob], 'corrupt'],
    [
      'a tree that is cut',
      [commit, root, { ...messages, bytes: messages.bytes.subarray(0, 30).subarray(0, 20) }, blob],
      'corrupt',
    ],
    [
      'a tree with an empty name',
      [commit, root, { ...messages, bytes: treeOf([['100644', '', BLOB]]) }, blob],
      'corrupt',
    ],
    ['a mode that is none', [commit, root, { ...messages, bytes: treeOf([['100a44', 'x', BLOB]]) }, blob], 'corrupt'],
    [
      'a tree out of order',
      [
        commit,
        root,
        {
          ...messages,
          bytes: treeOf([
            ['100644', 'b', BLOB],
            ['100644', 'a', BLOB],
          ]),
        },
        blob,
      ],
      'corrupt',
    ],
    [
      'a tree that holds itself',
      [
        commit,
        root,
        {
          ...messages,
          bytes: treeOf([
            ['40000', 'a', MESSAGES],
            ['40000', 'b', MESSAGES],
          ]),
        },
      ],
      'too-large',
    ],
    ['an index of version 1', ALL, 'unsupported', said((_, index) => index.writeUInt32BE(4, 0))],
    ['an index of version 3', ALL, 'unsupported', said((_, index) => index.writeUInt32BE(3, 4))],
    ['a fan-out that falls', ALL, 'corrupt', said((_, index) => index.fill(0xff, 8, 8 + 4 * 255))],
    ['an index of more objects than the pack', ALL, 'corrupt', said((pack) => pack.writeUInt32BE(3, 8))],
    [
      'an offset past the pack',
      ALL,
      'corrupt',
      said((_, index) => index.fill(0x7f, index.length - 56, index.length - 40)),
    ],
    [
      'a large offset past the pack',
      ALL,
      'corrupt',
      { large: true, ...said((_, index) => index.fill(0x7f, index.length - 72, index.length - 40)) },
    ],
    [
      'a large offset past its table',
      ALL,
      'corrupt',
      said((_, index) => index.fill(0xff, index.length - 56, index.length - 40)),
    ],
    [
      'a checksum of an entry that is not its own',
      ALL,
      'corrupt',
      said((_, index) => index.fill(0, index.length - 72, index.length - 56)),
    ],
    ['no pack at all', ALL, 'corrupt', said((pack) => pack.fill(0, 0, 4))],
    ['a pack of version 9', ALL, 'unsupported', said((pack) => pack.writeUInt32BE(9, 4))],
    ['an empty index', ALL, 'corrupt', { change: (pack) => [pack, Buffer.alloc(0)] }],
    ['an empty pack', ALL, 'corrupt', { change: (_, index) => [Buffer.alloc(0), index] }],
  ])('%s', (_, entries, fault, options) => {
    expect(found(entries, options)).toEqual({ fault });
  });

  test('an index without its pack is as if it were not there', () => {
    writePack(repository.dir, ALL);
    fs.rmSync(path.join(repository.dir, 'objects/pack/pack-0.pack'));
    expect(reading(repository, (reader) => reader.history('needle', { branches: ['*'] }))).toEqual({
      fault: 'missing',
    });
  });

  test('a commit that is its own ancestor is taken up once', () => {
    expect(found([{ ...commit, bytes: commitOf(ROOT, [COMMIT]) }, root, messages, blob])).toMatchObject({
      entries: [],
      commits: 1,
      ending: 'complete',
    });
  });

  test('a commit of 10 000 parents, each of them met', () => {
    const parents = Array.from({ length: 10_000 }, (_, index) => (0x2000_0000 + index).toString(16).padEnd(40, '0'));
    const many = parents.map((oid): PackEntry => ({ oid, type: TYPE.commit, bytes: commitOf(ROOT) }));
    expect(found([{ ...commit, bytes: commitOf(ROOT, parents) }, root, messages, blob, ...many])).toMatchObject({
      entries: [{ commit: parents[0] }],
      commits: 10_001,
    });
  });

  test('a bomb is looked through in pieces, page by page, in flat memory', { timeout: 60_000 }, () => {
    const bomb = Buffer.alloc(200 << 20);
    writePack(repository.dir, [...above, { ...blob, bytes: bomb }]);
    const reader = new Reader(repository);
    const result = reader.history('needle', { branches: ['*'] });
    expect(result).toMatchObject({ entries: [], ending: 'complete' });
    expect('fault' in result ? 0 : result.pages).toBeGreaterThanOrEqual(12);
    expect(reader.guest.memoryBytes()).toBeLessThan(64 << 20);
    reader.end();
  });

  test('a needle across any border of pieces is found', () => {
    for (const at of [0, 1, 262_143, 262_140, 262_138, 262_144, 1_048_570, 1_048_576 * 2 - 6]) {
      const bytes = Buffer.alloc(2 << 20, 'x\n');
      bytes.write('needle', at);
      const place = new Repository();
      fs.writeFileSync(path.join(place.dir, 'refs/heads/a'), `${COMMIT}\n`);
      writePack(place.dir, [...above, { ...blob, bytes }]);
      const long = Buffer.from(bytes.subarray(Math.max(0, at - 5_000), at + 6));
      reading(place, (reader) => {
        expect([at, reader.history('needle', { branches: ['*'] })]).toMatchObject([at, HIT]);
        expect([at, reader.history(long, { branches: ['*'] })]).toMatchObject([at, HIT]);
      });
      place.end();
    }
  });
});

describe('loose objects', () => {
  const loose = (oid: string, content: Uint8Array): void => {
    const dir = path.join(repository.dir, 'objects', oid.slice(0, 2));
    fs.mkdirSync(dir, { recursive: true });
    fs.writeFileSync(path.join(dir, oid.slice(2)), content);
  };
  const NAMES = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' } as const;
  const put = (entry: PackEntry): void => {
    const type = NAMES[entry.type as keyof typeof NAMES]; // only whole objects are put
    loose(entry.oid, deflateSync(Buffer.concat([Buffer.from(`${type} ${entry.bytes.length}\0`), entry.bytes])));
  };
  const history = (): FoundOrFault => reading(repository, (reader) => reader.history('needle', { branches: ['*'] }));

  test('are read, beside packs too', () => {
    for (const entry of ALL) put(entry);
    expect(history()).toMatchObject(HIT);
  });

  const text = TEXT.toString();
  const large = Buffer.alloc(2 << 20, 'xy');
  test.each<[why: string, content: Uint8Array, fault: string]>([
    ['an empty file', Buffer.alloc(0), 'corrupt'],
    ['no stream', Buffer.from(text), 'corrupt'],
    ['no header', deflateSync(Buffer.from(text)), 'corrupt'],
    ['another type', deflateSync(Buffer.from(`blub ${text.length}\0${text}`)), 'corrupt'],
    ['no blob', deflateSync(Buffer.from(`tree ${text.length}\0${text}`)), 'corrupt'],
    ['no size', deflateSync(Buffer.from(`blob \0${text}`)), 'corrupt'],
    ['a size with a zero before it', deflateSync(Buffer.from(`blob 0${text.length}\0${text}`)), 'corrupt'],
    ['a size that is none', deflateSync(Buffer.from(`blob -1\0${text}`)), 'corrupt'],
    ['a size too small', deflateSync(Buffer.from(`blob ${text.length - 1}\0${text}`)), 'corrupt'],
    ['a size too large', deflateSync(Buffer.from(`blob ${text.length + 1}\0${text}`)), 'corrupt'],
    ['a size of 2^80', deflateSync(Buffer.from(`blob ${2n ** 80n}\0${text}`)), 'corrupt'],
    ['a header without end', deflateSync(Buffer.from('blob '.padEnd(100, '1'))), 'corrupt'],
    ['more behind the stream', Buffer.concat([deflateSync(Buffer.from(`blob 20\0${text}`)), Buffer.of(0)]), 'corrupt'],
    ['a stream that is cut', deflateSync(Buffer.from(`blob 20\0${text}`)).subarray(0, 20), 'corrupt'],
    [
      'a large blob a byte short',
      deflateSync(Buffer.concat([Buffer.from(`blob ${large.length + 1}\0`), large])),
      'corrupt',
    ],
    [
      'a large blob a byte long',
      deflateSync(Buffer.concat([Buffer.from(`blob ${large.length - 1}\0`), large])),
      'corrupt',
    ],
  ])('with %s are refused', (_, content, fault) => {
    for (const entry of above) put(entry);
    loose(BLOB, content);
    expect(history()).toEqual({ fault });
  });

  test('that are links are not followed', () => {
    for (const entry of above) put(entry);
    put({ ...blob, oid: BASE });
    fs.mkdirSync(path.join(repository.dir, 'objects', BLOB.slice(0, 2)), { recursive: true });
    const at = path.join(repository.dir, 'objects', BLOB.slice(0, 2), BLOB.slice(2));
    fs.symlinkSync(path.join(repository.dir, 'objects', BASE.slice(0, 2), BASE.slice(2)), at);
    expect(history()).toEqual({ fault: 'unsupported' });
  });

  test('of a large blob are looked through in pieces', () => {
    for (const entry of above) put(entry);
    put({ ...blob, bytes: Buffer.concat([large, TEXT]) });
    expect(history()).toMatchObject(HIT);
  });
});

test('a budget that is spent anywhere ends in what was found so far, in order', () => {
  const place = makeRepository({ seed: 3, commits: 60 });
  const right = reading(place, (reader) => reader.history('lantern', { pageWork: 1 }));
  if ('fault' in right) throw new Error(right.fault);
  const lines = linesOf(right.entries);
  let cut = 0;
  for (let opens = 1; opens < 14; opens++) {
    const reader = new Reader(place, 'fixed', { opens });
    const found = reader.history('lantern');
    if ('fault' in found) throw new Error(found.fault);
    expect(linesOf(found.entries)).toEqual(lines.slice(0, found.entries.length));
    if (found.ending === 'budget') cut++;
    else expect(found.entries).toHaveLength(lines.length);
    reader.end();
  }
  expect(cut).toBeGreaterThan(3);
  place.end();
});

test('pages of any size give the same', () => {
  const place = makeRepository({ seed: 4, commits: 60 });
  reading(place, (reader) => {
    const right = reader.history('lantern');
    for (const [pageWork, pageBytes] of [
      [1, 1 << 20],
      [7, 1 << 20],
      [1_000, 1],
      [1_000, 5_000],
    ] as const) {
      expect(reader.history('lantern', { pageWork, pageBytes })).toMatchObject({ ...right, pages: expect.any(Number) });
    }
  });
  place.end();
});
