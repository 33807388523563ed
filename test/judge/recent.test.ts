/** A place that remembers the directory last entered: it answers as the plain one does, with one open a directory. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { release, resolve } from '../../dist/judge/locate.js';
import { failed } from '../../dist/judge/place.js';
import { Recent } from '../../dist/judge/recent.js';
import { City, link } from './city.js';
import { BOUND, bases, relative, SPELLINGS, shape, text, told } from './scenes.js';

const scene = (city: City) => ({ root: new Recent(city.root), spellings: SPELLINGS, bound: BOUND });
const opened = (city: City): string[] =>
  city.log.filter(({ operation }) => operation === 'directory').map(({ address }) => address);

describe('on random trees of links', () => {
  const route = fc.record({ pick: fc.nat(), path: fc.oneof(relative, text) });
  const routes = fc.array(route, { minLength: 1, maxLength: 12 });

  it('resolves any row of routes as the plain place does, asks of no closed place, and forgets all it opened', () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(shape, routes, (tree, asked) => {
        const city = new City(tree);
        const all = bases(city);
        const root = new Recent(city.root);
        for (const { pick, path } of asked) {
          const base = all[pick % all.length] ?? [];
          const plain = told(city.root, base, path);
          met.add(plain.split(' ')[0] ?? '');
          expect(told(root, base, path)).toBe(plain);
        }
        for (const { address } of city.log) expect(BOUND.judge(address)).toBeUndefined();
        root.forget();
        expect(city.open).toBe(0);
      }),
      { numRuns: 2_000 },
    );
    for (const kind of ['directory', 'file', 'absent', 'denied', 'outside', 'unresolved', 'through-file']) {
      expect(met).toContain(kind);
    }
  });

  it('opens each directory once for all places in walk order, and holds one a level at most', () => {
    fc.assert(
      fc.property(shape, (tree) => {
        const city = new City(tree);
        const root = new Recent(city.root);
        for (const address of walked(city)) {
          expect(told(root, [], address)).toMatch(
            new RegExp(`^(directory|file|other) ${address.replaceAll('.', '\\.')} `),
          );
          expect(city.open).toBeLessThanOrEqual(address.split('/').length);
        }
        expect(opened(city)).toEqual([...new Set(opened(city))]);
        root.forget();
        expect(city.open).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});

/** Every place without a link that may be read, but the root, in the order of a walk. */
function walked(city: City): string[] {
  const places: string[] = [];
  const below = (names: readonly string[]): void => {
    const node = names.length === 0 ? city.top : city.at(names.join('/'));
    if (node?.kind !== 'directory') return;
    for (const name of [...node.names.keys()].sort()) {
      const address = [...names, name].join('/');
      if (BOUND.judge(address) !== undefined || node.names.get(name)?.kind === 'link') continue;
      places.push(address);
      below([...names, name]);
    }
  };
  below([]);
  return places;
}

describe('a place that remembers', () => {
  const TREE = { a: { one: 'x', two: 'y', deep: { three: 'z' }, 'to-b': link('../b/four') }, b: { four: 'w' } };

  it('looks at a directory on the way once, and at each file every time', () => {
    const city = new City(TREE);
    const { root } = scene(city);
    for (const path of ['a/deep/three', 'a/one', 'a/two', 'a/two']) told(root, [], path);
    const looks = city.log.filter(({ operation }) => operation === 'look').map(({ address }) => address);
    expect(looks).toEqual(['a', 'a/deep', 'a/deep/three', 'a/one', 'a/two', 'a/two']);
    expect(opened(city)).toEqual(['a', 'a/deep']);
  });

  it('gives a landing whose directory is open, also over a link that leaves what was entered', () => {
    const city = new City(TREE);
    const within = scene(city);
    told(within.root, [], 'a/deep/three');
    const landing = resolve(within, { base: [], path: 'a/to-b' });
    expect(landing).toMatchObject({ kind: 'entry', address: 'b/four' });
    if (landing.kind !== 'entry') return;
    const file = landing.parent.file(landing.name);
    expect(failed(file)).toBe(false);
    if (!failed(file)) file.close();
    release(landing);
    within.root.forget();
    expect(city.open).toBe(0);
  });

  it('remembers no failure', () => {
    const city = new City(TREE);
    const { root } = scene(city);
    for (const operation of ['look', 'directory'] as const) {
      city.failures.set(`${operation} a`, 'io');
      expect(told(root, [], 'a/one')).toBe('failed io');
      city.failures.clear();
      expect(told(root, [], 'a/one')).toBe('file a/one false');
      root.forget();
    }
  });

  it('sees what is there now once it forgot', () => {
    const city = new City(TREE);
    const { root } = scene(city);
    expect(told(root, [], 'a/one')).toBe('file a/one false');
    city.top.names.delete('a');
    root.forget();
    expect(city.open).toBe(0);
    expect(told(root, [], 'a/one')).toBe('absent false');
  });
});
