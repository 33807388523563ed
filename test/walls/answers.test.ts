/**
 * Wall 1 on the way out: a guest that neither wall bounds walks where it may not, and says so. Each way it could say
 * it, a hit or an unread entry, alone ends the call as a broken guest's.
 */

import { describe, expect, it } from 'vitest';
import { city, fixed, TREES } from '../support/cities.js';
import type { Things } from '../tree/worlds.js';
import { unwalled } from './unwalled.js';

const RULES = 'confidential = true\nwrite = "documents"\n';
const LOOP = { link: 'secret-loop' };

interface Row {
  readonly why: string;
  readonly things: Things;
  readonly deny?: readonly string[];
}

const ROWS: readonly Row[] = [
  { why: 'a hit in a closed building', things: [['vault/secret', 'needle']] },
  { why: 'an unread entry in a closed building', things: [['vault/secret-loop', LOOP]] },
  { why: 'an unread name that is no address, in a closed building', things: [['vault/secret:stream', 'other']] },
  { why: 'an unread entry in a building whose rules do not read', things: [['broken/secret-loop', LOOP]] },
  { why: 'a hit that a deny pattern covers', things: [['lab/secret', 'needle']], deny: ['lab/sec*'] },
  { why: 'an unread entry that a deny pattern covers', things: [['lab/secret-loop', LOOP]], deny: ['lab/sec*'] },
];

describe.each(TREES)('%s: what wall 1 closes does not leave', (tree) => {
  it.each(ROWS)('$why', async ({ things, deny = [] }) => {
    const place = city({ tree, binding: 'fixed' }, [
      ['lab/notes.md', 'needle'],
      ['vault/.sprawling/RULES.toml', RULES],
      ['broken/.sprawling/RULES.toml', 'confidential = '],
      ...things,
    ]);
    const partial: unknown[] = [];
    const onPartial = (value: unknown) => partial.push(value);
    try {
      const unbounded = unwalled('search', { text: 'needle' }, fixed);
      const outcome = await place.search({ text: 'needle' }, { deny, onPartial, ...unbounded });
      expect(outcome.ok ? 'answered' : outcome.error.code).toBe('E_GUEST_TRAP');
      expect(JSON.stringify([outcome, partial])).not.toContain('secret');

      const closed = await place.search({ text: 'needle' }, { deny });
      if (!closed.ok) throw new Error(closed.error.subject);
      expect(closed.value.matches.map(({ path }) => path)).toEqual(['lab/notes.md']);
      expect(JSON.stringify(closed)).not.toContain('secret');
    } finally {
      place.end();
    }
  });
});
