/** Random cities, the routes asked in them, and the words in which two ways to resolve one are compared. */

import fc from 'fast-check';
import { Bound, type Verdict } from '../../dist/judge/bound.js';
import { release, resolve } from '../../dist/judge/locate.js';
import type { Place, RootSpellings } from '../../dist/judge/place.js';
import { type City, fifo, link, type Node, type Shape } from './city.js';

export const SPELLINGS: RootSpellings = { entered: '/city', real: '/real', style: 'posix' };
const VERDICTS: [string, Verdict][] = [
  ['a', { kind: 'open' }],
  ['b', { kind: 'open' }],
  ['c', { kind: 'confidential' }],
];
export const BOUND = new Bound({ reader: null, entries: new Map(VERDICTS) });

// ---- random cities over a tiny alphabet, so that links meet what they name ----

const name = fc.constantFrom('a', 'b', 'c', '.git');
const segment = fc.constantFrom('a', 'a', 'b', 'b', 'c', '..', '..', '.', '', '.git', 'x', 'a:b');
/** Relative paths, most of them odd. */
export const relative = fc.array(segment, { minLength: 1, maxLength: 5 }).map((names) => names.join('/'));
/** What a link might say. */
export const text = fc.oneof(
  { weight: 4, arbitrary: relative },
  { weight: 1, arbitrary: relative.map((rest) => `/city/${rest}`) },
  { weight: 1, arbitrary: fc.constantFrom('/city', '/real/a', '/citya', '/etc') },
);
export const { city: shape } = fc.letrec<{ city: Shape; node: string | Node | Shape }>((tie) => ({
  city: fc.dictionary(name, tie('node'), { maxKeys: 4, noNullPrototype: true }),
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<string | Node>('text', fifo),
    text.map(link),
    tie('city'),
  ),
}));

/** Where a route ends, in words to be compared; the landing is given back. */
export function told<D extends Place<D>>(root: D, base: readonly string[], path: string): string {
  const landing = resolve({ root, spellings: SPELLINGS, bound: BOUND }, { base, path });
  release(landing);
  switch (landing.kind) {
    case 'directory':
      return `directory ${landing.address} ${landing.linked}`;
    case 'entry':
      return `${landing.look.kind} ${landing.address} ${landing.linked}`;
    case 'denied':
      return `denied ${landing.denial.kind} ${landing.linked}`;
    case 'failed':
      return `failed ${landing.failure}`;
    case 'alias':
    case 'unresolved':
      return landing.kind;
    default:
      return `${landing.kind} ${landing.linked}`;
  }
}

/** Directories that are reached without a link and may be read: the bases there are. */
export function bases(city: City): readonly (readonly string[])[] {
  const found: string[][] = [[]];
  for (const base of found) {
    const node = base.length === 0 ? city.top : city.at(base.join('/'));
    if (node?.kind !== 'directory') continue;
    for (const [child, { kind }] of node.names) {
      const names = [...base, child];
      if (kind === 'directory' && BOUND.judge(names.join('/')) === undefined) found.push(names);
    }
  }
  return found;
}
