/** Hits that cross between threads: by file there, one by one here. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { packHits, unpackHits } from '../../dist/tools/hits.js';

const hit = fc.record({ path: fc.constantFrom('lab/a', 'lab/b', 'hall/a'), line: fc.nat(), text: fc.string() });
const hits = fc.array(hit, { maxLength: 20 });

it('comes out as it went in, also where a path comes again later', () => {
  fc.assert(
    fc.property(hits, (found) => {
      expect(unpackHits(packHits(found))).toEqual(found);
    }),
  );
});

it('tells each path of a row once', () => {
  fc.assert(
    fc.property(hits, (found) => {
      const { paths, counts } = packHits(found);
      expect(paths.every((path, index) => path !== paths[index + 1])).toBe(true);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(found.length);
    }),
  );
});
