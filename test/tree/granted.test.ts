/** What wall 1 grants of a tree: nothing its bound denies, by whatever way it is asked for, and all the rest as it is. */

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Bound, type Verdict } from '../../dist/judge/bound.js';
import { granted } from '../../dist/tree/granted.js';
import { type Dir, failed, type Tree } from '../../dist/tree/tree.js';
import { TREES } from '../support/cities.js';
import { diskWorld, memoryWorld, type Things, type World } from './worlds.js';

const THINGS: Things = [
  ['lab/notes.md', 'notes'],
  ['lab/.env', 'BAIT'],
  ['lab/.git/config', 'BAIT'],
  ['lab/room/memo.md', 'memo'],
  ['lab/room/.Sprawling/ledger', 'BAIT'],
  ['lab/link', { link: '../vault/secret' }],
  ['lab/.env-link', { link: 'notes.md' }],
  ['.git/config', 'BAIT'],
  ['vault/secret', 'BAIT'],
  ['broken/secret', 'BAIT'],
  ['nobody-asked/secret', 'BAIT'],
  ['odd:name', 'no address'],
];
const BOUND = {
  reader: null,
  entries: new Map<string, Verdict>([
    ['lab', { kind: 'open' }],
    ['vault', { kind: 'confidential' }],
    ['broken', { kind: 'rules-unreadable', subject: 'its rules' }],
  ]),
  deny: ['**/.env*'],
};

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.end();
});

function open(kind: (typeof TREES)[number], things = THINGS): { tree: Tree; world: World } {
  const world = kind === 'memory' ? memoryWorld(things) : diskWorld(kind)(things);
  worlds.push(world);
  return { world, tree: world.open() };
}

function at(root: Dir, path: string): Dir {
  let dir = root;
  for (const name of path === '' ? [] : path.split('/')) {
    const next = dir.directory(name);
    if (failed(next)) throw new Error(`${name}: ${next}`);
    dir = next;
  }
  return dir;
}

/** All a directory can be asked of a name, in a form that can be compared. */
function everythingOf(dir: Dir, name: string): readonly unknown[] {
  const directory = dir.directory(name);
  const file = dir.file(name);
  const into = new Uint8Array(64);
  return [
    dir.look(name),
    failed(directory) ? directory : directory.identity,
    failed(file) ? file : [file.identity(), file.read(into, 0), into],
    dir.linkText(name),
    dir.stands(name),
  ];
}

const namesOf = (dir: Dir): readonly string[] => {
  const listed = dir.list();
  if (failed(listed)) throw new Error(listed);
  return listed.map(({ name }) => name).sort();
};

describe.each(TREES)('what is granted of a %s tree', (kind) => {
  it.each([
    ['', 'vault', 'a closed building'],
    ['', 'broken', 'a building whose rules do not read'],
    ['', 'nobody-asked', 'a building nobody was asked about'],
    ['', '.git', 'a reserved place'],
    ['', 'absent', 'a building that is not there'],
    ['', 'odd:name', 'a name that is no address'],
    ['lab', '.git', 'a reserved place below'],
    ['lab', '.GIT', 'the same, of another case'],
    ['lab/room', '.Sprawling', 'a reserved place deeper down'],
    ['lab', '.env', 'a file that a pattern covers'],
    ['lab', '.env-link', 'a link that a pattern covers'],
    ['lab', '.env-absent', 'nothing, where a pattern would cover it'],
  ])('in %j gives nothing of %j: %s', (place, name) => {
    const root = granted(open(kind).tree, new Bound(BOUND)).root;
    const again = at(root, place).again();
    if (failed(again)) throw new Error(again);
    for (const dir of [at(root, place), again]) {
      expect(everythingOf(dir, name)).toEqual(Array.from({ length: 5 }, () => 'not-granted'));
    }
  });

  it('gives every other name as the tree does', () => {
    const { tree } = open(kind);
    const root = granted(tree, new Bound(BOUND)).root;
    for (const [place, names] of [
      ['', ['lab']],
      ['lab', ['notes.md', 'room', 'link', 'absent', '', '.', '..', 'a/b', 'x'.repeat(300), '\ud800']],
      ['lab/room', ['memo.md', 'notes.md']],
    ] as const) {
      for (const name of names) {
        expect(everythingOf(at(root, place), name), name).toEqual(everythingOf(at(tree.root, place), name));
      }
      expect(at(root, place).identity).toEqual(at(tree.root, place).identity);
    }
  });

  it('lists what is met: closed buildings and what a pattern covers are not', () => {
    const root = granted(open(kind).tree, new Bound(BOUND)).root;
    expect(namesOf(root)).toEqual(['.git', 'broken', 'lab', 'odd:name']);
    expect(namesOf(at(root, 'lab'))).toEqual(['.git', 'link', 'notes.md', 'room']);
    expect(namesOf(at(root, 'lab/room'))).toEqual(['.Sprawling', 'memo.md']);
  });

  it('is the whole tree under the bound that opens everything', () => {
    const { tree } = open(kind);
    const root = granted(tree, Bound.openUnchecked()).root;
    for (const place of ['', 'lab', 'vault', 'lab/.git']) {
      expect(namesOf(at(root, place))).toEqual(namesOf(at(tree.root, place)));
    }
    expect(everythingOf(at(root, 'vault'), 'secret')).toEqual(everythingOf(at(tree.root, 'vault'), 'secret'));
  });

  it('is counted and closed by its tree, and its root is borrowed', () => {
    const { tree } = open(kind);
    const { root, spellings } = granted(tree, new Bound(BOUND));
    expect(spellings).toEqual(tree.spellings);
    const before = tree.openCount();
    const dir = at(root, 'lab');
    expect(tree.openCount()).toBe(before + 1);
    dir.close();
    root.close();
    expect(tree.openCount()).toBe(before);
    expect(namesOf(root)).toContain('lab');
    at(root, 'lab');
    tree.close();
    expect(tree.openCount()).toBe(0);
  });
});

// ---- a law ----

const name = fc.constantFrom('a', 'b', 'c', '.git', '.sprawling', '.env', 'x.pem', 'a:b');
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const verdict = fc.constantFrom<Verdict>({ kind: 'open' }, { kind: 'open' }, { kind: 'confidential' });
const pattern = fc.constantFrom('**/*.pem', '**/.env', 'a/b', 'c/**', 'x[y]');

/** Every address of a file that can be reached by names, listed or not. */
function reached(dir: Dir, names: readonly string[], prefix = ''): readonly string[] {
  return names.flatMap((each) => {
    const address = `${prefix}${each}`;
    const below = dir.directory(each);
    if (!failed(below)) return reached(below, names, `${address}/`);
    return failed(dir.file(each)) ? [] : [address];
  });
}

it('a file is reached in what is granted exactly if the bound lets it and every place above it pass', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(path, { maxLength: 8 }),
      fc.array(fc.tuple(name, verdict), { maxLength: 5 }),
      fc.array(pattern, { maxLength: 2 }),
      fc.constantFrom(null, 'a', 'b'),
      (paths, entries, deny, reader) => {
        // A file below a file cannot be laid out.
        const files = paths.filter((one) => !paths.some((other) => other !== one && one.startsWith(`${other}/`)));
        const { tree } = open(
          'memory',
          files.map((file) => [file, 'text']),
        );
        const bound = new Bound({ reader, entries: new Map(entries), deny });
        const names = ['a', 'b', 'c', '.git', '.sprawling', '.env', 'x.pem', 'a:b'];
        const all = reached(tree.root, names);
        const isOpen = (file: string): boolean =>
          file.split('/').every((_, end, segments) => bound.judge(segments.slice(0, end + 1).join('/')) === undefined);
        const some = reached(granted(tree, bound).root, names);
        expect(some).toEqual(all.filter(isOpen));
        seen.add(some.length === 0 ? 'none' : some.length < all.length ? 'some' : 'all');
      },
    ),
    { numRuns: 1_000 },
  );
  expect([...seen].sort()).toEqual(['all', 'none', 'some']);
});
