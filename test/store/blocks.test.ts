/**
 * The block store: what is written where, what a crash leaves, what a planted link does, and what comes out again.
 * Spec: locators-and-catalog, "Block store".
 */

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { blake3 } from 'hash-wasm';
import { afterEach, describe, expect, it } from 'vitest';
import { isBroken, parseAddress } from '../../dist/judge/address.js';
import { parseLocator } from '../../dist/judge/locator.js';
import { BLOCK_MAX_BYTES, LEFTOVER_AGE_MS, ORIGINS_MAX_BYTES } from '../../dist/limits.js';
import { Blocks, isFault, type StoreFault } from '../../dist/store/blocks.js';
import { partName, writerOf } from '../../dist/store/layout.js';
import { addition, isRunName, type Origin, originsIn } from '../../dist/store/origins.js';
import { madeBelow, wroteNot } from '../../dist/tree/writing.js';
import { type DiskWorld, descriptorCount, diskWorld, memoryWorld, type World } from '../tree/worlds.js';
import { blockAt, CAS, originsAt } from './blocks.js';
import { faultsOf, heard, putter } from './crash.js';

const utf8 = new TextEncoder();
const bytesOf = (text: string): Uint8Array => utf8.encode(text);
const textOf = (bytes: Uint8Array | StoreFault): string =>
  isFault(bytes) ? `fault: ${bytes}` : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const parts = (root: string): string[] => fs.readdirSync(path.join(root, CAS, 'tmp'));

function origin(line: string): Origin {
  const [run = '', ...rest] = line.split(' ');
  const place = parseAddress(rest.join(' '));
  if (isBroken(place)) throw new Error(`not an address: ${line}`);
  return { run, place };
}

function rangeOf(text: string) {
  const parsed = parseLocator(`cas:b3-${'0'.repeat(64)}#${text}`);
  if (!('range' in parsed) || parsed.range === undefined) throw new Error(`not a range: ${text}`);
  return parsed.range;
}

const begun: World[] = [];
afterEach(() => {
  for (const world of begun.splice(0)) world.end();
});
function kept<W extends World>(world: W): W {
  begun.push(world);
  return world;
}

const GREEK = 'alpha\nbeta\ngamma';

describe.each(['linux', 'portable'] as const)('the block store on a disk, %s tree', (kind) => {
  const begin = (): DiskWorld => kept(diskWorld(kind)([['lab/notes.md', 'notes\n']]) as DiskWorld);
  const on = (world: World): Blocks => new Blocks(world.open());
  const at = (world: DiskWorld, place: string): string => path.join(world.root, place);
  const stored = async (blocks: Blocks, text: string, line?: string): Promise<string> => {
    const put = await (line === undefined ? blocks.put(bytesOf(text)) : blocks.putFor(bytesOf(text), origin(line)));
    if (isFault(put)) throw new Error(`not stored: ${put}`);
    return put.hash;
  };

  // ---- put ----

  it('keeps bytes under their BLAKE3, and leaves nothing else behind', async () => {
    const world = begin();
    for (const text of ['', 'a', GREEK, 'x'.repeat(3_000_000)]) {
      const hash = await stored(on(world), text);
      expect(hash).toBe(await blake3(text));
      expect(fs.readFileSync(at(world, blockAt(hash)), 'utf8')).toBe(text);
      expect(textOf(await on(world).get(hash))).toBe(text);
    }
    expect(parts(world.root)).toEqual([]);
    expect(fs.readdirSync(at(world, CAS)).sort()).toEqual(['b3', 'tmp']);
  });

  it('writes nothing where the block is there already', async () => {
    const world = begin();
    const hash = await stored(on(world), GREEK);
    const before = fs.statSync(at(world, blockAt(hash)), { bigint: true });
    expect(await stored(on(world), GREEK)).toBe(hash);
    const after = fs.statSync(at(world, blockAt(hash)), { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  });

  it('refuses a block over BLOCK_MAX_BYTES before anything is written', async () => {
    const world = begin();
    const huge = new Proxy(new Uint8Array(), {
      get: (bytes, key) => (key === 'length' ? BLOCK_MAX_BYTES + 1 : Reflect.get(bytes, key)),
    });
    expect(await on(world).put(huge)).toBe('too-large');
    expect(fs.existsSync(at(world, '.sprawling'))).toBe(false);
  });

  it('leaves no descriptor open', async () => {
    const world = begin();
    const tree = world.open();
    const before = descriptorCount();
    const blocks = new Blocks(tree);
    const hash = await stored(blocks, GREEK, 'run1 lab');
    await blocks.get(hash);
    await blocks.getRange(hash, rangeOf('L1-9'));
    await blocks.get('0'.repeat(64));
    blocks.origins(hash);
    expect(descriptorCount()).toBe(before);
    expect(tree.openCount()).toBe(1);
  });

  // ---- origins ----

  it('adds an origin as one line, once', async () => {
    const world = begin();
    const hash = await stored(on(world), GREEK, 'run1 lab');
    await stored(on(world), GREEK, 'run1 lab');
    await stored(on(world), GREEK, 'run2 lab/a room');
    await stored(on(world), GREEK, 'run1 lab');
    expect(fs.readFileSync(at(world, originsAt(hash)), 'utf8')).toBe('run1 lab\nrun2 lab/a room\n');
    expect(on(world).origins(hash)).toEqual([origin('run1 lab'), origin('run2 lab/a room')]);
  });

  it.each([
    ['run1 vau', 'run1 vau:\nrun2 lab\n'],
    ['run1 lab', 'run1 lab:\nrun2 lab\n'],
    ['run1 lab\nrun', 'run1 lab\nrun:\nrun2 lab\n'],
    ['', 'run2 lab\n'],
    ['run2 lab\nrun1 la', 'run2 lab\nrun1 la'],
  ])('closes a torn last line (%j) before it adds one', async (torn, after) => {
    const world = begin();
    const hash = await stored(on(world), GREEK);
    world.put(originsAt(hash), torn);
    await stored(on(world), GREEK, 'run2 lab');
    expect(fs.readFileSync(at(world, originsAt(hash)), 'utf8')).toBe(after);
    expect(on(world).origins(hash)).toContainEqual(origin('run2 lab'));
  });

  it('adds none where there are ORIGINS_MAX_BYTES of them, and reads none of more', async () => {
    const world = begin();
    const hash = await stored(on(world), GREEK, 'run1 lab');
    fs.appendFileSync(at(world, originsAt(hash)), `${'x'.repeat(ORIGINS_MAX_BYTES - 10)}\n`);
    expect(await on(world).putFor(bytesOf(GREEK), origin('run2 lab'))).toBe('too-many-origins');
    expect(await on(world).putFor(bytesOf(GREEK), origin('run1 lab'))).toEqual({ hash });
    fs.appendFileSync(at(world, originsAt(hash)), 'run3 lab\n');
    expect(on(world).origins(hash)).toBe('too-many-origins');
  });

  // ---- get ----

  it('gives exact ranges, and none past the end', async () => {
    const world = begin();
    const hash = await stored(on(world), GREEK);
    const got = async (range: string) => textOf(await on(world).getRange(hash, rangeOf(range)));
    expect(await got('B0-4')).toBe('alpha');
    expect(await got('B11-15')).toBe('gamma');
    expect(await got('L2-2')).toBe('beta');
    expect(await got('L1-2')).toBe('alpha\nbeta');
    expect(await got('B0-16')).toBe('fault: past-end');
    expect(await got('L1-4')).toBe('fault: past-end');
  });

  it('gives the range that a naive reading of the whole would', async () => {
    const world = begin();
    const piece = fc.constantFrom('a', '\n', '\n\n', 'é\n', '\r\n', 'long '.repeat(40), 'z'.repeat(262_143));
    const text = fc.array(piece, { maxLength: 8 }).map((all) => all.join(''));
    const small = fc.nat({ max: 12 });
    await fc.assert(
      fc.asyncProperty(text, fc.constantFrom('L' as const, 'B' as const), small, small, async (of, unit, a, b) => {
        const [from, to] = unit === 'L' ? [a + 1, a + 1 + b] : [a, a + b];
        const hash = await stored(on(world), of);
        const got = textOf(await on(world).getRange(hash, rangeOf(`${unit}${from}-${to}`)));
        const [all, end] = [bytesOf(of), of.endsWith('\n') ? -1 : undefined];
        const lines = of === '' ? [] : of.split('\n').slice(0, end);
        const wanted =
          unit === 'B'
            ? to < all.length && new TextDecoder().decode(all.subarray(from, to + 1))
            : to <= lines.length && lines.slice(from - 1, to).join('\n');
        expect(got).toBe(wanted === false ? 'fault: past-end' : wanted);
      }),
      { numRuns: 60 },
    );
  });

  it('hands out nothing that does not hash to its name', async () => {
    const world = begin();
    const hash = await stored(on(world), GREEK);
    world.put(blockAt(hash), GREEK.replace('beta', 'bete'));
    expect(await on(world).get(hash)).toBe('corrupt');
    expect(await on(world).getRange(hash, rangeOf('B0-15'))).toBe('corrupt');
    // Not held against the hash: not all of it went by.
    expect(textOf(await on(world).getRange(hash, rangeOf('L2-2')))).toBe('bete');
  });

  // ---- what a crash leaves ----

  it('takes away what a process that is gone was writing, and what is older than an hour', async () => {
    const world = begin();
    await stored(on(world), 'makes the directories');
    const hash = '0'.repeat(64);
    const [gone, old, own] = [
      partName(hash, 2 ** 22 + 1, 1),
      partName(hash, process.pid, 900),
      partName(hash, process.pid, 901),
    ];
    for (const name of [gone, old, own, 'somebody’s', `${hash}.x.1.part`]) world.put(`${CAS}/tmp/${name}`, 'half');
    const longAgo = (Date.now() - LEFTOVER_AGE_MS - 60_000) / 1_000;
    fs.utimesSync(at(world, `${CAS}/tmp/${old}`), longAgo, longAgo);
    await stored(on(world), 'another');
    expect(parts(world.root).sort()).toEqual([`${hash}.x.1.part`, own, 'somebody’s'].sort());
  });

  it('begins again when what it was writing is taken away', async () => {
    const world = begin();
    const thief = spawn(process.execPath, ['test/store/thief.mjs', at(world, `${CAS}/tmp`), '1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((resolve) => thief.on('close', resolve));
    try {
      await new Promise((resolve) => thief.stdout.once('data', resolve));
      // Large enough that the thief, who only looks, comes before it is on disk.
      const text = 'x'.repeat(48 * 2 ** 20);
      const hash = await stored(on(world), text);
      expect(await ended).toBe(0);
      expect(await blake3(fs.readFileSync(at(world, blockAt(hash))))).toBe(hash);
    } finally {
      thief.kill('SIGKILL');
    }
  });

  it('holds no wrong block, and every block it acknowledged, after its process was killed at any moment', async () => {
    const world = begin();
    const acknowledged = new Set<string>();
    for (let kill = 0; kill < 6; kill++) {
      for (const hash of await heard(putter(world.root, kind, `run${kill}`, 0), kill * 35)) acknowledged.add(hash);
      expect(await faultsOf(world.root, acknowledged)).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(6);
    await stored(on(world), 'clears up');
    expect(parts(world.root)).toEqual([]);
  });

  it('keeps the lines of several processes that store the same blocks at once', async () => {
    const world = begin();
    const said = await Promise.all(
      ['a', 'b', 'c'].map((name) => heard(putter(world.root, kind, `run-${name}`, 30, 'same'))),
    );
    expect(await faultsOf(world.root, said.flat())).toEqual([]);
    expect(new Set(said.map((hashes) => hashes.join())).size).toBe(1);
    expect(said[0]?.length).toBe(30);
    for (const hash of said[0] ?? []) {
      const lines = fs
        .readFileSync(at(world, originsAt(hash)), 'utf8')
        .split('\n')
        .sort();
      expect(lines).toEqual(['', 'run-a lab', 'run-b lab', 'run-c lab']);
    }
    expect(parts(world.root)).toEqual([]);
  });

  // ---- links ----

  it.each(['.sprawling', CAS, `${CAS}/b3`, `${CAS}/tmp`, `${CAS}/from`, `${CAS}/b3/XX`, `${CAS}/from/XX`])(
    'is not written through a link at %s, also a dangling one, and nothing is made where it leads',
    async (which) => {
      for (const target of ['outside/planted', 'outside/nothing']) {
        const world = begin();
        const base = path.dirname(world.root);
        fs.mkdirSync(path.join(base, 'outside/planted'));
        const hash = await blake3(GREEK);
        const place = at(world, which.replace('XX', hash.slice(0, 2)));
        fs.mkdirSync(path.dirname(place), { recursive: true });
        fs.symlinkSync(path.join(base, target), place);
        expect(await on(world).putFor(bytesOf(GREEK), origin('run1 lab'))).toBe('is-link');
        expect(fs.readdirSync(path.join(base, 'outside/planted'))).toEqual([]);
        expect(fs.existsSync(path.join(base, 'outside/nothing'))).toBe(false);
      }
    },
  );

  it.each([blockAt, originsAt])('is not written through a link in the place of a file', async (place) => {
    const world = begin();
    const hash = await blake3(GREEK);
    world.put(place(hash), { link: path.join(world.outside, 'secret') });
    expect(await on(world).putFor(bytesOf(GREEK), origin('run1 lab'))).toBe('is-link');
    expect(fs.readFileSync(path.join(world.outside, 'secret'), 'utf8')).toBe('SECRET');
    world.put(`${CAS}/placeholder`, '');
    expect(fs.lstatSync(at(world, place(hash))).isSymbolicLink()).toBe(true);
  });

  it('adds nothing to a file that has another name, which may stand outside', async () => {
    const world = begin();
    const hash = await stored(on(world), GREEK);
    fs.mkdirSync(path.dirname(at(world, originsAt(hash))), { recursive: true });
    fs.linkSync(path.join(world.outside, 'secret'), at(world, originsAt(hash)));
    expect(await on(world).putFor(bytesOf(GREEK), origin('run1 lab'))).toBe('hard-link');
    expect(fs.readFileSync(path.join(world.outside, 'secret'), 'utf8')).toBe('SECRET');
  });

  it.each([blockAt, originsAt])('neither waits for a pipe in the place of a file nor takes it', async (place) => {
    const world = begin();
    const hash = await blake3(GREEK);
    world.put(place(hash), { other: true });
    expect(await on(world).putFor(bytesOf(GREEK), origin('run1 lab'))).toBe('not-regular');
  });

  it('writes nothing in a city that was moved while it is open', async () => {
    const world = begin();
    const blocks = on(world);
    fs.renameSync(world.root, `${world.root}-moved`);
    expect(await blocks.put(bytesOf(GREEK))).toBe('moved');
    expect(fs.readdirSync(`${world.root}-moved`)).toEqual(['lab']);
    fs.renameSync(`${world.root}-moved`, world.root);
  });
});

describe.each(['linux', 'portable'] as const)('a held directory, %s tree', (kind) => {
  it('is written in only while it is in its place', () => {
    const world = kept(diskWorld(kind)([['lab/room/old', 'old']]) as DiskWorld);
    const room = madeBelow(world.open(), ['lab', 'room']);
    const other = madeBelow(world.open(), ['lab']);
    if (wroteNot(room) || wroteNot(other)) throw new Error('not held');
    expect(room.create('a', bytesOf('a'))).toBeUndefined();
    fs.renameSync(path.join(world.root, 'lab/room'), path.join(world.outside, 'room'));
    const after = [
      room.create('b', bytesOf('b')),
      room.make('c'),
      room.added('d'),
      room.added('old'),
      room.move('a', other, 'a'),
      other.move('missing', room, 'e'),
      room.remove('a'),
    ];
    for (const failure of after) expect(['moved', 'no-entry']).toContain(failure);
    expect(fs.readdirSync(path.join(world.outside, 'room')).sort()).toEqual(['a', 'old']);
  });

  it('takes segments only', () => {
    const world = kept(diskWorld(kind)([['lab/old', 'old']]) as DiskWorld);
    const lab = madeBelow(world.open(), ['lab']);
    if (wroteNot(lab)) throw new Error('not held');
    for (const name of ['..', '.', '', 'a/b', '../x', 'a\0b', '/etc/x', 'x'.repeat(256)]) {
      expect(lab.create(name, bytesOf('b')), name).toBe('bad-name');
      expect(lab.make(name), name).toBe('bad-name');
      expect(lab.added(name), name).toBe('bad-name');
      expect(lab.move('old', lab, name), name).toBe('bad-name');
      expect(lab.move(name, lab, 'new'), name).toBe('bad-name');
      expect(lab.remove(name), name).toBe('bad-name');
    }
    expect(fs.readdirSync(path.join(world.root, 'lab'))).toEqual(['old']);
  });
});

describe('a city in memory', () => {
  it('has the blocks that were put there as files, and takes no others', async () => {
    const hash = await blake3(GREEK);
    const world = kept(
      memoryWorld([
        [blockAt(hash), GREEK],
        [originsAt(hash), 'run1 lab\n'],
      ]),
    );
    const blocks = new Blocks(world.open());
    expect(textOf(await blocks.get(hash))).toBe(GREEK);
    expect(textOf(await blocks.getRange(hash, rangeOf('L2-2')))).toBe('beta');
    expect(blocks.origins(hash)).toEqual([origin('run1 lab')]);
    expect(await blocks.put(bytesOf('another'))).toBe('read-only');
    expect(await blocks.putFor(bytesOf('another'), origin('run1 lab'))).toBe('read-only');
  });
});

describe('origins', () => {
  const line = fc
    .record({
      run: fc.stringMatching(/^[a-z0-9:@-]{1,8}$/),
      place: fc.constantFrom('lab', 'lab/a room', 'vault', 'lab2', 'la'),
    })
    .map(({ run, place }) => origin(`${run} ${place}`));

  it('are read as they were added, wherever writers were cut off between', () => {
    const step = fc.record({ add: line, cutBytes: fc.option(fc.nat({ max: 20 }), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        let file = new Uint8Array();
        const whole: Origin[] = [];
        for (const { add, cutBytes } of steps) {
          const more = addition(add, file);
          const isCut = cutBytes !== undefined && cutBytes < more.length;
          file = Buffer.concat([file, isCut ? more.subarray(0, cutBytes) : more]);
          if (!isCut) whole.push(add);
        }
        expect(originsIn(file)).toEqual(whole);
      }),
    );
  });

  it('are named by runs that hold no white space', () => {
    for (const run of ['run1', '-', 'a:b', 'é', 'x'.repeat(255)]) expect(isRunName(run), run).toBe(true);
    for (const run of ['', ' ', 'a b', 'a\n', 'a\u0000', '\ud800', 'a\u00a0b', 'x'.repeat(256)]) {
      expect(isRunName(run), JSON.stringify(run)).toBe(false);
    }
  });

  it('tells a part’s writer by its name, and takes no other name for one', () => {
    const hash = 'ab'.repeat(32);
    expect(writerOf(partName(hash, 42, 7))).toBe(42);
    for (const name of [hash, `${hash}.42.part`, `${hash}.0.1.part`, `${hash}.-1.1.part`, `${hash}.42.7.part.x`, '']) {
      expect(writerOf(name)).toBeUndefined();
    }
  });
});
