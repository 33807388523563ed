/** The same call gives the same answer over every tree and both bindings: the reference asserts the fixed world. */

import { describe, expect, it } from 'vitest';
import { city, SETTINGS, type TestCity } from '../support/cities.js';
import type { Things } from '../tree/worlds.js';

const THINGS: Things = [
  ['lab/Notes.md', 'alpha\nneedle here\nomega\n'],
  ['lab/room1/Memo.md', 'a needle in the room'],
  ['lab/in', { link: 'Notes.md' }],
  ['lab/out', { link: '../../outside/secret' }],
  ['lab/round', { link: 'round' }],
  ['lab/rooms', { link: 'room1' }],
  ['lab/gbk', new Uint8Array([0xc4, 0xe3, 0xba, 0xc3, 0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65])],
  ['hall/.git/HEAD', 'needle'],
  ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
  ['vault/secret', 'needle'],
  ['broken/.sprawling/RULES.toml', 'confidential = '],
  ['broken/x', 'needle'],
];

const CALLS: readonly (readonly [string, unknown])[] = [
  ['search', { text: 'needle' }],
  ['search', { text: 'needle', context: 2, path: 'lab' }],
  ['search', { text: 'needle', path: 'lab/in' }],
  ['search', { text: 'needle', path: 'vault' }],
  ['read', { path: 'lab/Notes.md' }],
  ['read', { path: 'lab/Notes.md', offset: 1, limit: 1 }],
  ['read', { path: 'lab/gbk' }],
  ['read', { path: 'lab/out' }],
  ['read', { path: 'lab' }],
  ['read', { path: 'lab/notes.md' }],
  ['read', { path: 'broken/x' }],
];

describe('every tree and both bindings agree', () => {
  const cities: TestCity[] = SETTINGS.map((setting) => city(setting, THINGS));

  it.each(CALLS)('%s %j', async (tool, args) => {
    const answers = [];
    for (const place of cities) answers.push(await place.call(tool, args));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(JSON.stringify(answers[0])).toMatch(/"ok":(true|false)/);
  });
});
