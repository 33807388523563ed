/** Judging a name in a place that passed is judging the whole address: what wall 2's walk relies on. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Bound, type Verdict } from '../../dist/judge/bound.js';

/** Names that are reserved, spelled nearly so, denied by a pattern, or none of these. */
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'c', 'home', 'x.pem', 'X.PEM', '.env', 'secret', 'b.md') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '.git',
      '.GIT',
      '.gıt',
      '.git ',
      '.git.',
      'git~1',
      '.sprawling',
      '.ſprawling',
      '.g\u200cit',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }).filter((text) => !text.includes('/')),
  },
);
const place = fc.array(name, { maxLength: 4 }).map((names) => names.join('/'));

const verdict = fc.constantFrom<Verdict>(
  { kind: 'open' },
  { kind: 'open' },
  { kind: 'confidential' },
  { kind: 'rules-unreadable', subject: 'its rules' },
);
/** The last one is not evaluated, and closes everything. */
const pattern = fc.constantFrom('**/*.pem', '**/.env', 'a/secret', 'b/**', '*/secret/*.md', 'c', 'x[y]');
const bound = fc
  .record({
    reader: fc.constantFrom(null, 'home', 'a'),
    entries: fc.array(fc.tuple(fc.oneof(fc.constantFrom('a', 'b', 'c', 'home'), name), verdict), { maxLength: 6 }),
    deny: fc.oneof(fc.constant([]), fc.array(pattern, { maxLength: 3 })),
  })
  .map(({ reader, entries, deny }) => new Bound({ reader, entries: new Map(entries), deny }));

it('judgeWithin says of a name in a place that passed what judge says of the whole address', () => {
  const met = new Map<string, number>();
  fc.assert(
    fc.property(bound, place, name, (one, at, below) => {
      if (one.judge(at) !== undefined) return;
      const whole = one.judge(at === '' ? below : `${at}/${below}`);
      expect(one.judgeWithin(at, below)).toEqual(whole);
      const key = `${at === '' ? 'top' : 'below'} ${whole?.kind ?? 'open'}`;
      met.set(key, (met.get(key) ?? 0) + 1);
    }),
    { numRuns: 20_000 },
  );
  // Below the top a building that is closed has no place that passed.
  for (const kind of ['open', 'reserved', 'pattern', 'confidential', 'rules-unreadable', 'unasked']) {
    expect([...met.keys()]).toContain(`top ${kind}`);
  }
  for (const kind of ['open', 'reserved', 'pattern']) expect([...met.keys()]).toContain(`below ${kind}`);
});

it('judgeWithin of the bound that opens everything opens every name', () => {
  fc.assert(
    fc.property(place, name, (at, below) => {
      expect(Bound.openUnchecked().judgeWithin(at, below)).toBeUndefined();
    }),
  );
});

it('judgeWithin says of one building nothing that it said of another, whichever was asked before', () => {
  const entries = new Map([
    ['lab', { kind: 'open' }],
    ['lab2', { kind: 'confidential' }],
    ['la', { kind: 'rules-unreadable', subject: 'x' }],
  ] as const);
  const places = ['lab', 'lab/notes', 'lab2', 'lab2/notes', 'la', 'la/b', 'none'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...places), { maxLength: 8 }), (asked) => {
      const one = new Bound({ reader: null, entries });
      for (const at of asked) expect(one.judgeWithin(at, 'x')).toEqual(one.judge(`${at}/x`));
    }),
  );
});
