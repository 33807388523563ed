/**
 * `read` by name: what the catalog opens before the city is asked, and where each path in a package may land. Every row
 * in every tree and under both bindings. Specs: locators-and-catalog, "Catalog"; read, "Resolution order" and "A miss".
 */

import fs from 'node:fs';
import path from 'node:path';
import { createBLAKE3 } from 'hash-wasm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CatalogRead } from '../../dist/judge/catalog.js';
import { INTERVAL_CAP_BYTES, NEARBY_CAP } from '../../dist/limits.js';
import type { Call } from '../../dist/runner/call.js';
import type { Account } from '../../dist/runner/job.js';
import { read as readTool } from '../../dist/tools/read.js';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import type { Guest } from '../../dist/wasi/guest.js';
import { isCode } from '../../dist/wasi/handles.js';
import { type CallOptions, city, GUESTS, SETTINGS, type TestCity, TREES } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import { diskWorld, memoryWorld, type Things, type World } from '../tree/worlds.js';

const hash = await createBLAKE3();
const blake3 = (text: string): string => `cas:b3-${hash.init().update(text).digest('hex')}`;

const LIBRARY = '.sprawling/library/field';
const PACK = `${LIBRARY}/pack`;
const MANY = Array.from({ length: 30 }, (_, number): Things[number] => [
  `${PACK}/crowd/${String(number).padStart(2, '0')}.md`,
  'x',
]);
const roomOf = (...names: string[]): Things[number] => [
  'lab/.sprawling/RULES.toml',
  `confidential = false\nwrite = "everything"\nreading_room = ${JSON.stringify(names)}\n`,
];

/** No answer to any of these rows may hold this: it stands in what was not admitted. */
const BAIT = 'NOT ADMITTED';
const THINGS: Things = [
  roomOf('pack', 'doc', 'SKILL', 'own', 'hall', 'linked-pack', 'linked-doc', 'outer', 'none', 'lab'),
  [`${PACK}/SKILL.md`, '# Pack\n\nTwo lines.\n'],
  [`${PACK}/deep/notes.md`, 'deep\n'],
  [`${PACK}/.git/HEAD`, 'reserved, and admitted with the package\n'],
  [`${PACK}/deep/.sprawling/x`, 'so is this\n'],
  [`${PACK}/inner`, { link: 'deep/notes.md' }],
  [`${PACK}/inner-dir`, { link: 'deep' }],
  [`${PACK}/dangling`, { link: 'deep/none' }],
  [`${PACK}/round`, { link: 'round' }],
  [`${PACK}/pipe`, { other: true }],
  [`${PACK}/not-text`, new Uint8Array([0x61, 0xff])],
  [`${PACK}/a:b`, 'no address\n'],
  [`${PACK}/out`, { link: '../doc.md' }],
  [`${PACK}/out-missing`, { link: '../none.md' }],
  [`${PACK}/out-dir`, { link: '..' }],
  [`${PACK}/out-city`, { link: '../../../../vault/secret' }],
  [`${PACK}/out-city-missing`, { link: '../../../../vault/none' }],
  [`${PACK}/out-outside`, { link: '../../../../../outside/secret' }],
  [`${PACK}/out-absolute`, { link: '/etc/passwd' }],
  [`${PACK}/out-absolute-missing`, { link: '/etc/none' }],
  [`${PACK}/out-and-back`, { link: '../pack/SKILL.md' }],
  [`${PACK}/out-three`, { link: 'out-two' }],
  [`${PACK}/out-two`, { link: 'out' }],
  ...MANY,
  [`${LIBRARY}/doc.md`, '# Doc\nsecond\n'],
  [`${LIBRARY}/unadmitted.md`, BAIT],
  [`${LIBRARY}/unadmitted/SKILL.md`, BAIT],
  [`${LIBRARY}/SKILL.md`, '# A document of this name\n'],
  [`${LIBRARY}/linked-pack`, { link: 'unadmitted' }],
  [`${LIBRARY}/linked-doc.md`, { link: 'unadmitted.md' }],
  ['lab/.sprawling/skills/s/own/SKILL.md', '# Own\n'],
  [`${LIBRARY}/hall/SKILL.md`, '# A skill that is called like a building\n'],
  ['hall/minutes.md', BAIT],
  ['lab/notes.md', 'notes\n'],
  ['doc/x', 'a building that is called like a document\n'],
  ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
  ['vault/secret', BAIT],
];
const OUTER = '\u{feff}# Outer\r\nlast line';

/** Puts a link where something stands. */
const swap = (world: World, at: string, link: string): void => {
  world.remove(at);
  world.put(at, { link });
};
/** Moves something away, and leaves a link to it. */
const moveBehindLink = (world: World, at: string, to: string, link: string): void => {
  world.move(at, to);
  world.put(at, { link });
};

/** Ends what it was given, after the test. */
const begun: { end(): void }[] = [];
afterEach(() => {
  for (const one of begun.splice(0)) one.end();
});
const kept = <T extends { end(): void }>(one: T): T => {
  begun.push(one);
  return one;
};

describe.each(SETTINGS)('read by name, over the $tree tree and the $binding binding', (setting) => {
  const worldOf = (things: Things): World =>
    (setting.tree === 'memory' ? memoryWorld : diskWorld(setting.tree))(things);
  let place: TestCity;
  let shelf: World;
  let catalog: CatalogRead;
  beforeAll(async () => {
    place = city(setting, THINGS);
    shelf = worldOf([
      ['outer/SKILL.md', OUTER],
      ['outer/notes.md', BAIT],
    ]);
    catalog = await place.scan('lab', [shelf]);
  });
  afterAll(() => {
    place.end();
    shelf.end();
  });
  const read = (path: string, options: CallOptions = {}) =>
    place.read({ path }, { reader: 'lab', catalog, ...options });
  const refusal = async (path: string, options?: CallOptions) => {
    const error = asError(await read(path, options));
    expect(JSON.stringify(error)).not.toContain(BAIT);
    if (!path.startsWith(LIBRARY)) expect(JSON.stringify(error)).not.toContain(LIBRARY);
    return error;
  };

  it.each([
    ['a document', 'doc', '# Doc\nsecond\n'],
    ['a package, by its SKILL.md', 'pack', '# Pack\n\nTwo lines.\n'],
    ['the SKILL.md of a package', 'pack/SKILL.md', '# Pack\n\nTwo lines.\n'],
    ['a file of a package', 'pack/deep/notes.md', 'deep\n'],
    ['a file under a reserved name in a package', 'pack/.git/HEAD', 'reserved, and admitted with the package\n'],
    ['and one deeper', 'pack/deep/.sprawling/x', 'so is this\n'],
    ['a link that stays in its package', 'pack/inner', 'deep\n'],
    ['a path over one', 'pack/inner-dir/notes.md', 'deep\n'],
    ['a skill of the reader’s own building', 'own', '# Own\n'],
    ['a skill that is called like a building', 'hall', '# A skill that is called like a building\n'],
    ['a document that is called SKILL.md', 'SKILL', '# A document of this name\n'],
    ['what an external shelf carries, byte for byte', 'outer', OUTER],
    ['what is no name, as the city’s', 'lab/notes.md', 'notes\n'],
    ['what lies below the name of a document, as the city’s', 'doc/x', 'a building that is called like a document\n'],
  ])('reads %s', async (_, path, text) => {
    expect(asValue(await read(path))).toMatchObject({ path, text });
  });

  it('gives no version of what is opened by name, and cuts it as any other', async () => {
    expect(asValue(await place.read({ path: 'doc', offset: 0, limit: 1 }, { reader: 'lab', catalog }))).toEqual({
      path: 'doc',
      text: '# Doc\n',
      bytes: 6,
      total_lines: 2,
      next_offset: 1,
    });
    expect(asValue(await place.read({ path: 'outer', offset: 1 }, { reader: 'lab', catalog }))).toEqual({
      path: 'outer',
      text: 'last line',
      bytes: 9,
    });
    expect(
      asValue(await place.read({ path: 'pack/deep/notes.md', offset: 9 }, { reader: 'lab', catalog })),
    ).toMatchObject({ text: '', total_lines: 1 });
    expect(asValue(await read('lab/notes.md')).version).toBe(blake3('notes\n'));
  });

  it.each([
    'pack/out',
    'pack/out-missing',
    'pack/out-dir',
    'pack/out-dir/doc.md',
    'pack/out-dir/none',
    'pack/out-city',
    'pack/out-city-missing',
    'pack/out-outside',
    'pack/out-absolute',
    'pack/out-absolute-missing',
    'pack/out-and-back',
    'pack/out-three',
    'linked-pack',
    'linked-pack/SKILL.md',
    'linked-pack/none',
  ])('refuses %s, whatever stands there: it is not in the package itself', async (path) => {
    expect(await refusal(path)).toEqual({
      code: 'E_GATE_DENIED',
      action: 'read',
      subject: `${path}: it leads out of its package through a link`,
      nearby: [],
      recovery: 'name the file in the package itself, not what stands behind a link',
      retry: 'no',
    });
  });

  it('refuses a document that does not stand on the shelf itself', async () => {
    expect(await refusal('linked-doc')).toMatchObject({
      code: 'E_GATE_DENIED',
      recovery: 'ask a person to put the document itself on the shelf',
    });
  });

  it.each([
    'pack/',
    'pack//deep',
    'pack/deep/',
    'pack/.',
    'pack/..',
    'pack/../doc.md',
    'pack/deep/../SKILL.md',
    'pack/./SKILL.md',
    'pack/deep\\notes.md',
    'pack/a:b',
    'pack/x.',
    'pack/x ',
    'pack/\u0000',
    'pack/\ud800',
  ])('refuses %j as no path inside a package, judged and not normalised', async (path) => {
    expect(await refusal(path)).toMatchObject({
      code: 'E_INVALID_ARGS',
      nearby: [],
      recovery: expect.stringMatching(/: pass a path inside the package, plain segments only$/),
    });
  });

  it.each([
    ['a name that no shelf has', 'none'],
    ['what the reading room does not admit', 'unadmitted'],
    ['a file of such a package', 'unadmitted/SKILL.md'],
    ['the shelf’s own address of a document', `${LIBRARY}/doc.md`],
    ['and of a file in a package', `${PACK}/SKILL.md`],
    ['a file beside what is carried', 'outer/notes.md'],
    ['a document’s name with its end', 'doc.md'],
    ['a name in another case', 'Pack'],
    ['below a document that is called SKILL.md', 'SKILL/doc.md'],
    ['a file of a building, where a skill is called like it', 'hall/minutes.md'],
  ])('does not read %s by name', async (_, path) => {
    expect(['E_INVALID_ARGS', 'E_GATE_DENIED']).toContain((await refusal(path)).code);
  });

  it('is nobody else’s catalog: an outsider reads none of it', async () => {
    const outside = await place.scan(null, [shelf]);
    for (const path of ['doc', 'pack', 'pack/SKILL.md', 'outer', 'own']) {
      expect(asError(await read(path, { reader: null, catalog: outside })).code).toBe('E_INVALID_ARGS');
    }
  });

  describe('a miss', () => {
    it('offers what the deepest directory of the package holds, as the caller reaches it', async () => {
      expect(await refusal('pack/deep/note.md')).toMatchObject({
        code: 'E_INVALID_ARGS',
        nearby: ['pack/deep/notes.md'],
      });
      expect((await refusal('pack/inner-dir/note.md')).nearby).toEqual(['pack/deep/notes.md']);
      expect((await refusal('pack/deep/none/x')).nearby).toEqual(['pack/deep/notes.md']);
      expect((await refusal('pack/SKILL')).nearby[0]).toBe('pack/SKILL.md');
      expect((await refusal('pack/crowd/99.md')).nearby).toHaveLength(NEARBY_CAP);
    });

    it('offers nothing reserved, nothing without an address, and no neighbour on the shelf', async () => {
      const { nearby } = await refusal('pack/none');
      expect(nearby).not.toEqual([]);
      for (const path of nearby) expect(path).toMatch(/^pack\/(?!\.git)[^:]+$/);
      expect((await refusal('hall/pack')).nearby).toEqual(['hall/SKILL.md']);
    });

    it('tells a directory of a package, and offers what it holds', async () => {
      expect(await refusal('pack/deep')).toMatchObject({
        subject: 'pack/deep: it is a directory',
        nearby: ['pack/deep/notes.md'],
      });
      expect((await refusal('pack/inner-dir')).nearby).toEqual(['pack/deep/notes.md']);
    });

    it('points to what finds places, and says what does not', async () => {
      for (const path of ['pack/none', 'pack/deep'])
        expect((await refusal(path)).recovery).toMatch(/`search` finds files of the city/);
    });

    it.each([
      ['a file that is not UTF-8', 'pack/not-text', 'E_INVALID_ARGS', /UTF-8/],
      ['a pipe', 'pack/pipe', 'E_INVALID_ARGS', /neither a file nor a directory/],
      ['a path through a file', 'pack/SKILL.md/x', 'E_INVALID_ARGS', /through a file/],
      ['a link that stays inside and leads nowhere', 'pack/dangling', 'E_STORAGE_FATAL', /did not resolve/],
      ['a link to itself', 'pack/round', 'E_STORAGE_FATAL', /did not resolve/],
    ])('says what it met: %s', async (_, path, code, fact) => {
      expect(await refusal(path)).toMatchObject({ code, nearby: [], subject: expect.stringMatching(fact) });
    });
  });

  describe('deny patterns', () => {
    it.each([
      ['what was asked', 'pack/deep/notes.md', 'pack/deep/**'],
      ['what was asked, without its case', 'pack/deep/notes.md', 'PACK'],
      ['where it lies', 'pack/deep/notes.md', `${PACK}/deep/*`],
      ['any such file', 'pack/deep/notes.md', '**/notes.md'],
      ['where a link lands', 'pack/inner', '**/notes.md'],
      ['where a link lands, by the package’s name', 'pack/inner', 'pack/deep/notes.md'],
      ['what a name alone opens, by its own', 'pack', 'pack/SKILL.md'],
      ['what a name alone opens, below it', 'pack', 'pack/**'],
      ['a document where it lies', 'doc', `${LIBRARY}/doc.md`],
      ['a document as it was asked', 'doc', 'doc'],
      ['a name of what is carried', 'outer', 'outer'],
      ['everything', 'outer', '**'],
      ['the library', 'pack/SKILL.md', '.sprawling/library'],
    ])('cover a file by name: %s', async (_, path, pattern) => {
      // The catalog of a run that had no patterns yet: what it names is judged again at each read.
      expect((await refusal(path, { deny: [pattern] })).code).toBe('E_GATE_DENIED');
      for (const openUnchecked of ['judge', 'filesystem'] as const) {
        const alone = await read(path, { deny: [pattern], unchecked: { openUnchecked } });
        expect(asError(alone).code, openUnchecked).toBe('E_GATE_DENIED');
      }
    });

    it('leave what they do not cover', async () => {
      const deny = ['pack/deep/**', '**/*.csv', 'hall'];
      expect(asValue(await read('pack/SKILL.md', { deny })).text).toBe('# Pack\n\nTwo lines.\n');
      expect(asValue(await read('outer', { deny: ['**/*.md'] })).text).toBe(OUTER);
    });

    it('take names out of a miss', async () => {
      expect((await refusal('pack/deep/note.md', { deny: ['**/notes.md'] })).nearby).toEqual([]);
      expect((await refusal('pack/deep/note.md', { deny: ['pack/deep/notes.md'] })).nearby).toEqual([]);
    });

    it('close a name whose document they cover since the scan, and nothing of the city takes its place', async () => {
      const closed = await place.scan('lab', [shelf], [`${LIBRARY}/**`]);
      expect(await refusal('hall', { catalog: closed })).toMatchObject({ code: 'E_GATE_DENIED' });
      expect(await refusal('hall/minutes.md', { catalog: closed })).toMatchObject({ code: 'E_GATE_DENIED' });
    });
  });

  it('reads nothing by name, nor of the city, while the catalog cannot be consulted; `search` is not concerned', async () => {
    const poisoned = kept(
      city(setting, [
        roomOf('x'),
        ['x', BAIT],
        ['lab/notes.md', 'notes\n'],
        [`${LIBRARY}/x.md`, ''],
        [`${LIBRARY}/x/SKILL.md`, 'x'],
      ]),
    );
    const options = { reader: 'lab', catalog: await poisoned.scan('lab') };
    for (const path of ['x', 'x/SKILL.md', 'lab/notes.md', 'none', '../x']) {
      expect(asError(await poisoned.read({ path }, options))).toMatchObject({
        code: 'E_STORAGE_FATAL',
        subject: expect.stringMatching(/^.+: the catalog cannot be consulted$/),
        nearby: [],
        recovery: expect.stringMatching(/^end this run and start it again/),
      });
    }
    expect(asValue(await poisoned.search({ text: 'notes' }, options)).count).toBe(1);
  });

  it('calls rules of the reader that do not read E_CONFIG_INVALID; `search` is not concerned', async () => {
    const torn = kept(
      city(setting, [
        ['lab/.sprawling/RULES.toml', `confidential = ${BAIT}`],
        ['lab/notes.md', 'notes\n'],
      ]),
    );
    const options = { reader: 'lab', catalog: await torn.scan('lab') };
    const error = asError(await torn.read({ path: 'lab/notes.md' }, options));
    expect(error).toMatchObject({
      code: 'E_CONFIG_INVALID',
      recovery: expect.stringMatching(/lab\/\.sprawling\/RULES\.toml/),
    });
    expect(JSON.stringify(error)).not.toContain(BAIT);
    expect(asValue(await torn.search({ text: 'notes' }, options)).count).toBe(1);
  });

  describe('after the scan', () => {
    const on = async (
      change: (world: World) => void,
      claim: (read: (path: string, between?: () => void) => ReturnType<TestCity['read']>) => Promise<void>,
    ) => {
      const own = kept(city(setting, THINGS));
      const catalog = await own.scan('lab', [shelf]);
      change(own.world);
      await claim((path, betweenWalls) =>
        own.read({ path }, { reader: 'lab', catalog, ...(betweenWalls && { unchecked: { betweenWalls } }) }),
      );
    };

    it('a carried skill is what it was, and hashes to its pin, whatever its file holds now', async () => {
      const outside = kept(worldOf([['outer/SKILL.md', OUTER]]));
      const catalog = await place.scan('lab', [outside]);
      outside.put('outer/SKILL.md', BAIT);
      const { text } = asValue(await read('outer', { catalog }));
      expect(text).toBe(OUTER);
      expect(catalog.kind === 'catalog' && catalog.entries.find(({ name }) => name === 'outer')?.hash).toBe(
        blake3(text),
      );
      outside.remove('outer');
      expect(asValue(await read('outer', { catalog })).text).toBe(OUTER);
    });

    it('a file of the city’s shelf is read as it is now', () =>
      on(
        (world) => world.put(`${LIBRARY}/doc.md`, '# Doc, mended\n'),
        async (read) => {
          expect(asValue(await read('doc')).text).toBe('# Doc, mended\n');
        },
      ));

    it.each<[string, string, (world: World) => void, string]>([
      [
        'a package that became a link',
        'pack/deep/notes.md',
        (world) => moveBehindLink(world, PACK, 'lab/moved', '../../../lab/moved'),
        'E_GATE_DENIED',
      ],
      [
        'a section that became a link',
        'doc',
        (world) => moveBehindLink(world, LIBRARY, 'lab/moved', '../../lab/moved'),
        'E_GATE_DENIED',
      ],
      [
        'a document that became a link',
        'doc',
        (world) => swap(world, `${LIBRARY}/doc.md`, 'unadmitted.md'),
        'E_GATE_DENIED',
      ],
      [
        'a document that became a dangling link',
        'doc',
        (world) => swap(world, `${LIBRARY}/doc.md`, 'none'),
        'E_GATE_DENIED',
      ],
      [
        'a SKILL.md that became a link',
        'pack',
        (world) => swap(world, `${PACK}/SKILL.md`, '../unadmitted.md'),
        'E_GATE_DENIED',
      ],
      ['a package that is gone', 'pack/SKILL.md', (world) => world.remove(PACK), 'E_INVALID_ARGS'],
      ['a document that is gone', 'doc', (world) => world.remove(`${LIBRARY}/doc.md`), 'E_INVALID_ARGS'],
      [
        'a document that became a directory',
        'doc',
        (world) => {
          world.remove(`${LIBRARY}/doc.md`);
          world.put(`${LIBRARY}/doc.md/x`, BAIT);
        },
        'E_INVALID_ARGS',
      ],
    ])('%s is not read, and nothing of the shelf is offered', (_, path, change, code) =>
      on(change, async (read) => {
        const error = asError(await read(path));
        expect(error).toMatchObject({ code, nearby: [] });
        expect(JSON.stringify(error)).not.toContain(BAIT);
      }),
    );
  });
});

describe.each(TREES)('what was judged on a shelf and changes before it is opened, over a %s tree', (tree) => {
  it.each<[string, string, (world: World) => void]>([
    [
      'a file of a package becomes a link out',
      'pack/deep/notes.md',
      (world) => swap(world, `${PACK}/deep/notes.md`, '../../unadmitted.md'),
    ],
    [
      'a file becomes a link to another one of the package',
      'pack/deep/notes.md',
      (world) => swap(world, `${PACK}/deep/notes.md`, '../SKILL.md'),
    ],
    ['its directory becomes a link out', 'pack/deep/notes.md', (world) => swap(world, `${PACK}/deep`, '../unadmitted')],
    ['the package becomes a link', 'pack/SKILL.md', (world) => swap(world, PACK, 'unadmitted')],
    ['the package is moved away', 'pack/SKILL.md', (world) => world.move(PACK, 'hall/pack')],
    ['a document becomes a link to its neighbour', 'doc', (world) => swap(world, `${LIBRARY}/doc.md`, 'unadmitted.md')],
    ['the section becomes a link', 'doc', (world) => moveBehindLink(world, LIBRARY, 'hall/field', '../../hall/field')],
  ])('%s: not read, with either wall’s bound open too', async (_, path, between) => {
    for (const openUnchecked of [undefined, 'judge', 'filesystem'] as const) {
      const place = kept(city({ tree, binding: 'fixed' }, THINGS));
      const catalog = await place.scan('lab');
      const betweenWalls = () => between(place.world);
      const unchecked = { betweenWalls, ...(openUnchecked && { openUnchecked }) };
      const error = asError(await place.read({ path }, { reader: 'lab', catalog, unchecked }));
      expect(error, `${openUnchecked}`).toMatchObject({ code: 'E_GATE_DENIED', nearby: [] });
      expect(JSON.stringify(error)).not.toContain(BAIT);
    }
  });

  it('no link out of a package is followed, with either wall’s bound open', async () => {
    const place = kept(city({ tree, binding: 'fixed' }, THINGS));
    const catalog = await place.scan('lab');
    const paths = THINGS.map(([at]) => String(at)).filter((at) => at.startsWith(`${PACK}/out`));
    expect(paths.length).toBeGreaterThan(10);
    for (const openUnchecked of ['judge', 'filesystem'] as const) {
      for (const at of [
        ...paths.map((path) => path.replace(PACK, 'pack')),
        'linked-pack',
        'linked-doc',
        'pack/../doc.md',
      ]) {
        const error = asError(await place.read({ path: at }, { reader: 'lab', catalog, unchecked: { openUnchecked } }));
        expect(['E_GATE_DENIED', 'E_INVALID_ARGS'], at).toContain(error.code);
      }
    }
  });

  it('the guest holds the one file, its account says of what kind, and nothing stays open', async () => {
    const place = kept(city({ tree, binding: 'fixed' }, THINGS));
    const outside = kept(memoryWorld([['outer/SKILL.md', OUTER]]));
    const catalog = await place.scan('lab', [outside]);
    const accounts: Account['handed'][] = [];
    for (const path of ['pack/inner', 'pack', 'doc', 'outer', 'lab/notes.md']) {
      let call: Call | undefined;
      const work = (own: Call) => {
        call = own;
        return readTool.run(own, { path });
      };
      asValue(await place.read({ path }, { reader: 'lab', catalog, work }));
      accounts.push(call?.account().handed ?? null);
      expect(call?.tree.openCount(), path).toBe(0);
    }
    expect(accounts).toEqual([
      { kind: 'package', landed: `${PACK}/deep/notes.md` },
      { kind: 'package', landed: `${PACK}/SKILL.md` },
      { kind: 'document', landed: `${LIBRARY}/doc.md` },
      null,
      { kind: 'single', landed: 'lab/notes.md' },
    ]);
  });
});

describe('what the guest holds', () => {
  /** What a hostile guest might ask of the one directory it was handed. */
  const ASKED = [
    [
      '',
      '.',
      '..',
      'SKILL.md',
      'doc.md',
      'deep',
      'deep/notes.md',
      'out',
      '../SKILL.md',
      '../doc.md',
      '../unadmitted.md',
    ],
    [
      'unadmitted.md',
      'deep/../SKILL.md',
      '../../../../vault/secret',
      '/etc/passwd',
      '/city/lab/notes.md',
      'lab/notes.md',
    ],
  ].flat();

  it.each([
    ['pack/deep/notes.md', 'notes.md', 'deep\n'],
    ['pack', 'SKILL.md', '# Pack\n\nTwo lines.\n'],
    ['doc', 'doc.md', '# Doc\nsecond\n'],
    ['outer', 'outer', OUTER],
  ])('of %s is the one file %s, whatever else it asks for, with either wall’s bound open', async (path, name, text) => {
    for (const tree of TREES) {
      const place = kept(city({ tree, binding: 'fixed' }, THINGS));
      const catalog = await place.scan('lab', [kept(memoryWorld([['outer/SKILL.md', OUTER]]))]);
      for (const openUnchecked of [undefined, 'judge', 'filesystem'] as const) {
        const opened: string[] = [];
        const guest = (filesystem: Filesystem): Guest => {
          opened.push(...openedOf(filesystem, [...ASKED, name]));
          return GUESTS.fixed(filesystem);
        };
        const unchecked = { guest, ...(openUnchecked && { openUnchecked }) };
        expect(asValue(await place.read({ path }, { reader: 'lab', catalog, unchecked })).text).toBe(text);
        expect(new Set(opened), `${tree}, ${openUnchecked}`).toEqual(new Set([`listed ${name}`, `opened ${name}`]));
      }
    }
  });

  /** What a guest gets by asking for all of these, as files and as directories. */
  function openedOf(filesystem: Filesystem, paths: readonly string[]): string[] {
    const preopened = filesystem.preopened();
    if (isCode(preopened)) throw new Error('no directory was handed over');
    const { handle } = preopened;
    const listing = filesystem.readDirectory(handle);
    if (isCode(listing) || listing.kind !== 'stream') throw new Error('it does not list');
    const got = listing.entries.map((entry) => `listed ${entry.name}`);
    for (const path of paths) {
      for (const directory of [false, true]) {
        const opened = filesystem.openAt(handle, { path, directory, follow: true, mutates: false });
        if (isCode(opened)) continue;
        got.push(`opened ${path}`);
        filesystem.drop(opened);
      }
    }
    filesystem.drop(listing);
    filesystem.drop(handle);
    return got;
  }
});

describe('a program that joins the shelf and the path', () => {
  /** As the refused rows are asked, and what it reads where they say that nothing is to be read. */
  it.each([
    ['a link out of the package', `${PACK}/out`, '# Doc'],
    ['a link to a closed building', `${PACK}/out-city`, BAIT],
    ['a link out of the city', `${PACK}/out-outside`, 'SECRET'],
    ['a way out and back', `${PACK}/out-and-back`, '# Pack'],
    ['three links', `${PACK}/out-three`, '# Doc'],
    ['a directory behind a link', `${PACK}/out-dir/doc.md`, '# Doc'],
    ['a package that is a link', `${LIBRARY}/linked-pack/SKILL.md`, BAIT],
    ['a document that is a link', `${LIBRARY}/linked-doc.md`, BAIT],
    ['dots', `${PACK}/../unadmitted.md`, BAIT],
  ])('falls for %s', (_, at, gets) => {
    const world = kept(diskWorld('linux')(THINGS));
    expect(fs.readFileSync(path.join(world.root, at), 'utf8')).toContain(gets);
  });
});

describe('a long document', () => {
  it('is cut and continued by name, and its pages are the document', async () => {
    const text = Array.from(
      { length: 3_000 },
      (_, number) => `line ${number} of a long skill, with some words on it\n`,
    ).join('');
    const place = kept(
      city({ tree: 'memory', binding: 'fixed' }, [roomOf('long', 'outer'), [`${LIBRARY}/long.md`, text]]),
    );
    const catalog = await place.scan('lab', [memoryWorld([['outer/SKILL.md', text]])]);
    for (const path of ['long', 'outer']) {
      let all = '';
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const page: { text: string; bytes: number; next_offset?: number | undefined } = asValue(
          await place.read({ path, offset }, { reader: 'lab', catalog }),
        );
        expect(page.bytes).toBeLessThanOrEqual(INTERVAL_CAP_BYTES);
        all += page.text;
        offset = page.next_offset;
      }
      expect(all).toBe(text);
    }
  });
});
