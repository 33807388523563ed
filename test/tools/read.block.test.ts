/**
 * `read` of a `cas:` Locator: who judges it, what is handed out, what a range is, and what is told of a block that is
 * gone, changed or behind a link. Spec: locators-and-catalog, "Block store" and "Reading a Locator".
 */

import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Verdict } from '../../dist/judge/bound.js';
import { INTERVAL_CAP_BYTES, READ_CAP_LINES } from '../../dist/limits.js';
import type { Call } from '../../dist/runner/call.js';
import type { Account } from '../../dist/runner/job.js';
import { getBlock } from '../../dist/tools/blocks.js';
import { read } from '../../dist/tools/read.js';
import { blockAt, CAS, type Laid, laid, originsAt } from '../store/blocks.js';
import { type CallOptions, city, SETTINGS, TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';
import { type DiskWorld, diskWorld, type Things } from '../tree/worlds.js';

const RULES = (confidential: boolean): string => `confidential = ${confidential}\nwrite = "everything"\n`;
const BUILDINGS: Things = [
  ['lab/notes.md', 'notes\n'],
  ['hall/.sprawling/RULES.toml', RULES(false)],
  ['vault/.sprawling/RULES.toml', RULES(true)],
  ['torn/.sprawling/RULES.toml', 'confidential = maybe\n'],
  ['top.md', 'a file at the top\n'],
  ['alias', { link: 'vault' }],
];

/** Three lines, the last without its end. */
const GREEK = 'alpha\nbeta\ngamma';
const MANY = Array.from({ length: 2_000 }, (_, number) => `line ${number + 1}\n`).join('');
const GB = Uint8Array.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a]);
const BOM = '\ufefffirst\r\nsecond\n';

const one = {
  greek: await laid(GREEK, 'run1 lab\n'),
  many: await laid(MANY, 'run1 lab/room\n'),
  empty: await laid('', 'run1 lab\n'),
  ended: await laid('a\n', '- hall\n'),
  bom: await laid(BOM, '- lab\n'),
  wide: await laid('aé日\n', '- lab\n'),
  gb: await laid(GB, '- lab\n'),
  room: await laid('of a room with spaces', 'run1 lab/a room/of mine\n'),
  noOrigin: await laid('no origin'),
  noLines: await laid('an empty file of origins', ''),
  foreign: await laid('of the vault', 'run1 vault/claims\n'),
  broken: await laid('of a building whose rules do not read', 'run1 torn\n'),
  vaultFirst: await laid('of the vault, and of the lab', 'run1 vault/claims\nrun2 lab\n'),
  twoClosed: await laid('of two closed ones', 'run1 torn\nrun2 vault\n'),
  twoOpen: await laid('of two open ones', 'run1 hall\nrun2 lab\n'),
  reserved: await laid('of a reserved place', 'run1 .sprawling/library\n'),
  reservedRoom: await laid('of a reserved room', 'run1 lab/.git\n'),
} satisfies Record<string, Laid>;

/** Lines of origins that do not count, each alone: what is read by it is nobody's. */
const NOT_COUNTED: readonly (readonly [origins: string, why: string])[] = [
  ['run1 lab', 'a line that was not finished'],
  ['run1 la:\n', 'a torn line that was closed: its place is no address'],
  ['run1 lab:\n', 'a torn line that was whole but for its end'],
  [':\n', 'a torn line of nothing'],
  ['\n\n', 'empty lines'],
  ['lab\n', 'no run'],
  [' lab\n', 'an empty run'],
  ['run1 \n', 'no place'],
  ['run1  lab \n', 'a place that ends in a space'],
  ['run1 /lab\n', 'an absolute place'],
  ['run1 lab/\n', 'a slash behind it'],
  ['run1 ../lab\n', 'a place outside'],
  ['run1 lab\r\n', 'a carriage return in it'],
  ['run1 gone\n', 'a building that is not there'],
  ['run1 LAB\n', 'a building of another spelling'],
  ['run1 la\n', 'a name that another begins with'],
  ['run1 top.md\n', 'a file is no building'],
  ['run1 alias\n', 'nor is a link, whatever it leads to'],
];
const notCounted = await Promise.all(
  NOT_COUNTED.map(async ([origins, why]) => ({ why, ...(await laid(`not counted: ${why}`, origins)) })),
);
const countedLater = await laid('the line behind one that was torn counts', 'run1 va:\nrun2 lab\n');
const bytesOfNoText = await laid('behind a line that is no text', 'placeholder');

/** Blocks that are not what their name says, and whatever else may stand there. */
const changed = await laid('what was stored', '- lab\n', 'what was stoled');
const changedToNoText = await laid('a text block', '- lab\n', Uint8Array.from([0x61, 0xff, 0x62]));
const grown = await laid('grown', '- lab\n', 'grown by a tail');
const cut = await laid('was longer than this', '- lab\n', 'was longer');
const directory = await laid('a directory stands here', '- lab\n', { directory: true });
const linked = await laid('behind a link', '- lab\n', { link: `../${one.greek.hash.slice(0, 2)}/${one.greek.hash}` });
const linkedOut = await laid('behind a link that leads out', '- lab\n', { link: '../../../../../outside/secret' });
const gone = await laid('gone', '- lab\n');
const linkedOrigins = await laid('whose origins are a link', 'placeholder');

const THINGS: Things = [
  ...BUILDINGS,
  ...Object.values(one).flatMap(({ things }) => things),
  ...notCounted.flatMap(({ things }) => things),
  ...[countedLater, changed, changedToNoText, grown, cut, directory, linked, linkedOut].flatMap(({ things }) => things),
  ...gone.things.slice(1),
  [blockAt(bytesOfNoText.hash), 'behind a line that is no text'],
  [originsAt(bytesOfNoText.hash), new Uint8Array([0x72, 0x20, 0xff, 0x0a, ...new TextEncoder().encode('r lab\n')])],
  [blockAt(linkedOrigins.hash), 'whose origins are a link'],
  [originsAt(linkedOrigins.hash), { link: `../${one.greek.hash.slice(0, 2)}/${one.greek.hash}` }],
];

const VAULT_REFUSAL = { code: 'E_GATE_DENIED', action: 'read', nearby: [], retry: 'no' } as const;

describe.each(SETTINGS)('read of a block, in the $tree tree, $binding binding', (setting) => {
  let place: TestCity;
  beforeAll(() => {
    place = city(setting, THINGS);
  });
  afterAll(() => place.end());

  const reading = (asked: string, options?: CallOptions) => place.read({ path: asked }, options);
  const value = async (asked: string, options?: CallOptions) => asValue(await reading(asked, options));
  const error = async (asked: string, options?: CallOptions) => asError(await reading(asked, options));

  // ---- what is handed out ----

  it('gives the bytes, as a file of the city is read, and no version: a Locator is one', async () => {
    const { locator } = one.greek;
    expect(await value(locator)).toEqual({ path: locator, text: GREEK, bytes: GREEK.length });
    expect(await value(one.bom.locator)).toMatchObject({ text: BOM });
    expect(await value(one.empty.locator)).toEqual({ path: one.empty.locator, text: '', bytes: 0, total_lines: 0 });
  });

  it('cuts it as any file: by offset, limit and the caps', async () => {
    const { locator } = one.many;
    const first = await value(locator);
    expect(first).toMatchObject({ next_offset: READ_CAP_LINES, total_lines: 2_000 });
    expect(first.bytes).toBeLessThanOrEqual(INTERVAL_CAP_BYTES);
    const some = asValue(await place.read({ path: locator, offset: 1_998, limit: 1 }));
    expect(some).toEqual({ path: locator, text: 'line 1999\n', bytes: 10, total_lines: 2_000, next_offset: 1_999 });
    expect(asValue(await place.read({ path: locator, offset: 2_000 }))).toMatchObject({ text: '', total_lines: 2_000 });
  });

  it('refuses a block that is not UTF-8, and says what it looks like', async () => {
    const refusal = await error(one.gb.locator);
    expect(refusal).toMatchObject({ code: 'E_INVALID_ARGS', subject: `${one.gb.locator}: its bytes are not UTF-8` });
    expect(refusal.recovery).toContain('GB');
  });

  // ---- ranges ----

  const RANGES: readonly (readonly [of: Laid, range: string, text: string])[] = [
    [one.greek, '#B0-4', 'alpha'],
    [one.greek, '#B11-15', 'gamma'],
    [one.greek, '#B5-5', '\n'],
    [one.greek, '#B0-15', GREEK],
    [one.greek, '#L1-1', 'alpha'],
    [one.greek, '#L2-2', 'beta'],
    [one.greek, '#L1-2', 'alpha\nbeta'],
    [one.greek, '#L3-3', 'gamma'],
    [one.greek, '#L1-3', GREEK],
    [one.ended, '#L1-1', 'a'],
    [one.bom, '#L1-1', '\ufefffirst\r'],
    [one.wide, '#B1-2', 'é'],
    [one.many, '#L2000-2000', 'line 2000'],
  ];
  it.each(RANGES)('gives of %o exactly the range %s', async ({ locator }, range, text) => {
    const answer = await value(locator + range);
    expect(answer).toMatchObject({ path: locator + range, text });
    expect(answer.version).toBeUndefined();
  });

  const PAST: readonly (readonly [of: Laid, range: string])[] = [
    [one.greek, '#B0-16'],
    [one.greek, '#B16-16'],
    [one.greek, '#L1-4'],
    [one.greek, '#L4-4'],
    [one.greek, '#L1-18446744073709551615'],
    [one.greek, '#B0-18446744073709551615'],
    [one.ended, '#L2-2'],
    [one.ended, '#L1-2'],
    [one.empty, '#L1-1'],
    [one.empty, '#B0-0'],
  ];
  it.each(PAST)('never clamps: past the end of %o, %s is refused', async ({ locator }, range) => {
    expect(await error(locator + range)).toMatchObject({
      code: 'E_INVALID_ARGS',
      subject: `${locator + range}: its range ends behind the block`,
    });
  });

  it('refuses a range that begins or ends inside a character', async () => {
    expect(await error(`${one.wide.locator}#B1-1`)).toMatchObject({ code: 'E_INVALID_ARGS' });
  });

  it('counts offset and limit in the range, so that pages of a range are the range', async () => {
    const asked = `${one.many.locator}#L101-1100`;
    let text = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page: { text: string; next_offset?: number | undefined } = asValue(
        await place.read({ path: asked, offset }),
      );
      text += page.text;
      offset = page.next_offset;
    }
    expect(text).toBe(MANY.split('\n').slice(100, 1_100).join('\n'));
    const past = asValue(await place.read({ path: `${one.greek.locator}#L2-2`, offset: 1 }));
    expect(past).toMatchObject({ text: '', total_lines: 1 });
  });

  it('says that a range was not held against the hash, and of a range that is the whole block nothing', async () => {
    expect((await value(`${one.greek.locator}#L1-2`)).note).toMatch(/only this range/);
    expect((await value(`${changed.locator}#B0-3`)).note).toMatch(/only this range/);
    expect((await value(`${one.greek.locator}#B0-15`)).note).toBeUndefined();
    expect(await error(`${changed.locator}#B0-14`)).toMatchObject({ code: 'E_CAS_CORRUPT' });
  });

  // ---- who may ----

  it('is judged by the building it was stored for', async () => {
    expect(await value(one.room.locator)).toMatchObject({ text: 'of a room with spaces' });
    const refusal = await error(one.foreign.locator);
    expect(refusal).toMatchObject({
      ...VAULT_REFUSAL,
      subject: `${one.foreign.locator}: it is in a confidential building`,
    });
    expect(refusal.recovery).toContain('only its residents');
    expect(await value(one.foreign.locator, { reader: 'vault' })).toMatchObject({ text: 'of the vault' });
    expect(await error(one.broken.locator)).toMatchObject({ code: 'E_GATE_DENIED' });
    expect((await error(one.broken.locator)).subject).toContain('rules did not read');
  });

  it('is opened by the first origin that is open, and refused as the first one where none is', async () => {
    expect(await value(one.vaultFirst.locator)).toMatchObject({ text: 'of the vault, and of the lab' });
    expect((await error(one.twoClosed.locator)).subject).toContain('rules did not read');
    expect((await error(one.twoClosed.locator, { reader: 'hall' })).subject).toContain('rules did not read');
    expect(await value(one.twoClosed.locator, { reader: 'vault' })).toMatchObject({ text: 'of two closed ones' });
  });

  it('is judged as the reserved place it was stored for', async () => {
    for (const { locator } of [one.reserved, one.reservedRoom]) {
      expect((await error(locator)).subject).toBe(`${locator}: it is in a reserved place`);
      expect(await error(locator, { reader: 'lab' })).toMatchObject({ code: 'E_GATE_DENIED' });
    }
  });

  it('is denied without an origin, whether or not there is such a block, and told how to go on', async () => {
    const never = `cas:b3-${'0'.repeat(64)}`;
    for (const locator of [one.noOrigin.locator, one.noLines.locator, never]) {
      const refusal = await error(locator);
      expect(refusal).toMatchObject({
        ...VAULT_REFUSAL,
        subject: `${locator}: nothing says which building it was stored for`,
      });
      expect(refusal.recovery).toContain('file:');
    }
  });

  it.each(notCounted)('does not take for an origin: $why', async ({ locator }) => {
    expect((await error(locator)).subject).toContain('nothing says which building');
  });

  it('takes the whole line behind one that does not count', async () => {
    expect(await value(countedLater.locator)).toMatchObject({ text: 'the line behind one that was torn counts' });
    expect(await value(bytesOfNoText.locator)).toMatchObject({ text: 'behind a line that is no text' });
  });

  it('asks the embedder’s policy, by building', async () => {
    const asked: string[] = [];
    const policy = (building: string): Verdict => {
      asked.push(building);
      return { kind: building === 'vault' ? 'open' : 'confidential' };
    };
    expect(await value(one.vaultFirst.locator, { policy })).toMatchObject({ text: 'of the vault, and of the lab' });
    expect(asked).toEqual(['vault', 'lab']);
    expect(await error(one.greek.locator, { policy })).toMatchObject({ code: 'E_GATE_DENIED' });
  });

  const DENIED: readonly (readonly [deny: string[], block: Laid, why: string])[] = [
    [['lab/**'], one.room, 'the origin’s address'],
    [['**/a room'], one.room, 'a room above it'],
    [['lab'], one.greek, 'the building'],
    [['.sprawling/cas/**'], one.greek, 'the store itself'],
    [['**/b3'], one.greek, 'a directory of the store'],
  ];
  it.each(DENIED)('is denied by pattern where %j covers %o: %s', async (deny, { locator }, _why) => {
    expect((await error(locator, { deny })).subject).toBe(`${locator}: a deny pattern of this runner covers it`);
    expect(await error(locator, { deny, reader: 'lab' })).toMatchObject({ code: 'E_GATE_DENIED' });
  });

  it('is opened by another origin where a pattern covers the first', async () => {
    expect(await value(one.twoOpen.locator, { deny: ['hall'] })).toMatchObject({ text: 'of two open ones' });
  });

  // ---- two walls ----

  it('of a building that goes while the policy is asked about it is nobody’s', async () => {
    const leaving = city(setting, [...BUILDINGS, ...one.ended.things]);
    const policy = (): Verdict => {
      leaving.world.move('hall', 'away');
      return { kind: 'open' };
    };
    const refusal = asError(await leaving.read({ path: one.ended.locator }, { policy }));
    leaving.end();
    expect(refusal).toMatchObject({ code: 'E_GATE_DENIED', subject: expect.stringContaining('nothing says which') });
  });

  it.each(['judge', 'filesystem'] as const)(
    'of a closed building is refused with the bound of the %s open',
    async (openUnchecked) => {
      const unchecked = { openUnchecked };
      for (const { locator } of [one.foreign, one.broken, one.twoClosed, one.reserved]) {
        expect(await error(locator, { unchecked })).toMatchObject({ code: 'E_GATE_DENIED' });
        expect(await error(`${locator}#L1-1`, { unchecked })).toMatchObject({ code: 'E_GATE_DENIED' });
      }
      const deny = ['lab/**'];
      expect(await error(one.room.locator, { unchecked, deny })).toMatchObject({ code: 'E_GATE_DENIED' });
      // It is the bound that refuses: what is open stays so.
      expect(await value(one.greek.locator, { unchecked })).toMatchObject({ text: GREEK });
    },
  );

  it.each(['judge', 'filesystem'] as const)(
    'of a closed building is not handed to the host’s own door either, with the bound of the %s open',
    async (openUnchecked) => {
      const got = (locator: string) =>
        place.call(
          'read',
          { path: locator },
          {
            work: (call) => getBlock.run(call, { locator }),
            unchecked: { openUnchecked },
          },
        );
      for (const { locator } of [one.foreign, one.broken, one.twoClosed, one.reserved]) {
        expect(asError(await got(locator))).toMatchObject({ code: 'E_GATE_DENIED' });
      }
      expect(asValue(await got(one.greek.locator))).toEqual(new TextEncoder().encode(GREEK));
    },
  );

  it('hands the guest the one block, and says so', async () => {
    let account: Account | undefined;
    const work = async (call: Call) => {
      const outcome = await read.run(call, { path: one.greek.locator });
      account = call.account();
      return outcome;
    };
    await place.call('read', { path: one.greek.locator }, { work });
    expect(account?.handed).toEqual({ kind: 'block', landed: blockAt(one.greek.hash) });
  });

  // ---- what is there ----

  it('says of a block whose origin is there and which is gone that it is gone', async () => {
    expect(await error(gone.locator)).toMatchObject({
      code: 'E_PATH_NOT_FOUND',
      subject: `${gone.locator}: the block is gone`,
      retry: 'no',
    });
    expect(await error(`${gone.locator}#L1-1`)).toMatchObject({ code: 'E_PATH_NOT_FOUND' });
  });

  it('hands out nothing of a block that does not hash to its name', async () => {
    for (const { locator } of [changed, changedToNoText, grown, cut]) {
      const refusal = await error(locator);
      expect(refusal).toMatchObject({ code: 'E_CAS_CORRUPT', nearby: [], retry: 'no' });
      expect(JSON.stringify(refusal)).not.toContain('stoled');
      const part = asError(await place.read({ path: locator, offset: 0, limit: 1 }));
      expect(part.code).toBe('E_CAS_CORRUPT');
    }
  });

  it('opens nothing else that stands under the name of a block', async () => {
    expect(await error(directory.locator)).toMatchObject({ code: 'E_STORAGE_FATAL' });
  });

  it('follows no link in the store’s own directories, inside or out, and does not say where it leads', async () => {
    for (const { locator } of [linked, linkedOut, linkedOrigins]) {
      const refusal = await error(locator);
      expect(refusal).toMatchObject({
        code: 'E_GATE_DENIED',
        subject: `${locator}: a link stands in the block store`,
      });
      expect(JSON.stringify(refusal)).not.toMatch(/outside|SECRET/);
    }
  });

  it('says that it changed when another thing stands there once it was judged', async () => {
    const was = await laid('judged, then swapped', '- lab\n');
    for (const [at, thing] of was.things) place.world.put(String(at), thing as string);
    let swaps = 0;
    const betweenWalls = (): void => {
      if (swaps++ > 0) return;
      place.world.remove(blockAt(was.hash));
      place.world.put(blockAt(was.hash), { link: '../../../../vault/.sprawling/RULES.toml' });
    };
    const refusal = await error(was.locator, { unchecked: { betweenWalls } });
    expect(refusal).toMatchObject({ code: 'E_GATE_DENIED', retry: 'yes' });
  });

  it.each(['a link to another block of its room', 'another file of its name'])(
    'says so too where a range is asked, which no hash vouches for, and %s stands there',
    async (what) => {
      const was = await laid(`lines\nto be swapped by ${what}\n`, '- lab\n');
      const sibling = blockAt(was.hash).replace(was.hash, 'sibling');
      for (const [at, content] of was.things) place.world.put(String(at), content as string);
      place.world.put(sibling, 'of the vault, many of its lines\n');
      let swaps = 0;
      const betweenWalls = (): void => {
        if (swaps++ > 0) return;
        if (what.startsWith('another')) return place.world.move(sibling, blockAt(was.hash));
        place.world.remove(blockAt(was.hash));
        place.world.put(blockAt(was.hash), { link: 'sibling' });
      };
      const refusal = await error(`${was.locator}#L1-1`, { unchecked: { betweenWalls } });
      expect(refusal).toMatchObject({ code: 'E_GATE_DENIED', retry: 'yes' });
    },
  );

  it('is refused as a city without a store has nothing stored', async () => {
    const bare = city(setting, BUILDINGS);
    try {
      expect(asError(await bare.read({ path: one.greek.locator })).subject).toContain('nothing says which building');
    } finally {
      bare.end();
    }
  });
});

describe.each(['linux', 'portable'] as const)('the block store behind a link, on a disk, %s tree', (kind) => {
  it.each(['.sprawling', CAS, `${CAS}/b3`, `${CAS}/from`, `${CAS}/b3/XX`, `${CAS}/from/XX`])(
    'is not read where %s is a link to the real one',
    async (which) => {
      const block = await laid('behind a link', '- lab\n');
      const world = diskWorld(kind)([...BUILDINGS, ...block.things]) as DiskWorld;
      const place = new TestCity(world, 'fixed');
      try {
        expect(asValue(await place.read({ path: block.locator })).text).toBe('behind a link');
        const at = path.join(world.root, which.replace('XX', block.hash.slice(0, 2)));
        fs.renameSync(at, path.join(world.outside, 'moved'));
        fs.symlinkSync(path.join(world.outside, 'moved'), at);
        const refusal = asError(await place.read({ path: block.locator }));
        expect(refusal).toMatchObject({ code: 'E_GATE_DENIED' });
        expect(refusal.subject).toContain('a link stands in the block store');
        expect(refusal.subject).not.toContain('moved');
      } finally {
        place.end();
      }
    },
  );

  it('reads a front line of a huge block without reading the block', async () => {
    const hash = 'ab'.repeat(32);
    const world = diskWorld(kind)([...BUILDINGS, [originsAt(hash), '- lab\n'], [blockAt(hash), 'first\nsecond\n']]);
    const place = new TestCity(world, 'fixed');
    try {
      fs.truncateSync(path.join(world.root, blockAt(hash)), 20 * 2 ** 30);
      let account: Account | undefined;
      const asked = `cas:b3-${hash}#L2-2`;
      const work = async (call: Call) => {
        const outcome = await read.run(call, { path: asked });
        account = call.account();
        return outcome;
      };
      const answer = asValue(await place.call('read', { path: asked }, { work }));
      expect(answer).toMatchObject({ text: 'second', note: expect.stringMatching(/only this range/) });
      expect(account?.bytes).toBeLessThan(2 ** 20);
      expect(asValue(await place.read({ path: `cas:b3-${hash}#B0-4` }))).toMatchObject({ text: 'first' });
      // Over what is judged whole, an interval is read, and the answer claims nothing of the rest.
      const some = asValue(await place.read({ path: `cas:b3-${hash}`, limit: 1 }));
      expect(some).toMatchObject({ text: 'first\n', note: expect.stringMatching(/larger than/) });
    } finally {
      place.end();
    }
  });
});
