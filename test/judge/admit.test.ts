/** Admission: which paths a bound lets pass, and what the refusals of the others say. */

import { describe, expect, it } from 'vitest';
import type { AxError } from '../../dist/error.js';
import { admit, denied } from '../../dist/judge/admit.js';
import { Bound, type Verdict } from '../../dist/judge/bound.js';
import { PATH_MAX_BYTES } from '../../dist/limits.js';
import rows from '../cases/address.json' with { type: 'json' };

const verdicts: [string, Verdict][] = [
  ['lab', { kind: 'open' }],
  ['vault', { kind: 'confidential' }],
  ['torn', { kind: 'rules-unreadable', subject: 'torn/.sprawling/RULES.toml: line 3: it is not TOML' }],
];
const bound = new Bound({ reader: 'home', entries: new Map(verdicts) });

function refusal(asked: string, action = 'read'): AxError {
  const outcome = admit(asked, action, bound);
  if (outcome.ok) throw new Error(`${asked} was admitted`);
  return outcome.error;
}

describe('admit', () => {
  it('gives the address as it was asked', () => {
    expect(admit('lab/notes.md', 'read', bound)).toEqual({ ok: true, value: 'lab/notes.md' });
    expect(admit('home/x', 'search', bound)).toEqual({ ok: true, value: 'home/x' });
  });

  for (const row of rows.filter((each) => !each.ok)) {
    it(`refuses ${JSON.stringify(row.address)} as the caller’s mistake and says the rule first`, () => {
      const error = refusal(row.address);
      expect(error).toMatchObject({ code: 'E_INVALID_ARGS', action: 'read', retry: 'no', nearby: [] });
      expect(error.recovery).toMatch(/^(it|a segment of it) .*; pass a city-relative path of plain segments/);
    });
  }

  const table: [string, string, RegExp, string][] = [
    ['lab/.git/HEAD', 'E_GATE_DENIED', /what governs a scope or keeps the repository is not read by a run/, 'reserved'],
    ['home/.sprawling/x', 'E_GATE_DENIED', /what governs a scope/, 'reserved at home'],
    ['vault/.GIT/x', 'E_GATE_DENIED', /what governs a scope/, 'reserved before the bound is asked'],
    ['vault/.git:x', 'E_INVALID_ARGS', /colon/, 'grammar before reserved'],
    ['vault//x', 'E_INVALID_ARGS', /empty segment/, 'grammar before the bound'],
    ['vault/x', 'E_GATE_DENIED', /only its residents read it: signal a resident there/, 'confidential'],
    [
      'torn/x',
      'E_GATE_DENIED',
      /its rules may say confidential.*line 3: it is not TOML.*a person has to fix them/,
      'rules',
    ],
    ['new/x', 'E_GATE_DENIED', /only its residents read it/, 'a building nobody asked about is closed'],
  ];
  for (const [asked, code, recovery, why] of table) {
    it(`refuses ${asked} with ${code} (${why})`, () => {
      const error = refusal(asked);
      expect(error.code).toBe(code);
      expect(error.recovery).toMatch(recovery);
      expect(error.subject.startsWith(`${asked}: `)).toBe(true);
    });
  }

  it('names the asking tool in every refusal', () => {
    for (const asked of ['', 'a//b', 'lab/.git', 'vault', 'torn', 'new'])
      expect(refusal(asked, 'Grep').action).toBe('Grep');
  });

  it('refuses a path longer than any path may be, counted in bytes, as the caller’s mistake', () => {
    const exact = `lab/${'x'.repeat(PATH_MAX_BYTES - 4)}`;
    expect(admit(exact, 'read', bound).ok).toBe(true);
    expect(refusal(`${exact}x`)).toMatchObject({
      code: 'E_INVALID_ARGS',
      recovery: expect.stringContaining('shorter'),
    });
    expect(refusal(`lab/${'字'.repeat(PATH_MAX_BYTES / 3)}`).code).toBe('E_INVALID_ARGS');
  });

  it('tells a confidential building and one nobody asked about alike', () => {
    const at = { action: 'read', asked: 'x/y' };
    expect(denied(at, { kind: 'unasked', building: 'x' })).toEqual(denied(at, { kind: 'confidential' }));
  });
});
