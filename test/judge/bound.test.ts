/** The bound: what it judges of every place, and that the copies two walls hold cannot differ. */

import { describe, expect, it } from 'vitest';
import { Bound, mayRead, type Verdict } from '../../dist/judge/bound.js';
import { parseRules, type RulesRead } from '../../dist/judge/rules.js';

const OPEN: Verdict = { kind: 'open' };
const CLOSED: Verdict = { kind: 'confidential' };
const UNREADABLE: Verdict = { kind: 'rules-unreadable', subject: 'torn: line 1' };

const bound = new Bound({
  reader: 'home',
  entries: new Map<string, Verdict>([
    ['lab', OPEN],
    ['vault', CLOSED],
    ['torn', UNREADABLE],
    ['__proto__', OPEN],
  ]),
});

describe('the bound', () => {
  const rows: [string, string | undefined, string][] = [
    ['', undefined, 'the city itself needs no admission'],
    ['lab', undefined, 'an open building'],
    ['lab/room/x.md', undefined, 'a place in an open building'],
    ['home/x', undefined, 'the reader’s own building is open without an entry'],
    ['vault', 'confidential', 'a confidential building'],
    ['vault/x', 'confidential', 'a place in one'],
    ['torn/x', 'rules-unreadable', 'a building whose rules do not read'],
    ['new/x', 'unasked', 'what the policy was not asked about'],
    ['Lab/x', 'unasked', 'buildings are compared by bytes'],
    ['labs', 'unasked', 'by whole segments'],
    ['constructor/x', 'unasked', 'a name is a name'],
    ['__proto__/x', undefined, 'a name is a name'],
    ['lab/.git/HEAD', 'reserved', 'reserved in an open building'],
    ['home/.sprawling/RULES.toml', 'reserved', 'reserved at home'],
    ['vault/.GIT', 'reserved', 'reserved is asked before the building'],
    ['new/.git', 'reserved', 'reserved is asked before the policy'],
  ];
  for (const [address, denial, why] of rows) {
    it(`judges ${address === '' ? 'the root' : address} ${denial ?? 'open'}: ${why}`, () => {
      expect(bound.judge(address)?.kind).toBe(denial);
    });
  }

  it('says which building was not asked about, and what is wrong with rules', () => {
    expect(bound.judge('new/x')).toEqual({ kind: 'unasked', building: 'new' });
    expect(bound.judge('torn/x')).toEqual(UNREADABLE);
  });

  it('is open at home even where an entry says otherwise', () => {
    const odd = new Bound({ reader: 'home', entries: new Map([['home', CLOSED]]) });
    expect(odd.judge('home/x')).toBeUndefined();
  });

  it('of an outsider opens nothing by itself, not even a building called null', () => {
    const outsider = new Bound({ reader: null, entries: new Map() });
    expect(outsider.judge('null/x')).toEqual({ kind: 'unasked', building: 'null' });
  });

  it('knows what it was told and the home', () => {
    expect(['home', 'lab', 'vault', 'torn', 'new'].map((building) => bound.has(building))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('copies its table: two walls share nothing, whoever changes theirs', () => {
    const entries = new Map<string, Verdict>([['vault', { ...CLOSED }]]);
    const one = new Bound({ reader: null, entries });
    entries.set('vault', OPEN).set('new', OPEN);
    expect(one.judge('vault')).toEqual(CLOSED);
    expect(one.has('new')).toBe(false);
    const given = one.table().entries;
    if (given instanceof Map) given.set('vault', OPEN);
    expect(one.judge('vault')).toEqual(CLOSED);
  });

  it('does not share verdicts with the table it came from', () => {
    const verdict = { kind: 'confidential' as string };
    // The cast stands for a caller that breaks the types, as one in JavaScript may.
    const one = new Bound({ reader: null, entries: new Map([['vault', verdict as Verdict]]) });
    verdict.kind = 'open';
    expect(one.judge('vault')?.kind).toBe('confidential');
  });

  it('with one more verdict is another bound, and the first stays as it was', () => {
    const more = bound.with('new', OPEN).with('lab', CLOSED);
    expect(more.judge('new/x')).toBeUndefined();
    expect(more.judge('lab/x')).toEqual(CLOSED);
    expect(more.judge('home')).toBeUndefined();
    expect(bound.judge('new/x')?.kind).toBe('unasked');
    expect(bound.judge('lab/x')).toBeUndefined();
  });

  it('crosses to a worker as data and judges the same there', () => {
    const there = new Bound(structuredClone(bound.table()));
    for (const [address, denial] of rows) expect(there.judge(address)?.kind).toBe(denial);
  });

  it('that opens everything opens reserved places too, stays so, and cannot cross as data', () => {
    const all = Bound.openUnchecked().with('vault', CLOSED);
    expect(['vault/x', 'lab/.git', 'new'].map((address) => all.judge(address))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(all.has('anything')).toBe(true);
    expect(() => all.table()).toThrow();
  });
});

describe('mayRead', () => {
  const rules =
    (text: string): (() => RulesRead) =>
    () =>
      parseRules(text, 'lab');

  it('at home is open, and the rules are not asked', () => {
    const never = (): RulesRead => {
      throw new Error('asked at home');
    };
    expect(mayRead('lab', 'lab', never)).toEqual(OPEN);
  });

  it('elsewhere is open where there are no rules, and where they say not confidential', () => {
    expect(mayRead('home', 'lab', () => ({ kind: 'none' }))).toEqual(OPEN);
    expect(mayRead(null, 'lab', rules('confidential = false\nwrite = "everything"'))).toEqual(OPEN);
  });

  it('elsewhere is confidential where they say so', () => {
    expect(mayRead('home', 'lab', rules('confidential = true\nwrite = "everything"'))).toEqual(CLOSED);
  });

  it('elsewhere is closed where they do not read', () => {
    expect(mayRead(null, 'lab', rules('confidential = '))).toMatchObject({ kind: 'rules-unreadable' });
  });

  it('at a building spelled in another case than home asks', () => {
    expect(mayRead('Lab', 'lab', rules('confidential = true\nwrite = "everything"'))).toEqual(CLOSED);
  });
});
