/** The grammar of Locators: what is one, what is none and by which rule, and that printing gives the input back. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isBroken, parseAddress } from '../../dist/judge/address.js';
import {
  isBrokenLocator,
  isLocator,
  type Locator,
  locatorSentence,
  parseLocator,
  printLocator,
} from '../../dist/judge/locator.js';
import rows from '../cases/locators.json' with { type: 'json' };

const accepted = rows.filter(({ ok }) => ok);
const refused = rows.filter(({ ok }) => !ok);

const HASH = '0123456789abcdef'.repeat(4);
const OID = HASH.slice(0, 40);

describe('a Locator', () => {
  it.each(accepted)('is accepted and printed as it was written: $why ($locator)', ({ locator }) => {
    const parsed = parseLocator(locator);
    if (isBrokenLocator(parsed)) throw new Error(`refused: ${parsed.broken}`);
    expect(printLocator(parsed)).toBe(locator);
    expect(isLocator(locator)).toBe(true);
  });

  it.each(refused)('is refused by its rule: $why ($locator)', ({ locator, rule }) => {
    const parsed = parseLocator(locator);
    expect(parsed).toMatchObject({ broken: rule });
    if (isBrokenLocator(parsed)) expect(locatorSentence(parsed)).toMatch(/\S/);
  });

  it.each(['CAS:b3-00', 'File:lab/x@0', 'cas', 'file', ' cas:b3', 'lab/cas:', '', 'b3-00'])(
    'is not what %j means to be: such a text is asked as an address',
    (text) => {
      expect(isLocator(text)).toBe(false);
    },
  );

  it('has its parts', () => {
    const range = { unit: 'B', first: 3n, last: 4n };
    expect(parseLocator(`cas:b3-${HASH}#B3-4`)).toEqual({ kind: 'cas', hash: HASH, range });
    expect(parseLocator(`file:lab/a@${OID}#L1-2@${OID}#B3-4`)).toEqual({
      kind: 'file',
      address: `lab/a@${OID}#L1-2`,
      oid: OID,
      range,
    });
  });

  // ---- laws ----

  const hex = (size: number) =>
    fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: size, maxLength: size }).map((all) => all.join(''));
  const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  const range = fc
    .tuple(fc.constantFrom('L' as const, 'B' as const), u64, u64)
    .filter(([unit, first, last]) => first <= last && (unit === 'B' || first > 0n))
    .map(([unit, first, last]) => ({ unit, first, last }));
  const ranged = fc.option(range, { nil: undefined });
  const address = fc
    .array(fc.constantFrom('a', '@', '#', '#L1-2', OID, `@${OID}`, '-', '/b', 'é'), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(''))
    .chain((text) => {
      const parsed = parseAddress(text);
      return isBroken(parsed) ? fc.constant(undefined) : fc.constant(parsed);
    })
    .filter((parsed) => parsed !== undefined);
  const block = fc
    .record({ hash: hex(64), range: ranged })
    .map(({ hash, range: of }): Locator => ({ kind: 'cas', hash, ...(of && { range: of }) }));
  const committed = fc
    .record({ address, oid: fc.oneof(hex(40), hex(64)), range: ranged })
    .map(({ range: of, ...rest }): Locator => ({ kind: 'file', ...rest, ...(of && { range: of }) }));
  const locator = fc.oneof(block, committed);

  it('parses from its own print, whatever address it holds', () => {
    fc.assert(
      fc.property(locator, (made) => {
        expect(parseLocator(printLocator(made))).toEqual(made);
      }),
    );
  });

  it('is printed as it was written, or refused: nothing is normalised', () => {
    const near = fc
      .array(
        fc.constantFrom('cas:b3-', 'file:', HASH, OID, '@', '#', 'L', 'B', '1', '0', '-', '2', ' ', 'a', '/', '..'),
        { minLength: 1, maxLength: 8 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(near, (text) => {
        const parsed = parseLocator(text);
        if (!isBrokenLocator(parsed)) expect(printLocator(parsed)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });
});
