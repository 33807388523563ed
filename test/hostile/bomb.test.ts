/**
 * A neighbour's building with paths longer than an answer may name. Our own guest walks it; what it would hand back is
 * over the cap of a lifted path, which is a broken contract: so wall 2 ends the walk where names would get too long.
 */

import { describe, expect, it } from 'vitest';
import { DEPTH_MAX, NAME_MAX_BYTES, PATH_MAX_BYTES } from '../../dist/limits.js';
import { BINDINGS, city } from '../support/cities.js';
import { asValue } from '../support/outcomes.js';

const deep = (name: string, levels: number): string =>
  ['bomb', ...Array.from({ length: levels }, () => name)].join('/');

describe.each(BINDINGS)('a building of long paths, %s', (binding) => {
  it.each([
    ['a', NAME_MAX_BYTES],
    ['\u{1f4a3}', 63],
  ])(
    'of names of %j: the rest of the city is answered, and what was not looked at is one unread',
    async (letter, count) => {
      const levels = 300;
      const at = deep(letter.repeat(count), levels);
      expect(new TextEncoder().encode(at).length).toBeGreaterThan(PATH_MAX_BYTES);
      expect(levels).toBeLessThan(DEPTH_MAX);
      const place = city({ tree: 'memory', binding }, [
        [`${at}/found.md`, 'needle\n'],
        ['bomb/found.md', 'needle\n'],
        ['lab/found.md', 'needle\n'],
      ]);
      const { matches, unread, unreadable, coverage } = asValue(await place.search({ text: 'needle' }));
      expect(matches.map((hit) => hit.path)).toEqual(['bomb/found.md', 'lab/found.md']);
      expect(unreadable).toBe(1);
      expect(coverage.unread_by_cause).toEqual({ depth: 1 });
      expect(unread[0]?.why).toContain('(PATH_MAX_BYTES)');
      // It went as far as it could.
      expect(new TextEncoder().encode(unread[0]?.path).length).toBeGreaterThan(PATH_MAX_BYTES - 5 * NAME_MAX_BYTES);
      place.end();
    },
  );
});
