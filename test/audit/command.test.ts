/** Receipts from the shell: `--receipts` keeps a log, `audit verify` judges it, by its exit status and in words. */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReceiptFile, readReceiptKey, verifyFiles } from '../../dist/audit/file.js';
import type { Surroundings } from '../../dist/door/asking.js';
import { main } from '../../dist/door/command.js';
import { openRunner } from '../../dist/index.js';
import { records } from './logs.js';

const COMMAND = path.resolve('bin/portcullis.js');
let directory: string;
const at = (name: string): string => path.join(directory, name);

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** As a shell starts it. */
function shell(...words: string[]): Ended {
  return spawnSync(process.execPath, [COMMAND, ...words], { cwd: directory, encoding: 'utf8', timeout: 60_000 });
}

/** The same command in this process, over the real files: names are those of the test's directory. */
async function portcullis(...words: string[]): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr') => ({
    isTerminal: false,
    write: async (text: string) => {
      said[name] += text.replaceAll(directory + path.sep, '');
    },
  });
  const around: Surroundings = {
    openRunner,
    receipts: {
      open: (file) => openReceiptFile(at(file)),
      readKey: (file) => readReceiptKey(at(file)),
      verify: (files, options) => verifyFiles(files.map(at), options),
    },
    out: sink('stdout'),
    err: sink('stderr'),
    input: async () => new Uint8Array(),
    file: async () => new Uint8Array(),
    onInterrupt: () => () => {},
    kill: () => {
      throw new Error('closing took too long');
    },
    now: () => 0,
    environment: {},
    directory: at('city'),
    platform: process.platform,
    version: '0',
  };
  const status = await main(words, around);
  return { status, ...said };
}

beforeAll(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-audit-'));
  fs.mkdirSync(at('city/lab'), { recursive: true });
  fs.writeFileSync(at('city/lab/a.txt'), 'needle\n');
  fs.writeFileSync(at('key'), '5a'.repeat(32));
  const kept = ['--city', 'city', '--receipts', 'log', '--receipts-key', 'key'];
  expect(shell('search', 'needle', ...kept)).toMatchObject({ status: 0 });
  expect(shell('call', 'read', '{"path":"../secret"}', ...kept)).toMatchObject({ status: 1 });
});
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }));

const verdict = async (...words: string[]) =>
  JSON.parse((await portcullis('audit', 'verify', '--json', ...words)).stdout);

describe('portcullis --receipts', () => {
  it('puts each call on record, and goes on with the log at the next one', () => {
    const text = fs.readFileSync(at('log'), 'utf8');
    expect(records(text).map(({ kind, tool, verdict }) => [kind, tool, verdict])).toEqual([
      ['log', undefined, undefined],
      ['call', 'search', 'admitted'],
      ['resumed', undefined, undefined],
      ['call', 'read', 'refused'],
    ]);
    expect(text).not.toMatch(/needle|secret/);
  });

  it.each<[string, string[], string]>([
    ['another key than the log’s', ['--receipts', 'log'], 'another key'],
    ['no key', ['--receipts', 'new', '--receipts-key', 'log'], 'is not a key'],
    ['no place for a log', ['--receipts', 'nowhere/log'], 'ENOENT'],
    ['a file that is no log', ['--receipts', 'key'], 'does not end as a receipt log does'],
  ])('asks nothing with %s, and says what is wrong', async (_, words, why) => {
    const { status, stdout, stderr } = await portcullis('read', 'lab/a.txt', ...words);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('E_CONFIG_INVALID');
    expect(stderr).toContain(why);
    expect(stderr).toContain('\n→ name a log that is whole or a new file');
    expect(fs.existsSync(at('log.lock'))).toBe(false);
  });
});

describe('portcullis audit verify', () => {
  it('prints the verdict, the count, the head, and that it is not proof against who can write it: exit 0', () => {
    // Through the shell: the one place where the whole command is wired.
    const { status, stdout, stderr } = shell('audit', 'verify', 'log');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /^intact\nheld: 4 lines in 1 log, the last with seq 3\nhead: [0-9a-f]{64}\nnot proof against who can write it: /,
    );
  });

  it('with the key and a kept head says what it is proof against', async () => {
    const { head } = await verdict('log');
    const { status, stdout } = await portcullis('audit', 'verify', 'log', '--key', 'key', '--head', head.toUpperCase());
    expect(status).toBe(0);
    expect(stdout).toContain(
      'the head that was kept is in it; 0 lines came after\nproof against who can write it and lacks the key',
    );
  });

  it('names the first line that does not hold: exit 1', async () => {
    fs.writeFileSync(at('changed'), fs.readFileSync(at('log'), 'utf8').replace('"refused"', '"allowed"'));
    const { status, stdout } = await portcullis('audit', 'verify', 'changed');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^changed: changed:4: it is not a line that was written/);
    expect(await verdict('changed')).toMatchObject({
      intact: false,
      verdict: 'changed',
      lines: 3,
      bad: { file: 'changed', line: 4 },
    });
  });

  it('shows a cut tail against a kept head, and a torn one without: exit 1', async () => {
    const { head } = await verdict('log');
    const lines = fs.readFileSync(at('log'), 'utf8').split('\n');
    fs.writeFileSync(at('cut'), `${lines.slice(0, 3).join('\n')}\n`);
    fs.writeFileSync(at('torn'), lines.join('\n').slice(0, -50));
    expect((await portcullis('audit', 'verify', 'cut')).status).toBe(0);
    expect(await portcullis('audit', 'verify', 'cut', '--head', head)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^cut: /),
    });
    expect(await portcullis('audit', 'verify', 'torn')).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^torn: .*line 3\n/),
    });
  });

  it.each([
    ['a file that is not there', ['nothing'], 'nothing: there is no such file or directory (ENOENT): check the path'],
    ['a path through a file', ['log/x'], 'its path leads through a file (ENOTDIR): check the path'],
    ['no file', [], 'missing required argument'],
    ['a head that is none', ['log', '--head', 'abc'], '64 hex digits'],
    ['a key that is none', ['log', '--key', 'log'], 'is not a key'],
    ['a directory', ['city'], 'it is a directory (EISDIR): name the file in it'],
  ])('with %s is wrong usage: exit 2', async (_, words, why) => {
    const { status, stdout, stderr } = await portcullis('audit', 'verify', ...words);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(why);
  });
});
