/** Random cities over a tiny alphabet, so that links meet what they name: for the laws of `search`. */

import fc from 'fast-check';
import type { Things } from '../tree/worlds.js';
import type { Says } from './naive.js';

export const says: Says = (building) =>
  building === 'c' ? 'confidential' : building === 'd' ? 'rules-unreadable' : 'open';
export const policy = (building: string) => {
  const kind = says(building);
  return kind === 'rules-unreadable' ? { kind, subject: 'a test' } : { kind };
};

export const bytes = (...values: number[]): Uint8Array => Uint8Array.of(...values);
const RAW = [bytes(0xff), bytes(0x61, 0xc3), bytes(0xed, 0xa0, 0x80)];
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<string | Uint8Array>('a', 'b', 'c', 'd', 'a.b', 'a-') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<string | Uint8Array>('.git', '.GIT', '.sprawling', '.gitx', 'é', '😀', '\uff5e'),
  },
  { weight: 1, arbitrary: fc.constantFrom<string | Uint8Array>('x ', 'y.', 'a:b', 'a\\b', '\t', ...RAW) },
);
const step = fc.constantFrom('a', 'b', 'c', 'd', 'a.b', '..', '..', '.', '', '.git', 'none', 'a:b');
const target = fc.oneof(
  { weight: 6, arbitrary: fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('/')) },
  { weight: 1, arbitrary: fc.constantFrom('/etc/passwd', '/none', '../../outside/secret') },
);
const content = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(fc.constantFrom('n', 'nn', 'é', 'é', '\n', '\r\n', '\r', ' ', 'x'.repeat(300), '🙂'), { maxLength: 12 })
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.constantFrom('n\n'.repeat(40), 'n\n'.repeat(64), 'n\n'.repeat(65)) },
  { weight: 1, arbitrary: fc.constantFrom<string | Uint8Array>(bytes(0x6e, 0xff), bytes(0xc4, 0xe3, 0x0a, 0x6e), '') },
);
const thing = fc.oneof(
  { weight: 6, arbitrary: content },
  { weight: 3, arbitrary: target.filter((text) => text !== '').map((link) => ({ link })) },
  { weight: 1, arbitrary: fc.constant({ directory: true as const }) },
  { weight: 1, arbitrary: fc.constant({ other: true as const }) },
);
type Put = Things[number];
export const shown = (names: readonly (string | Uint8Array)[]): string =>
  names.map((each) => (typeof each === 'string' ? each : `\0${each.join()}`)).join('/');
/** What can stand together: no path twice, none below something that is no directory. */
export function together(puts: readonly (readonly [readonly (string | Uint8Array)[], Put[1]])[]): Things {
  const kinds = new Map<string, 'directory' | 'leaf'>();
  return puts.flatMap(([names, what]): Put[] => {
    const above = names.slice(0, -1).map((_, at) => shown(names.slice(0, at + 1)));
    const isDirectory = typeof what === 'object' && 'directory' in what;
    // `mkfifo` takes its name as text.
    if (typeof what === 'object' && 'other' in what && names.some((each) => typeof each !== 'string')) return [];
    if (kinds.has(shown(names)) || above.some((each) => kinds.get(each) === 'leaf')) return [];
    for (const each of above) kinds.set(each, 'directory');
    kinds.set(shown(names), isDirectory ? 'directory' : 'leaf');
    return [[names, what]];
  });
}
export const things = fc
  .array(fc.tuple(fc.array(name, { minLength: 1, maxLength: 4 }), thing), { maxLength: 25 })
  .map(together);
export const question = fc.record({
  text: fc.constantFrom('n', 'é', '\r', 'q', 'nn'),
  context: fc.integer({ min: 0, max: 5 }),
});
