/** What every tree promises, over each of them. */

import { afterEach, describe, expect, it } from 'vitest';

import { type Dir, failed, type OpenFile, sameIdentity } from '../../dist/tree/tree.js';
import { descriptorCount, diskWorld, type MakeWorld, memoryWorld, type Things, type World } from './worlds.js';

const WORLDS: readonly (readonly [string, MakeWorld])[] = [
  ...(process.platform === 'linux' ? [['linux', diskWorld('linux')] as const] : []),
  ['portable', diskWorld('portable')],
  ['memory', memoryWorld],
];

function directoryOf(dir: Dir, name: string): Dir {
  const found = dir.directory(name);
  if (failed(found)) throw new Error(`${name}: ${found}`);
  return found;
}

function fileOf(dir: Dir, name: string): OpenFile {
  const found = dir.file(name);
  if (failed(found)) throw new Error(`${name}: ${found}`);
  return found;
}

function textOf(file: OpenFile): string {
  const into = new Uint8Array(1_024);
  const came = file.read(into, 0);
  if (failed(came)) throw new Error(came);
  return new TextDecoder().decode(into.subarray(0, came));
}

const NFC = 'caf\u00e9';
const NFD = 'cafe\u0301';
const LONGEST = 'n'.repeat(255);
const LONGEST_WIDE = `${'\u5b57'.repeat(84)}abc`; // 255 bytes

describe.each(WORLDS)('the %s tree', (kind, make) => {
  let world: World | undefined;
  const start = (things: Things, hardLinks?: 'allow' | 'same-owner' | 'deny'): World => {
    world = make(things, hardLinks);
    return world;
  };
  afterEach(() => {
    world?.end();
    world = undefined;
  });

  it('says its kind, how it is contained and how its root is spelled', () => {
    const tree = start([]).open();
    expect(tree.kind).toBe(kind);
    expect(tree.containment).toBe(kind === 'portable' ? 'portable' : 'contained');
    expect(tree.spellings.entered).toMatch(/^\/.*city$/);
    expect(tree.spellings.real).toMatch(/^\/.*city$/);
  });

  it('lists an empty directory as nothing, and all kinds of names as they are', () => {
    const odd = [
      '__proto__',
      'constructor',
      NFC,
      NFD,
      LONGEST,
      LONGEST_WIDE,
      'a\nb',
      ' (deleted)',
      '\ufffd',
      '~',
      '\\',
    ];
    const things: Things = [
      ['empty', { directory: true }],
      ['link', { link: 'nowhere' }],
      ['pipe', { other: true }],
      ...odd.map((name) => [[name], `is ${name}`] as const),
    ];
    const { root } = start(things).open();
    expect(directoryOf(root, 'empty').list()).toEqual([]);
    const listed = root.list();
    if (failed(listed)) throw new Error(listed);
    const kinds = new Map<string, string>(listed.map((entry) => [entry.name, entry.kind]));
    const files = odd.map((name) => [name, 'file'] as const);
    expect(kinds).toEqual(new Map([...files, ['empty', 'directory'], ['link', 'link'], ['pipe', 'other']]));
    for (const name of odd) {
      expect(textOf(fileOf(root, name))).toBe(`is ${name}`);
      expect(root.stands(name)).toBe(true);
    }
  });

  it('shows a name that is not UTF-8 and never opens it, nor what it is shown as', () => {
    const { root } = start([
      [[Uint8Array.of(0x66, 0xff)], 'x'],
      ['ok', 'y'],
    ]).open();
    expect(root.list()).toContainEqual({ name: 'f\ufffd', kind: 'file', nameable: false });
    expect(root.file('f\ufffd')).toBe('no-entry');
    expect(root.stands('f\ufffd')).toBe(false);
  });

  it('gives a link its text in full, and says so where it is no text', () => {
    const { root } = start([
      ['up', { link: '../outside' }],
      ['io', { link: 'io' }],
      ['raw', { link: Uint8Array.of(0xff, 0x61) }],
      ['plain', 'x'],
    ]).open();
    expect(root.linkText('up')).toEqual({ text: '../outside' });
    expect(root.linkText('io')).toEqual({ text: 'io' });
    expect(root.linkText('raw')).toBe('bad-name');
    expect(root.linkText('plain')).toBe('moved');
    expect(root.linkText('none')).toBe('no-entry');
  });

  it('never follows a link, whatever it leads to', () => {
    const { root } = start([
      ['dir/file', 'x'],
      ['to-dir', { link: 'dir' }],
      ['to-file', { link: 'dir/file' }],
      ['out', { link: '../outside' }],
      ['dangling', { link: 'none' }],
      ['self', { link: 'self' }],
    ]).open();
    for (const name of ['to-dir', 'to-file', 'out', 'dangling', 'self']) {
      expect(root.file(name)).toBe('is-link');
      expect(root.directory(name)).toBe('is-link');
      expect(root.look(name)).toMatchObject({ kind: 'link' });
    }
  });

  it('opens a file as a file only, and a directory as a directory only', () => {
    const { root } = start([
      ['dir/file', 'x'],
      ['pipe', { other: true }],
    ]).open();
    expect(root.file('dir')).toBe('is-directory');
    expect(root.file('pipe')).toBe('not-regular');
    expect(root.directory('pipe')).toBe('not-directory');
    expect(directoryOf(root, 'dir').directory('file')).toBe('not-directory');
    expect(root.file('none')).toBe('no-entry');
    expect(root.directory('none')).toBe('no-entry');
    expect(root.look('none')).toBe('no-entry');
    expect(root.stands('none')).toBe(false);
  });

  const NO_SEGMENTS = ['', '.', '..', '/', 'dir/file', '../city', 'a\0', '\ud800', `${LONGEST}n`, '\u5b57'.repeat(86)];
  it.each(NO_SEGMENTS)('refuses %j as no segment, before the disk', (name) => {
    const { root } = start([['dir/file', 'x']]).open();
    const asked = [root.look(name), root.directory(name), root.file(name), root.linkText(name), root.stands(name)];
    expect(asked).toEqual(Array(5).fill('bad-name'));
  });

  it('looks at a thing and opens the same thing', () => {
    const { root } = start([
      ['one', '123'],
      ['two', '123'],
      ['dir', { directory: true }],
    ]).open();
    const look = root.look('one');
    if (failed(look)) throw new Error(look);
    const file = fileOf(root, 'one');
    expect(look).toMatchObject({ kind: 'file', sizeBytes: 3, identity: file.identity() });
    expect(file.sizeBytes).toBe(3);
    expect(sameIdentity(file.identity(), fileOf(root, 'two').identity())).toBe(false);
    expect(root.look('dir')).toMatchObject({ kind: 'directory', identity: directoryOf(root, 'dir').identity });
  });

  it('reads by position into what it is given, and 0 bytes only at the end', () => {
    const { root } = start([['file', 'abcdef']]).open();
    const file = fileOf(root, 'file');
    const memory = new Uint8Array(8).fill(0x2e);
    expect(file.read(memory.subarray(2, 5), 2)).toBe(3);
    expect(new TextDecoder().decode(memory)).toBe('..cde...');
    expect(file.read(memory, 4)).toBe(2);
    expect(file.read(memory, 6)).toBe(0);
    expect(file.read(memory, 2 ** 52)).toBe(0);
    expect(file.read(new Uint8Array(), 0)).toBe(0);
    for (const offset of [-1, 0.5, Number.NaN, 2 ** 60]) expect(file.read(memory, offset)).toBe('io');
  });

  it('counts what is open, and a closed handle is `io` and never another', () => {
    const tree = start([['dir/file', 'x']]).open();
    const { root } = tree;
    expect(tree.openCount()).toBe(1);
    const dir = directoryOf(root, 'dir');
    const file = fileOf(dir, 'file');
    const twin = dir.again();
    if (failed(twin)) throw new Error(twin);
    expect(tree.openCount()).toBe(4);
    dir.close();
    dir.close();
    expect(tree.openCount()).toBe(3);
    // What was opened from it lives on; its number is another's now.
    expect(textOf(fileOf(twin, 'file'))).toBe('x');
    expect(textOf(file)).toBe('x');
    file.close();
    const later = fileOf(twin, 'file');
    file.close();
    expect(file.read(new Uint8Array(1), 0)).toBe('io');
    expect(textOf(later)).toBe('x');
    const closed = [dir.look('file'), dir.directory('x'), dir.file('file'), dir.linkText('x'), dir.list(), dir.again()];
    expect([...closed, dir.stands('file')]).toEqual(Array(7).fill('io'));
    tree.close();
    expect(tree.openCount()).toBe(0);
    expect([twin.list(), root.list()]).toEqual(['io', 'io']);
    tree.close();
  });

  it('keeps its root open until it is closed itself', () => {
    const tree = start([['file', 'x']]).open();
    tree.root.close();
    expect(textOf(fileOf(tree.root, 'file'))).toBe('x');
  });

  it('says `moved` below a directory that was moved while held, and in one that is gone', () => {
    const w = start([
      ['a/b/c', { directory: true }],
      ['a/b/file', 'x'],
      ['gone', { directory: true }],
    ]);
    const { root } = w.open();
    const b = directoryOf(directoryOf(root, 'a'), 'b');
    const gone = directoryOf(root, 'gone');
    w.move('a/b', 'elsewhere');
    w.put('a/b/c', { directory: true });
    w.remove('gone');
    expect(b.directory('c')).toBe('moved');
    expect(b.again()).toBe('moved');
    expect(b.file('file', { placed: true })).toBe('moved');
    expect(gone.list()).toBe('moved');
    expect(gone.again()).toBe('moved');
  });

  it('says `moved` below a directory whose parent became a link', () => {
    const w = start([['a/b/c/file', 'x']]);
    const { root } = w.open();
    const b = directoryOf(directoryOf(root, 'a'), 'b');
    w.move('a', 'real');
    w.put('a', { link: 'real' });
    expect(b.directory('c')).toBe('moved');
  });

  it('opens a placed file that is where it was looked for', () => {
    const { root } = start([['dir/file', 'x']]).open();
    const file = directoryOf(root, 'dir').file('file', { placed: true });
    expect(failed(file)).toBe(false);
  });

  it('lists as many names as it may, and of one more nothing', () => {
    const names = Array.from({ length: 5 }, (_, index) => [`dir/${index}`, ''] as const);
    const w = start(names);
    expect(directoryOf(w.open({ dirEntriesMax: 5 }).root, 'dir').list()).toHaveLength(5);
    expect(directoryOf(w.open({ dirEntriesMax: 4 }).root, 'dir').list()).toBe('too-many-entries');
  });

  // The portable tree asks the system for O(depth) paths at each level.
  const levels = kind === 'portable' ? 200 : 1_000;
  it(`goes ${levels} levels down`, () => {
    const w = start([[Array(levels).fill('d'), { directory: true }]]);
    let dir = w.open().root;
    for (let level = 0; level < levels; level++) {
      const below = directoryOf(dir, 'd');
      dir.close();
      dir = below;
    }
    expect(dir.list()).toEqual([]);
  });

  it('leaves no descriptor open', () => {
    const w = start([['dir/file', 'x']]);
    const before = descriptorCount();
    for (let round = 0; round < 50; round++) {
      const tree = w.open();
      const dir = directoryOf(tree.root, 'dir');
      fileOf(dir, 'file');
      dir.file('none');
      dir.file('..');
      tree.root.file('dir');
      dir.directory('file');
      dir.again();
      dir.list();
      tree.close();
    }
    expect(descriptorCount()).toBe(before);
  });
});
