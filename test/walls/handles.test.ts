/**
 * Wall 2 against a guest that misuses its handles: dropped, of the wrong type, too many, kept while a neighbour moves
 * what they stand for. Asked of the file system as both bindings ask it, without a component between.
 */

import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

import { Bound } from '../../dist/judge/bound.js';
import * as limits from '../../dist/limits.js';
import type { Tree } from '../../dist/tree/tree.js';
import type { ErrorCode } from '../../dist/wasi/codes.js';
import { Filesystem, type FilesystemOptions } from '../../dist/wasi/filesystem.js';
import { type DirHandle, type FileHandle, type Handle, isCode, type OpenAt } from '../../dist/wasi/handles.js';
import { ALLOWANCE, type Allowance, Meter } from '../../dist/wasi/meter.js';
import { TREES } from '../support/cities.js';
import { type DiskWorld, descriptorCount, diskWorld, memoryWorld, type Things, type World } from '../tree/worlds.js';

const THINGS: Things = [
  ['lab/notes.md', 'notes'],
  ['lab/room/memo.md', 'memo'],
  ['lab/room/deep/down.md', 'down'],
  ['hall/minutes.md', 'minutes'],
  ['vault/secret', 'BAIT'],
];

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).reverse()) end();
});

interface Scene {
  readonly world: World;
  readonly tree: Tree;
  readonly filesystem: Filesystem;
  readonly root: Handle;
}

function scene(
  kind: (typeof TREES)[number],
  options: Partial<FilesystemOptions> & { readonly allowance?: Partial<Allowance> } = {},
): Scene {
  const world = kind === 'memory' ? memoryWorld(THINGS) : diskWorld(kind)(THINGS);
  ends.push(() => world.end());
  const tree = world.open();
  const { allowance, ...rest } = options;
  const filesystem = new Filesystem({
    tree,
    bound: new Bound({ reader: null, entries: new Map(['lab', 'hall'].map((name) => [name, { kind: 'open' }])) }),
    meter: new Meter({ ...ALLOWANCE, ...allowance }, 60_000),
    preopen: { kind: 'directory', shown: '', path: '' },
    ...rest,
  });
  const preopened = filesystem.preopened();
  if (isCode(preopened)) throw new Error(preopened);
  return { world, tree, filesystem, root: preopened.handle };
}

const asking = (name: string, directory: boolean): OpenAt => ({ follow: true, path: name, directory, mutates: false });

function directory({ filesystem }: Scene, from: Handle, name: string): DirHandle {
  const opened = filesystem.openAt(from, asking(name, true));
  if (isCode(opened) || opened.kind !== 'directory') throw new Error(`${name} did not open: ${String(opened)}`);
  return opened;
}

function file({ filesystem }: Scene, from: Handle, name: string): FileHandle {
  const opened = filesystem.openAt(from, asking(name, false));
  if (isCode(opened) || opened.kind !== 'file') throw new Error(`${name} did not open: ${String(opened)}`);
  return opened;
}

const codeOf = (given: unknown): ErrorCode | 'opened' => (isCode(given) ? given : 'opened');
const read = ({ filesystem }: Scene, from: Handle) => filesystem.read(from, new Uint8Array(64), 0);

describe.each(TREES)('%s: a deny pattern on the way a start was written', (kind) => {
  it('is held at the open too, whatever the guest was shown, and where the name really is as well', () => {
    const { filesystem, root } = scene(kind, {
      bound: new Bound({
        reader: null,
        entries: new Map([['lab', { kind: 'open' }]]),
        deny: ['hall/alias/notes.md', 'hall/alias/room/deep', 'lab/room/memo.md'],
      }),
      // `hall/alias` is a link to `lab`: wall 1 landed it.
      preopen: { kind: 'directory', shown: 'hall/alias', path: 'lab' },
    });
    expect(filesystem.openAt(root, asking('notes.md', false))).toBe('not-permitted');
    const room = filesystem.openAt(root, asking('room', true));
    if (isCode(room)) throw new Error(room);
    expect(filesystem.openAt(room, asking('deep', true))).toBe('not-permitted');
    expect(filesystem.openAt(room, asking('memo.md', false))).toBe('not-permitted');
    filesystem.close();
  });
});

describe.each(TREES)('%s', (kind) => {
  it('answers a code where a handle is of the wrong type', () => {
    const made = scene(kind);
    const lab = directory(made, made.root, 'lab');
    const notes = file(made, lab, 'notes.md');
    const stream = made.filesystem.readDirectory(lab);
    if (isCode(stream)) throw new Error(stream);
    const { filesystem } = made;
    expect({
      'a file opened from': filesystem.openAt(notes, asking('x', false)),
      'a file listed': filesystem.readDirectory(notes),
      'a file taken for a listing': filesystem.readEntry(notes),
      'a listing opened from': filesystem.openAt(stream, asking('notes.md', false)),
      'a listing listed': filesystem.readDirectory(stream),
      'a listing read': read(made, stream),
      'a directory read': read(made, lab),
      'a directory taken for a listing': filesystem.readEntry(lab),
    }).toEqual({
      'a file opened from': 'not-directory',
      'a file listed': 'not-directory',
      'a file taken for a listing': 'bad-descriptor',
      'a listing opened from': 'not-directory',
      'a listing listed': 'not-directory',
      'a listing read': 'is-directory',
      'a directory read': 'is-directory',
      'a directory taken for a listing': 'bad-descriptor',
    });
  });

  it('gives a dropped handle nothing more, and drops twice as once', () => {
    const made = scene(kind);
    const lab = directory(made, made.root, 'lab');
    const notes = file(made, lab, 'notes.md');
    made.filesystem.drop(notes);
    made.filesystem.drop(notes);
    expect(codeOf(read(made, notes))).not.toBe('opened');
    const before = made.tree.openCount();
    made.filesystem.drop(lab);
    made.filesystem.drop(lab);
    expect(made.tree.openCount()).toBe(before - 1);
    expect(made.filesystem.liveCount).toBe(1);
  });

  it('refuses every flag that would change something', () => {
    const made = scene(kind);
    for (const name of ['lab', 'new', 'lab/notes.md', '../x', '']) {
      for (const directory of [true, false]) {
        const asked = { follow: true, path: name, directory, mutates: true };
        expect(made.filesystem.openAt(made.root, asked), name).toBe('read-only');
      }
    }
    const notes = file(made, directory(made, made.root, 'lab'), 'notes.md');
    expect(made.filesystem.openAt(notes, { ...asking('x', false), mutates: true })).toBe('not-directory');
    expect(codeOf(made.filesystem.openAt(made.root, asking('new', false)))).not.toBe('opened');
  });

  it('a view of one file opens exactly its one name', () => {
    const preopen = { kind: 'single', shown: 'lab', name: 'notes.md', path: 'lab/notes.md' } as const;
    const made = scene(kind, { preopen });
    const asked = ['room', 'room/memo.md', './notes.md', 'notes.md/', 'notes.md/.', '..', '../hall/minutes.md', ''];
    for (const name of [...asked, '.', 'NOTES.md', 'notes.md\0', '/lab/notes.md', 'lab/notes.md']) {
      expect(made.filesystem.openAt(made.root, asking(name, false)), name).toBe('no-entry');
      expect(made.filesystem.openAt(made.root, asking(name, true)), name).toBe('no-entry');
    }
    expect(codeOf(read(made, file(made, made.root, 'notes.md')))).toBe('opened');
    const stream = made.filesystem.readDirectory(made.root);
    if (isCode(stream)) throw new Error(stream);
    expect(made.filesystem.readEntry(stream)).toMatchObject({ name: 'notes.md' });
    expect(made.filesystem.readEntry(stream)).toBeUndefined();
  });

  it('a view of one file is no way into a closed building, even if it is handed one', () => {
    const made = scene(kind, { preopen: { kind: 'single', shown: 'vault', name: 'secret', path: 'vault/secret' } });
    expect(made.filesystem.openAt(made.root, asking('secret', false))).toBe('not-permitted');
  });

  it('ends a flood of handles with a quota, and gives everything back', () => {
    const made = scene(kind, { allowance: { handles: 100 } });
    const lab = directory(made, made.root, 'lab');
    const opened = Array.from({ length: 1_000 }, () => codeOf(made.filesystem.openAt(lab, asking('notes.md', false))));
    expect(opened.filter((code) => code === 'opened')).toHaveLength(98); // the root and lab are held, too
    expect(new Set(opened.slice(98))).toEqual(new Set(['quota']));
    expect(made.filesystem.readDirectory(lab)).toBe('quota');
    expect(made.tree.openCount()).toBeLessThanOrEqual(101);
    made.filesystem.close();
    made.tree.close();
    expect(made.tree.openCount()).toBe(0);
  });

  it('a directory that was moved away opens no directory below it', () => {
    const made = scene(kind);
    const room = directory(made, directory(made, made.root, 'lab'), 'room');
    if (kind === 'memory') made.world.remove('lab/room');
    else fs.renameSync(path.join((made.world as DiskWorld).root, 'lab/room'), outsideOf(made.world));
    expect(made.filesystem.openAt(room, asking('deep', true))).toBe('no-entry');
    // What leads through it is walked from the root again, where it is not any more.
    expect(codeOf(made.filesystem.openAt(room, asking('deep/down.md', false)))).not.toBe('opened');
    expect(codeOf(made.filesystem.openAt(room, asking('./memo.md', false)))).not.toBe('opened');
  });

  it('a parked directory is opened again only if it is the same one', () => {
    const made = scene(kind, { heldDirsMax: 2 });
    const lab = directory(made, made.root, 'lab');
    const room = directory(made, lab, 'room');
    const deep = directory(made, room, 'deep');
    expect(lab.dir).toBeUndefined(); // parked: two are held
    made.world.move('lab/room', 'lab/gone');
    made.world.put('lab/room/memo.md', 'another room’s');
    expect(codeOf(read(made, file(made, lab, 'notes.md')))).toBe('opened'); // lab is where it was
    expect(room.dir).toBeUndefined();
    expect(codeOf(made.filesystem.openAt(room, asking('memo.md', false)))).toBe('no-entry');
    expect(isCode(made.filesystem.readDirectory(room))).toBe(true);
    expect(codeOf(made.filesystem.openAt(deep, asking('down.md', true)))).not.toBe('opened');
  });

  it('a parked directory is not opened again through a link that was put in its place', () => {
    const made = scene(kind, { heldDirsMax: 2 });
    const lab = directory(made, made.root, 'lab');
    const room = directory(made, lab, 'room');
    directory(made, room, 'deep');
    made.world.move('lab', 'laboratory');
    made.world.put('lab', { link: 'laboratory' }); // leads to the very same directory
    expect(codeOf(made.filesystem.openAt(lab, asking('notes.md', false)))).toBe('no-entry');
  });

  it('a name that was listed and became an alias or a closed place meanwhile is judged when it opens', () => {
    const made = scene(kind);
    const stream = made.filesystem.readDirectory(made.root);
    if (isCode(stream)) throw new Error(stream);
    expect(stream.entries.map(({ name }) => name).sort()).toEqual(['hall', 'lab']); // vault is not met
    for (const name of ['vault', 'vault/secret', './vault/secret', 'lab/../vault/secret'])
      for (const directory of [true, false])
        expect(made.filesystem.openAt(made.root, asking(name, directory)), name).toBe('not-permitted');
  });
});

const outsideOf = (world: World): string => path.join((world as DiskWorld).outside, 'moved');

it('10⁵ opens without a drop end at the quota, and leave no descriptor', () => {
  const before = descriptorCount();
  const made = scene('linux');
  const lab = directory(made, made.root, 'lab');
  let opened = 0;
  for (let asked = 0; asked < 100_000; asked++) {
    const name = asked % 2 === 0 ? 'notes.md' : 'room';
    if (!isCode(made.filesystem.openAt(lab, asking(name, asked % 2 === 1)))) opened++;
  }
  expect(opened).toBe(limits.HANDLES_MAX - 2);
  // Files hold a descriptor each; of directories only the last few do.
  expect(descriptorCount() - before).toBeLessThan(limits.HANDLES_MAX / 2 + limits.HELD_DIRS_MAX + 16);
  made.filesystem.close();
  expect(made.filesystem.liveCount).toBe(0);
  made.tree.close();
  for (const end of ends.splice(0)) end();
  expect(made.tree.openCount()).toBe(0);
  expect(descriptorCount()).toBe(before);
});

it('listings are handles too: 10⁵ of them end at the quota', () => {
  const made = scene('memory');
  const codes = Array.from({ length: 100_000 }, () => codeOf(made.filesystem.readDirectory(made.root)));
  expect(codes.filter((code) => code === 'opened')).toHaveLength(limits.HANDLES_MAX - 1);
  expect(codes.at(-1)).toBe('quota');
});
