/** Addresses: the table of spellings, with the rule that each breaks, and the laws of what is left. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Address,
  buildingOf,
  isBroken,
  isReserved,
  isReservedSegment,
  isWithin,
  parseAddress,
  RULE_SENTENCES,
  segmentRule,
  segmentsOf,
} from '../../dist/judge/address.js';
import rows from '../cases/address.json' with { type: 'json' };

/** An address the test itself vouches for. */
function address(text: string): Address {
  const parsed = parseAddress(text);
  if (isBroken(parsed)) throw new Error(`${text}: ${parsed.broken}`);
  return parsed;
}

const shown = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}… (${text.length})` : text);

describe('the address table', () => {
  for (const row of rows) {
    const title = `${JSON.stringify(shown(row.address))} is ${row.ok ? 'an address' : `refused: ${row.rule}`} (${row.why})`;
    it(title, () => {
      expect(parseAddress(row.address)).toEqual(row.ok ? row.address : { broken: row.rule });
      expect(isReserved(row.address)).toBe(row.reserved ?? false);
    });
  }

  it('has a refused row for every rule, and a sentence too', () => {
    const refused = new Set(rows.map((row) => row.rule).filter((rule) => rule !== undefined));
    expect(refused).toEqual(new Set(Object.keys(RULE_SENTENCES)));
    for (const sentence of Object.values(RULE_SENTENCES)) expect(sentence).toMatch(/^(it|a segment of it) /);
  });
});

describe('a text of ten million characters', () => {
  const way = 'a/'.repeat(5_000_000);
  it.each([
    ['of many segments', `${way}a`, undefined],
    ['of many segments and a bad last one', `${way} `, 'trailing'],
    ['of one segment', 'a'.repeat(10_000_000), undefined],
  ])('%s is answered as a short one is', (_, text, rule) => {
    const parsed = parseAddress(text);
    expect(isBroken(parsed) ? parsed.broken : undefined).toBe(rule);
  });
});

describe('laws of addresses', () => {
  const spiky = fc.string({
    unit: fc.constantFrom('a', 'B', '/', '.', ' ', '\\', ':', '\u0000', '\u00a0', '\ud800', '.git'),
  });
  const any = fc.oneof(spiky, fc.string({ unit: 'binary' }));

  it('an accepted address round-trips byte for byte and joins again from its segments', () => {
    fc.assert(
      fc.property(any, (raw) => {
        const parsed = parseAddress(raw);
        if (isBroken(parsed)) return;
        expect(parsed).toBe(raw);
        expect(segmentsOf(parsed).join('/')).toBe(raw);
        expect(buildingOf(parsed)).toBe(segmentsOf(parsed)[0]);
      }),
    );
  });

  it('segmentRule agrees with parseAddress on one segment', () => {
    fc.assert(
      fc.property(any, (raw) => {
        if (raw.includes('/')) return;
        const parsed = parseAddress(raw);
        expect(segmentRule(raw)).toBe(isBroken(parsed) ? parsed.broken : undefined);
      }),
    );
  });

  it('a path of segments that are addresses is an address, and no other path is', () => {
    fc.assert(
      fc.property(
        fc.array(
          spiky.filter((name) => !name.includes('/')),
          { minLength: 1 },
        ),
        (names) => {
          const whole = names.every((name) => segmentRule(name) === undefined);
          expect(!isBroken(parseAddress(names.join('/')))).toBe(whole);
        },
      ),
    );
  });

  it('a path is reserved exactly when one of its segments is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('.git', '.GIT', 'a', '.gits', 'x.git', '.Sprawling', ''), { minLength: 1 }),
        (names) => {
          expect(isReserved(names.join('/'))).toBe(names.some((name) => isReservedSegment(name)));
        },
      ),
    );
  });
});

describe('isWithin', () => {
  const cases: [string, string, boolean, string][] = [
    ['a/b', 'a/b', true, 'equal'],
    ['a/b/c', 'a/b', true, 'below'],
    ['a/bc', 'a/b', false, 'a longer name is no place below'],
    ['a', 'a/b', false, 'above'],
    ['A/b', 'a', false, 'case is not folded'],
    ['cafe\u0301/x', 'caf\u00e9', false, 'Unicode forms are not folded'],
  ];
  for (const [inner, outer, expected, why] of cases) {
    it(`${inner} is ${expected ? '' : 'not '}within ${outer} (${why})`, () => {
      expect(isWithin(address(inner), address(outer))).toBe(expected);
    });
  }
});

it('a reserved name is two names in any ASCII case, and no other spelling', () => {
  for (const name of ['.git', '.GIT', '.gIt', '.sprawling', '.SPRAWLING']) expect(isReservedSegment(name)).toBe(true);
  for (const name of ['', 'git', '.gits', '.gi', 'a.git', '.g\u0131t', '.\u017fprawling', '.git\n', '.git/x']) {
    expect(isReservedSegment(name)).toBe(false);
  }
});

it('the building of an address is its first segment, and of the city nothing', () => {
  expect(['lab/room/x', 'lab', ''].map(buildingOf)).toEqual(['lab', 'lab', '']);
});
