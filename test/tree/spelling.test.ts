/** Which spellings stand in a directory: over a city in memory whose own answer is known, folding and not. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memoryCity, openMemoryTree } from '../../dist/tree/memory.js';
import { Spellings } from '../../dist/tree/spelling.js';
import type { Dir } from '../../dist/tree/tree.js';

const NAMES = ['vault', 'Lab', '2024-01', '.git', 'caf\u00e9', 'short~1'];
const ASKED = [...NAMES, 'VAULT', 'vaulT', 'lab', '.GIT', '.g\u200cit', 'CAF\u00c9', 'SHORT~1', 'none', 'NONE'];

function directory(foldsNames: boolean): { dir: Dir; looked: string[]; listed: () => number } {
  const files = NAMES.map((name) => [`at/${name}`, name] as const);
  const { root } = openMemoryTree(memoryCity(files, { foldsNames }));
  const at = root.directory('at');
  if (typeof at === 'string') throw new Error(at);
  const looked: string[] = [];
  let lists = 0;
  const dir: Dir = {
    identity: at.identity,
    look: (name) => {
      looked.push(name);
      return at.look(name);
    },
    list: () => {
      lists++;
      return at.list();
    },
    directory: (name) => at.directory(name),
    file: (name) => at.file(name),
    linkText: (name) => at.linkText(name),
    stands: (name) => at.stands(name),
    again: () => at.again(),
    close: () => at.close(),
  };
  return { dir, looked, listed: () => lists };
}

describe.each([true, false])('of a file system that folds names: %s', (foldsNames) => {
  it('say what the listing says, whatever was asked of the directory before', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ASKED), { maxLength: 12 }), (asked) => {
        const { dir } = directory(foldsNames);
        const spellings = new Spellings(dir);
        for (const name of asked) expect([name, spellings.stands(name)]).toEqual([name, NAMES.includes(name)]);
      }),
    );
  });
});

it('look at a second case once a directory, and at no name that was just seen', () => {
  const { dir, looked, listed } = directory(false);
  const spellings = new Spellings(dir);
  const seen = dir.look('vault');
  if (typeof seen === 'string') throw new Error(seen);
  looked.length = 0;
  for (const name of ['vault', 'Lab', '.git', '2024-01']) expect(spellings.stands(name, seen)).toBe(true);
  expect([looked, listed()]).toEqual([['VAULT'], 0]);
});

it('list for names that fold by other rules, also where case does not', () => {
  const { dir, listed } = directory(false);
  const spellings = new Spellings(dir);
  expect(spellings.stands('vault')).toBe(true);
  expect([spellings.stands('caf\u00e9'), spellings.stands('short~1'), listed()]).toEqual([true, true, 2]);
});
