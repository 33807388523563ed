/** What a repository's configuration is taken for: as git takes it apart, and nothing of it but its format. */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { formatOf, parseGitConfig } from '../../dist/store/git-config.js';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const parsed = (text: string) => parseGitConfig(bytes(text));

describe('a configuration is taken apart as git does it', () => {
  it.each<[text: string, settings: readonly (readonly [string, string | undefined])[]]>([
    ['', []],
    ['\u00ef\u00bb\u00bf[a]\nb=1', [['a.b', '1']]],
    ['[a]\n\tb = c # d\n', [['a.b', 'c']]],
    ['[a]\n\tb = c ; d\n', [['a.b', 'c']]],
    ['[a]b=c\n', [['a.b', 'c']]],
    ['[A]\n\tBee = C\n', [['a.bee', 'C']]],
    ['[a "B.c"]\nd = 1\n', [['a.B.c.d', '1']]],
    ['[a "q\\"r\\\\s"]\nd = 1\n', [['a.q"r\\s.d', '1']]],
    ['[a.B]\nd = 1\n', [['a.b.d', '1']]],
    [
      '[a]\nb\nc=\n',
      [
        ['a.b', undefined],
        ['a.c', ''],
      ],
    ],
    ['[a]\nb = " x "\n', [['a.b', ' x ']]],
    ['[a]\nb = x "y ; z" w  \n', [['a.b', 'x y ; z w']]],
    ['[a]\nb = one \\\n  two\n', [['a.b', 'one   two']]],
    ['[a]\nb = \\t\\n\\"\\\\\n', [['a.b', '\t\n"\\']]],
    ['[a]\r\nb = c\r\n', [['a.b', 'c']]],
    ['[a]\n# b = c\n; d = e\n', []],
    ['[include]\n\tpath = /etc/passwd\n', [['include.path', '/etc/passwd']]],
  ])('%j', (text, settings) => {
    expect(parsed(text)).toEqual(settings.map(([name, value]) => ({ name, value })));
  });

  it.each<[text: string, line: number]>([
    ['[a', 1],
    ['[]\n', 1],
    ['[a]\n=b\n', 2],
    ['[a]\nb = "c\n', 2],
    ['[a]\nb = c\\x\n', 2],
    ['[a "b]\n', 1],
    ['[a "b" ]\n', 1],
    ['[a b]\n', 1],
    ['[a]\nb c\n', 2],
    ['[a]\nb = \0\n', 2],
    ['\u00ef[a]\n', 1],
  ])('%j breaks', (text, line) => {
    const broken = parsed(text);
    expect(broken).toHaveProperty('brokenAtLine');
    expect((broken as { brokenAtLine: number }).brokenAtLine).toBeGreaterThanOrEqual(line);
  });

  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-config-'));
  afterAll(() => fs.rmSync(home, { recursive: true, force: true }));

  it('and agrees with git on whatever is written', () => {
    const piece = fc.constantFrom(
      '[',
      ']',
      '"',
      '\\',
      '#',
      ';',
      '=',
      ' ',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '.',
      '-',
      'a',
      'B',
      '1',
      '[a]\n',
      '[a "',
      '\n b = ',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = `[core]\n\tx = 1\n${pieces.join('')}`;
        const file = path.join(home, 'config');
        fs.writeFileSync(file, Buffer.from(text, 'latin1'));
        const { status, stdout } = spawnSync('git', ['config', '-f', file, '--list', '-z'], {
          env: { HOME: home, PATH: process.env['PATH'] },
        });
        const ours = parsed(text);
        if (status !== 0) expect(ours).toHaveProperty('brokenAtLine');
        else expect(spelled(ours)).toEqual(stdout.toString('latin1').replaceAll(WHITE, ' '));
      }),
      { numRuns: 150 },
    );
  });
});

/** Git 2.39 gives white space inside a value as spaces. */
const WHITE = /[\t\r]/g;

/** As `git config --list -z`. */
function spelled(settings: ReturnType<typeof parseGitConfig>): string {
  if ('brokenAtLine' in settings) return 'broken';
  return settings
    .map(({ name, value }) => (value === undefined ? `${name}\0` : `${name}\n${value}\0`))
    .join('')
    .replaceAll(WHITE, ' ');
}

describe('of it counts the format alone', () => {
  it.each<[claim: string, text: string, format: unknown]>([
    ['nothing said is format 0 and SHA-1', '', { oidBytes: 20 }],
    ['format 1 without extensions', '[core]\nrepositoryformatversion = 1\n', { oidBytes: 20 }],
    ['SHA-256', '[core]\nrepositoryformatversion=1\n[extensions]\nobjectFormat=sha256\n', { oidBytes: 32 }],
    ['SHA-1 in words', '[core]\nrepositoryformatversion=1\n[extensions]\nobjectFormat=sha1\n', { oidBytes: 20 }],
    ['the last one said', '[core]\nrepositoryformatversion=9\nrepositoryformatversion=0\n', { oidBytes: 20 }],
    [
      'extensions that change nothing',
      '[core]\nrepositoryformatversion=1\n[extensions]\nworktreeConfig\npreciousObjects=true\nnoop\nrefStorage=files\n',
      { oidBytes: 20 },
    ],
    [
      'keys that run commands are text',
      '[core]\nfsmonitor=touch /tmp/x\nhooksPath=/tmp\n[filter "x"]\nclean=rm\n',
      { oidBytes: 20 },
    ],
  ])('%s', (_, text, format) => {
    expect(formatOf(parsed(text) as never)).toEqual(format);
  });

  it.each<[claim: string, text: string, names: string]>([
    ['a format of the future', '[core]\nrepositoryformatversion=2\n', 'repositoryFormatVersion'],
    ['a format that is no number', '[core]\nrepositoryformatversion=0x1\n', 'repositoryFormatVersion'],
    ['an unknown extension', '[core]\nrepositoryformatversion=1\n[extensions]\nteleport=true\n', 'teleport'],
    ['also of format 0, where git passes over it', '[extensions]\nteleport=true\n', 'teleport'],
    ['a partial clone', '[core]\nrepositoryformatversion=1\n[extensions]\npartialClone=origin\n', 'partialclone'],
    ['reftable', '[core]\nrepositoryformatversion=1\n[extensions]\nrefStorage=reftable\n', 'refstorage'],
    ['an unknown hash', '[core]\nrepositoryformatversion=1\n[extensions]\nobjectFormat=md5\n', 'objectformat'],
    ['SHA-256 in format 0', '[extensions]\nobjectFormat=sha256\n', 'objectformat'],
    ['an extension in a subsection, without quoting it', '[extensions "x;rm -rf"]\ny=1\n', 'no plain name'],
  ])('%s is refused and named', (_, text, names) => {
    const format = formatOf(parsed(text) as never);
    expect(format).toEqual({ unfit: expect.stringContaining(names) });
  });
});
