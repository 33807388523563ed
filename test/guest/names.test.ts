/** The address table, asked of the guest: its own rules for one name agree with the host's grammar, row by row. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { aDirectory, aFile, CODE, type Directory, QUERY, World } from './world.js';

interface Row {
  readonly address: string;
  readonly ok: boolean;
  readonly reserved?: boolean;
  readonly why: string;
}

const TABLE: readonly Row[] = JSON.parse(readFileSync('test/cases/address.json', 'utf8'));
/** What a listing can hold: one name, well-formed, neither empty nor `.` nor `..`. */
const NAMES = TABLE.filter(
  ({ address }) => !address.includes('/') && address.isWellFormed() && !['', '.', '..'].includes(address),
).filter(({ address }) => !address.startsWith('\0'));

describe('the guest’s rules for a name', () => {
  it('have most of the table to be asked', () => {
    expect(NAMES.filter(({ ok }) => ok).length).toBeGreaterThan(10);
    expect(NAMES.filter(({ ok }) => !ok).length).toBeGreaterThan(10);
  });

  it.each(NAMES)('$address: $why', ({ address, ok, reserved = false }) => {
    const root = aDirectory({ [address]: aFile('needle') }).directory as Directory; // just made as one
    const { hits, coverage } = new World(root, '', {}).searchAll({ ...QUERY, text: 'needle' });
    const isSearched = ok && !reserved;
    expect(hits.map(({ path }) => path)).toEqual(isSearched ? [address] : []);
    expect(coverage.reserved).toBe(ok && reserved ? 1 : 0);
    expect(coverage.causes[CODE['illegal-byte-sequence']]).toBe(ok ? 0 : 1);
  });
});
