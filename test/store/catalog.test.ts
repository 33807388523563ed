/**
 * Scanning: what a run may open by name, from its reading room and the shelves. Every row over a Linux, a portable and a
 * memory tree. Spec: locators-and-catalog, "Catalog".
 */

import { readFileSync } from 'node:fs';
import { createBLAKE3 } from 'hash-wasm';
import { afterEach, describe, expect, it } from 'vitest';
import type { CatalogData, CatalogRead, UnreadableCatalog } from '../../dist/judge/catalog.js';
import {
  disclosureOf,
  EMPTY_CATALOG,
  entryFault,
  named,
  nameFault,
  notConsulted,
  unreadableError,
} from '../../dist/judge/catalog.js';
import * as limits from '../../dist/limits.js';
import { scanCatalog } from '../../dist/store/catalog.js';
import { openMemoryTree } from '../../dist/tree/memory.js';
import { TestCity, TREES } from '../support/cities.js';
import { descriptorCount, diskWorld, memoryWorld, type Things, type World } from '../tree/worlds.js';

const hash = await createBLAKE3();
const blake3 = (text: string | Uint8Array): string => `cas:b3-${hash.init().update(text).digest('hex')}`;

const LIBRARY = '.sprawling/library';
const SKILLS = 'lab/.sprawling/skills';

/** The reader's rules, with this reading room. */
const room = (...names: string[]): Things[number] => [
  'lab/.sprawling/RULES.toml',
  `confidential = false\nwrite = "everything"\nreading_room = ${JSON.stringify(names)}\n`,
];

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.end();
});

describe.each(TREES)('the catalog of a run, over a %s tree', (tree) => {
  const begin = (things: Things): World => {
    const world = (tree === 'memory' ? memoryWorld : diskWorld(tree))(things);
    worlds.push(world);
    return world;
  };
  const scan = (
    things: Things,
    { reader = 'lab' as string | null, shelves = [] as Things[], deny = [] as string[] } = {},
  ): Promise<CatalogRead> => new TestCity(begin(things), 'fixed').scan(reader, shelves.map(begin), deny);
  const catalog = async (...asked: Parameters<typeof scan>): Promise<CatalogData> => {
    const read = await scan(...asked);
    if (read.kind !== 'catalog') throw new Error(`unreadable: ${read.fact}`);
    return read;
  };
  const unreadable = async (...asked: Parameters<typeof scan>): Promise<UnreadableCatalog> => {
    const read = await scan(...asked);
    if (read.kind !== 'unreadable') throw new Error(`read: ${JSON.stringify(read)}`);
    return read;
  };

  it('has a single document under its name, with its address, its hash and one line of it', async () => {
    const text = '\n## The tide tables\n\nHow to read them.\n';
    const { entries } = await catalog([room('tables'), [`${LIBRARY}/field/tables.md`, text]]);
    expect(entries).toEqual([
      {
        name: 'tables',
        disclosure: 'The tide tables',
        expansion: { kind: 'address', address: `${LIBRARY}/field/tables.md` },
        hash: blake3(text),
      },
    ]);
  });

  it('has a directory with SKILL.md as a package, hash and line from SKILL.md', async () => {
    const { entries } = await catalog([
      room('gauges'),
      [`${LIBRARY}/field/gauges/SKILL.md`, '# Gauges\n'],
      [`${LIBRARY}/field/gauges/deep/more.md`, '# More\n'],
    ]);
    expect(entries).toEqual([
      {
        name: 'gauges',
        disclosure: 'Gauges',
        expansion: { kind: 'address', address: `${LIBRARY}/field/gauges/SKILL.md` },
        package: `${LIBRARY}/field/gauges`,
        hash: blake3('# Gauges\n'),
      },
    ]);
  });

  it('carries the text of an external package, byte for byte, and tells no place of it', async () => {
    const text = '\u{feff}# Outer\r\nlast line';
    const { entries } = await catalog([room('outer')], {
      shelves: [
        [
          ['outer/SKILL.md', text],
          ['outer/notes.md', 'more'],
        ],
      ],
    });
    expect(entries).toEqual([
      { name: 'outer', disclosure: 'Outer', expansion: { kind: 'text', text }, hash: blake3(text) },
    ]);
  });

  it.each<[string, Things, Things[]]>([
    ['a directory without SKILL.md', [[`${LIBRARY}/field/x/README.md`, 'x']], []],
    ['one whose SKILL.md is a directory', [[`${LIBRARY}/field/x/SKILL.md/deeper`, 'x']], []],
    ['one whose SKILL.md is a pipe', [[`${LIBRARY}/field/x/SKILL.md`, { other: true }]], []],
    ['one with skill.md', [[`${LIBRARY}/field/x/skill.md`, 'x']], []],
    ['a file without an end to its name', [[`${LIBRARY}/field/x`, 'x']], []],
    ['a directory that ends like a document', [[`${LIBRARY}/field/x.md/SKILL.md`, 'x']], []],
    ['a pipe that ends like a document', [[`${LIBRARY}/field/x.md`, { other: true }]], []],
    ['a document in no section', [[`${LIBRARY}/x.md`, 'x']], []],
    ['a package in no section', [[`${LIBRARY}/x/SKILL.md`, 'x']], []],
    ['a package two sections down', [[`${LIBRARY}/a/b/x/SKILL.md`, 'x']], []],
    ['a document on an external shelf', [], [[['x.md', 'x']]]],
    ['a document in a section of an external shelf', [], [[['field/x.md', 'x']]]],
    ['a package in a section of an external shelf', [], [[['field/x/SKILL.md', 'x']]]],
    ['the skill of another building', [['hall/.sprawling/skills/field/x/SKILL.md', 'x']], []],
    ['no shelf at all', [], []],
    ['a library that is a file', [[LIBRARY, 'x']], []],
  ])('does not find %s: a diagnostic, and no error', async (_, things, shelves) => {
    expect(await catalog([room('x'), ...things], { shelves })).toEqual({
      kind: 'catalog',
      entries: [],
      closed: [],
      diagnostics: [{ name: 'x', why: 'no shelf has it' }],
    });
  });

  it('admits only names of the reading room, in its order, and opens nothing else', async () => {
    const { entries, diagnostics } = await catalog([
      room('b', 'none', 'a'),
      [`${LIBRARY}/field/a.md`, 'a'],
      [`${LIBRARY}/other/b/SKILL.md`, 'b'],
      [`${LIBRARY}/field/blank.md`, ''],
      [`${LIBRARY}/field/c.md`, new Uint8Array([0xff])],
      [`${LIBRARY}/field/d/SKILL.md`, { file: 'd', ...(tree === 'memory' && { fails: { open: 'io' } }) }],
    ]);
    expect(entries.map(({ name }) => name)).toEqual(['b', 'a']);
    expect(diagnostics).toEqual([{ name: 'none', why: 'no shelf has it' }]);
  });

  it('takes the nearer of two: the building’s, the library’s, the external shelves’ last and first', async () => {
    const names = ['first', 'last', 'library', 'building'] as const;
    /** Each name is on its own shelf and on all that are farther. */
    const on = (...on: string[]): Things => on.map((name) => [`${name}/SKILL.md`, `${name} of ${on.length}`]);
    const in_ = (shelf: string, ...on: string[]): Things =>
      on.map((name) => [`${shelf}/s/${name}.md`, `${name} of ${on.length}`]);
    const { entries } = await catalog(
      [room(...names), ...in_(LIBRARY, ...names.slice(2)), ...in_(SKILLS, ...names.slice(3))],
      {
        shelves: [on(...names), on(...names.slice(1))],
      },
    );
    expect(entries.map(({ disclosure }) => disclosure)).toEqual([
      'first of 4',
      'last of 3',
      'library of 2',
      'building of 1',
    ]);
  });

  it('does not even open what a nearer one replaces', async () => {
    const { entries } = await catalog([room('x'), [`${SKILLS}/s/x.md`, 'near'], [`${LIBRARY}/s/x.md`, '']]);
    expect(entries).toMatchObject([{ disclosure: 'near' }]);
  });

  it.each<[string, string[], Things, RegExp]>([
    ['twice in the reading room', ['x', 'x'], [[`${LIBRARY}/s/x.md`, 'x']], /more than one entry of the name "x"/],
    [
      'as a document and a package',
      ['x'],
      [
        [`${LIBRARY}/s/x.md`, 'x'],
        [`${LIBRARY}/s/x/SKILL.md`, 'x'],
      ],
      /more than one entry of the name "x"/,
    ],
    [
      'in two sections',
      ['x'],
      [
        [`${LIBRARY}/s/x.md`, 'x'],
        [`${LIBRARY}/t/x.md`, 'x'],
      ],
      /more than one entry of the name "x"/,
    ],
    [
      'as a document and a link',
      ['x'],
      [
        [`${LIBRARY}/s/x.md`, 'x'],
        [`${LIBRARY}/s/x`, { link: 't' }],
      ],
      /more than one entry of the name "x"/,
    ],
    ['blank', [' '], [], /blank name/],
    ['empty', [''], [], /blank name/],
    ['of a document that is empty', ['x'], [[`${LIBRARY}/s/x.md`, '']], /blank disclosure, of "x"/],
    ['of a document of white space', ['x'], [[`${LIBRARY}/s/x.md`, '\n \r\n']], /blank disclosure, of "x"/],
    [
      'of a package whose first line is only marks',
      ['x'],
      [[`${LIBRARY}/s/x/SKILL.md`, '## \nmore']],
      /blank disclosure, of "x"/,
    ],
    [
      'of a document that is not UTF-8',
      ['x'],
      [[`${LIBRARY}/s/x.md`, new Uint8Array([0x61, 0xff])]],
      /x\.md is not UTF-8/,
    ],
  ])('cannot be consulted with a name %s', async (_, names, things, fact) => {
    const read = await unreadable([room(...names), ...things]);
    expect(read).toEqual({ kind: 'unreadable', because: 'entries', fact: expect.stringMatching(fact) });
  });

  it.each<[string, string, Things]>([
    [
      'is a link: %s',
      'document',
      [
        [`${LIBRARY}/s/x.md`, { link: 'real.md' }],
        [`${LIBRARY}/s/real.md`, 'SECRET'],
      ],
    ],
    ['is a dangling link', 'document', [[`${LIBRARY}/s/x.md`, { link: 'none' }]]],
    [
      'is a link to a package',
      'package',
      [
        [`${LIBRARY}/s/x`, { link: 'real' }],
        [`${LIBRARY}/s/real/SKILL.md`, 'SECRET'],
      ],
    ],
    [
      'holds a SKILL.md that leads out',
      'package',
      [
        [`${LIBRARY}/s/x/SKILL.md`, { link: '../real.md' }],
        [`${LIBRARY}/s/real.md`, 'SECRET'],
      ],
    ],
    ['holds a SKILL.md that leads nowhere', 'package', [[`${LIBRARY}/s/x/SKILL.md`, { link: 'none.md' }]]],
    [
      'holds a SKILL.md that is a link to a directory',
      'package',
      [
        [`${LIBRARY}/s/x/SKILL.md`, { link: 'deep' }],
        [`${LIBRARY}/s/x/deep/a`, 'a'],
      ],
    ],
    [
      'may be in a section that is a link',
      'package',
      [
        [`${LIBRARY}/s`, { link: '../../hall' }],
        ['hall/x/SKILL.md', 'SECRET'],
      ],
    ],
    [
      'may be in a library that is a link',
      'package',
      [
        [LIBRARY, { link: '../hall' }],
        ['hall/s/x/SKILL.md', 'SECRET'],
      ],
    ],
  ])('closes a name that %s', async (_, form, things) => {
    const read = await catalog([room('x'), ...things]);
    expect(read).toMatchObject({ entries: [], closed: [{ name: 'x', form, why: 'link' }] });
    expect(read.diagnostics).toEqual([{ name: 'x', why: expect.stringMatching(/behind a link/) }]);
    expect(JSON.stringify(read)).not.toContain('SECRET');
  });

  it('closes an external package that is a link, or whose SKILL.md leads out', async () => {
    const { closed } = await catalog([room('x', 'y')], {
      shelves: [
        [
          ['x', { link: 'real' }],
          ['real/SKILL.md', 'SECRET'],
          ['y/SKILL.md', { link: '../real/SKILL.md' }],
        ],
      ],
    });
    expect(closed.map(({ name }) => name)).toEqual(['x', 'y']);
  });

  it('has a package whose SKILL.md is a link inside it', async () => {
    const { entries } = await catalog([
      room('x'),
      [`${LIBRARY}/s/x/SKILL.md`, { link: 'docs/main.md' }],
      [`${LIBRARY}/s/x/docs/main.md`, '# Main'],
    ]);
    expect(entries).toMatchObject([{ disclosure: 'Main', package: `${LIBRARY}/s/x` }]);
  });

  it.each([`${LIBRARY}/**/*.md`, '**/x*', '**/x/**', '.sprawling'])(
    'closes what the pattern %s covers, and tells no line of it',
    async (pattern) => {
      const things: Things = [[`${LIBRARY}/s/x/SKILL.md`, 'SECRET']];
      const read = await catalog([room('x'), ...things], { deny: [pattern] });
      expect(read).toMatchObject({ entries: [], closed: [{ name: 'x', why: 'pattern' }] });
      expect(JSON.stringify(read)).not.toContain('SECRET');
    },
  );

  it('asks no pattern of an external shelf, which is not of the city', async () => {
    expect((await catalog([room('x')], { shelves: [[['x/SKILL.md', 'x']]], deny: ['**/*.md'] })).entries).toHaveLength(
      1,
    );
  });

  it('is empty for an outsider, for a reader without rules, and for an empty reading room', async () => {
    const things: Things = [[`${LIBRARY}/s/x.md`, '']];
    expect(await catalog([room('x'), ...things], { reader: null })).toEqual(EMPTY_CATALOG);
    expect(await catalog(things, { reader: 'lab' })).toEqual(EMPTY_CATALOG);
    expect(await catalog([room(), ...things])).toEqual(EMPTY_CATALOG);
  });

  it('cannot be consulted where the reader’s own rules do not read, and no text of them is told', async () => {
    const read = await unreadable([['lab/.sprawling/RULES.toml', 'confidential = SECRET']]);
    expect(read).toMatchObject({ because: 'rules', fact: expect.stringMatching(/^lab\/\.sprawling\/RULES\.toml: /) });
    expect(read.fact).not.toContain('SECRET');
  });

  it('is bounded: names of a room, of a shelf, bytes of a document, of all that is carried', async () => {
    const names = Array.from({ length: limits.CATALOG_ENTRIES_MAX + 1 }, (_, number) => `n${number}`);
    expect((await unreadable([room(...names)])).fact).toContain(String(limits.CATALOG_ENTRIES_MAX));
    expect((await catalog([room(...names.slice(1))])).diagnostics).toHaveLength(limits.CATALOG_ENTRIES_MAX);
    const large = 'x'.repeat(limits.CATALOG_DOCUMENT_MAX_BYTES);
    expect((await catalog([room('x'), [`${LIBRARY}/s/x.md`, large]])).entries).toHaveLength(1);
    expect(await unreadable([room('x'), [`${LIBRARY}/s/x.md`, `${large}x`]])).toMatchObject({ because: 'limit' });
    const carried = 'x'.repeat(limits.CATALOG_CARRIED_MAX_BYTES / 2);
    const shelf: Things = ['a', 'b', 'c'].map((name) => [`${name}/SKILL.md`, carried]);
    expect((await catalog([room('a', 'b')], { shelves: [shelf] })).entries).toHaveLength(2);
    expect(await unreadable([room('a', 'b', 'c')], { shelves: [shelf] })).toMatchObject({ because: 'limit' });
  });

  it('shows at most DISCLOSURE_CAP_BYTES of a line, and says how much was cut', async () => {
    const { entries } = await catalog([room('x'), [`${LIBRARY}/s/x.md`, 'x'.repeat(2 * limits.DISCLOSURE_CAP_BYTES)]]);
    expect(entries[0]?.disclosure).toBe(
      `${'x'.repeat(limits.DISCLOSURE_CAP_BYTES)}[truncated: ${limits.DISCLOSURE_CAP_BYTES} bytes]`,
    );
  });

  it('says the same each time, and leaves nothing open', async () => {
    const things: Things = [
      room('a', 'x', 'y'),
      [`${LIBRARY}/s/a.md`, 'a'],
      [`${LIBRARY}/t/x/SKILL.md`, 'x'],
      [`${LIBRARY}/t/y`, { link: '..' }],
    ];
    const place = new TestCity(begin(things), 'fixed');
    const shelf = begin([['z/SKILL.md', 'z']]);
    const first = await place.scan('lab', [shelf]);
    const open = descriptorCount();
    for (let time = 0; time < 20; time++) expect(await place.scan('lab', [shelf])).toEqual(first);
    expect(descriptorCount()).toBe(open);
  });
});

describe('a shelf that does not answer', () => {
  /** Each: what stands where, and which place the refusal names. */
  it.each<[string, Things[number], string]>([
    ['a library that does not list', [LIBRARY, { directory: true, fails: { list: 'io' } }], '.sprawling/library: '],
    [
      'a section that does not open',
      [`${LIBRARY}/s`, { directory: true, fails: { open: 'access' } }],
      '.sprawling/library/s: ',
    ],
    ['a section on another mount', [`${LIBRARY}/s`, { directory: true, otherMount: true }], '.sprawling/library/s: '],
    [
      'a document that does not open',
      [`${LIBRARY}/s/x.md`, { file: 'x', fails: { open: 'access' } }],
      '.sprawling/library/s/x.md: ',
    ],
    [
      'a document that does not read',
      [`${LIBRARY}/s/x.md`, { file: 'x', fails: { read: 'io' } }],
      '.sprawling/library/s/x.md: ',
    ],
    [
      'a stranger’s hard link',
      [`${LIBRARY}/s/x.md`, { file: 'x', names: 2, otherOwner: true }],
      '.sprawling/library/s/x.md: ',
    ],
    [
      'a SKILL.md that does not look',
      [`${LIBRARY}/s/x/SKILL.md`, { file: 'x', fails: { look: 'io' } }],
      '.sprawling/library/s/x/SKILL.md: ',
    ],
    [
      'an item of unknown kind that does not look',
      [`${LIBRARY}/s/x.md`, { file: 'x', listedAsUnknown: true, fails: { look: 'io' } }],
      '.sprawling/library/s/x.md: ',
    ],
  ])('makes the catalog unreadable: %s', async (_, thing, fact) => {
    const world = memoryWorld([room('x'), thing]);
    expect(await new TestCity(world, 'fixed').scan('lab')).toMatchObject({
      kind: 'unreadable',
      because: 'shelf',
      fact: expect.stringMatching(`^${fact}`),
    });
  });

  it('is told without any path of its own when it is outside', async () => {
    const shelf = memoryWorld([['x/SKILL.md', { file: 'x', fails: { open: 'access' } }]]);
    const read = await new TestCity(memoryWorld([room('x')]), 'fixed').scan('lab', [shelf]);
    expect(read).toEqual({
      kind: 'unreadable',
      because: 'shelf',
      fact: 'x/SKILL.md of an external shelf: the system does not permit opening it',
    });
  });

  it('does not hide behind one that was replaced since it was entered', async () => {
    const shelf = diskWorld('linux')([['x/SKILL.md', 'x']]);
    worlds.push(shelf);
    if (shelf.spec.kind !== 'linux') throw new Error('not a disk');
    const gone = { ...shelf, spec: { ...shelf.spec, entered: `${shelf.root}/none` } };
    expect(await new TestCity(memoryWorld([room('x')]), 'fixed').scan('lab', [gone])).toMatchObject({
      kind: 'unreadable',
      because: 'shelf',
    });
  });

  it('finds a kind that a listing does not say', async () => {
    const world = memoryWorld([
      room('x', 'y', 'z'),
      [`${LIBRARY}/s`, { directory: true, listedAsUnknown: true }],
      [`${LIBRARY}/s/x.md`, { file: 'x', listedAsUnknown: true }],
      [`${LIBRARY}/s/y`, { directory: true, listedAsUnknown: true }],
      [`${LIBRARY}/s/y/SKILL.md`, 'y'],
      [`${LIBRARY}/s/z.md`, { link: 'x.md', listedAsUnknown: true }],
    ]);
    expect(await new TestCity(world, 'fixed').scan('lab')).toMatchObject({
      entries: [{ name: 'x' }, { name: 'y' }],
      closed: [{ name: 'z' }],
    });
  });

  it('reads a document to its end, whatever size it says it has', async () => {
    const text = 'a line\n'.repeat(1_000);
    for (const reportedSizeBytes of [0, 5, 1_000_000]) {
      const world = memoryWorld([room('x'), [`${LIBRARY}/s/x.md`, { file: text, reportedSizeBytes }]]);
      expect(await new TestCity(world, 'fixed').scan('lab')).toMatchObject({ entries: [{ hash: blake3(text) }] });
    }
  });

  it('has no more names than a scan lists, of all its sections together', async () => {
    const half = Math.ceil(limits.SHELF_NAMES_MAX / 2);
    const crowd = (section: string, count: number): Things =>
      Array.from({ length: count }, (_, number) => [`${LIBRARY}/${section}/n${number}`, '']);
    // The two sections are names too.
    const fits = memoryWorld([room('x'), ...crowd('a', half - 2), ...crowd('b', half)]);
    expect(await new TestCity(fits, 'fixed').scan('lab')).toMatchObject({ kind: 'catalog' });
    const over = memoryWorld([room('x'), ...crowd('a', half - 1), ...crowd('b', half)]);
    expect(await new TestCity(over, 'fixed').scan('lab')).toEqual({
      kind: 'unreadable',
      because: 'limit',
      fact: `.sprawling/library has more than ${limits.SHELF_NAMES_MAX} names`,
    });
  });

  it('is left once its time is over', async () => {
    const world = memoryWorld([room('x'), [`${LIBRARY}/s/x.md`, 'x']]);
    if (world.spec.kind !== 'memory') throw new Error('not in memory');
    const city = openMemoryTree(world.spec.city);
    const read = await scanCatalog({ city, reader: 'lab', external: [], deny: [], late: () => true });
    expect(read).toMatchObject({ kind: 'unreadable', because: 'limit' });
    city.close();
  });
});

describe('the rules of entries', () => {
  it('has one wording for one fault, through whichever door a name comes', () => {
    const taken = new Set(['x']);
    const entry = { disclosure: 'd', expansion: { kind: 'text', text: 'd' } } as const;
    for (const name of ['x', '', ' ', '\u00a0']) {
      expect(nameFault(name, taken)).toBeDefined();
      expect(entryFault({ ...entry, name }, taken)).toBe(nameFault(name, taken));
    }
    expect(entryFault({ ...entry, name: 'y' }, taken)).toBeUndefined();
  });

  it.each([
    ['# Title\n', 'Title'],
    ['\n\n  ### Deep  \r\nmore', 'Deep'],
    ['plain', 'plain'],
    ['a # b', 'a # b'],
    ['\u{feff}# BOM', 'BOM'],
    ['---\nname: x\n---\n', '---'],
    ['', ''],
    ['#\ntext', ''],
    [' \n\t\n', ''],
  ])('discloses of %j the line %j', (text, line) => {
    expect(disclosureOf(text)).toBe(line);
  });

  const data: CatalogData = {
    ...EMPTY_CATALOG,
    entries: [
      { name: 'doc', disclosure: 'd', expansion: { kind: 'text', text: '' } },
      { name: 'pack', disclosure: 'd', expansion: { kind: 'text', text: '' }, package: 'a/pack' as never },
    ],
    closed: [
      { name: 'shut', form: 'document', why: 'link' },
      { name: 'shut-pack', form: 'package', why: 'link' },
    ],
  };
  it.each<[string, string | undefined]>([
    ['doc', 'whole'],
    ['doc/x', undefined],
    ['doc/', undefined],
    ['Doc', undefined],
    ['doc.md', undefined],
    ['pack', 'whole'],
    ['pack/x', 'inside'],
    ['pack/', 'inside'],
    ['pack//x', 'inside'],
    ['pack/../x', 'inside'],
    ['/pack/x', undefined],
    ['./pack', undefined],
    ['packs/x', undefined],
    ['shut', 'closed'],
    ['shut/x', undefined],
    ['shut-pack/x', 'closed'],
    ['', undefined],
    ['__proto__', undefined],
  ])('takes %j for %s', (path, kind) => {
    expect(named(data, path)?.kind).toBe(kind);
  });

  it.each([
    ['rules', 'E_CONFIG_INVALID', 'E_CONFIG_INVALID'],
    ['entries', 'E_INVALID_ARGS', 'E_STORAGE_FATAL'],
    ['shelf', 'E_STORAGE_FATAL', 'E_STORAGE_FATAL'],
    ['limit', 'E_LIMIT', 'E_STORAGE_FATAL'],
  ] as const)('calls a catalog unreadable because of %s %s, and %s where a path is asked', (because, own, asked) => {
    const read = { kind: 'unreadable', because, fact: 'the fact' } as const;
    const at = { action: 'read', asked: 'x' };
    const told = because === 'rules' ? 'recovery' : 'subject';
    expect(unreadableError(at, read)).toMatchObject({ code: own, [told]: expect.stringContaining('the fact') });
    expect(notConsulted(at, read)).toMatchObject({ code: asked, recovery: expect.stringContaining('the fact') });
    expect(notConsulted(at, read).subject).not.toContain('the fact');
    if (because !== 'rules') expect(notConsulted(at, read).recovery).toMatch(/^end this run and start it again/);
  });
});

describe('a scan', () => {
  it('follows no link and starts at no path: it asks the tree for single names', () => {
    const source = readFileSync('host/store/catalog.ts', 'utf8');
    expect(source).not.toMatch(/node:|linkText|realpath/);
  });
});
