/** `deny` patterns: what they mean, and that both walls hold them. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Bound } from '../../dist/judge/bound.js';
import { compileDeny, isDenied, isEvaluable } from '../../dist/judge/deny.js';
import { inEverySetting } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';

const denies = (pattern: string, address: string): boolean => isDenied(compileDeny([pattern]), address);

describe('a deny pattern', () => {
  it.each<[string, string, boolean, string]>([
    ['**/.env', '.env', true, '** is any number of segments, none too'],
    ['**/.env', 'lab/.env', true, 'one'],
    ['**/.env', 'lab/a/b/.env', true, 'many'],
    ['**/.env', 'lab/.envrc', false, 'a whole segment'],
    ['**/.env', 'lab/.env/inside', true, 'what is below a denied directory'],
    ['**/.env', 'lab/.ENV', true, 'no case'],
    ['**/*.pem', 'keys/server.pem', true, '* is any run in a segment'],
    ['**/*.pem', 'keys/server.pem.txt', false, 'the end is the end'],
    ['**/*.pem', 'keys/.pem', true, 'an empty run too'],
    ['**/*.PEM', 'keys/Server.Pem', true, 'the pattern has no case either'],
    ['lab/secret', 'lab/secret', true, 'a plain path'],
    ['lab/secret', 'lab/secret/deep/er', true, 'and what is below it'],
    ['lab/secret', 'lab/secrets', false, 'not a longer name'],
    ['lab/secret', 'hall/lab/secret', false, 'from the top'],
    ['lab/**', 'lab', false, 'what is below lab, not lab'],
    ['lab/**', 'lab/x', true, 'below'],
    ['**/x/**', 'x/y', true, 'both ends open'],
    ['**/x/**', 'a/x', false, 'nothing below it'],
    ['**', 'anything', true, 'everything'],
    ['lab/?', 'lab/é', true, '? is one character, however many bytes'],
    ['lab/?', 'lab/😀', true, 'or code units'],
    ['lab/?', 'lab/ab', false, 'one'],
    ['**/ſecret', 'lab/SECRET', true, 'forms that fold to one another'],
    ['**/K.key', 'lab/\u212A.key', true, 'the Kelvin sign is a K'],
    ['*.pem', 'a／b.pem', true, 'a name with what folds to a slash is one name'],
    ['lab/*.key', 'lab/x℅y.key', true, 'also where the slash is inside of what it folds to'],
    ['a／b', 'a/b', false, 'in a pattern too'],
    ['a／b', 'a／b', true, 'where it stands for itself'],
    ['lab/?', 'lab/ﬁ', true, '? is one character as it shows, however many it folds to'],
    ['lab/?.TXT', 'lab/İ.txt', true, 'or has in small letters'],
    ['lab/?', 'lab/e\u0301', true, 'or is written with'],
    ['lab/fi', 'lab/ﬁ', true, 'and what it folds to is matched as well'],
    ['a*b*c', 'aXbXbXc', true, 'goes back to the last star'],
    ['lab', '', false, 'the city itself'],
  ])('%s on %j: %s (%s)', (pattern, address, denied) => {
    expect(denies(pattern, address)).toBe(denied);
  });

  it.each(['', '/x', 'x/', 'a//b', './a', 'a/../b', '[ab]', '{a,b}', 'a\\b', '!a', '\ud800'])(
    'that is not evaluated closes everything: %j',
    (pattern) => {
      expect(isEvaluable(pattern)).toBe(false);
      expect(denies(pattern, 'lab/anything')).toBe(true);
      expect(denies(pattern, '')).toBe(true);
    },
  );

  it('agrees with a naive matcher', () => {
    const part = fc.constantFrom('**', '*', 'a', 'b', 'a*', '*b', '?', 'ab', 'a*b');
    const segment = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab', 'x');
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.array(segment, { minLength: 1, maxLength: 5 }),
        (pattern, path) => {
          const naive = path.some((_, end) => naiveMatch(pattern, path.slice(0, end + 1), pattern.at(-1) === '**'));
          expect(denies(pattern.join('/'), path.join('/'))).toBe(naive);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('costs the product of pattern and path, also against patterns made to go back: others would not end', () => {
    // Five million steps. With the square of the path they were 10^11, with every way to match more than can be counted.
    expect(denies(`${'a*'.repeat(40)}b`, 'a'.repeat(60_000))).toBe(false);
    expect(denies(`${'a*'.repeat(40)}b`, `${'a'.repeat(60_000)}b`)).toBe(true);
  });
});

/** By recursion over every way to match; a last `**` takes one segment at least. */
function naiveMatch(pattern: readonly string[], path: readonly string[], lastTakes: boolean): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '**') {
    const least = rest.length === 0 && lastTakes ? 1 : 0;
    for (let taken = least; taken <= path.length; taken++)
      if (naiveMatch(rest, path.slice(taken), lastTakes)) return true;
    return false;
  }
  const [head, ...tail] = path;
  const asRegExp = new RegExp(`^${first.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'u');
  return head !== undefined && asRegExp.test(head) && naiveMatch(rest, tail, lastTakes);
}

describe('a bound with deny patterns', () => {
  it('denies at home too, before any verdict, and after the reserved rule', () => {
    const bound = new Bound({ reader: 'lab', entries: new Map([['hall', { kind: 'open' }]]), deny: ['**/.env'] });
    expect(bound.judge('lab/.env')).toEqual({ kind: 'pattern' });
    expect(bound.judge('hall/x/.env')).toEqual({ kind: 'pattern' });
    expect(bound.judge('vault/.env')).toEqual({ kind: 'pattern' });
    expect(bound.judge('lab/.git/.env')).toEqual({ kind: 'reserved' });
    expect(bound.judge('lab/env')).toBeUndefined();
  });

  it('keeps them through table() and with()', () => {
    const bound = new Bound({ reader: null, entries: new Map(), deny: ['x'] }).with('x', { kind: 'open' });
    expect(new Bound(bound.table()).judge('x')).toEqual({ kind: 'pattern' });
  });
});

const THINGS: Things = [
  ['lab/a.txt', 'needle'],
  ['lab/.env', 'needle'],
  ['lab/keys/k.pem', 'needle'],
  ['lab/link', { link: '.env' }],
  ['private/x', 'needle'],
];
const DENY = ['**/.env', '**/*.pem', 'private'];

describe('denied by pattern', () => {
  it('is met by no search, and no number tells that it is there', () =>
    inEverySetting(THINGS, async (city) => {
      const found = asValue(await city.search({ text: 'needle' }, { deny: DENY }));
      expect(found.matches.map(({ path }) => path)).toEqual(['lab/a.txt']);
      // The city, lab, lab/keys; a.txt; the link that is refused.
      expect(found.coverage).toMatchObject({ entries: 5, directories: 3, looked: 1, links: 1 });
    }));

  it('is refused by name, through a link, and as a start place, and is near nothing', () =>
    inEverySetting(THINGS, async (city) => {
      for (const path of ['lab/.env', 'lab/.ENV', 'lab/keys/k.pem', 'private/x', 'private/absent', 'lab/link']) {
        expect(asError(await city.read({ path }, { deny: DENY })).code).toBe('E_GATE_DENIED');
      }
      expect(asError(await city.search({ text: 'x', path: 'private' }, { deny: DENY })).code).toBe('E_GATE_DENIED');
      expect(asError(await city.read({ path: 'lab/.enw' }, { deny: DENY })).nearby).not.toContain('lab/.env');
    }));

  it('holds with the judge taken down, and with the file system’s bound taken down', () =>
    inEverySetting(THINGS, async (city) => {
      for (const openUnchecked of ['judge', 'filesystem'] as const) {
        const read = asError(await city.read({ path: 'lab/.env' }, { deny: DENY, unchecked: { openUnchecked } }));
        expect(read.code).toBe('E_GATE_DENIED');
        const found = await city.search({ text: 'needle' }, { deny: DENY, unchecked: { openUnchecked } });
        const paths = found.ok ? found.value.matches.map(({ path }) => path) : [];
        expect(paths.filter((path) => path !== 'lab/a.txt')).toEqual([]);
      }
    }));
});
