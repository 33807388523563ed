/** Laws of the resolver: on random cities it gives what a second, naive algorithm gives. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { segmentRule } from '../../dist/judge/address.js';
import type { Denial } from '../../dist/judge/bound.js';
import { release, resolve } from '../../dist/judge/locate.js';
import { LINK_HOPS_MAX } from '../../dist/limits.js';
import { City } from './city.js';
import { BOUND, bases, relative, SPELLINGS, shape, text, told } from './scenes.js';

// ---- a second algorithm: recursive over texts, and every place looked up anew from the root ----

interface Cursor {
  readonly names: readonly string[];
  readonly is: 'directory' | 'file' | 'other' | 'missing' | 'through-file';
  /** The text that ran into what is missing or no directory is a link's. */
  readonly byLink: boolean;
}

class Stop extends Error {}

class Naive {
  readonly #city: City;
  readonly #base: string;
  linked = false;
  #hops = 0;

  constructor(city: City, base: readonly string[]) {
    this.#city = city;
    this.#base = base.join('/');
  }

  walk(from: Cursor, path: string, byLink: boolean): Cursor {
    return path.split('/').reduce((cursor, part) => this.#step(cursor, part, byLink), from);
  }

  #step(cursor: Cursor, part: string, byLink: boolean): Cursor {
    const isFile = cursor.is === 'file' || cursor.is === 'other';
    const here: Cursor = isFile ? { ...cursor, is: 'through-file', byLink } : cursor;
    if (part === '' || part === '.') return here;
    if (part === '..') return this.#up(here, byLink);
    if (segmentRule(part) !== undefined) throw new Stop(`not-address ${byLink}`);
    const names = [...here.names, part];
    this.#judge(names);
    if (here.is !== 'directory') return { ...here, names };
    const node = this.#city.at(names.join('/'));
    if (node === undefined) return { names, is: 'missing', byLink };
    return node.kind === 'link' ? this.#follow(here, node.text) : { names, is: node.kind, byLink };
  }

  #up(here: Cursor, byLink: boolean): Cursor {
    const names = here.names.slice(0, -1);
    const above = names.join('/');
    const leavesBase = !byLink && above !== this.#base && `${this.#base}/`.startsWith(above === '' ? '' : `${above}/`);
    if (here.names.length === 0 || leavesBase) throw new Stop(`outside ${this.linked}`);
    return { ...here, names };
  }

  #judge(names: readonly string[]): void {
    const denial: Denial | undefined = BOUND.judge(names.join('/'));
    if (denial !== undefined) throw new Stop(`denied ${denial.kind} ${this.linked}`);
  }

  #follow(from: Cursor, target: string): Cursor {
    this.linked = true;
    if (++this.#hops > LINK_HOPS_MAX) throw new Stop('unresolved');
    const inside = /^\/(?:city|real)(?:\/|$)(.*)$/.exec(target)?.[1];
    if (inside !== undefined) return this.walk({ names: [], is: 'directory', byLink: true }, inside, true);
    if (target.startsWith('/')) throw new Stop('outside true');
    if (target === '') throw new Stop('unresolved');
    return this.walk(from, target, true);
  }
}

function naive(city: City, base: readonly string[], path: string): string {
  const algorithm = new Naive(city, base);
  try {
    if (path.startsWith('/')) return 'outside false';
    const { names, is, byLink } = algorithm.walk({ names: base, is: 'directory', byLink: false }, path, false);
    if (is !== 'missing' && is !== 'through-file') return `${is} ${names.join('/')} ${algorithm.linked}`;
    if (byLink) return 'unresolved';
    return is === 'missing' ? `absent ${algorithm.linked}` : `through-file ${algorithm.linked}`;
  } catch (thrown) {
    if (thrown instanceof Stop) return thrown.message;
    throw thrown;
  }
}

const scene = fc.record({ shape, pick: fc.nat(), path: fc.oneof(relative, text) });
const runs = { numRuns: 3_000 };

it('on random trees of links, resolve agrees with a naive algorithm that knows only texts', () => {
  const met = new Set<string>();
  fc.assert(
    fc.property(scene, ({ shape, pick, path }) => {
      const city = new City(shape);
      const all = bases(city);
      const base = all[pick % all.length] ?? [];
      const expected = naive(city, base, path);
      met.add(expected.split(' ')[0] ?? '');
      expect(told(city.root, base, path)).toBe(expected);
    }),
    runs,
  );
  // The law would be empty if the random trees led to one kind of answer only.
  for (const kind of [
    'directory',
    'file',
    'absent',
    'denied',
    'outside',
    'unresolved',
    'through-file',
    'not-address',
  ]) {
    expect(met).toContain(kind);
  }
});

it('resolve lands on no place that is outside, closed or reserved, and on no link', () => {
  fc.assert(
    fc.property(scene, ({ shape, path }) => {
      const city = new City(shape);
      const landing = resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path });
      release(landing);
      if (landing.kind !== 'directory' && landing.kind !== 'entry') return;
      expect(BOUND.judge(landing.address)).toBeUndefined();
      const node = landing.address === '' ? city.top : city.at(landing.address);
      expect(node?.kind).toBe(landing.kind === 'directory' ? 'directory' : landing.look.kind);
      expect(node?.kind).not.toBe('link');
    }),
    runs,
  );
});

it('resolve asks the disk of no place that the bound closes, and leaves no handle open', () => {
  fc.assert(
    fc.property(scene, ({ shape, path }) => {
      const city = new City(shape);
      release(resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path }));
      for (const { address } of city.log) expect(BOUND.judge(address)).toBeUndefined();
      expect(city.open).toBe(0);
    }),
    runs,
  );
});
