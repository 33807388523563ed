/** What only the memory tree can show: names that fold, sizes that lie, failures, and that a city is data. */

import { describe, expect, it } from 'vitest';

import { memoryCity, openMemoryTree, put } from '../../dist/tree/memory.js';
import { failed } from '../../dist/tree/tree.js';

describe('the memory tree', () => {
  it('opens the aliases a folding share opens, and none of them stands', () => {
    const { root } = openMemoryTree(
      memoryCity(
        [
          ['vault/key', 'x'],
          ['.git/config', 'x'],
          ['.sprawling/RULES.toml', 'x'],
        ],
        { foldsNames: true },
      ),
    );
    for (const alias of ['Vault', '\uff36ault', 'VAULT', '.g\u200cit', '.GIT', '.\u017fprawling']) {
      expect(failed(root.directory(alias))).toBe(false);
      expect(root.stands(alias)).toBe(false);
    }
    for (const name of ['vault', '.git', '.sprawling']) expect(root.stands(name)).toBe(true);
  });

  it.each(['..', '.', '', 'a/b', 'a\0b'])(
    'takes no name that is no segment, as bytes no more than as text: %j',
    (name) => {
      for (const given of [name, new TextEncoder().encode(name)]) {
        expect(() => memoryCity([[['lab', given], 'x']])).toThrow('segments only');
      }
    },
  );

  it('folds nothing unless told', () => {
    expect(openMemoryTree(memoryCity([['vault/key', 'x']])).root.directory('Vault')).toBe('no-entry');
  });

  it('reads a file to its end whatever size it reports', () => {
    const { root } = openMemoryTree(
      memoryCity([
        ['none', { file: 'content', reportedSizeBytes: 0 }],
        ['much', { file: 'content', reportedSizeBytes: 2 ** 40 }],
      ]),
    );
    for (const name of ['none', 'much']) {
      const file = root.file(name);
      if (failed(file)) throw new Error(file);
      expect(file.read(new Uint8Array(64), 0)).toBe(7);
      expect(file.read(new Uint8Array(64), 7)).toBe(0);
    }
    expect(root.look('none')).toMatchObject({ sizeBytes: 0 });
  });

  it('fails where it is told to', () => {
    const { root } = openMemoryTree(
      memoryCity([
        ['shut', { file: 'x', fails: { open: 'access' } }],
        ['bad', { file: 'x', fails: { read: 'io' } }],
        ['unlisted', { directory: true, fails: { list: 'access' } }],
        ['unseen', { file: 'x', fails: { look: 'io' } }],
      ]),
    );
    expect(root.file('shut')).toBe('access');
    const bad = root.file('bad');
    expect(failed(bad) ? bad : bad.read(new Uint8Array(1), 0)).toBe('io');
    const unlisted = root.directory('unlisted');
    expect(failed(unlisted) ? unlisted : unlisted.list()).toBe('access');
    expect(root.look('unseen')).toBe('io');
  });

  it('keeps the policies on mounts and hard links, and lists what it does not know', () => {
    const marked = [
      ['mounted', { directory: true, otherMount: true }],
      ['mounted-file', { file: 'x', otherMount: true }],
      ['mine', { file: 'x', names: 2 }],
      ['theirs', { file: 'x', names: 2, otherOwner: true }],
      ['unknown', { file: 'x', listedAsUnknown: true }],
    ] as const;
    const under = (hardLinks: 'allow' | 'same-owner' | 'deny') => {
      const { root } = openMemoryTree(memoryCity(marked, { hardLinks }));
      return ['mine', 'theirs'].map((name) => failed(root.file(name)) && root.file(name));
    };
    expect(under('allow')).toEqual([false, false]);
    expect(under('same-owner')).toEqual([false, 'hard-link']);
    expect(under('deny')).toEqual(['hard-link', 'hard-link']);
    const { root } = openMemoryTree(memoryCity(marked));
    expect([root.directory('mounted'), root.file('mounted-file')]).toEqual(['other-mount', 'other-mount']);
    expect(root.list()).toContainEqual({ name: 'unknown', kind: 'unknown', nameable: true });
  });

  it('is data: a clone of a city reads the same', () => {
    const city = structuredClone(memoryCity([['__proto__/constructor', 'x']]));
    const dir = openMemoryTree(city).root.directory('__proto__');
    expect(failed(dir) ? dir : dir.list()).toEqual([{ name: 'constructor', kind: 'file', nameable: true }]);
  });

  it('shows a changed file as changed', () => {
    const city = memoryCity([['file', 'x']]);
    const { root } = openMemoryTree(city);
    const before = root.look('file');
    put(city, 'file', 'y');
    expect(root.look('file')).not.toEqual(before);
  });

  it('takes only segments into a city', () => {
    for (const path of ['', '/a', 'a//b', 'a/../b']) expect(() => memoryCity([[path, 'x']])).toThrow();
    expect(() =>
      memoryCity([
        ['file', 'x'],
        ['file/below', 'x'],
      ]),
    ).toThrow();
  });
});
