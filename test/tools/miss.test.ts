/** A path that leads to no file: what is offered instead, in which order, and what no miss ever names. Spec: read, "A miss". */

import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEARBY_CAP } from '../../dist/limits.js';
import { folded } from '../../dist/tools/miss.js';
import { BINDINGS, city, SETTINGS, TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import { callUnprivileged, canBeUnprivileged } from '../support/unprivileged.js';
import { diskWorld, memoryWorld, type Things } from '../tree/worlds.js';

const NBSP = '\u00a0';
const MANY: Things = Array.from({ length: 30 }, (_, number) => [`crowd/${String(number).padStart(2, '0')}.md`, 'x']);
const THINGS: Things = [
  ['lab/Notes.md', 'x'],
  ['lab/notebook.md', 'x'],
  ['lab/other.md', 'x'],
  ['lab/room/deep.md', 'x'],
  ['lab/room/deeper/bottom.md', 'x'],
  ['lab/.git/HEAD', 'x'],
  ['lab/.Sprawling/x', 'x'],
  ['lab/with:colon', 'x'],
  ['lab/ends.', 'x'],
  [['lab', Uint8Array.of(0x6e, 0xff)], 'x'],
  ['lab/rooms', { link: 'room' }],
  ['lab/to-hall', { link: '../hall/minutes' }],
  ['lab/to-top', { link: '..' }],
  ['hall/minutes/march.md', 'x'],
  ['hall/.sprawling/RULES.toml', 'confidential = false\nwrite = "everything"\n'],
  ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
  ['vault/secret', 'x'],
  ['annex', { link: 'lab/room' }],
  ['whole', { link: 'lab' }],
  ['city', { link: '.' }],
  ['empty/none', { directory: true }],
  ['top.md', 'x'],
  ...MANY,
  ['typed/it\u2019s here.md', 'x'],
  [`typed/Q4${NBSP}plan.md`, 'x'],
  ['typed/Q4 plan (old).md', 'x'],
  ['typed/a\u2013b.md', 'x'],
  ['typed/caf\u00e9.md', 'x'],
  ['typed/cafe.md', 'x'],
];
/** What lies in `lab` and has an address, as it is listed by path. */
const IN_LAB = ['Notes.md', 'notebook.md', 'other.md', 'room', 'rooms', 'to-hall', 'to-top'].map(
  (name) => `lab/${name}`,
);

describe.each(SETTINGS)('a miss in the $tree tree, $binding binding', (setting) => {
  let place: TestCity;
  beforeAll(() => {
    place = city(setting, THINGS);
  });
  afterAll(() => place.end());
  const refusal = async (asked: string) => asError(await place.read({ path: asked }));
  const nearby = async (asked: string) => (await refusal(asked)).nearby;

  it('is the caller’s mistake: there is no such file', async () => {
    const error = await refusal('lab/note.md');
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', action: 'read', retry: 'no' });
    expect(error.subject).toBe('lab/note.md: there is no such file');
  });

  it('points to nearby and to `search`, and to nearby only where there is some', async () => {
    expect((await refusal('lab/note.md')).recovery).toBe('read one of nearby, or find the file with `search`');
    expect((await refusal('none')).recovery).toBe('find it with `search`');
    expect((await refusal('lab')).recovery).toMatch(/nearby names some.*`search` there$/);
    expect((await refusal('empty/none')).recovery).toBe('read a file in it, or `search` there');
  });

  it.each<readonly [why: string, asked: string, expected: readonly string[]]>([
    ['those that begin alike, ASCII case folded', 'lab/NOTEBOOKS', ['lab/notebook.md', 'lab/Notes.md']],
    ['the longer the prefix the nearer', 'lab/notes.txt', ['lab/Notes.md', 'lab/notebook.md', 'lab/other.md']],
    ['by path where none begins alike', 'lab/xyz', IN_LAB],
    ['a prefix of a name', 'lab/roo', ['lab/room', 'lab/rooms', 'lab/Notes.md']],
  ])('offers the entries beside it, nearest first: %s', async (_, asked, expected) => {
    const offered = await nearby(asked);
    expect(offered.slice(0, expected.length)).toEqual(expected);
    expect([...offered].sort()).toEqual([...IN_LAB].sort());
  });

  it.each([
    ['lab/room/none.md', 'directly'],
    ['lab/room/none/x.md', 'one above'],
    ['lab/room/none/x/y/z.md', 'far above'],
  ])('lists the deepest directory that is there above %s (%s)', async (asked) => {
    expect(await nearby(asked)).toEqual(['lab/room/deep.md', 'lab/room/deeper']);
  });

  it('compares with the name that is missing, not with what was to be below it', async () => {
    expect((await nearby('lab/other/Notes.md'))[0]).toBe('lab/other.md');
  });

  it.each([
    ["typed/it's here.md", 'typed/it\u2019s here.md', 'a curly apostrophe'],
    ['typed/Q4 plan.md', `typed/Q4${NBSP}plan.md`, 'a no-break space, before a longer common prefix'],
    ['typed/a-b.md', 'typed/a\u2013b.md', 'a dash'],
    ['typed/cafe\u0301.md', 'typed/caf\u00e9.md', 'another Unicode form, before the same name without its accent'],
  ])('offers for %s first the name people take it for, and does not open it: %#', async (asked, first) => {
    expect((await nearby(asked))[0]).toBe(first);
  });

  it.each([
    ['none', 'a building that is not there'],
    ['none/x', 'something in it'],
    ['la', 'what begins like a building'],
    ['LAB/Notes.md', 'a building in another case'],
    ['vaul', 'what begins like a closed one'],
    ['top', 'a file among the buildings'],
    ['city/none', 'the city through a link'],
    ['lab/to-top/none', 'the city through a link below'],
  ])('names no building for %s, %s', async (asked) => {
    expect(await refusal(asked)).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [] });
  });

  it('leaves out reserved names and names that are no address', async () => {
    for (const asked of ['lab/.gi', 'lab/.git2', 'lab/with', 'lab/ends', 'lab/n']) {
      expect([...(await nearby(asked))].sort(), asked).toEqual([...IN_LAB].sort());
    }
  });

  it.each<readonly [asked: string, expected: readonly string[], why: string]>([
    ['lab/rooms/none', ['lab/room/deep.md', 'lab/room/deeper'], 'a link that stays below the floor: its real place'],
    ['annex/none', ['annex/deep.md', 'annex/deeper'], 'the floor is where the first segment really is'],
    ['annex/deeper/none', ['annex/deeper/bottom.md'], 'and below it, as the caller reaches it'],
    ['whole/room/none', ['whole/room/deep.md', 'whole/room/deeper'], 'also a whole building'],
    ['lab/to-hall/none', [], 'what a link leads to elsewhere is not listed'],
  ])('offers for %s what its floor allows: %j (%s)', async (asked, expected) => {
    expect(await nearby(asked)).toEqual(expected);
  });

  it('offers 16 at most', async () => {
    const beside = await nearby('crowd/none');
    expect(beside).toEqual(MANY.map(([at]) => String(at)).slice(0, NEARBY_CAP));
    expect(await nearby('crowd/2')).toHaveLength(NEARBY_CAP);
    expect((await nearby('crowd/2'))[0]).toBe('crowd/20.md');
    expect(await nearby('crowd')).toEqual(beside);
  });

  it('offers nothing from an empty directory', async () => {
    expect(await nearby('empty/none/x')).toEqual([]);
    expect(await nearby('empty/none')).toEqual([]);
  });

  it.each<readonly [asked: string, expected: readonly string[], why: string]>([
    ['lab', IN_LAB, 'its entries by path'],
    ['lab/room', ['lab/room/deep.md', 'lab/room/deeper'], 'files and directories'],
    ['lab/rooms', ['lab/room/deep.md', 'lab/room/deeper'], 'through a link below the floor'],
    ['annex', ['annex/deep.md', 'annex/deeper'], 'a building that is a link'],
    ['lab/to-hall', [], 'through a link to elsewhere'],
    ['city', [], 'the city through a link'],
    ['lab/to-top', [], 'the same from below'],
  ])('says of the directory %s that it is one, and offers what it holds: %j (%s)', async (asked, expected) => {
    expect(await refusal(asked)).toMatchObject({
      code: 'E_INVALID_ARGS',
      subject: `${asked}: it is a directory`,
      nearby: expected,
      retry: 'no',
    });
  });

  it('offers only what can be asked as it is', async () => {
    for (const asked of ['lab/x', 'lab', 'typed/x', 'annex/x', 'lab/rooms/x', 'crowd']) {
      const offered = await nearby(asked);
      expect(offered.length, asked).toBeGreaterThan(0);
      for (const each of offered.filter((name) => name.endsWith('.md'))) asValue(await place.read({ path: each }));
      for (const each of offered) {
        const outcome = await place.read({ path: each });
        if (!outcome.ok) expect(outcome.error.subject, each).toMatch(/: it is a directory$/);
      }
    }
  });

  it('refuses before any look what is outside or no address: nothing is offered', async () => {
    for (const asked of ['../x', '/etc/none', 'lab/../x', 'vault/secre', 'lab/.git/HEA']) {
      expect(await nearby(asked), asked).toEqual([]);
    }
  });
});

describe.each(BINDINGS)('a listing that fails, %s binding', (binding) => {
  it.each(['access', 'io', 'too-many-entries'] as const)('does not hide the miss: %s', async (failure) => {
    const things: Things = [
      ['lab/room', { directory: true, fails: { list: failure } }],
      ['lab/room/f', 'x'],
    ];
    const place = new TestCity(memoryWorld(things), binding);
    const missing = asError(await place.read({ path: 'lab/room/none' }));
    expect(missing).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [] });
    expect(missing.subject).toBe('lab/room/none: there is no such file');
    const directory = asError(await place.read({ path: 'lab/room' }));
    expect(directory).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [], subject: 'lab/room: it is a directory' });
  });
});

describe('the order of what is offered', () => {
  const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const common = (a: string, b: string): number => {
    for (let length = Math.min(a.length, b.length); ; length--) {
      if (lower(a).startsWith(lower(b.slice(0, length)))) return length;
    }
  };

  it('is the naive one: the longer common prefix, then the bytes of the path', async () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'B', 'b', 'A', 'é', 'x'), minLength: 1, maxLength: 4 });
    const names = fc.uniqueArray(name, { minLength: 2, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(names, async ([asked = '', ...others]) => {
        const place = new TestCity(memoryWorld(others.map((other) => [`lab/${other}`, 'x'])), 'fixed');
        const sorted = others.toSorted(
          (a, b) => common(b, asked) - common(a, asked) || Buffer.from(a).compare(Buffer.from(b)),
        );
        const { nearby } = asError(await place.read({ path: `lab/${asked}` }));
        expect(nearby).toEqual(sorted.slice(0, NEARBY_CAP).map((each) => `lab/${each}`));
      }),
    );
  });
});

describe('names that people take for one another', () => {
  it.each([
    ['a b', `a${NBSP}b`, 'no-break space'],
    ['a b', 'a\u202fb', 'narrow no-break space'],
    ['a b', 'a\u3000b', 'ideographic space'],
    ['a b', 'a\tb', 'a tab'],
    ["it's", 'it\u2019s', 'right single quote'],
    ["it's", 'it\u2018s', 'left single quote'],
    ["it's", 'it\u00b4s', 'acute accent'],
    ["it's", 'it`s', 'grave accent'],
    ["6'", '6\u2032', 'prime'],
    ['"q"', '\u201cq\u201d', 'curly double quotes'],
    ['6"', '6\u2033', 'double prime'],
    ['a-b', 'a\u2013b', 'en dash'],
    ['a-b', 'a\u2014b', 'em dash'],
    ['a-b', 'a\u2010b', 'hyphen'],
    ['a-b', 'a\u2011b', 'no-break hyphen'],
    ['a-b', 'a\u2212b', 'minus'],
    ['caf\u00e9', 'cafe\u0301', 'composed and not'],
    ['ABC', 'ＡＢＣ', 'full width'],
    ['fi', 'ﬁ', 'a ligature'],
  ])('%s and %s are: %s', (a, b) => {
    expect(folded(a)).toBe(folded(b));
  });

  it.each([
    ['a', 'A', 'letters of another case are a prefix’s affair'],
    ['cafe', 'caf\u00e9', 'an accent is a letter’s own'],
    ['a b', 'ab', 'a space is something'],
    ['a-b', 'a_b', 'a line below is no dash'],
  ])('%s and %s are not: %s', (a, b) => {
    expect(folded(a)).not.toBe(folded(b));
  });
});

describe.skipIf(!canBeUnprivileged)(
  'what permissions keep from the runner (needs a checkout that everyone may read)',
  () => {
    it.each(['linux', 'portable'] as const)(
      'is there but will not open: the name is right, so nothing is offered (%s)',
      (tree) => {
        const world = diskWorld(tree)([
          ['lab/closed.md', 'x'],
          ['lab/closed2.md', 'x'],
          ['lab/locked/x', 'x'],
          ['lab/to-closed', { link: 'closed.md' }],
        ]);
        try {
          fs.chmodSync(path.dirname(world.root), 0o755);
          fs.chmodSync(path.join(world.root, 'lab/closed.md'), 0);
          fs.chmodSync(path.join(world.root, 'lab/locked'), 0);
          const asked = ['lab/closed.md', 'lab/to-closed', 'lab/locked/x', 'lab/locked/none'];
          const outcomes = callUnprivileged(tree, world.root, [
            ...asked.map((at) => ['read', { path: at }] as const),
            ['read', { path: 'lab/closed2.md' }],
          ]);
          for (const [index, at] of asked.entries()) {
            expect(asError(outcomes[index]), at).toMatchObject({
              code: 'E_STORAGE_FATAL',
              subject: `${at}: the system does not permit opening it`,
              nearby: [],
              recovery: 'a person has to give the runner permission to read it',
              retry: 'no',
            });
          }
          expect(asValue(outcomes.at(-1))).toMatchObject({ text: 'x' });
        } finally {
          fs.chmodSync(path.join(world.root, 'lab/locked'), 0o755);
          world.end();
        }
      },
    );
  },
);
