/**
 * Repositories that want something: to run a command, to be followed out of the city, to pass one object off as another.
 * Nothing runs (every program on the PATH is a tripwire), and nothing outside is read.
 */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CANARY } from '../../dist/audit/attacks.js';
import { enterDisk } from '../../dist/tree/spec.js';
import { expectSilent } from '../hostile/calls.js';
import { type CallOptions, TestCity } from '../support/cities.js';
import { asError, asValue } from '../support/outcomes.js';

const base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-hostile-'));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: base,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TEMPLATE_DIR: '',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@x',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@x',
};

function git(cwd: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, input, encoding: 'utf8', env: ENVIRONMENT });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** A repository in a directory of its own, with one commit of these files on a branch; what the commit is called. */
function repository(dir: string, files: Readonly<Record<string, string>>, branch = 'agents/a'): string {
  fs.mkdirSync(dir, { recursive: true });
  git(dir, ['init', '-q', '.']);
  const parts = Object.entries(files).map(
    ([at, text]) => `M 100644 inline ${at}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
  );
  const commit = `commit refs/heads/${branch}\ncommitter A <a@x> 1700000000 +0000\ndata 1\nx\n${parts.join('')}\n`;
  git(dir, ['-c', 'fastimport.unpackLimit=1000', 'fast-import', '--quiet', '--force'], commit);
  return git(dir, ['rev-parse', branch]);
}

const FILES = { 'messages/1': 'needle inside\n', 'lab/notes.md': 'notes\n' };
let made = 0;

/** A city with a repository, and one beside it that holds the canary. */
function ground(): {
  readonly city: string;
  readonly outside: string;
  readonly commit: string;
  readonly foreign: string;
} {
  const here = path.join(base, `${made++}`);
  const [city, outside] = [path.join(here, 'city'), path.join(here, 'outside')];
  const commit = repository(city, FILES);
  const foreign = repository(outside, { 'messages/secret': `needle ${CANARY}\n`, 'lab/secret': CANARY });
  fs.mkdirSync(path.join(city, 'lab'));
  return { city, outside, commit, foreign };
}

/** Calls in the city, and checks that nothing of outside, and no host path, is in what comes. */
async function call(city: string, tool: string, args: object, options: CallOptions = {}) {
  const entered = enterDisk(city);
  if (typeof entered === 'string') throw new Error(entered);
  const place = new TestCity({ spec: entered.spec, end: () => entered.close() } as never, 'fixed');
  try {
    const outcome = await place.call(tool, args, options);
    expectSilent(outcome);
    return outcome;
  } finally {
    place.end();
  }
}

const search = (city: string, options?: CallOptions) => call(city, 'search_history', { pattern: 'needle' }, options);

describe('a repository that would run something', () => {
  const { city, commit } = ground();
  const trip = path.join(base, 'tripped');
  const wire = `#!/bin/sh\necho "$0 $*" >> ${trip}\n`;
  const wires = path.join(base, 'wires');

  fs.mkdirSync(wires);
  for (const name of [
    'git',
    'sh',
    'bash',
    'ssh',
    'gpg',
    'less',
    'vi',
    'env',
    'cat',
    'touch',
    'git-remote-ext',
    'node',
  ]) {
    fs.writeFileSync(path.join(wires, name), wire, { mode: 0o755 });
  }
  const evil = path.join(wires, 'touch');
  const keys = [
    'core.fsmonitor',
    'core.hooksPath',
    'core.sshCommand',
    'core.pager',
    'core.editor',
    'core.gitProxy',
    'core.askPass',
    'core.alternateRefsCommand',
    'core.attributesFile',
    'core.worktree',
    'diff.external',
    'diff.x.command',
    'diff.x.textconv',
    'filter.x.clean',
    'filter.x.smudge',
    'filter.x.process',
    'merge.x.driver',
    'credential.helper',
    'gpg.program',
    'uploadpack.packObjectsHook',
    'alias.log',
    'sequence.editor',
    'pager.log',
    'include.path',
    'includeIf.gitdir:/.path',
    'protocol.ext.allow',
    'remote.origin.url',
    'interactive.diffFilter',
    'trace2.eventTarget',
  ];
  const config = path.join(city, '.git/config');
  // By hand: the real git would already obey them.
  for (const key of keys) fs.appendFileSync(config, settingOf(key, evil));
  fs.mkdirSync(path.join(city, '.git/hooks'), { recursive: true });
  for (const hook of [
    'post-checkout',
    'pre-auto-gc',
    'reference-transaction',
    'fsmonitor-watchman',
    'post-index-change',
    'update',
  ]) {
    fs.writeFileSync(path.join(city, '.git/hooks', hook), wire, { mode: 0o755 });
  }
  fs.writeFileSync(path.join(city, '.gitattributes'), '* filter=x diff=x merge=x\n');
  fs.mkdirSync(path.join(city, '.git/info'), { recursive: true });
  fs.writeFileSync(path.join(city, '.git/info/attributes'), '* filter=x diff=x merge=x\n');

  const portcullis = (...words: string[]) =>
    spawnSync(process.execPath, ['bin/portcullis.js', ...words, '--city', city], {
      encoding: 'utf8',
      env: {
        PATH: wires,
        GIT_SSH: evil,
        GIT_EDITOR: evil,
        GIT_EXTERNAL_DIFF: evil,
        GIT_PAGER: evil,
        GIT_DIR: '/nowhere',
        GIT_TRACE: trip,
      },
    });

  it('trips a program that starts git: the wires work', () => {
    spawnSync('git', ['log'], { cwd: city, env: { PATH: wires } });
    expect(fs.readFileSync(trip, 'utf8')).toContain('git log');
    fs.rmSync(trip);
  });

  it.each<[claim: string, words: string[], holds: string]>([
    ['searching', ['history', 'needle'], 'needle inside'],
    ['fetching an entry', ['history', '--entry', `${commit}:messages/1`], 'needle inside'],
    ['reading a file of a commit', ['read', `file:lab/notes.md@${commit}`], 'notes'],
  ])('runs nothing while %s', (_, words, holds) => {
    const { status, stdout, stderr } = portcullis(...words);
    expect({ status, trip: fs.existsSync(trip) ? fs.readFileSync(trip, 'utf8') : '' }).toEqual({ status: 0, trip: '' });
    expect(stdout + stderr).toContain(holds);
  });
});

/** One setting as it stands in a configuration. */
function settingOf(key: string, value: string): string {
  const [, section = '', subsection, name = ''] = /^(\w+)(?:\.(.*))?\.(\w+)$/.exec(key) ?? [];
  return `[${section}${subsection === undefined ? '' : ` "${subsection}"`}]\n\t${name} = ${value}\n`;
}

describe('a repository that leads out', () => {
  type Bend = (at: ReturnType<typeof ground>) => void;
  const git_ = (city: string, ...rest: string[]) => path.join(city, '.git', ...rest);
  const swapForLink = (at: string, target: string): void => {
    fs.rmSync(at, { recursive: true, force: true });
    fs.symlinkSync(target, at);
  };

  it.each<[claim: string, bend: Bend]>([
    [
      'alternates',
      ({ city, outside }) => fs.writeFileSync(git_(city, 'objects/info/alternates'), `${outside}/.git/objects\n`),
    ],
    [
      'relative alternates',
      ({ city }) => fs.writeFileSync(git_(city, 'objects/info/alternates'), '../../../outside/.git/objects\n'),
    ],
    ['http alternates', ({ city }) => fs.writeFileSync(git_(city, 'objects/info/http-alternates'), 'http://x/\n')],
    [
      '`.git` as a file that points out',
      ({ city, outside }) => {
        fs.rmSync(git_(city), { recursive: true });
        fs.writeFileSync(path.join(city, '.git'), `gitdir: ${outside}/.git\n`);
      },
    ],
    [
      '`.git` as a file that points out with dots',
      ({ city }) => {
        fs.rmSync(git_(city), { recursive: true });
        fs.writeFileSync(path.join(city, '.git'), 'gitdir: ../outside/.git\n');
      },
    ],
    ['`commondir`', ({ city, outside }) => fs.writeFileSync(git_(city, 'commondir'), `${outside}/.git\n`)],
    ['`.git` as a link', ({ city, outside }) => swapForLink(git_(city), `${outside}/.git`)],
    ['objects as a link', ({ city, outside }) => swapForLink(git_(city, 'objects'), `${outside}/.git/objects`)],
    ['refs as a link', ({ city, outside }) => swapForLink(git_(city, 'refs'), `${outside}/.git/refs`)],
    ['the configuration as a link', ({ city, outside }) => swapForLink(git_(city, 'config'), `${outside}/.git/config`)],
  ])('by %s is E_STORAGE_FATAL, whichever wall is down', async (_, bend) => {
    const at = ground();
    bend(at);
    for (const unchecked of [{}, { openUnchecked: 'judge' }, { openUnchecked: 'filesystem' }] as const) {
      expect(asError(await search(at.city, { unchecked })).code).toBe('E_STORAGE_FATAL');
      const read = await call(at.city, 'read', { path: `file:lab/secret@${at.foreign}` }, { unchecked });
      expect(asError(read).code).toBe('E_STORAGE_FATAL');
    }
  });

  it.each<[claim: string, bend: Bend]>([
    [
      'packs as a link',
      ({ city, outside }) => {
        git(outside, ['repack', '-adq']);
        swapForLink(git_(city, 'objects/pack'), `${outside}/.git/objects/pack`);
        fs.writeFileSync(git_(city, 'refs/heads/agents/b'), `${git(outside, ['rev-parse', 'agents/a'])}\n`);
      },
    ],
    [
      'a branch as a link',
      ({ city, outside }) => fs.symlinkSync(`${outside}/.git/refs/heads/agents/a`, git_(city, 'refs/heads/agents/b')),
    ],
    [
      'a directory of branches as a link',
      ({ city, outside }) => swapForLink(git_(city, 'refs/heads/agents'), `${outside}/.git/refs/heads/agents`),
    ],
    [
      'packed refs as a link',
      ({ city, outside }) => {
        git(outside, ['pack-refs', '--all']);
        swapForLink(git_(city, 'packed-refs'), `${outside}/.git/packed-refs`);
      },
    ],
    [
      'a loose object as a link',
      ({ city, outside, foreign }) => {
        fs.mkdirSync(git_(city, 'objects', foreign.slice(0, 2)), { recursive: true });
        fs.symlinkSync(
          `${outside}/.git/objects/${foreign.slice(0, 2)}/${foreign.slice(2)}`,
          git_(city, 'objects', foreign.slice(0, 2), foreign.slice(2)),
        );
        fs.writeFileSync(git_(city, 'refs/heads/agents/b'), `${foreign}\n`);
      },
    ],
    [
      'a symbolic branch',
      ({ city, outside }) =>
        fs.writeFileSync(
          git_(city, 'refs/heads/agents/b'),
          `ref: ../../../outside/.git/refs/heads/agents/a\n${outside}`,
        ),
    ],
  ])('by %s gives nothing of it, whichever wall is down', async (_, bend) => {
    const at = ground();
    bend(at);
    for (const unchecked of [{}, { openUnchecked: 'judge' }, { openUnchecked: 'filesystem' }] as const) {
      await search(at.city, { unchecked });
      await call(at.city, 'search_history', { entry: `${at.foreign}:messages/secret` }, { unchecked });
      await call(at.city, 'read', { path: `file:lab/secret@${at.foreign}` }, { unchecked });
    }
  });

  it('but a naive program that joins paths reads the canary through each: the rows are real', () => {
    const at = ground();
    swapForLink(git_(at.city, 'objects'), `${at.outside}/.git/objects`);
    expect(git(at.city, ['cat-file', 'blob', `${at.foreign}:messages/secret`])).toContain(CANARY);
  });
});

describe('a repository that passes one thing off as another', () => {
  it('by replace refs and grafts: neither has any effect', async () => {
    const { city, commit } = ground();
    const before = asValue(await search(city));
    const other = git(city, ['commit-tree', '-m', 'x', git(city, ['mktree'], '')]);
    git(city, ['replace', commit, other]);
    fs.mkdirSync(path.join(city, '.git/info'), { recursive: true });
    fs.writeFileSync(path.join(city, '.git/info/grafts'), `${commit} ${other}\n`);
    expect(asValue(await search(city))).toEqual(before);
    expect(before).toMatchObject({ addresses: [`${commit}:messages/1`] });
  });

  it('by an object under another name: the bytes do not hash to it, and nothing leaves', async () => {
    const { city, commit } = ground();
    const name = (oid: string) => path.join(city, '.git/objects', oid.slice(0, 2), oid.slice(2));
    const blob = git(city, ['rev-parse', `${commit}:messages/1`]);
    const forged = git(city, ['hash-object', '-w', '--stdin'], 'needle forged\n');
    fs.rmSync(name(blob));
    fs.copyFileSync(name(forged), name(blob));
    const entry = await call(city, 'search_history', { entry: `${commit}:messages/1` });
    expect(asError(entry)).toMatchObject({ code: 'E_STORAGE_FATAL' });
    expect(asError(await search(city)).code).toBe('E_STORAGE_FATAL');
    expect(JSON.stringify(entry)).not.toContain('forged');
  });

  it('by a commit that no agents’ branch leads to', async () => {
    const { city } = ground();
    const stray = git(city, ['commit-tree', '-m', 'x', git(city, ['rev-parse', 'agents/a^{tree}'])]);
    git(city, ['update-ref', 'refs/heads/other', stray]);
    git(city, ['update-ref', 'refs/tags/agents/a', stray]);
    git(city, ['update-ref', 'refs/remotes/agents/a', stray]);
    const outcome = await call(city, 'search_history', { entry: `${stray}:messages/1` });
    expect(asError(outcome).code).toBe('E_INVALID_ARGS');
    expect(asValue(await call(city, 'read', { path: `file:lab/notes.md@${stray}` }))).toMatchObject({
      text: 'notes\n',
    });
  });
});
