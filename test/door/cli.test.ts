/** The command as a shell starts it, over the sample city: the real process, its streams and its exit status. */

import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const COMMAND = join(ROOT, 'bin/portcullis.js');
const SAMPLE = join(ROOT, 'build/sample/city');

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in the sample city. A deadline, so that a hang is a failed test. */
function portcullis(words: readonly string[], { cwd = SAMPLE, input = '' } = {}): Ended {
  return spawnSync(process.execPath, [COMMAND, ...words], { cwd, input, encoding: 'utf8', timeout: 60_000 });
}

describe('search', () => {
  test('prints hits as rg would, and what could not be looked at, of the current directory', () => {
    const { status, stdout, stderr } = portcullis(['search', 'The pile is sound']);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout:
        'lab/notes.md:10:            The pile is sound: the clamp slipped, and there are fresh bright scratches below it.\n',
    });
    expect(stderr).toMatch(/^1 hit in 1 file; \d+ files looked at$/m);
    expect(stderr).toMatch(/^ {2}mill: /m);
    expect(stderr).toMatch(/^ {2}lab\/links\/chart\.md: /m);
    expect(stderr).toMatch(/^ {2}lab\/room2\/year\.csv: larger than 1 MiB/m);
  });

  test('meets a confidential building as its resident, and not as anybody else', () => {
    expect(portcullis(['search', 'third step', '--reader', 'vault']).stdout).toMatch(/^vault\/claims\/harnett\.md:3:/);
    const outside = portcullis(['search', 'third step', '--reader', 'lab']);
    expect(outside).toMatchObject({ status: 0, stdout: '' });
    expect(outside.stderr).not.toContain('vault');
  });

  test('a reader that has enough ends it quietly', async () => {
    const child = spawn(process.execPath, [COMMAND, 'search', 'gauge'], { cwd: SAMPLE });
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.destroy();
    const status = await new Promise((done) => child.on('close', done));
    expect(stderr).not.toContain('EPIPE');
    expect(status).toBe(0);
  });
});

describe('read, by a name of the reading room', () => {
  test('prints the skill and the files of its package, for its reader and nobody else', () => {
    const skill = portcullis(['read', 'staffs', '--reader', 'lab']);
    expect(skill).toMatchObject({ status: 0, stderr: '' });
    expect(skill.stdout).toBe(readFileSync(join(SAMPLE, '.sprawling/library/field/staffs/SKILL.md'), 'utf8'));
    const inside = portcullis(['call', 'read', '{"path":"staffs/closing-error.md","limit":1}', '--reader', 'lab']);
    expect(JSON.parse(inside.stdout)).toMatchObject({
      path: 'staffs/closing-error.md',
      total_lines: 4,
      next_offset: 1,
    });
    for (const reader of [[], ['--reader', 'hall']]) {
      expect(portcullis(['read', 'staffs', ...reader])).toMatchObject({ status: 1, stdout: '' });
    }
  });

  test('takes a shelf outside, and refuses one that is not there', () => {
    const base = mkdtempSync(join(tmpdir(), 'portcullis-shelf-'));
    try {
      mkdirSync(join(base, 'city/lab/.sprawling'), { recursive: true });
      mkdirSync(join(base, 'shelf/outer'), { recursive: true });
      const rules = 'confidential = false\nwrite = "everything"\nreading_room = ["outer"]\n';
      writeFileSync(join(base, 'city/lab/.sprawling/RULES.toml'), rules);
      writeFileSync(join(base, 'shelf/outer/SKILL.md'), '# Outer\n');
      const words = ['read', 'outer', '--city', 'city', '--reader', 'lab', '--shelf'];
      expect(portcullis([...words, 'shelf'], { cwd: base })).toMatchObject({ status: 0, stdout: '# Outer\n' });
      expect(portcullis([...words, 'none'], { cwd: base })).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(/^E_CONFIG_INVALID: cannot enter none: there is no such directory\n/),
      });
    } finally {
      rmSync(base, { recursive: true });
    }
  });
});

describe('a bug of the program', () => {
  // Whatever is thrown where nothing should be: the clock is what no test of ours replaces.
  const BROKEN = 'data:text/javascript,performance.now = () => { throw new RangeError("/secret/place") }';
  const broken = (env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, ['--import', BROKEN, COMMAND, 'read', 'README.md'], {
      cwd: SAMPLE,
      env: { ...process.env, ...env },
      encoding: 'utf8',
      timeout: 60_000,
    });

  test('ends with 70, by its kind: neither its message nor a stack nor a host path is told', () => {
    const { status, stdout, stderr } = broken({});
    expect({ status, stdout }).toEqual({ status: 70, stdout: '' });
    expect(stderr).toBe('portcullis: a bug of this program (RangeError); please report it with what was asked\n');
  });

  test('tells all to who asks for it', () => {
    expect(broken({ PORTCULLIS_TRACE: '1' }).stderr).toContain('RangeError: /secret/place\n    at ');
  });
});

test.skipIf(!existsSync('/dev/full'))('a disk that takes no more is a failure, not a short answer', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, 'read', 'README.md'], {
    cwd: SAMPLE,
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect(status).toBe(1);
  expect(stderr).toContain('portcullis: the answer could not be written (ENOSPC)\n');
});

describe('read', () => {
  let city = '';
  beforeAll(() => {
    city = mkdtempSync(join(tmpdir(), 'portcullis-cli-'));
    writeFileSync(join(city, 'odd.txt'), '\ufeffone\r\ntwo\rstill two\n\n\u001b[31m潮\u0000 no newline');
  });
  afterAll(() => rmSync(city, { recursive: true, force: true }));

  test('gives a pipe the file byte for byte', () => {
    const { status, stdout, stderr } = portcullis(['read', 'odd.txt'], { cwd: city });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(Buffer.from(stdout)).toEqual(readFileSync(join(city, 'odd.txt')));
  });

  test('pages of a long file, each asked as the last one said, are the file', () => {
    const pages: string[] = [];
    let more: readonly string[] = [];
    do {
      const { stdout, stderr } = portcullis(['read', 'lab/room2/year.csv', '--limit', '500', ...more]);
      pages.push(stdout);
      more = /go on with (--offset \d+)/.exec(stderr)?.[1]?.split(' ') ?? [];
    } while (more.length > 0 && pages.length < 2);
    expect(readFileSync(join(SAMPLE, 'lab/room2/year.csv'), 'utf8').startsWith(pages.join(''))).toBe(true);
    expect(pages.join('').split('\n')).toHaveLength(2 * 500 + 1);
  });

  test.each([
    { path: 'vault/claims/harnett.md', code: 'E_GATE_DENIED', why: 'a confidential building' },
    { path: 'lab/links/diary.md', code: 'E_GATE_DENIED', why: 'a link that leaves the city' },
    { path: 'lab/links/chart.md', code: 'E_STORAGE_FATAL', why: 'a link to nothing' },
    { path: 'lab/letters/harbour-office.gbk.txt', code: 'E_INVALID_ARGS', why: 'a file in GBK' },
    { path: 'lab', code: 'E_INVALID_ARGS', why: 'a directory' },
  ])('$why is refused with what to do next, exit 1, and no byte of it', ({ path, code }) => {
    const { status, stdout, stderr } = portcullis(['read', path]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${code}: cannot read .*\n→ .+`));
    expect(stderr).not.toContain('beyond the');
  });

  test('a link that stays inside is read where it lands', () => {
    expect(portcullis(['read', 'lab/links/levelling.md']).stdout).toBe(
      readFileSync(join(SAMPLE, 'lab/room1/levelling.md'), 'utf8'),
    );
  });
});

describe('call', () => {
  test('prints exactly the tool’s value as one line of JSON, exit 0', () => {
    const { status, stdout, stderr } = portcullis(['call', 'read', '{"path":"lab/notes.md","limit":1}']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout))}\n`);
    expect(JSON.parse(stdout)).toMatchObject({
      path: 'lab/notes.md',
      text: '# Lab book, tide gauges\n',
      next_offset: 1,
    });
  });

  test('takes the arguments from standard input, and the city by name', () => {
    const { stdout } = portcullis(['call', 'search', '-', '--city', 'build/sample/city'], {
      cwd: ROOT,
      input: '{"text":"お問い合わせ"}',
    });
    expect(JSON.parse(stdout)).toMatchObject({ count: 1, matches: [{ path: 'lab/letters/maker.ja.md', line: 4 }] });
  });

  test.each([
    { words: ['call', 'read', '{"path":'], code: 'E_INVALID_ARGS', why: 'JSON that does not parse' },
    { words: ['call', 'read', '{"path":"a","depth":1}'], code: 'E_INVALID_ARGS', why: 'an argument there is not' },
    { words: ['call', 'sniff', '{}'], code: 'E_TOOL_UNKNOWN', why: 'a tool there is not' },
  ])('$why is the error’s JSON, exit 1', ({ words, code }) => {
    const { status, stdout, stderr } = portcullis(words);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    const { recovery, ...error } = JSON.parse(stdout);
    expect(error).toMatchObject({ code });
    expect(recovery).not.toBe('');
  });

  test('a city that is not there is the error’s JSON, exit 1', () => {
    const { status, stdout } = portcullis(['call', 'search', '{"text":"x"}', '--city', join(SAMPLE, 'nowhere')]);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toHaveProperty('recovery');
  });

  test('a wrong option is usage: exit 2, standard output empty', () => {
    expect(portcullis(['call', 'read', '{}', '--depth'])).toMatchObject({ status: 2, stdout: '' });
  });
});
