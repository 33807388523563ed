/**
 * `read` meets wall 1: within_city, admit, land and still_judged, each refusal as a caller sees it. Nothing that a
 * link leads to, and nothing that lies outside, is told apart. Spec: address-and-bound.
 */

import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AxError, echo, line } from '../../dist/error.js';
import type { Verdict } from '../../dist/judge/bound.js';
import { RETRY_AFTER_MS } from '../../dist/limits.js';
import { memoryCity } from '../../dist/tree/memory.js';
import { enterDisk } from '../../dist/tree/spec.js';
import type { HardLinks } from '../../dist/tree/tree.js';
import rows from '../cases/address.json' with { type: 'json' };
import LOCATORS from '../cases/locators.json' with { type: 'json' };
import { BINDINGS, type CallOptions, city, SETTINGS, TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import { type DiskWorld, diskWorld, memoryWorld, type Things } from '../tree/worlds.js';

const CHAIN: Things = Array.from({ length: 41 }, (_, number) => [
  `chain/${number}`,
  { link: number === 0 ? '../lab/notes.md' : `${number - 1}` },
]);

const THINGS: Things = [
  ['lab/notes.md', 'notes\n'],
  ['lab/room/deep.md', 'deep\n'],
  ['lab/[id]/page.tsx', 'literal\n'],
  ['lab/i/page.tsx', 'class\n'],
  ['lab/%2e%2e/x', 'a plain name\n'],
  ['lab/.git/HEAD', 'RESERVED'],
  ['lab/.gitlab/x', 'not reserved\n'],
  ['.git/config', 'RESERVED'],
  ['hall/.sprawling/RULES.toml', 'confidential = false\nwrite = "everything"\n'],
  ['hall/minutes.md', 'minutes\n'],
  ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
  ['vault/secret', 'CONFIDENTIAL'],
  ['torn/.sprawling/RULES.toml', 'confidential = maybe SECRETKEY\n'],
  ['torn/x', 'TORN'],
  ['top.md', 'a file may be a building\n'],
  ['lab/pipe', { other: true }],
  ['lab/to-pipe', { link: 'pipe' }],
  // links that stay inside
  ['lab/in', { link: 'notes.md' }],
  ['lab/up-and-back', { link: '../lab/room/../notes.md' }],
  ['lab/rooms', { link: 'room' }],
  ['lab/to-hall', { link: '../hall/minutes.md' }],
  ['lab/three', { link: 'two' }],
  ['lab/two', { link: 'in' }],
  ['annex', { link: 'lab' }],
  ...CHAIN,
  // links that stay inside and lead nowhere
  ['lab/dangling', { link: 'gone' }],
  ['lab/dangling-deep', { link: '../hall/gone/further' }],
  ['lab/round', { link: 'round' }],
  ['lab/a', { link: 'b' }],
  ['lab/b', { link: 'a' }],
  ['lab/through', { link: 'notes.md/x' }],
  // links that lead out of what may be read
  ['lab/out', { link: '../../outside/secret' }],
  ['lab/out-missing', { link: '../../outside/none' }],
  ['lab/out-dir', { link: '../..' }],
  ['lab/out-three', { link: 'out-two' }],
  ['lab/out-two', { link: 'out' }],
  ['lab/out-and-back', { link: '../../city/lab/notes.md' }],
  ['lab/absolute', { link: '/etc/passwd' }],
  ['lab/absolute-missing', { link: '/etc/none' }],
  ['lab/reserved', { link: '.git/HEAD' }],
  ['lab/reserved-missing', { link: '.git/none' }],
  ['lab/reserved-folded', { link: '../hall/.Sprawling/none' }],
  ['lab/closed', { link: '../vault/secret' }],
  ['lab/closed-missing', { link: '../vault/none' }],
  ['lab/closed-and-back', { link: '../vault/../lab/notes.md' }],
  ['lab/closed-dir', { link: '../vault' }],
  ['lab/broken', { link: '../torn/x' }],
  ['hall-of-vault', { link: 'vault' }],
];

/** What no refusal may carry, whatever was asked: what stands in other files, and what links lead to. */
const CANARIES = /RESERVED|CONFIDENTIAL|TORN|SECRETKEY|outside\/|passwd|vault|torn|\/tmp/;

const rootOf = ({ world }: TestCity): string => ('root' in world ? String(world.root) : '/city');

describe.each(SETTINGS)('a path as `read` is asked it, in the $tree tree, $binding binding', (setting) => {
  let place: TestCity;
  beforeAll(() => {
    place = city(setting, THINGS);
  });
  afterAll(() => place.end());
  const read = (asked: string, options?: CallOptions) => place.read({ path: asked }, options);
  const textOf = async (asked: string, options?: CallOptions) => asValue(await read(asked, options)).text;
  const refusal = async (asked: string, options?: CallOptions): Promise<AxError> => asError(await read(asked, options));
  /** A refusal without the words that were asked, for comparing two. */
  const sentence = async (asked: string): Promise<AxError> => {
    const error = await refusal(asked);
    expect(error.subject.startsWith(`${asked}: `)).toBe(true);
    return { ...error, subject: error.subject.slice(asked.length) };
  };

  // ---- grammar ----

  it('refuses each address of the table with the rule it breaks, and accepts each other one', async () => {
    for (const { address, ok } of rows) {
      const outcome = await read(address);
      const refused = !outcome.ok && /^it .*; pass a city-relative|^a segment.*; pass a/.test(outcome.error.recovery);
      // Before the grammar comes what an absolute path means, and what a Locator is.
      const before = !outcome.ok && /outside the city|not a Locator/.test(outcome.error.subject);
      expect(refused || before, JSON.stringify(address)).toBe(!ok);
      if (!outcome.ok && refused) expect(outcome.error.code).toBe('E_INVALID_ARGS');
    }
  });

  it.each([
    ['lab/[id]/page.tsx', 'literal\n', 'no pattern is in a path'],
    ['lab/%2e%2e/x', 'a plain name\n', 'nothing is decoded'],
    ['lab/.gitlab/x', 'not reserved\n', 'a reserved name is a whole one'],
    ['top.md', 'a file may be a building\n', 'one segment'],
  ])('takes %s as it is spelled (%#)', async (asked, text) => {
    expect(await textOf(asked)).toBe(text);
  });

  it.each([
    [`lab/${'n'.repeat(256)}`, 'a name over 255 bytes'],
    [`lab/${'字'.repeat(86)}`, 'counted in bytes'],
    [`lab/${'n'.repeat(256)}/x`, 'on the way'],
    [`lab/${'d/'.repeat(33_000)}x`, 'a path over what any path may be'],
  ])('calls a name or path that no file system takes the caller’s mistake (%#)', async (asked) => {
    const error = await refusal(asked);
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [], retry: 'no' });
    // What no place can have is refused in the schema; what this disk does not take, where it is looked for.
    expect(error.subject).toMatch(/: (the path or a name in it is too long|path is longer than any path)$/);
    expect(Buffer.byteLength(error.subject)).toBeLessThan(600);
  });

  // ---- absolute paths ----

  it('takes an absolute path below the root as the rest of it', async () => {
    const value = asValue(await read(`${rootOf(place)}/lab/notes.md`));
    expect(value).toMatchObject({ path: `${rootOf(place)}/lab/notes.md`, text: 'notes\n' });
    expect(await textOf(`${rootOf(place)}/lab/in`)).toBe('notes\n');
  });

  it.each([
    ['/lab/.git/HEAD', 'E_GATE_DENIED', 'reserved'],
    ['/vault/secret', 'E_GATE_DENIED', 'closed'],
    ['//lab/notes.md', 'E_INVALID_ARGS', 'a doubled slash'],
    ['/lab/../lab/notes.md', 'E_INVALID_ARGS', 'dots'],
    ['/lab/out', 'E_GATE_DENIED', 'through a link'],
    ['/lab/none', 'E_INVALID_ARGS', 'absent'],
  ])('judges the rest %s like any other (%s)', async (rest, code) => {
    const asked = rootOf(place) + rest;
    expect(await refusal(asked)).toMatchObject({ code, subject: expect.stringMatching(`^${asked}: `) });
  });

  it('says of the root itself that it is a directory, and lists nothing', async () => {
    for (const asked of [rootOf(place), `${rootOf(place)}/`]) {
      expect(await refusal(asked)).toMatchObject({
        code: 'E_INVALID_ARGS',
        subject: `${asked}: it is a directory`,
        nearby: [],
      });
    }
  });

  it('refuses any other absolute path without looking: what is there and what is not are one answer', async () => {
    const there = await sentence('/etc/passwd');
    expect(there).toMatchObject({ code: 'E_GATE_DENIED', subject: ': it is outside the city', nearby: [] });
    expect(there.recovery).toMatch(/only inside the city/);
    const root = rootOf(place);
    for (const asked of ['/etc/none', '/', '//', `${root}b/x`, `${root}-evil`, path.dirname(root), '/proc/self/cwd']) {
      expect(await sentence(asked), asked).toEqual(there);
    }
  });

  // ---- reserved ----

  it.each([
    'lab/.git/HEAD',
    'lab/.git',
    '.git/config',
    '.GIT/config',
    'lab/.GiT/none',
    'hall/.sprawling/RULES.toml',
    '.Sprawling/x',
    'none/.git/x',
  ])('refuses the reserved %s, whether or not it is there', async (asked) => {
    expect(await refusal(asked)).toMatchObject({
      code: 'E_GATE_DENIED',
      subject: `${asked}: it is in a reserved place`,
      nearby: [],
      retry: 'no',
    });
  });

  it('refuses reserved places at home as well, and before the bound is asked', async () => {
    const asked: string[] = [];
    const policy = (building: string): Verdict => {
      asked.push(building);
      return { kind: 'open' };
    };
    const error = await refusal('lab/.git/HEAD', { reader: 'lab', policy });
    expect(error.subject).toContain('reserved');
    expect(await refusal('vault/.git/x')).toMatchObject({ subject: 'vault/.git/x: it is in a reserved place' });
    expect(asked).toEqual([]);
  });

  // ---- the bound ----

  it('refuses what is in a confidential building, the same whether or not it is there', async () => {
    const error = await sentence('vault/secret');
    expect(error).toMatchObject({ code: 'E_GATE_DENIED', nearby: [], retry: 'no' });
    expect(error.recovery).toMatch(/^only its residents read it: signal a resident there/);
    for (const asked of ['vault', 'vault/none', 'vault/secret/x', `vault/${'n'.repeat(300)}`]) {
      expect(await sentence(asked)).toEqual(error);
    }
  });

  it('gives a resident what others may not read, and does not ask about its building', async () => {
    const policy = (): Verdict => {
      throw new Error('asked at home');
    };
    expect(await textOf('vault/secret', { reader: 'vault' })).toBe('CONFIDENTIAL');
    expect(await textOf('vault/secret', { reader: 'vault', policy })).toBe('CONFIDENTIAL');
    expect(await textOf('torn/x', { reader: 'torn' })).toBe('TORN');
  });

  it('keeps a building closed whose rules do not read, and quotes nothing of them', async () => {
    const error = await refusal('torn/x');
    expect(error).toMatchObject({ code: 'E_GATE_DENIED', nearby: [] });
    expect(error.recovery).toMatch(
      /^closed because its rules may say confidential; they did not read \(.*line 1.*\); a person/,
    );
    expect(JSON.stringify(error)).not.toMatch(/SECRETKEY|maybe/);
  });

  it('opens a building whose rules say so, and one that has none', async () => {
    expect(await textOf('hall/minutes.md')).toBe('minutes\n');
    expect(await textOf('lab/notes.md')).toBe('notes\n');
  });

  it('asks the embedder’s policy about each building it lands in, once', async () => {
    const asked: string[] = [];
    const policy = (building: string): Verdict => {
      asked.push(building);
      return { kind: building === 'hall' ? 'confidential' : 'open' };
    };
    expect(await textOf('lab/room/deep.md', { policy })).toBe('deep\n');
    expect(asked).toEqual(['lab']);
    expect((await refusal('lab/to-hall', { policy })).subject).toMatch(/through a link$/);
    expect(asked).toEqual(['lab', 'lab', 'hall']);
    expect((await refusal('hall/minutes.md', { policy })).code).toBe('E_GATE_DENIED');
  });

  // ---- links ----

  it.each([
    ['lab/in', 'notes\n', 'a link beside it'],
    ['lab/up-and-back', 'notes\n', 'with dots that stay inside'],
    ['lab/rooms/deep.md', 'deep\n', 'a link in the middle'],
    ['lab/to-hall', 'minutes\n', 'into another building'],
    ['lab/three', 'notes\n', 'through three'],
    ['annex/notes.md', 'notes\n', 'a building that is a link'],
    ['chain/39', 'notes\n', 'through forty'],
  ])('reads %s where it lands, and names it as it was asked (%#)', async (asked, text) => {
    expect(asValue(await read(asked))).toMatchObject({ path: asked, text });
  });

  it.each([
    ['lab/out', 'to a file outside'],
    ['lab/out-missing', 'to nothing outside'],
    ['lab/out-missing/x', 'and further'],
    ['lab/out-dir/none', 'to a directory outside'],
    ['lab/out-dir/city/lab/notes.md', 'out, and back by the path'],
    ['lab/out-three', 'through three'],
    ['lab/out-and-back', 'out, and back by the link'],
    ['lab/absolute', 'absolute'],
    ['lab/absolute-missing', 'absolute, to nothing'],
    ['lab/reserved', 'to a reserved place'],
    ['lab/reserved-missing', 'to nothing in one'],
    ['lab/reserved-folded', 'in another case'],
    ['lab/closed', 'to a confidential building'],
    ['lab/closed-missing', 'to nothing in one'],
    ['lab/closed-and-back', 'past one'],
    ['lab/closed-dir/secret', 'in the middle'],
    ['lab/broken', 'to a building whose rules do not read'],
    ['hall-of-vault/secret', 'a building that is a link'],
  ])(
    'refuses %s in the same words, whether or not anything is there, and does not tell where it leads (%#)',
    async (asked) => {
      const error = await refusal(asked);
      expect({ ...error, subject: error.subject.slice(asked.length) }).toEqual({
        code: 'E_GATE_DENIED',
        action: 'read',
        subject: ': it leads out of what may be read through a link',
        nearby: [],
        recovery: 'name a path whose every link stays inside',
        retry: 'no',
      });
    },
  );

  it.each(['lab/dangling', 'lab/dangling/x', 'lab/dangling-deep', 'lab/round', 'lab/a', 'lab/through', 'chain/40'])(
    'calls %s, a link that stays inside and leads nowhere, one that a person has to repair',
    async (asked) => {
      expect(await refusal(asked)).toMatchObject({
        code: 'E_STORAGE_FATAL',
        subject: `${asked}: its real location did not resolve`,
        nearby: [],
        recovery: 'a person has to repair the path or link',
        retry: 'no',
      });
    },
  );

  it.each(['lab/notes.md/x', 'lab/in/x', 'lab/notes.md/x/y', 'top.md/x'])(
    'calls %s, a path through a file, the caller’s mistake',
    async (asked) => {
      expect(await refusal(asked)).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [] });
      expect((await refusal(asked)).subject).toBe(`${asked}: it leads through a file`);
    },
  );

  it.each(['lab/pipe', 'lab/to-pipe'])('never opens %s, which is no regular file', async (asked) => {
    expect(await refusal(asked)).toMatchObject({ code: 'E_INVALID_ARGS', nearby: [], retry: 'no' });
    expect((await refusal(asked)).subject).toBe(`${asked}: it is neither a file nor a directory`);
  });

  // ---- Locators ----

  it('says of each malformed Locator of the table what is wrong, shows both forms, and looks nothing up', async () => {
    for (const { locator, why } of LOCATORS.filter(({ ok }) => !ok)) {
      const error = await refusal(locator);
      expect(error, why).toMatchObject({ code: 'E_INVALID_ARGS', action: 'read', nearby: [], retry: 'no' });
      expect(error.subject, why).toBe(`${echo(locator)}: it is not a Locator`);
      expect(error.recovery, why).toContain('cas:b3-<64 hex digits>');
      expect(error.recovery, why).toContain('file:<address>@<commit>');
    }
  });

  // ---- what no refusal tells ----

  it('tells no place a link leads to, no text of a file and no host path, in any refusal', async () => {
    for (const [at] of THINGS) {
      const asked = String(at);
      const outcome = await read(asked);
      if (outcome.ok) continue;
      const told = (line(outcome.error) + outcome.error.recovery + outcome.error.nearby.join()).replaceAll(asked, '');
      // A building that is asked for by name may be named: its rules are a person's to mend.
      expect(told.replace(/torn\/\.sprawling/g, ''), asked).not.toMatch(CANARIES);
    }
  });
});

// ---- what one tree alone can show ----

describe.each(BINDINGS)('marks of a tree, %s binding', (binding) => {
  const asked = async (things: Things, at: string, foldsNames = false) => {
    const world = { ...memoryWorld([]), spec: { kind: 'memory', city: memoryCity(things, { foldsNames }) } as const };
    return asError(await new TestCity(world, binding).read({ path: at }));
  };

  it('refuses a name spelled otherwise than its directory lists it, where names fold', async () => {
    const things: Things = [
      ['lab/Notes.md', 'x'],
      ['Vault/x', 'x'],
      ['lab/.git/HEAD', 'x'],
      ['lab/link', { link: 'notes.md' }],
    ];
    for (const at of ['lab/notes.md', 'vault/x', 'Ｖault/x', 'lab/.g\u200cit/HEAD', 'lab/link']) {
      const error = await asked(things, at, true);
      expect(error, at).toMatchObject({ code: 'E_GATE_DENIED', nearby: [] });
      expect(error.subject).toMatch(/not spelled as its directory lists it$/);
    }
  });

  it.each([
    ['other-mount', { file: 'x', otherMount: true }, /on another file system$/],
    ['hard-link', { file: 'x', names: 2, otherOwner: true }, /more than one name leads to it$/],
  ] as const)('refuses what the policy on mounts and hard links refuses: %s', async (_, thing, fact) => {
    expect(await asked([['lab/f', thing]], 'lab/f')).toMatchObject({
      code: 'E_GATE_DENIED',
      subject: expect.stringMatching(fact),
    });
  });

  it.each([
    ['access, at the open', { file: 'x', fails: { open: 'access' } }, 'no', /does not permit opening it$/],
    ['access, at the look', { file: 'x', fails: { look: 'access' } }, 'no', /does not permit opening it$/],
    ['the disk, at the look', { file: 'x', fails: { look: 'io' } }, 'unknown', /the disk did not answer$/],
    ['the disk, at the open', { file: 'x', fails: { open: 'io' } }, 'unknown', /the disk did not answer$/],
    ['the disk, at a read', { file: 'x', fails: { read: 'io' } }, 'unknown', /the disk did not answer$/],
    ['no descriptors left', { file: 'x', fails: { open: 'exhausted' } }, 'unknown', /no more descriptors or memory$/],
  ] as const)(
    'calls what is there but will not open a fault of the disk, and offers nothing else: %s',
    async (_, thing, retry, fact) => {
      const things: Things = [
        ['lab/f', thing],
        ['lab/f2', 'near'],
      ];
      const error = await asked(things, 'lab/f');
      expect(error).toMatchObject({ code: 'E_STORAGE_FATAL', nearby: [], retry });
      expect(error.subject).toMatch(fact);
    },
  );
});

describe.each(SETTINGS.filter(({ tree }) => tree !== 'memory'))(
  'a city that is entered through a link ($tree, $binding)',
  ({ tree, binding }) => {
    it('is spelled as it was entered or as it really lies', async () => {
      const kind = tree === 'linux' ? 'linux' : 'portable';
      const world = diskWorld(kind)([['lab/notes.md', 'notes\n']]);
      const link = path.join(world.outside, 'entrance');
      fs.symlinkSync(world.root, link);
      fs.symlinkSync(path.join(link, 'lab/notes.md'), path.join(world.root, 'lab/by-entered'));
      fs.symlinkSync(path.join(world.root, 'lab/notes.md'), path.join(world.root, 'lab/by-real'));
      const entered = enterDisk(link, { tree: kind });
      if (typeof entered === 'string') throw new Error(entered);
      const place = new TestCity({ ...world, spec: entered.spec }, binding);
      for (const asked of [
        path.join(link, 'lab/notes.md'),
        path.join(world.root, 'lab/notes.md'),
        'lab/by-entered',
        'lab/by-real',
      ]) {
        expect(asValue(await place.read({ path: asked })).text, asked).toBe('notes\n');
      }
      entered.close();
      place.end();
    });
  },
);

describe.each(SETTINGS.filter(({ tree }) => tree !== 'memory'))(
  'links of a package manager and of a deploy ($tree, $binding)',
  ({ tree, binding }) => {
    const make = diskWorld(tree === 'linux' ? 'linux' : 'portable');
    const PACKAGE = 'app/node_modules/.pnpm/left@1.0.0/node_modules/left';
    const LAYOUT: Things = [
      [`${PACKAGE}/index.js`, 'left\n'],
      ['app/node_modules/left', { link: '.pnpm/left@1.0.0/node_modules/left' }],
      ['app/node_modules/.pnpm/right@1.0.0/node_modules/left', { link: '../../left@1.0.0/node_modules/left' }],
      ['tools/shared', { link: '../app/node_modules/left' }],
      ['app/releases/1/page', 'one\n'],
      ['app/releases/2/page', 'two\n'],
      ['app/current', { link: 'releases/1' }],
    ];
    const inCity = async (hardLinks: HardLinks, claim: (place: TestCity, world: DiskWorld) => Promise<void>) => {
      const world = make(LAYOUT, hardLinks);
      try {
        await claim(new TestCity(world, binding), world);
      } finally {
        world.end();
      }
    };
    const textOf = async (place: TestCity, at: string) => asValue(await place.read({ path: at })).text;

    it('are followed: relative ones to directories, one behind another, between buildings', () =>
      inCity('same-owner', async (place) => {
        const right = 'app/node_modules/.pnpm/right@1.0.0/node_modules';
        for (const at of ['app/node_modules/left', `${right}/left`, 'tools/shared']) {
          expect(await textOf(place, `${at}/index.js`)).toBe('left\n');
        }
      }));

    it('hard links of one owner are read, also to a file outside, which no path can tell', () =>
      inCity('same-owner', async (place, world) => {
        fs.linkSync(path.join(world.root, PACKAGE, 'index.js'), path.join(world.root, 'tools/again.js'));
        fs.linkSync(path.join(world.outside, 'secret'), path.join(world.root, 'tools/from-outside'));
        expect(await textOf(place, 'tools/again.js')).toBe('left\n');
        expect(await textOf(place, 'tools/from-outside')).toBe('SECRET');
      }));

    it('hard links are refused, and not silently, where the policy refuses them', () =>
      inCity('deny', async (place, world) => {
        fs.linkSync(path.join(world.outside, 'secret'), path.join(world.root, 'tools/from-outside'));
        const error = asError(await place.read({ path: 'tools/from-outside' }));
        expect(error).toMatchObject({ code: 'E_GATE_DENIED', nearby: [], retry: 'no' });
        expect(error.subject).toBe('tools/from-outside: more than one name leads to it');
      }));

    it('a link that a deploy turns leads to the new place at the next call', () =>
      inCity('same-owner', async (place, world) => {
        expect(await textOf(place, 'app/current/page')).toBe('one\n');
        world.remove('app/current');
        world.put('app/current', { link: 'releases/2' });
        expect(await textOf(place, 'app/current/page')).toBe('two\n');
      }));

    it('a city that a deploy replaced is noticed', () =>
      inCity('same-owner', async (place, { root }) => {
        fs.renameSync(root, `${root}-old`);
        fs.mkdirSync(path.join(root, 'app/releases/1'), { recursive: true });
        fs.writeFileSync(path.join(root, 'app/releases/1/page'), 'another city\n');
        const error = asError(await place.read({ path: 'app/releases/1/page' }));
        expect(error).toMatchObject({ code: 'E_STORAGE_FATAL', nearby: [] });
        expect(error.subject).toBe('app/releases/1/page: the city was replaced');
        expect(error.recovery).toMatch(/^enter the city again/);
      }));
  },
);

// ---- still_judged ----

describe.each(SETTINGS)(
  'what changes between the judgement and the open, in the $tree tree, $binding binding',
  (setting) => {
    const BETWEEN: Things = [
      ['lab/f', 'judged\n'],
      ['lab/g', 'neighbour\n'],
      ['lab/room/f', 'room\n'],
      ['lab/other/f', 'OTHER\n'],
      ['lab/link', { link: 'f' }],
      ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
      ['vault/f', 'CONFIDENTIAL'],
    ];
    type World = TestCity['world'];
    const during = async (asked: string, change: (world: World) => void) => {
      const place = city(setting, BETWEEN);
      const betweenWalls = () => change(place.world);
      try {
        return await place.read({ path: asked }, { unchecked: { betweenWalls } });
      } finally {
        place.end();
      }
    };
    /** Takes away what is there and puts this in its place. */
    const swap = (world: World, at: string, thing: Parameters<World['put']>[1]) => {
      world.remove(at);
      world.put(at, thing);
    };

    it.each<readonly [why: string, asked: string, change: (world: World) => void]>([
      ['the file became a link to its neighbour', 'lab/f', (world) => swap(world, 'lab/f', { link: 'g' })],
      ['a link to a closed building', 'lab/f', (world) => swap(world, 'lab/f', { link: '../vault/f' })],
      ['a link outward', 'lab/f', (world) => swap(world, 'lab/f', { link: '../../outside/secret' })],
      ['a link to nothing outside', 'lab/f', (world) => swap(world, 'lab/f', { link: '../../outside/none' })],
      ['a link to a reserved place', 'lab/f', (world) => swap(world, 'lab/f', { link: '.git/HEAD' })],
      ['a link to nothing', 'lab/f', (world) => swap(world, 'lab/f', { link: 'none' })],
      ['a link to itself', 'lab/f', (world) => swap(world, 'lab/f', { link: 'f' })],
      ['a directory', 'lab/f', (world) => swap(world, 'lab/f', { directory: true })],
      ['a pipe', 'lab/f', (world) => swap(world, 'lab/f', { other: true })],
      ['nothing', 'lab/f', (world) => world.remove('lab/f')],
      ['a link, asked through a link', 'lab/link', (world) => swap(world, 'lab/f', { link: 'g' })],
      ['the link asked was turned elsewhere', 'lab/link', (world) => swap(world, 'lab/link', { link: 'g' })],
      ['turned into a closed building', 'lab/link', (world) => swap(world, 'lab/link', { link: '../vault/f' })],
      ['turned outward', 'lab/link', (world) => swap(world, 'lab/link', { link: '../../outside/secret' })],
      ['turned to nothing', 'lab/link', (world) => swap(world, 'lab/link', { link: 'none' })],
      ['taken away', 'lab/link', (world) => world.remove('lab/link')],
      ['its directory became a link to another', 'lab/room/f', (world) => swap(world, 'lab/room', { link: 'other' })],
      ['a link to a closed building', 'lab/room/f', (world) => swap(world, 'lab/room', { link: '../vault' })],
      ['a link outward', 'lab/room/f', (world) => swap(world, 'lab/room', { link: '../../outside' })],
      ['a file', 'lab/room/f', (world) => swap(world, 'lab/room', 'no directory')],
      ['moved away, nothing in its place', 'lab/room/f', (world) => world.move('lab/room', 'lab/away')],
      [
        'moved away, a link to it in its place',
        'lab/room/f',
        (world) => {
          world.move('lab/room', 'lab/away');
          world.put('lab/room', { link: 'away' });
        },
      ],
      ['the building was moved away', 'lab/room/f', (world) => world.move('lab', 'away')],
    ])('is refused as changed after it was judged, and not told apart: %s (%#)', async (_, asked, change) => {
      const outcome = await during(asked, change);
      expect(asError(outcome)).toEqual({
        code: 'E_GATE_DENIED',
        action: 'read',
        subject: `${asked}: it changed after it was judged`,
        nearby: [],
        recovery: 'ask again once nothing moves the directories on its way',
        retry: 'yes',
        retry_after_ms: RETRY_AFTER_MS,
      });
    });

    it.each<readonly [why: string, asked: string, change: (world: World) => void, text: string]>([
      [
        'another file at the judged place is at the judged place',
        'lab/f',
        (world) => swap(world, 'lab/f', 'new\n'),
        'new\n',
      ],
      ['a neighbour that moves is none of it', 'lab/f', (world) => world.move('lab/room', 'lab/away'), 'judged\n'],
    ])('is read: %s', async (_, asked, change, text) => {
      expect(asValue(await during(asked, change)).text).toBe(text);
    });
  },
);
