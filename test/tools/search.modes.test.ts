/** What the system does not permit, met by a search that is not root's. Spec: search, the table of the walk; cases 3 and 9. */

import fs from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../dist/error.js';
import type { SearchValue } from '../../dist/tools/search.js';
import { asValue } from '../support/outcomes.js';
import { callUnprivileged, canBeUnprivileged } from '../support/unprivileged.js';
import { diskWorld } from '../tree/worlds.js';
import { countsOf, pathsOf } from './cities.js';

/** For whoever owns it, and for everybody else. */
const MODES = { 'lab/closed': 0, 'lab/file': 0, 'lab/listed': 0o444, shut: 0, walk: 0o111 };
const WHY = 'the system does not permit opening it';

/** The outcome of a search from each place, by who is refused by these modes. */
function searches(tree: 'linux' | 'portable', places: readonly (string | undefined)[]): Outcome<SearchValue>[] {
  const world = diskWorld(tree)([
    ['lab/a', 'needle'],
    ['lab/closed/x', 'needle'],
    ['lab/file', 'needle'],
    ['lab/listed/x', 'needle'],
    ['lab/to', { link: 'file' }],
    ['lab/z', 'needle'],
    ['shut/x', 'needle'],
    ['walk/x', 'needle'],
  ]);
  try {
    fs.chmodSync(path.dirname(world.root), 0o755);
    for (const [at, mode] of Object.entries(MODES)) fs.chmodSync(path.join(world.root, at), mode);
    const calls = places.map((at) => ['search', { text: 'needle', ...(at !== undefined && { path: at }) }] as const);
    return callUnprivileged(tree, world.root, calls) as Outcome<SearchValue>[]; // what `search` answers
  } finally {
    for (const at of Object.keys(MODES)) fs.chmodSync(path.join(world.root, at), 0o700);
    world.end();
  }
}

describe.skipIf(!canBeUnprivileged)('what modes refuse (needs a checkout that everyone may read)', () => {
  it.each(['linux', 'portable'] as const)('is named with its reason, and loses nothing beside it (%s)', (tree) => {
    const [all, directory, file, open] = searches(tree, [undefined, 'lab/closed', 'lab/file', 'lab/z']);
    const value = asValue(all);
    expect(pathsOf(value)).toEqual(['lab/a', 'lab/z']);
    expect(value.unread).toEqual([
      { path: 'lab/closed', why: WHY },
      { path: 'lab/file', why: WHY },
      { path: 'lab/listed/x', why: WHY },
      { path: 'lab/to', why: WHY },
      // Nobody can see whether its rules say confidential.
      { path: 'shut', why: `its rules did not read: shut: ${WHY}` },
      { path: 'walk', why: WHY },
    ]);
    expect(countsOf(value)).toEqual({ directories: 3, looked: 2, access: 5, rules: 1 });
    expect(value).toMatchObject({ truncated: false, unreadable: 6 });
    expect(JSON.stringify(value)).not.toMatch(/EACCES|\/tmp/);

    // A start that does not open is the one unread: never an empty success.
    expect(asValue(directory)).toMatchObject({ count: 0, unreadable: 1, unread: [{ path: 'lab/closed', why: WHY }] });
    expect(asValue(file)).toMatchObject({ count: 0, unreadable: 1, unread: [{ path: 'lab/file', why: WHY }] });
    expect(pathsOf(asValue(open))).toEqual(['lab/z']);
  });
});
