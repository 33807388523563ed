/**
 * What the guest hands over for an address: the objects as they are hashed, from the commit down to the blob. The tests
 * hash them with node:crypto and follow the names, as the host does.
 */

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Dice, FORMATS, type Format, makeRepository, Repository, STORAGES } from '../support/repositories.js';
import { type Handed, type HandedOrFault, Reader, reading } from './git.js';

const nameOf = (format: Format, type: string, bytes: Uint8Array): string =>
  createHash(format).update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');

/** The entry of a name in a tree: its mode, and the name of the object. */
function entryOf(tree: Uint8Array, wanted: Buffer, oidBytes: number): { mode: string; oid: string } | undefined {
  const bytes = Buffer.from(tree);
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const nul = bytes.indexOf(0, space);
    const oid = bytes.subarray(nul + 1, nul + 1 + oidBytes).toString('hex');
    if (bytes.subarray(space + 1, nul).equals(wanted)) return { mode: bytes.toString('latin1', at, space), oid };
    at = nul + 1 + oidBytes;
  }
  return undefined;
}

/** Follows the chain of names, and gives the name of the blob it ends in. */
function followed(format: Format, commit: string, path: Buffer, handed: Handed): string {
  const oidBytes = format === 'sha1' ? 20 : 32;
  expect(nameOf(format, 'commit', handed.commit)).toBe(commit);
  let name = Buffer.from(handed.commit)
    .toString('latin1')
    .slice(5, 5 + 2 * oidBytes);
  const segments = splitAt(path);
  expect(handed.trees).toHaveLength(segments.length);
  handed.trees.forEach((tree, index) => {
    expect(nameOf(format, 'tree', tree)).toBe(name);
    name = entryOf(tree, segments[index] ?? Buffer.alloc(0), oidBytes)?.oid ?? 'absent';
  });
  return name;
}

function splitAt(path: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let from = 0; ; ) {
    const slash = path.indexOf(0x2f, from);
    parts.push(path.subarray(from, slash < 0 ? path.length : slash));
    if (slash < 0) return parts;
    from = slash + 1;
  }
}

const whole = (handed: HandedOrFault): Handed => {
  if ('fault' in handed) throw new Error(handed.fault);
  return handed;
};

describe.each(STORAGES.flatMap((storage) => FORMATS.map((format) => ({ storage, format }))))(
  'every file of every commit, $storage, $format',
  ({ storage, format }) => {
    test('comes with a chain of names that ends in its bytes', () => {
      const repository = makeRepository({ seed: 11, storage, format, commits: 25 });
      try {
        const dice = new Dice(5);
        reading(repository, (reader) => {
          for (const commit of repository.say(['rev-list', '--all']).split('\n')) {
            const listed = repository.git(['ls-tree', '-r', '-z', commit]).toString('latin1').split('\0').slice(0, -1);
            for (const line of listed) {
              if (dice.may(0.6)) continue;
              const tab = line.indexOf('\t'); // names hold tabs, too
              const [mode, , blob = ''] = line.slice(0, tab).split(' ');
              const path = Buffer.from(line.slice(tab + 1), 'latin1');
              const handed = whole(reader.trail(commit, path));
              if (mode === '160000') {
                expect(handed.ending).toBe('not-file');
                continue;
              }
              expect(handed.ending).toBe('whole');
              expect(handed.blobSize).toBe(handed.blob.length);
              expect(followed(format, commit, path, handed)).toBe(blob);
              expect(nameOf(format, 'blob', handed.blob)).toBe(blob);
            }
          }
        });
      } finally {
        repository.end();
      }
    });
  },
);

describe('an address', () => {
  const repository = new Repository();
  let [first, second, side, tag, tree, blob] = ['', '', '', '', '', ''];
  const large = Buffer.alloc(3 << 20, 'the sluice follows the lantern\n');
  const noise = Buffer.from(Array.from({ length: 1_500_000 }, (_, index) => (index * 2_654_435_761) >>> 13));
  let reader: Reader;
  beforeAll(() => {
    const file = (path: string, bytes: Buffer | string) => {
      const data = Buffer.from(bytes);
      return Buffer.concat([Buffer.from(`M 100644 inline ${path}\ndata ${data.length}\n`), data, Buffer.from('\n')]);
    };
    const commit = (ref: string, mark: number, from: string, date: number) =>
      Buffer.from(
        `commit refs/heads/${ref}\nmark :${mark}\ncommitter A <a@x> ${date} +0000\ndata 1\nx\n${from === '' ? '' : `from ${from}\n`}`,
      );
    repository.import(
      Buffer.concat([
        commit('agents/a', 1, '', 100),
        file('messages/1.md', 'one'),
        file('messages/deep/er/2.md', 'two'),
        file('large', large),
        file('noise', noise),
        file('empty', ''),
        Buffer.from('M 120000 inline link\ndata 8\nmessages\n'),
        Buffer.from(`M 160000 ${'7'.repeat(40)} other\n\n`),
        commit('agents/a', 2, ':1', 200),
        file('messages/3.md', 'three'),
        commit('main', 3, ':1', 300),
        file('messages/4.md', 'four'),
      ]),
      'pack',
    );
    [first, second, side] = ['agents/a~1', 'agents/a', 'main'].map((name) => repository.say(['rev-parse', name])) as [
      string,
      string,
      string,
    ];
    repository.git(['-c', 'user.name=A', '-c', 'user.email=a@x', 'tag', '-a', '-m', 'x', 'v1', second]);
    [tag, tree, blob] = ['v1', `${second}^{tree}`, `${second}:messages/1.md`].map((name) =>
      repository.say(['rev-parse', name]),
    ) as [string, string, string];
    reader = new Reader(repository);
  });
  afterAll(() => {
    reader.end();
    repository.end();
  });

  test.each([
    ['a file', 'messages/1.md', 'whole', 2],
    ['a deeper one', 'messages/deep/er/2.md', 'whole', 4],
    ['a link, which is not followed', 'link', 'whole', 1],
    ['an empty file', 'empty', 'whole', 1],
    ['a directory', 'messages', 'not-file', 1],
    ['another repository', 'other', 'not-file', 1],
    ['a name below another repository', 'other/x', 'not-file', 1],
    ['a name below a file', 'messages/1.md/x', 'not-file', 2],
    ['a name below a link', 'link/1.md', 'not-file', 1],
    ['a name that is not there', 'messages/9.md', 'absent', 2],
    ['a directory that is not there', 'nothing/9.md', 'absent', 1],
    ['part of a name', 'messages/1.m', 'absent', 2],
    ['a name that only begins so', 'messages/1.md.bak', 'absent', 2],
    ['no name', '', 'absent', 1],
    ['a slash at the end', 'messages/', 'absent', 2],
    ['a slash at the beginning', '/messages/1.md', 'absent', 1],
    ['dots, which are names like any', 'messages/../messages/1.md', 'absent', 2],
  ] as const)('of %s', (_, path, ending, trees) => {
    const handed = whole(reader.trail(second, path));
    expect([handed.ending, handed.trees.length]).toEqual([ending, trees]);
    expect(nameOf('sha1', 'commit', handed.commit)).toBe(second);
    if (ending !== 'whole') expect([handed.blobSize, handed.blob.length]).toEqual([0, 0]);
  });

  test.each([
    ['what is nothing', () => 'a'.repeat(40)],
    ['a tree', () => tree],
    ['a blob', () => blob],
    ['a tag', () => tag],
  ])('in %s is in no commit, and nothing is handed over', (_, name) => {
    const handed = whole(reader.trail(name(), 'messages/1.md'));
    expect(handed).toMatchObject({ ending: 'no-commit', commit: new Uint8Array(0), trees: [] });
  });

  test('is reachable from a branch that is named, or is not', () => {
    const ending = (commit: string, branches: string[], pageWork = 1_024) =>
      whole(reader.trail(commit, 'messages/1.md', { branches, pageWork })).ending;
    for (const pageWork of [1, 2, 1_024]) {
      expect(ending(first, ['agents/*'], pageWork)).toBe('whole');
      expect(ending(second, ['agents/*'], pageWork)).toBe('whole');
      expect(ending(second, ['agents/b', 'agents/a'], pageWork)).toBe('whole');
      expect(ending(side, ['agents/*'], pageWork)).toBe('unreachable');
      expect(ending(side, ['*'], pageWork)).toBe('whole');
      expect(ending(second, ['main'], pageWork)).toBe('unreachable');
      expect(ending(first, ['main'], pageWork)).toBe('whole');
      expect(ending(second, ['agents'], pageWork)).toBe('unreachable');
    }
  });

  test('that is unreachable tells nothing of the commit, nor of the path', () => {
    const handed = whole(reader.trail(side, 'nothing', { branches: ['agents/*'] }));
    expect(handed).toMatchObject({ ending: 'unreachable', commit: new Uint8Array(0), trees: [], blobSize: 0 });
  });

  test.each([
    ['large', () => large],
    ['noise', () => noise],
    ['messages/1.md', () => Buffer.from('one')],
  ] as const)('of a large blob comes in pieces of any size: %s', (path, bytes) => {
    for (const pageBytes of [1_000, 65_536, 1 << 20, 64 << 20]) {
      if (bytes().length > 100 * pageBytes * 40) continue;
      const handed = whole(reader.trail(second, path, { pageBytes }));
      expect([handed.ending, handed.blobSize, handed.blob.equals(bytes())]).toEqual(['whole', bytes().length, true]);
      if (bytes().length > pageBytes) expect(handed.pages).toBeGreaterThanOrEqual(bytes().length / pageBytes);
    }
  });

  test('of a blob over the cap is too large, and one at the cap is not', () => {
    for (const path of ['large', 'messages/1.md']) {
      const { blobSize } = whole(reader.trail(second, path));
      expect(whole(reader.trail(second, path, { blobMax: blobSize })).ending).toBe('whole');
      expect(reader.trail(second, path, { blobMax: blobSize - 1 })).toEqual({ fault: 'too-large' });
    }
  });

  test('is answered again after a page was left', () => {
    const query = { commit: second, path: Buffer.from('large'), branches: [], oidBytes: 20, blobMax: 1 << 30 };
    const page = reader.guest.trail({ ...query, pageWork: 1, pageBytes: 1_000 });
    expect(page).toMatchObject({ ok: true, page: { ending: 'paused' } });
    expect(whole(reader.trail(second, 'messages/1.md')).blob.toString()).toBe('one');
    expect(reader.history('three')).toMatchObject({ entries: [{ commit: second }] });
    expect(reader.filesystem.liveCount).toBe(0);
  });

  test('through jco’s glue gives the same', () => {
    for (const path of ['messages/1.md', 'empty', 'nothing', 'messages', 'messages/deep/er/2.md']) {
      const ours = reader.trail(second, path, { branches: ['agents/*'] });
      expect(
        reading(repository, (other) => other.trail(second, path, { branches: ['agents/*'] }), 'reference'),
      ).toEqual(ours);
    }
    expect(reading(repository, (other) => other.trail(second, 'large', { blobMax: 1 }), 'reference')).toEqual({
      fault: 'too-large',
    });
  });

  test('ends when a budget of the call is spent, and never in a shorter blob', () => {
    for (let bytes = 0; bytes < 400_000; bytes += 23_456) {
      const poor = new Reader(repository, 'fixed', { bytes });
      const handed = poor.trail(second, 'noise', { branches: ['agents/*'] });
      if ('fault' in handed) throw new Error(handed.fault);
      if (handed.ending === 'whole') expect(handed.blob.equals(noise)).toBe(true);
      else expect(handed.ending).toBe('budget');
      poor.end();
    }
  });
});
