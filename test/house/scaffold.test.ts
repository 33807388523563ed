/** The ground floor: what a fresh clone meets. The set-up runs here in a small made-up project of its own. */

import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isInstalled, isTooOld } from '../../setup.mjs';

const ROOT = join(import.meta.dirname, '../..');
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(text('package.json'));

describe('the package', () => {
  test('every script’s file is there', () => {
    const named = Object.values<string>(manifest.scripts).flatMap((script) => script.match(/[\w./-]+\.mjs/g) ?? []);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  test('the licence is the whole Apache License 2.0, and the package says so', () => {
    expect(manifest.license).toBe('Apache-2.0');
    const licence = text('LICENSE');
    expect(licence).toMatch(/^\s+Apache License\s+Version 2\.0, January 2004/);
    for (const clause of ['9. Accepting Warranty', 'END OF TERMS AND CONDITIONS']) expect(licence).toContain(clause);
  });

  test('the command is two lines that anybody can read, and may be executed', () => {
    const [shebang, ...lines] = text(manifest.bin.portcullis).trimEnd().split('\n');
    expect(shebang).toBe('#!/usr/bin/env node');
    expect(lines).toHaveLength(2);
    expect(statSync(join(ROOT, manifest.bin.portcullis)).mode & 0o111).toBe(0o111);
  });

  test('the oldest Node is the same number in the package and in the set-up', () => {
    const oldest: string = manifest.engines.node.replace('>=', '');
    expect(isTooOld(`v${oldest}.0`)).toBe(false);
    const [major = 0, minor = 0] = oldest.split('.').map(Number);
    expect(isTooOld(`v${major}.${minor - 1}.9`)).toBe(true);
    expect(isTooOld(`v${major - 1}.99.0`)).toBe(true);
    expect(isTooOld(`v${major + 4}.0.0`)).toBe(false);
  });

  test('the changelog has a section for the version', () => {
    expect(text('CHANGELOG.md')).toContain(`## ${manifest.version}`);
  });
});

describe('a checkout where nothing is built', () => {
  test('the command says what to run, exit 2, without a stack', () => {
    const bare = mkdtempSync(join(tmpdir(), 'portcullis-bare-'));
    try {
      cpSync(join(ROOT, 'bin'), join(bare, 'bin'), { recursive: true });
      writeFileSync(join(bare, 'package.json'), '{"type":"module"}');
      const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/portcullis.js', 'search', 'x'], {
        cwd: bare,
        encoding: 'utf8',
      });
      expect({ status, stdout, stderr }).toEqual({
        status: 2,
        stdout: '',
        stderr: 'portcullis: nothing is built here: run npm start first\n',
      });
    } finally {
      rmSync(bare, { recursive: true, force: true });
    }
  });
});

describe('setup.mjs', () => {
  let project = '';
  const put = (path: string, content: string): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), content);
  };
  /** A build that notes each of its runs, and takes a moment. */
  const building = (step: string, makes: string): string => `
    import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
    import { dirname } from 'node:path';
    appendFileSync('ran.log', ${JSON.stringify(`${step} begins\n`)});
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    mkdirSync(dirname(${JSON.stringify(makes)}), { recursive: true });
    writeFileSync(${JSON.stringify(makes)}, '');
    appendFileSync('ran.log', ${JSON.stringify(`${step} ends\n`)});`;
  const runs = (): string[] =>
    existsSync(join(project, 'ran.log')) ? readFileSync(join(project, 'ran.log'), 'utf8').trimEnd().split('\n') : [];
  const begun = (): string[] => runs().filter((line) => line.endsWith('begins'));
  const setUp = (): { status: number | null; stderr: string; stdout: string } =>
    spawnSync(process.execPath, ['setup.mjs'], { cwd: project, encoding: 'utf8', timeout: 60_000 });

  beforeEach(() => {
    project = mkdtempSync(join(tmpdir(), 'portcullis-setup-'));
    const packages = {
      '': {},
      'node_modules/a': { version: '1.0.0', integrity: 'x' },
      'node_modules/b': { optional: true },
    };
    put('setup.mjs', text('setup.mjs'));
    put('package.json', '{"type":"module"}');
    put('package-lock.json', JSON.stringify({ packages }));
    put(
      'node_modules/.package-lock.json',
      JSON.stringify({ packages: { 'node_modules/a': packages['node_modules/a'] } }),
    );
    put('node_modules/typescript/package.json', '{"type":"module"}');
    put('node_modules/typescript/bin/tsc', building('host', 'dist/index.js'));
    put('guest/build.mjs', building('guest', 'dist/portcullis.wasm'));
    put('build/reference/index.js', '');
    put('sample/make.mjs', building('sample', 'build/sample/city/README.md'));
    put('host/index.ts', 'export {};');
    put('wit/world.wit', 'world');
  });
  afterEach(() => rmSync(project, { recursive: true, force: true }));

  test('builds everything once, and then nothing, silently', () => {
    expect(setUp()).toMatchObject({ status: 0, stdout: '' });
    expect(begun()).toEqual(['guest begins', 'host begins', 'sample begins']);
    expect(setUp()).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(begun()).toHaveLength(3);
  });

  test('makes again what a change concerns, and no more', () => {
    setUp();
    const rows = [
      { change: () => put('wit/world.wit', 'changed'), again: ['guest'], why: 'the contract is the guest’s source' },
      { change: () => put('host/index.ts', 'changed'), again: ['host'], why: 'a host source concerns the host alone' },
      { change: () => put('host/new/file.txt', ''), again: ['host'], why: 'a new file counts' },
      { change: () => put('sample/city/a.md', ''), again: ['sample'], why: 'the sample city is laid out again' },
      {
        change: () => utimesSync(join(project, 'host/index.ts'), new Date(), new Date(0)),
        again: [],
        why: 'a time that changed is no change',
      },
      {
        change: () => rmSync(join(project, 'dist'), { recursive: true }),
        again: ['guest', 'host'],
        why: 'a result that is gone is made again',
      },
    ];
    for (const { change, again, why } of rows) {
      rmSync(join(project, 'ran.log'));
      put('ran.log', '');
      change();
      expect(setUp().status, why).toBe(0);
      expect(begun(), why).toEqual(again.map((step) => `${step} begins`));
    }
  });

  test('a build that fails ends with 1, says which, shows what it said, and is tried again', () => {
    put('guest/build.mjs', `console.error('no such instruction'); process.exit(3);`);
    const failed = setUp();
    expect(failed.status).toBe(1);
    expect(failed.stderr).toContain('no such instruction');
    expect(failed.stderr).toMatch(/portcullis: building the sandboxed component did not work: .* it ended with 3\n$/);
    expect(failed.stderr).not.toContain('    at ');
    put('guest/build.mjs', building('guest', 'dist/portcullis.wasm'));
    expect(setUp().status).toBe(0);
  });

  describe('the packages', () => {
    /** An npm that notes how it was called, and leaves what npm leaves. */
    const installing = (): { status: number | null; stderr: string } => {
      put('bin/npm', '#!/bin/sh\necho "npm $1" >> ran.log\ncp package-lock.json node_modules/.package-lock.json\n');
      chmodSync(join(project, 'bin/npm'), 0o755);
      const env = { ...process.env, PATH: `${join(project, 'bin')}${delimiter}${process.env['PATH']}` };
      return spawnSync(process.execPath, ['setup.mjs'], { cwd: project, encoding: 'utf8', env });
    };
    test('are installed before anything is built when there are none, and once', () => {
      rmSync(join(project, 'node_modules/.package-lock.json'));
      expect(installing().status).toBe(0);
      expect(runs().slice(0, 2)).toEqual(['npm ci', 'guest begins']);
      installing();
      expect(runs().filter((line) => line === 'npm ci')).toHaveLength(1);
    });

    const a = { version: '1.0.0', integrity: 'x' };
    test.each([
      { wanted: { '': {}, a }, fits: true, why: 'the lock asks for what is there' },
      { wanted: { a: { ...a, version: '1.0.1' } }, fits: false, why: 'it asks for another version' },
      { wanted: { a: { ...a, integrity: 'y' } }, fits: false, why: 'it asks for other bytes of the version' },
      { wanted: { a, c: a }, fits: false, why: 'it asks for one more' },
      { wanted: { a, c: { ...a, optional: true } }, fits: true, why: 'the one more is another system’s' },
      { wanted: {}, fits: true, why: 'it asks for nothing' },
    ])('fit: $fits, for $why', ({ wanted, fits }) => {
      expect(isInstalled(wanted, { a })).toBe(fits);
    });
  });

  test('two at once take turns, and the second finds everything done', async () => {
    const ended = (): Promise<number | null> =>
      new Promise((done) => spawn(process.execPath, ['setup.mjs'], { cwd: project }).on('exit', done));
    expect(await Promise.all([ended(), ended(), ended()])).toEqual([0, 0, 0]);
    expect(runs()).toEqual(['guest', 'host', 'sample'].flatMap((step) => [`${step} begins`, `${step} ends`]));
  });

  test('a lock whose owner is gone is taken over', () => {
    const gone = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' });
    put('build/setup.lock/owner', gone.stdout.trim());
    expect(setUp().status).toBe(0);
    expect(existsSync(join(project, 'build/setup.lock'))).toBe(false);
  });

  test('a lock whose maker never wrote its number is taken over once it is old', () => {
    mkdirSync(join(project, 'build/setup.lock'), { recursive: true });
    const old = new Date(Date.now() - 60_000);
    utimesSync(join(project, 'build/setup.lock'), old, old);
    expect(setUp().status).toBe(0);
  });
});
