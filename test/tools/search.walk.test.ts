/**
 * What a search meets: each row of the table of what is passed over and what could not be looked at, where a search may
 * start, and whom the bound lets in; over every tree and both bindings. Spec: search, "The walk"; address-and-bound.
 */

import { describe, expect, it } from 'vitest';
import { DEPTH_MAX, FILE_CAP_BYTES, TOP_ENTRIES_MAX, UNREAD_SHOWN } from '../../dist/limits.js';
import type { SearchArgs } from '../../dist/tools/search.js';
import { type CallOptions, SETTINGS, TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import { memoryWorld, type Things } from '../tree/worlds.js';
import { begin, countsOf, hitsOf, kept, pathsOf } from './cities.js';

const CLOSED = 'confidential = true\nwrite = "documents"\n';
const RULES = '.sprawling/RULES.toml';
const bytes = (...values: number[]): Uint8Array => Uint8Array.of(...values);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const unresolved = (path: string): string =>
  `E_STORAGE_FATAL: cannot search ${path}: its real location did not resolve`;
const chain = (hops: number): Things =>
  Array.from({ length: hops }, (_, at): Things[number] => [
    `lab/c${100 + at}`,
    { link: at + 1 < hops ? `c${100 + at + 1}` : 'plain' },
  ]);

interface Row {
  readonly why: string;
  /** What stands beside `lab/plain`, which must be found whatever this is. */
  readonly things: Things;
  /** Other hits than `lab/plain`. */
  readonly hits?: readonly string[];
  readonly unread?: readonly { readonly path: string; readonly why: string }[];
  /** Beyond the city's and lab's directories and the plain file. */
  readonly counts: Readonly<Record<string, number>>;
  /** Only the memory tree can express it. */
  readonly memory?: true;
}

const PASSED_OVER: readonly Row[] = [
  {
    why: 'a reserved name at any depth in any ASCII case, whatever it is, and nothing below it is met',
    things: [
      ['.git/config', 'needle'],
      ['lab/.GIT/config', 'needle'],
      ['lab/a/.Sprawling/x/y', 'needle'],
      ['lab/a/.git', 'needle'],
      ['lab/b/.sprawling', { link: '../plain' }],
    ],
    counts: { reserved: 5, directories: 2 },
  },
  {
    why: 'what only looks reserved is not',
    things: [
      ['.gitignore', 'needle'],
      ['lab/.gitlab', 'needle'],
      ['lab/a.git/x', 'needle'],
      ['lab/git', 'needle'],
      ['lab/.\u017fprawling', 'needle'],
    ],
    hits: ['.gitignore', 'lab/.gitlab', 'lab/.\u017fprawling', 'lab/a.git/x', 'lab/git'],
    counts: { looked: 5, directories: 1 },
  },
  {
    why: 'a confidential building is in no number',
    things: [
      [`vault/${RULES}`, CLOSED],
      ['vault/secret', 'needle'],
      ['vault/room/secret', 'needle'],
    ],
    counts: {},
  },
  {
    why: 'links refused: out of the city, into a reserved place, into a closed building; there or not, directly or through others',
    things: [
      [`vault/${RULES}`, CLOSED],
      ['vault/secret', 'needle'],
      ['lab/.git/x', 'needle'],
      ['lab/l1', { link: '../../outside/secret' }],
      ['lab/l2', { link: '/etc/passwd' }],
      ['lab/l3', { link: '/no/such/place' }],
      ['lab/l4', { link: '.git/x' }],
      ['lab/l5', { link: '.git/none' }],
      ['lab/l6', { link: '../vault/secret' }],
      ['lab/l7', { link: '../vault/none' }],
      ['lab/l8', { link: '../../city/lab/plain' }],
      ['lab/l9', { link: 'l1' }],
      ['lab/m1', { link: 'l9' }],
      ['lab/m2', { link: '../vault/../lab/plain' }],
      ['lab/m3', { link: '.GIT/../plain' }],
    ],
    counts: { links: 12, reserved: 1 },
  },
  {
    why: 'a link into a building whose rules do not read is refused, and does not say so: that would tell where it leads',
    things: [
      [`mill/${RULES}`, 'nonsense'],
      ['mill/x', 'needle'],
      ['lab/l', { link: '../mill/x' }],
    ],
    unread: [{ path: 'mill', why: `its rules did not read: mill/${RULES}: line 1: it is not TOML` }],
    counts: { links: 1, rules: 1 },
  },
  {
    why: 'a link to a directory, to where the walk is, or to the city: search its target by its own address',
    things: [
      ['lab/room/x', 'needle'],
      ['lab/l1', { link: 'room' }],
      ['lab/l2', { link: '.' }],
      ['lab/l3', { link: '..' }],
      ['lab/room/l4', { link: '../..' }],
      ['lab/l5', { link: 'l1/' }],
    ],
    hits: ['lab/room/x'],
    counts: { links: 5, directories: 1, looked: 1 },
  },
];

const FOLLOWED: readonly Row[] = [
  {
    why: 'a link to a file is read where it lands, and its hits carry the link’s own address',
    things: [
      ['hall/x', 'needle'],
      ['lab/l1', { link: 'plain' }],
      ['lab/l2', { link: '../hall/x' }],
      ['lab/l3', { link: 'l2' }],
      ['lab/l4', { link: './/../lab/./plain' }],
      ['top', { link: 'lab/plain' }],
    ],
    hits: ['hall/x', 'lab/l1', 'lab/l2', 'lab/l3', 'lab/l4', 'top'],
    counts: { looked: 6, directories: 1 },
  },
  {
    why: 'forty links in a row',
    things: chain(40),
    hits: chain(40).map(([path]) => String(path)),
    counts: { looked: 40 },
  },
  {
    why: 'a pnpm layout: relative links to directories are passed over, the store itself is searched, without noise',
    things: [
      ['lab/node_modules/.pnpm/a@1/node_modules/a/index.js', 'needle'],
      ['lab/node_modules/a', { link: '.pnpm/a@1/node_modules/a' }],
      ['lab/node_modules/.pnpm/a@1/node_modules/b', { link: '../../b@1/node_modules/b' }],
      ['lab/node_modules/.pnpm/b@1/node_modules/b/index.js', 'needle'],
    ],
    hits: ['lab/node_modules/.pnpm/a@1/node_modules/a/index.js', 'lab/node_modules/.pnpm/b@1/node_modules/b/index.js'],
    counts: { looked: 2, links: 2, directories: 8 },
  },
];

const DISK = 'the disk did not answer';
const UNREAD: readonly Row[] = [
  {
    why: 'a file over the cap, by size',
    things: [['lab/big', 'needle'.padEnd(FILE_CAP_BYTES + 1)]],
    unread: [{ path: 'lab/big', why: 'larger than 1 MiB; read it by interval with `read`' }],
    counts: { too_large: 1 },
  },
  {
    why: 'a file over the cap behind a link',
    things: [
      ['lab/big', 'x'.repeat(FILE_CAP_BYTES + 1)],
      ['lab/to', { link: 'big' }],
    ],
    unread: ['lab/big', 'lab/to'].map((path) => ({ path, why: 'larger than 1 MiB; read it by interval with `read`' })),
    counts: { too_large: 2 },
  },
  {
    why: 'a file over the cap by what reading finds, though its size says less',
    things: [['lab/liar', { file: 'needle'.padEnd(FILE_CAP_BYTES + 1), reportedSizeBytes: 6 }]],
    unread: [{ path: 'lab/liar', why: 'larger than 1 MiB; read it by interval with `read`' }],
    counts: { too_large: 1 },
    memory: true,
  },
  {
    why: 'a file whose size says 0 is read to its end (as in /proc), one whose size says more too',
    things: [
      ['lab/more', { file: 'needle', reportedSizeBytes: 600 }],
      ['lab/zero', { file: 'needle', reportedSizeBytes: 0 }],
    ],
    hits: ['lab/more', 'lab/zero'],
    counts: { looked: 2 },
    memory: true,
  },
  {
    why: 'links that stay inside and do not resolve: to nothing, to itself, in a ring, through a file, 41 in a row',
    things: [
      ['lab/l1', { link: 'nowhere' }],
      ['lab/l2', { link: 'l2' }],
      ['lab/l3', { link: 'l4' }],
      ['lab/l4', { link: 'l3' }],
      ['lab/l5', { link: 'plain/x' }],
      ['lab/l6', { link: 'plain/' }],
      ['lab/l7', { link: '../lab/no/way' }],
    ],
    unread: ['l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7'].map((name) => ({
      path: `lab/${name}`,
      why: unresolved(`lab/${name}`),
    })),
    counts: { link: 7 },
  },
  {
    why: 'the first of 41 links in a row, and not the second',
    things: chain(41),
    hits: chain(41)
      .slice(1)
      .map(([path]) => String(path)),
    unread: [{ path: 'lab/c100', why: unresolved('lab/c100') }],
    counts: { link: 1, looked: 40 },
  },
  {
    why: 'a link to a name that is no address says so, not where',
    things: [['lab/l', { link: 'a:b' }]],
    unread: [
      {
        path: 'lab/l',
        why: 'E_INVALID_ARGS: cannot search lab/l: a link leads to a name that is no address: it contains a colon',
      },
    ],
    counts: { link: 1 },
  },
  {
    why: 'a building whose rules do not read: named once, with the rule broken and no text of the file',
    things: [
      [`mill/${RULES}`, 'confidential = true\nwrite = "SECRETWORD"\n'],
      ['mill/x', 'needle'],
      ['mill/y', 'needle'],
    ],
    unread: [
      {
        path: 'mill',
        why: `its rules did not read: mill/${RULES}: line 2: \`write\` must be "everything" or "documents"`,
      },
    ],
    counts: { rules: 1 },
  },
  {
    why: 'a building whose rules are a link',
    things: [
      ['mill/x', 'needle'],
      ['mill/rules', 'confidential = false\nwrite = "everything"\n'],
      [`mill/${RULES}`, { link: '../rules' }],
    ],
    unread: [{ path: 'mill', why: expect.stringMatching(/^its rules did not read: mill\/\.sprawling\/RULES\.toml: /) }],
    counts: { rules: 1 },
  },
  {
    why: 'names that are no address, each with the rule broken; nothing below them is met',
    things: [
      ['lab/a:b', 'needle'],
      ['lab/back\\slash', 'needle'],
      ['lab/dot.', 'needle'],
      ['lab/space ', 'needle'],
      ['lab/tab\t', 'needle'],
      ['lab/y\u00a0/x', 'needle'],
      ['z:top', 'needle'],
    ],
    unread: [
      ['lab/a:b', 'it contains a colon'],
      ['lab/back\\slash', 'it contains a backslash'],
      ['lab/dot.', 'a segment of it ends with a dot or with white space'],
      ['lab/space ', 'a segment of it ends with a dot or with white space'],
      ['lab/tab\t', 'it contains a control character'],
      ['lab/y\u00a0', 'a segment of it ends with a dot or with white space'],
      ['z:top', 'it contains a colon'],
    ].map(([path = '', rule]) => ({ path, why: `its name is not an address: ${rule}` })),
    counts: { name: 7 },
  },
  {
    why: 'a name that is not UTF-8: shown with U+FFFD, sorted as shown, never opened',
    things: [
      [['lab', bytes(0x7a, 0xff)], 'needle'],
      [['lab', bytes(0xc4, 0xe3), 'x'], 'needle'],
      ['lab/z\ufffda', 'needle'],
    ],
    hits: ['lab/z\ufffda'],
    unread: ['lab/z\ufffd', 'lab/\ufffd\ufffd'].map((path) => ({
      path,
      why: 'its name is not an address: it is not UTF-8',
    })),
    counts: { name: 2, looked: 1 },
  },
  {
    why: 'neither file nor directory, directly or through a link: never opened, nothing waits',
    things: [
      ['lab/pipe', { other: true }],
      ['lab/to', { link: 'pipe' }],
    ],
    unread: ['lab/pipe', 'lab/to'].map((path) => ({ path, why: 'not a regular file' })),
    counts: { not_regular: 2 },
  },
  {
    why: 'on another file system',
    things: [
      ['lab/file', { file: 'needle', otherMount: true }],
      ['lab/room', { directory: true, otherMount: true }],
    ],
    unread: ['lab/file', 'lab/room'].map((path) => ({ path, why: 'on another file system' })),
    counts: { foreign: 2 },
    memory: true,
  },
  {
    why: 'a hard link of another owner; one of the same owner is read',
    things: [
      ['lab/other', { file: 'needle', names: 2, otherOwner: true }],
      ['lab/same', { file: 'needle', names: 2 }],
    ],
    hits: ['lab/same'],
    unread: [{ path: 'lab/other', why: 'more than one name leads to it' }],
    counts: { foreign: 1, looked: 1 },
    memory: true,
  },
  {
    why: 'files that fail to open or to read, each in our words',
    things: [
      ['lab/a', { file: 'needle', fails: { open: 'access' } }],
      ['lab/b', { file: 'needle', fails: { open: 'no-entry' } }],
      ['lab/c', { file: 'needle', fails: { open: 'io' } }],
      ['lab/d', { file: 'needle', fails: { read: 'io' } }],
      ['lab/e', { file: 'needle', fails: { open: 'exhausted' } }],
    ],
    unread: [
      ['lab/a', 'the system does not permit opening it'],
      ['lab/b', 'it vanished since it was listed'],
      ['lab/c', DISK],
      ['lab/d', DISK],
      ['lab/e', 'the process has no more descriptors or memory'],
    ].map(([path = '', why = '']) => ({ path, why })),
    counts: { access: 1, vanished: 1, disk: 3 },
    memory: true,
  },
  {
    why: 'directories that fail to open or to list are not counted as listed',
    things: [
      ['lab/a', { directory: true, fails: { open: 'access' } }],
      ['lab/b', { directory: true, fails: { list: 'access' } }],
      ['lab/c', { directory: true, fails: { list: 'too-many-entries' } }],
      ['lab/d', { directory: true, fails: { open: 'moved' } }],
    ],
    unread: [
      ['lab/a', 'the system does not permit opening it'],
      ['lab/b', 'the system does not permit opening it'],
      ['lab/c', 'it has more than 200000 entries (DIR_ENTRIES_MAX)'],
      ['lab/d', 'it vanished since it was listed'],
    ].map(([path = '', why = '']) => ({ path, why })),
    counts: { access: 2, entries: 1, vanished: 1 },
    memory: true,
  },
  {
    why: 'what the listing does not say the kind of is what it is at the open',
    things: [
      ['lab/a', { file: 'needle', listedAsUnknown: true }],
      ['lab/b', { directory: true, listedAsUnknown: true }],
      ['lab/b/x', 'needle'],
      ['lab/c', { link: 'nowhere', listedAsUnknown: true }],
      ['lab/d', { other: true, listedAsUnknown: true }],
      ['lab/e', { link: 'b', listedAsUnknown: true }],
    ],
    hits: ['lab/a', 'lab/b/x'],
    unread: [
      { path: 'lab/c', why: unresolved('lab/c') },
      { path: 'lab/d', why: 'not a regular file' },
    ],
    counts: { looked: 2, directories: 1, not_regular: 1, links: 1, link: 1 },
    memory: true,
  },
];

const sum = (counts: Readonly<Record<string, number>>, more: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    [...new Set([...Object.keys(counts), ...Object.keys(more)])].map((name) => [
      name,
      (counts[name] ?? 0) + (more[name] ?? 0),
    ]),
  );

describe.each(SETTINGS)('the walk of search, $tree, $binding', (setting) => {
  const possible = (rows: readonly Row[]) => rows.filter(({ memory }) => setting.tree === 'memory' || memory !== true);

  describe.each([
    ['passes over, because policy says so', possible(PASSED_OVER)],
    ['follows', possible(FOLLOWED)],
    ['names what it could not look at, and goes on', possible(UNREAD)],
  ] as const)('%s', (_, rows) => {
    it.each(rows)('$why', async ({ things, hits = [], unread = [], counts }) => {
      const place = begin(setting, [...things, ['lab/plain', 'needle']]);
      const value = asValue(await place.search({ text: 'needle' }));
      expect(pathsOf(value).filter((path) => path !== 'lab/plain')).toEqual(hits);
      expect(pathsOf(value)).toContain('lab/plain');
      expect(value.unread).toEqual(unread);
      expect(countsOf(value)).toEqual(sum({ directories: 2, looked: 1 }, counts));
      expect(value).toMatchObject({ truncated: false, unreadable: unread.length });
    });
  });

  it('lists the first 16 unread in walk order and counts all', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `lab/l${100 + at}`);
    const place = begin(setting, [
      ...names.map((name): Things[number] => [name, { link: 'nowhere' }]),
      ['lab/z', 'needle'],
    ]);
    const value = asValue(await place.search({ text: 'needle' }));
    expect(value.unread).toEqual(names.slice(0, UNREAD_SHOWN).map((path) => ({ path, why: unresolved(path) })));
    expect(value.unreadable).toBe(40);
    expect(countsOf(value)).toEqual({ directories: 2, looked: 1, link: 40 });
  });

  it('adds up: ten planted things are ten', async () => {
    const place = begin(setting, [
      ['lab/.git/x', 'needle'],
      ['lab/.hidden', 'needle'],
      ['lab/big', 'x'.repeat(FILE_CAP_BYTES + 1)],
      ['lab/binary', Uint8Array.of(...utf8('needle'), 0xff)],
      ['lab/dangling', { link: 'none' }],
      ['lab/out', { link: '/etc' }],
      ['lab/pipe', { other: true }],
      ['lab/plain', 'needle'],
      ['lab/room/x', 'needle'],
    ]);
    const value = asValue(await place.search({ text: 'needle', path: 'lab' }));
    expect(value.coverage).toEqual({
      entries: 11,
      looked: 4,
      directories: 2,
      links: 1,
      reserved: 1,
      not_text: 1,
      unread_by_cause: { too_large: 1, not_regular: 1, link: 1 },
    });
  });

  describe('where it starts', () => {
    const CITY: Things = [
      ['lab/Notes.md', 'a needle'],
      ['lab/room/x', 'needle'],
      ['lab/room/y', 'needle'],
      ['lab/to-file', { link: 'Notes.md' }],
      ['lab/to-room', { link: 'room' }],
      ['lab/to-city', { link: '..' }],
      ['lab/to-hall', { link: '../hall' }],
      ['lab/out', { link: '../../outside/secret' }],
      ['lab/to-vault', { link: '../vault/secret' }],
      ['lab/nowhere', { link: 'none' }],
      ['lab/round', { link: 'round' }],
      ['lab/pipe', { other: true }],
      ['lab/to-pipe', { link: 'pipe' }],
      ['hall/h', 'needle'],
      [`vault/${RULES}`, CLOSED],
      ['vault/secret', 'needle'],
      [`mill/${RULES}`, 'nonsense'],
      ['mill/x', 'needle'],
      ['top', 'needle'],
    ];
    const WHOLE = ['hall/h', 'lab/Notes.md', 'lab/room/x', 'lab/room/y', 'lab/to-file', 'top'];

    it.each<[path: string | undefined, hits: string[], why: string]>([
      [undefined, WHOLE, 'left out: everything'],
      ['lab', ['lab/Notes.md', 'lab/room/x', 'lab/room/y', 'lab/to-file'], 'a building'],
      ['lab/room', ['lab/room/x', 'lab/room/y'], 'a room'],
      ['lab/Notes.md', ['lab/Notes.md'], 'one file'],
      ['top', ['top'], 'a file at the top'],
      ['lab/to-file', ['lab/to-file'], 'a link to a file, under the written address'],
      ['lab/to-room', ['lab/to-room/x', 'lab/to-room/y'], 'a link to a directory, under the written address'],
      ['lab/to-room/x', ['lab/to-room/x'], 'through a link'],
      ['lab/to-hall', ['lab/to-hall/h'], 'a link into another building that is open'],
      ['lab/to-city', WHOLE.map((path) => `lab/to-city/${path}`), 'a link to the city itself'],
    ])('%s: %j (%s)', async (path, hits) => {
      const place = begin(setting, CITY);
      const value = asValue(await place.search({ text: 'needle', ...(path !== undefined && { path }) }));
      expect(pathsOf(value)).toEqual(hits);
    });

    it('counts the start place once, file or directory', async () => {
      const place = begin(setting, CITY);
      expect(countsOf(asValue(await place.search({ text: 'q', path: 'lab/Notes.md' })))).toEqual({ looked: 1 });
      expect(countsOf(asValue(await place.search({ text: 'q', path: 'lab/room' })))).toEqual({
        directories: 1,
        looked: 2,
      });
    });

    it('takes an absolute path inside the city for the address it spells, the root itself for everything', async () => {
      const place = begin(setting, CITY);
      const root = setting.tree === 'memory' ? '/city' : place.world.open().spellings.entered;
      const at = async (path: string) => pathsOf(asValue(await place.search({ text: 'needle', path })));
      expect(await at(`${root}/lab/room`)).toEqual(['lab/room/x', 'lab/room/y']);
      expect(await at(`${root}/top`)).toEqual(['top']);
      expect(await at(root)).toEqual(WHOLE);
      expect(await at(`${root}/`)).toEqual(WHOLE);
      const error = async (path: string) => asError(await place.search({ text: 'needle', path }));
      expect(await error(`${root}x/lab`)).toMatchObject({ code: 'E_GATE_DENIED' });
      expect(await error(`${root}/vault`)).toMatchObject({
        code: 'E_GATE_DENIED',
        subject: `${root}/vault: it is in a confidential building`,
      });
    });

    it.each<[path: string, code: string, fact: RegExp, why: string]>([
      ['', 'E_INVALID_ARGS', /path is empty/, 'a written empty string is not "left out"'],
      ['.', 'E_INVALID_ARGS', /not an address/, 'nor is a dot'],
      ['lab/', 'E_INVALID_ARGS', /not an address/, 'grammar'],
      ['../lab', 'E_INVALID_ARGS', /not an address/, 'grammar'],
      ['lab\\room', 'E_INVALID_ARGS', /not an address/, 'grammar'],
      ['lab/none', 'E_INVALID_ARGS', /there is no such place/, 'absent'],
      ['none', 'E_INVALID_ARGS', /there is no such place/, 'an absent building'],
      ['none/x', 'E_INVALID_ARGS', /there is no such place/, 'below an absent building'],
      ['lab/Notes.md/x', 'E_INVALID_ARGS', /leads through a file/, 'through a file'],
      ['lab/pipe', 'E_INVALID_ARGS', /neither a file nor a directory/, 'never opened'],
      ['lab/to-pipe', 'E_INVALID_ARGS', /neither a file nor a directory/, 'never opened, through a link'],
      ['.git', 'E_GATE_DENIED', /reserved place/, 'reserved, there or not'],
      ['lab/.SprawlinG/x', 'E_GATE_DENIED', /reserved place/, 'reserved in any case'],
      ['vault', 'E_GATE_DENIED', /confidential building/, 'closed: refused, not answered with nothing'],
      ['vault/none', 'E_GATE_DENIED', /confidential building/, 'the same of what is not there'],
      ['mill', 'E_GATE_DENIED', /rules did not read/, 'closed because nobody can say it is open'],
      ['lab/out', 'E_GATE_DENIED', /leads out .* through a link/, 'a link out of the city'],
      ['lab/to-vault', 'E_GATE_DENIED', /leads out .* through a link/, 'a link into a closed building'],
      ['lab/nowhere', 'E_STORAGE_FATAL', /real location did not resolve/, 'a link to nothing'],
      ['lab/round', 'E_STORAGE_FATAL', /real location did not resolve/, 'a link to itself'],
      ['/etc', 'E_GATE_DENIED', /outside the city/, 'absolute elsewhere'],
    ])('%j is %s %s: %s', async (path, code, fact) => {
      const error = asError(await begin(setting, CITY).search({ text: 'needle', path }));
      expect(error).toMatchObject({ code, action: 'search', nearby: [], retry: 'no' });
      expect(error.subject).toMatch(fact);
      expect(error.subject.startsWith(path === '' ? 'needle: ' : `${path}: `)).toBe(true);
      expect(error.recovery).not.toBe('');
      expect(JSON.stringify(error)).not.toMatch(/outside\/secret|vault\/secret/);
    });

    it('says how to go on: an existing place, or none', async () => {
      const { recovery } = asError(await begin(setting, CITY).search({ text: 'needle', path: 'lab/none' }));
      expect(recovery).toBe('name an existing place, or omit `path` to search everything');
    });
  });

  describe('whom it lets in', () => {
    const CITY: Things = [
      ['lab/x', 'needle'],
      [`vault/${RULES}`, CLOSED],
      ['vault/x', 'needle'],
      [`mill/${RULES}`, 'nonsense'],
      ['mill/x', 'needle'],
      ['top', 'needle'],
    ];
    const search = async (options: CallOptions, args: Partial<SearchArgs> = {}, things = CITY) =>
      asValue(await begin(setting, things).search({ text: 'needle', ...args }, options));

    it('a resident finds what is at home, though its rules say confidential', async () => {
      expect(pathsOf(await search({ reader: 'vault' }))).toEqual(['lab/x', 'top', 'vault/x']);
    });

    it('a resident is not stopped by broken rules at home: they are not asked', async () => {
      const value = await search({ reader: 'mill' });
      expect(pathsOf(value)).toEqual(['lab/x', 'mill/x', 'top']);
      expect(value.unread).toEqual([]);
    });

    it('a reader whose building does not exist is an outsider everywhere', async () => {
      expect(pathsOf(await search({ reader: 'nobody' }))).toEqual(['lab/x', 'top']);
    });

    it('the embedder’s policy replaces the rules, and is asked once for each top-level name, files too', async () => {
      const asked: string[] = [];
      const policy = (building: string) => {
        asked.push(building);
        return building === 'lab' ? { kind: 'confidential' as const } : { kind: 'open' as const };
      };
      const value = await search({ policy }, {}, [...CITY, ['.git/x', ''], ['vault/deep/er', 'needle']]);
      expect(pathsOf(value)).toEqual(['mill/x', 'top', 'vault/deep/er', 'vault/x']);
      expect(asked.sort()).toEqual(['lab', 'mill', 'top', 'vault']);
    });

    it('a policy is not asked about home', async () => {
      const asked: string[] = [];
      const policy = (building: string) => {
        asked.push(building);
        return { kind: 'confidential' as const };
      };
      expect(pathsOf(await search({ policy, reader: 'lab' }))).toEqual(['lab/x']);
      expect(asked).not.toContain('lab');
    });

    it('what a policy says of unreadable rules is told of the building', async () => {
      const policy = (building: string) =>
        building === 'lab'
          ? { kind: 'rules-unreadable' as const, subject: 'the register is away' }
          : { kind: 'open' as const };
      expect((await search({ policy })).unread).toEqual([
        { path: 'lab', why: 'its rules did not read: the register is away' },
      ]);
    });

    it('a file at the top is a building of its own', async () => {
      const policy = (building: string) => ({
        kind: building === 'top' ? ('confidential' as const) : ('open' as const),
      });
      expect(pathsOf(await search({ policy }))).not.toContain('top');
    });

    it.each<[deny: string[], path: string | undefined, hits: string[], why: string]>([
      [['lab/secret*'], undefined, ['lab/room/secret-b', 'lab/x', 'top'], 'what a pattern covers is not met'],
      [['**/SECRET*'], undefined, ['lab/x', 'top'], 'at any depth, without case, nor through a link'],
      [['lab/room/**'], undefined, ['lab/secret-a', 'lab/x', 'top'], 'a room’s content, also where a link lands in it'],
      [['lab/to/secret*'], 'lab/to', ['lab/to/y'], 'as it is written through a link at the start'],
      [['lab/room/secret*'], 'lab/to', ['lab/to/y'], 'as it lands through a link at the start'],
      [
        ['lab/city/top'],
        'lab/city',
        ['lab/city/lab/room/secret-b', 'lab/city/lab/secret-a', 'lab/city/lab/x'],
        'of the city through a link',
      ],
      [['to['], undefined, [], 'a pattern nobody can evaluate closes everything'],
    ])('deny %j at %s leaves %j: %s', async (deny, path, hits) => {
      const things: Things = [
        ['lab/secret-a', 'needle'],
        ['lab/room/secret-b', 'needle'],
        ['lab/to', { link: 'room' }],
        ['lab/city', { link: '..' }],
        ['lab/x', 'needle'],
        ['lab/room/y', 'none, but in lab/to: needle'.slice(0, path === 'lab/to' ? undefined : 4)],
        ['top', 'needle'],
      ];
      const value = await search({ deny }, path === undefined ? {} : { path }, things);
      expect(pathsOf(value)).toEqual(hits);
      expect(value).toMatchObject({ truncated: false, unread: [] });
    });

    it('links are judged where they land, through as many buildings as there are', async () => {
      const things: Things = [
        ['lab/a', { link: '../hall/b' }],
        ['hall/b', { link: '../vault/c' }],
        ['vault/c', 'needle'],
      ];
      const open = () => ({ kind: 'open' as const });
      const closed = (building: string) => ({
        kind: building === 'hall' ? ('confidential' as const) : ('open' as const),
      });
      expect(pathsOf(await search({ policy: open }, {}, things))).toEqual(['hall/b', 'lab/a', 'vault/c']);
      expect(pathsOf(await search({ policy: closed }, {}, things))).toEqual(['vault/c']);
    });
  });
});

describe('a city that is too wide', () => {
  const wide = (names: number) =>
    kept(
      new TestCity(
        memoryWorld(Array.from({ length: names }, (_, at): Things[number] => [`b${at}`, 'needle'])),
        'fixed',
      ),
    );
  const policy = () => ({ kind: 'open' as const });

  it(`${TOP_ENTRIES_MAX} names at its top are searched`, async () => {
    const value = asValue(await wide(TOP_ENTRIES_MAX).search({ text: 'none' }, { policy }));
    expect(countsOf(value)).toEqual({ directories: 1, looked: TOP_ENTRIES_MAX });
  });

  it('one more is E_LIMIT that says which limit and its value', async () => {
    const error = asError(await wide(TOP_ENTRIES_MAX + 1).search({ text: 'needle' }, { policy }));
    expect(error).toMatchObject({ code: 'E_LIMIT', retry: 'no' });
    expect(error.subject).toContain(`more than ${TOP_ENTRIES_MAX} names at its top (TOP_ENTRIES_MAX)`);
  });
});

describe('hard links', () => {
  const things: Things = [['lab/a', { file: 'needle', names: 2, otherOwner: true }]];
  it.each([
    ['allow', ['lab/a:0:needle']],
    ['same-owner', []],
    ['deny', []],
  ] as const)('%s: %j', async (hardLinks, hits) => {
    const place = kept(new TestCity(memoryWorld(things, hardLinks), 'fixed'));
    const value = asValue(await place.search({ text: 'needle' }));
    expect(hitsOf(value)).toEqual(hits);
    expect(value.unreadable).toBe(1 - hits.length);
  });
});

describe('a city that is too deep', () => {
  const setting = { tree: 'memory', binding: 'fixed' } as const; // a disk cannot be told such a path at once
  const deep = Array.from({ length: DEPTH_MAX }, () => 'd');

  it(`${DEPTH_MAX} directories are descended, and the next one is named`, async () => {
    const place = begin(setting, [
      [[...deep, 'file'], 'needle'],
      [[...deep, 'over', 'file'], 'needle'],
      ['z', 'needle'],
    ]);
    const value = asValue(await place.search({ text: 'needle' }));
    expect(pathsOf(value)).toEqual([[...deep, 'file'].join('/'), 'z']);
    expect(value.unread).toEqual([
      { path: [...deep, 'over'].join('/'), why: `deeper than ${DEPTH_MAX} directories (DEPTH_MAX)` },
    ]);
  });
});
