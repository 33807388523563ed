/** What the disk trees promise of a real disk: kinds, owners, mounts, places without a text, and the city itself. */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { enterDisk, openTree } from '../../dist/tree/spec.js';
import { type Dir, failed } from '../../dist/tree/tree.js';
import { type DiskWorld, descriptorCount, diskWorld, opened, type Things } from './worlds.js';

const isLinux = process.platform === 'linux';
const isRoot = process.getuid?.() === 0;
const KINDS = isLinux ? (['linux', 'portable'] as const) : (['portable'] as const);

let world: DiskWorld | undefined;
afterEach(() => {
  world?.end();
  world = undefined;
});

/** The directory below, those on the way closed. */
function down(dir: Dir, ...names: readonly string[]): Dir {
  return names.reduce((at, name) => {
    const below = at.directory(name);
    if (failed(below)) throw new Error(`${name}: ${below}`);
    at.close(); // the root's does nothing
    return below;
  }, dir);
}

describe.each(KINDS)('the %s tree on a disk', (kind) => {
  const start = (things: Things, hardLinks?: 'allow' | 'same-owner' | 'deny'): DiskWorld => {
    world = diskWorld(kind)(things, hardLinks);
    return world;
  };

  it('never waits for a FIFO, a socket or a device, and opens none', async () => {
    const w = start([['pipe', { other: true }]]);
    const server = net.createServer().listen(path.join(w.root, 'socket'));
    await new Promise((resolve) => server.once('listening', resolve));
    if (isRoot) execFileSync('mknod', [path.join(w.root, 'zero'), 'c', '1', '5']);
    const { root } = w.open();
    const names = ['pipe', 'socket', ...(isRoot ? ['zero'] : [])];
    const startMs = performance.now();
    for (const name of names) {
      expect(root.look(name)).toMatchObject({ kind: 'other' });
      expect(root.file(name)).toBe('not-regular');
      expect(root.directory(name)).toBe('not-directory');
      expect(root.list()).toContainEqual({ name, kind: 'other', nameable: true });
    }
    expect(performance.now() - startMs).toBeLessThan(2_000);
    await new Promise((resolve) => server.close(resolve));
  });

  it('opens hard links as the policy says, and files of one name always', () => {
    const things = [['one', 'x'] as const];
    const under = (hardLinks: 'allow' | 'same-owner' | 'deny', owner?: number) => {
      const w = start(things, hardLinks);
      fs.linkSync(path.join(w.outside, 'secret'), path.join(w.root, 'two'));
      if (owner !== undefined) fs.chownSync(path.join(w.root, 'two'), owner, owner);
      const { root } = w.open();
      const given = ['one', 'two'].map((name) => root.file(name)).map((file) => (failed(file) ? file : 'opened'));
      w.end();
      return given;
    };
    expect(under('allow')).toEqual(['opened', 'opened']);
    expect(under('same-owner')).toEqual(['opened', 'opened']);
    expect(under('deny')).toEqual(['opened', 'hard-link']);
    if (isRoot) expect(under('same-owner', 65_534)).toEqual(['opened', 'hard-link']);
  });

  it('tells two hard links whose names differ by case from a disk that folds', () => {
    const w = start([['Name', 'x']], 'allow');
    fs.linkSync(path.join(w.root, 'Name'), path.join(w.root, 'nAME'));
    const { root } = w.open();
    expect([root.stands('Name'), root.stands('nAME'), root.stands('NAME')]).toEqual([true, true, false]);
  });

  it('gives what it opened before a file was removed', () => {
    const w = start([['file', 'x']]);
    const file = w.open().root.file('file');
    w.remove('file');
    expect(failed(file) ? file : file.read(new Uint8Array(8), 0)).toBe(1);
  });

  it('refuses a city that was replaced or removed since it was entered', () => {
    const w = start([['file', 'x']]);
    fs.renameSync(w.root, `${w.root}-old`);
    expect(openTree(w.spec)).toBe('replaced');
    fs.mkdirSync(w.root);
    expect(openTree(w.spec)).toBe('replaced');
    fs.rmdirSync(w.root);
    fs.symlinkSync(`${w.root}-old`, w.root);
    expect(typeof openTree(w.spec)).toBe('object'); // the same directory, however it is found
    fs.rmSync(w.root);
    fs.rmSync(`${w.root}-old`, { recursive: true });
    expect(openTree(w.spec)).toBe('replaced');
  });

  it('takes a swapped link up at the next call where it was told to', () => {
    const w = start([]);
    for (const release of ['1', '2']) {
      fs.mkdirSync(path.join(w.outside, release));
      fs.writeFileSync(path.join(w.outside, release, `file-${release}`), '');
    }
    const current = path.join(w.outside, 'current');
    fs.symlinkSync('1', current);
    const pinned = enterDisk(current, { tree: kind });
    const followed = enterDisk(current, { tree: kind, reopen: true });
    if (typeof pinned === 'string' || typeof followed === 'string') throw new Error('not entered');
    const names = () => {
      const tree = opened(followed.spec);
      const listed = tree.root.list();
      const { real } = tree.spellings;
      tree.close();
      return { real, names: failed(listed) ? listed : listed.map((entry) => entry.name) };
    };
    expect(names()).toEqual({ real: path.join(w.outside, '1'), names: ['file-1'] });
    fs.rmSync(current);
    fs.symlinkSync('2', current);
    expect(names()).toEqual({ real: path.join(w.outside, '2'), names: ['file-2'] });
    expect(openTree(pinned.spec)).toBe('replaced');
    pinned.close();
    followed.close();
  });

  it('enters directories only, and says why not', () => {
    const w = start([
      ['file', 'x'],
      ['loop', { link: 'loop' }],
    ]);
    const before = descriptorCount();
    const at = (name: string) => enterDisk(path.join(w.root, name), { tree: kind });
    expect([at('none'), at('file'), at('loop'), at('a\0b')]).toEqual([
      'missing',
      'not-directory',
      'missing',
      'bad-name',
    ]);
    expect(enterDisk('', { tree: kind })).toBe('missing');
    expect(descriptorCount()).toBe(before);
  });

  it('enters `link/..` where the system would', () => {
    const w = start([['link', { link: '../outside/below' }]]);
    fs.mkdirSync(path.join(w.outside, 'below'));
    const entered = enterDisk(`${w.root}/link/..`, { tree: kind });
    expect(typeof entered === 'string' ? entered : entered.spec).toMatchObject({ entered: w.outside });
    if (typeof entered !== 'string') entered.close();
  });

  it.skipIf(!isRoot)('says `access` for what the system does not permit (needs root to become another)', () => {
    const w = start([
      ['shut/file', 'x'],
      ['pass/file', 'x'],
      ['secret', 'x'],
    ]);
    const { root } = w.open();
    fs.chmodSync(path.dirname(w.root), 0o755);
    fs.chmodSync(path.join(w.root, 'shut'), 0o000);
    fs.chmodSync(path.join(w.root, 'pass'), 0o711);
    fs.chmodSync(path.join(w.root, 'secret'), 0o000);
    const asNobody = <T>(ask: () => T): T => {
      process.seteuid?.(65_534);
      try {
        return ask();
      } finally {
        process.seteuid?.(0);
      }
    };
    const given = asNobody(() => {
      const pass = root.directory('pass');
      const shut = root.directory('shut');
      return {
        secret: root.file('secret'),
        shut: failed(shut) ? shut : [shut.list(), shut.file('file')],
        // What may be entered but not listed can be read by name.
        pass: failed(pass) ? pass : [pass.list(), failed(pass.file('file'))],
      };
    });
    expect(given).toEqual({ secret: 'access', shut: ['access', 'access'], pass: ['access', false] });
  });
});

it('the portable tree answers nothing of a directory that another stands in place of', () => {
  const w = diskWorld('portable')([['dir/file', 'x']]);
  world = w;
  const dir = down(w.open().root, 'dir');
  w.move('dir', 'elsewhere');
  w.put('dir/file', 'y');
  w.put('dir/link', { link: 'file' });
  expect([dir.look('file'), dir.file('file'), dir.list(), dir.linkText('link'), dir.stands('file')]).toEqual(
    Array(5).fill('moved'),
  );
});

describe.skipIf(!isLinux)('the linux tree', () => {
  const start = (things: Things): DiskWorld => {
    world = diskWorld('linux')(things);
    return world;
  };

  it('never uses a descriptor number that became another directory', () => {
    const w = start([['file', 'x']]);
    if (w.spec.kind !== 'linux') throw new Error('not linux');
    const { rootFd } = w.spec;
    fs.closeSync(rootFd);
    expect(openTree(w.spec)).toBe('replaced');
    const reused = fs.openSync(w.outside, fs.constants.O_RDONLY);
    expect(reused).toBe(rootFd);
    expect(openTree(w.spec)).toBe('replaced');
  });

  it('never uses such a number though the entered spelling leads to the same directory now', () => {
    const w = start([]);
    if (w.spec.kind !== 'linux') throw new Error('not linux');
    fs.closeSync(w.spec.rootFd);
    fs.renameSync(w.root, path.join(w.outside, 'old'));
    fs.mkdirSync(w.root);
    expect(fs.openSync(w.root, fs.constants.O_RDONLY)).toBe(w.spec.rootFd);
    expect(openTree(w.spec)).toBe('replaced');
  });

  it('refuses a removed city that its own descriptor still leads to', () => {
    const w = start([]);
    const city = path.join(w.outside, 'city');
    fs.mkdirSync(city);
    const fd = fs.openSync(city, fs.constants.O_RDONLY);
    const entered = enterDisk(`/proc/self/fd/${fd}`);
    if (typeof entered === 'string') throw new Error(entered);
    opened(entered.spec).close();
    fs.rmdirSync(city);
    expect(openTree(entered.spec)).toBe('replaced');
    entered.close();
    fs.closeSync(fd);
  });

  it('refuses a removed directory as a city though its descriptor is pinned', () => {
    const w = start([]);
    const other = path.join(w.outside, 'city');
    fs.mkdirSync(other);
    const entered = enterDisk(other);
    if (typeof entered === 'string') throw new Error(entered);
    fs.rmdirSync(other);
    expect(openTree(entered.spec)).toBe('replaced');
    entered.close();
    entered.close();
  });

  it('proves places that are too deep for a text, and leaves nothing open', () => {
    const name = 'n'.repeat(250);
    const levels = 24;
    const w = start([]);
    // No path reaches so deep: one level at a time from its working directory.
    const script = `process.chdir(${JSON.stringify(w.root)}); for (let i = 0; i < ${levels}; i++) { require('fs').mkdirSync('${name}'); process.chdir('${name}'); } require('fs').writeFileSync('file', 'deep')`;
    execFileSync(process.execPath, ['-e', script]);
    const tree = w.open();
    const names = Array<string>(levels).fill(name);
    const deep = down(tree.root, ...names);
    const file = deep.file('file', { placed: true });
    expect(failed(file) ? file : file.read(new Uint8Array(8), 0)).toBe(4);
    const twin = deep.again();
    if (failed(twin)) throw new Error(twin);
    deep.close();
    expect(failed(twin.list())).toBe(false);
    // Moved below the border, and then above it.
    const above = down(tree.root, ...names.slice(0, 20));
    const held = descriptorAt(w.root, names.slice(0, 20));
    fs.renameSync(`/proc/self/fd/${held}/${name}`, path.join(w.outside, 'moved'));
    fs.closeSync(held);
    expect(twin.again()).toBe('moved');
    expect(twin.file('file', { placed: true })).toBe('moved');
    expect(above.directory(name)).toBe('no-entry');
    fs.renameSync(path.join(w.root, name), path.join(w.outside, 'top'));
    expect(above.again()).toBe('moved');
    // What was held for the deep ones is closed with the last of them.
    expect(tree.openCount()).toBeGreaterThan(4);
    for (const opened of [twin, above, file]) if (!failed(opened)) opened.close();
    expect(tree.openCount()).toBe(1);
    tree.close();
    expect(tree.openCount()).toBe(0);
    execFileSync('rm', ['-rf', w.root, w.outside]);
  });

  it.skipIf(!isRoot)(
    'stays on its mount but for those it was given, also on the same device (needs root for mounts)',
    () => {
      const w = start([
        ['bound/inner', 'x'],
        ['allowed/inner', 'x'],
        ['tmpfs', { directory: true }],
        ['bound-file', 'x'],
      ]);
      fs.mkdirSync(path.join(w.outside, 'dir'));
      fs.writeFileSync(path.join(w.outside, 'dir', 'file'), 'x');
      const module = path.resolve('dist/tree/spec.js');
      const script = `
      import { enterDisk, openTree } from ${JSON.stringify(module)};
      const tree = openTree(enterDisk(process.argv[1], { mounts: ['allowed', 'allowed/inner'] }).spec);
      const say = (given) => (typeof given === 'string' ? given : 'opened');
      const allowed = tree.root.directory('allowed');
      console.log(JSON.stringify({ bound: say(tree.root.directory('bound')), tmpfs: say(tree.root.directory('tmpfs')),
        allowed: say(allowed), below: say(allowed.file('file')) }));`;
      const mounted = `mount --bind "$1/../outside/dir" "$1/bound" && mount --bind "$1/../outside/dir" "$1/allowed" &&
      mount -t tmpfs none "$1/tmpfs" && exec "$2" --input-type=module -e "$3" "$1"`;
      const answer = execFileSync('unshare', ['-m', 'sh', '-ec', mounted, 'sh', w.root, process.execPath, script]);
      expect(JSON.parse(answer.toString())).toEqual({
        bound: 'other-mount',
        tmpfs: 'other-mount',
        allowed: 'opened',
        below: 'opened',
      });
    },
  );

  const PROCS = [
    ['a false', 'mkdir -p /proc/self/fd'],
    ['an empty', 'true'],
  ] as const;
  it.skipIf(!isRoot).each(PROCS)(
    'enters no city under %s /proc, and takes no other tree (needs root for mounts)',
    (_, make) => {
      const w = start([]);
      const module = path.resolve('dist/tree/spec.js');
      const script = `
      import { enterDisk } from ${JSON.stringify(module)};
      console.log(JSON.stringify(enterDisk(process.argv[1])));`;
      const mounted = `mount -t tmpfs none /proc && ${make} && exec "$2" --input-type=module -e "$3" "$1"`;
      const answer = execFileSync('unshare', ['-m', 'sh', '-ec', mounted, 'sh', w.root, process.execPath, script]);
      expect(JSON.parse(answer.toString())).toBe('no-procfs');
    },
  );

  it.skipIf(!isRoot)('lists a disk that gives no types by bytes, kinds unknown (needs root for mounts)', () => {
    const base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-types-'));
    const image = path.join(base, 'image');
    fs.writeFileSync(image, '');
    fs.truncateSync(image, 4 << 20);
    execFileSync('mkfs.ext4', ['-q', '-O', '^filetype', image]);
    const module = path.resolve('dist/tree/spec.js');
    const script = `
      import fs from 'node:fs';
      import { enterDisk, openTree } from ${JSON.stringify(module)};
      const at = process.argv[1];
      fs.mkdirSync(at + '/caf\\u00e9');
      fs.writeFileSync(Buffer.concat([Buffer.from(at + '/'), Buffer.from([0x66, 0xff])]), '');
      const { root } = openTree(enterDisk(at).spec);
      const named = root.list().filter((entry) => entry.name !== 'lost+found').sort((a, b) => (a.name < b.name ? -1 : 1));
      console.log(JSON.stringify([named, typeof root.directory('caf\\u00e9')]));`;
    const mounted = `mount -o loop "$1/image" /mnt && exec "$2" --input-type=module -e "$3" /mnt`;
    const answer = execFileSync('unshare', ['-m', 'sh', '-ec', mounted, 'sh', base, process.execPath, script]);
    fs.rmSync(base, { recursive: true });
    expect(JSON.parse(answer.toString())).toEqual([
      [
        { name: 'caf\u00e9', kind: 'unknown', nameable: true },
        { name: 'f\ufffd', kind: 'unknown', nameable: false },
      ],
      'object',
    ]);
  });
});

/** A descriptor of the directory below `root`, however deep: the caller closes it. */
function descriptorAt(root: string, names: readonly string[]): number {
  return names.reduce(
    (above, name) => {
      const below = fs.openSync(`/proc/self/fd/${above}/${name}`, fs.constants.O_RDONLY);
      fs.closeSync(above);
      return below;
    },
    fs.openSync(root, fs.constants.O_RDONLY),
  );
}

it.skipIf(!isLinux)('uses the file system as it was at import: patching node:fs later redirects nothing', () => {
  const w = diskWorld('linux')([['file', 'inside']]);
  world = w;
  const { openSync } = fs;
  fs.openSync = () => openSync(path.join(w.outside, 'secret'), 'r');
  syncBuiltinESMExports();
  try {
    const file = w.open().root.file('file');
    const into = new Uint8Array(16);
    expect(failed(file) ? file : file.read(into, 0)).toBe('inside'.length);
  } finally {
    fs.openSync = openSync;
    syncBuiltinESMExports();
  }
});
