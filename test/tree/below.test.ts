/** A directory as a tree of its own: what stands below it is reached, what stands beside it is not, over every tree. */

import { afterEach, describe, expect, it } from 'vitest';
import { Bound } from '../../dist/judge/bound.js';
import { release, resolve } from '../../dist/judge/locate.js';
import { below } from '../../dist/tree/below.js';
import { memoryCity } from '../../dist/tree/memory.js';
import { failed, type Tree } from '../../dist/tree/tree.js';
import { diskWorld, type MakeWorld, memoryWorld, opened, type World } from './worlds.js';

const WORLDS: readonly (readonly [string, MakeWorld])[] = [
  ...(process.platform === 'linux' ? [['linux', diskWorld('linux')] as const] : []),
  ['portable', diskWorld('portable')],
  ['memory', memoryWorld],
];

describe.each(WORLDS)('a place below the %s tree', (_, make) => {
  let world: World | undefined;
  const open = (): Tree => {
    world = make([
      ['.sprawling', { directory: true }],
      ['.sprawling/shelf', { directory: true }],
      ['.sprawling/shelf/page', 'inside'],
      ['.sprawling/shelf/here', { link: 'page' }],
      ['.sprawling/shelf/out', { link: '../beside' }],
      ['.sprawling/shelf/up', { link: '..' }],
      ['.sprawling/beside', 'beside'],
      ['.sprawling/other', { link: 'shelf' }],
    ]);
    return world.open();
  };
  afterEach(() => {
    world?.end();
    world = undefined;
  });
  const landingOf = (tree: Tree, path: string): string => {
    const scene = { root: tree.root, spellings: tree.spellings, bound: Bound.ofPlace('.sprawling/shelf') };
    const landing = resolve(scene, { base: [], path });
    release(landing);
    return landing.kind === 'entry' ? landing.address : landing.kind;
  };
  const shelf = (tree: Tree): Tree => {
    const place = below(tree, ['.sprawling', 'shelf']);
    if (failed(place)) throw new Error(place);
    return place;
  };

  it('reaches what stands in it, by name and by a link that stays in it', () => {
    const place = shelf(open());
    expect(landingOf(place, 'page')).toBe('page');
    expect(landingOf(place, 'here')).toBe('page');
    place.close();
  });

  it('ends at its own root: a link to beside it or above it leads outside', () => {
    const place = shelf(open());
    expect(landingOf(place, 'out')).toBe('outside');
    expect(landingOf(place, 'up/beside')).toBe('outside');
    place.close();
  });

  it('is spelled as the tree above spells it', () => {
    const tree = open();
    const place = shelf(tree);
    expect(place.spellings.entered).toBe(`${tree.spellings.entered}/.sprawling/shelf`);
    expect(place.spellings.real).toBe(`${tree.spellings.real}/.sprawling/shelf`);
    place.close();
  });

  it.each([
    [['.sprawling', 'other'], 'is-link', 'a link on the way is not followed'],
    [['.sprawling', 'none'], 'no-entry', 'a name that is not there'],
    [['.sprawling', 'beside'], 'not-directory', 'a file'],
    [['.SPRAWLING', 'shelf'], 'no-entry', 'another spelling of the name'],
    [['.sprawling', '..'], 'bad-name', 'what is no plain name'],
  ])('%j is %s: %s', (segments, failure) => {
    const tree = open();
    const before = tree.openCount();
    expect(below(tree, segments)).toBe(failure);
    expect(tree.openCount()).toBe(before);
  });

  it('holds what it opened until it is closed, and nothing after', () => {
    const tree = open();
    const before = tree.openCount();
    const place = shelf(tree);
    expect(tree.openCount()).toBe(before + 1);
    place.close();
    place.close();
    expect(tree.openCount()).toBe(before);
  });
});

describe('a place below a tree that folds names', () => {
  it('is reached by its own spelling, and by no other', () => {
    const city = memoryCity([['.sprawling/shelf/page', 'inside']], { foldsNames: true });
    const folds = opened({ kind: 'memory', city });
    expect(failed(below(folds, ['.sprawling', 'shelf']))).toBe(false);
    expect(below(folds, ['.Sprawling', 'shelf'])).toBe('no-entry');
    expect(below(folds, ['.sprawling', 'SHELF'])).toBe('no-entry');
    folds.close();
  });
});

describe('the bound of one place', () => {
  const bound = Bound.ofPlace('.sprawling/library/tools/lint', ['**/.env', '.sprawling/library/*/*/secret/**']);

  it.each([
    ['SKILL.md', undefined, 'everything below is open'],
    ['.git/config', undefined, 'reserved names too: the place was judged as one thing'],
    ['sub/.env', 'pattern', 'but for a deny pattern, asked of the address there'],
    ['secret/key', 'pattern', 'and of the address in the city'],
  ])('judges %s %s: %s', (address, kind, _why) => {
    expect(bound.judge(address)?.kind).toBe(kind);
  });

  it('is no table: it crosses to no worker', () => {
    expect(() => bound.table()).toThrow();
  });
});
