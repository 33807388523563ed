/**
 * Which branches a history begins at: loose and packed refs, nested, symbolic, doubled; patterns; what is no ref. Held to
 * the real git wherever git says something.
 */

import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Repository } from '../support/repositories.js';
import { type FoundOrFault, linesOf, reading } from './git.js';

let repository: Repository;
/** Each branch has a commit of its own, whose entry names it. */
const BRANCHES = ['agents/a', 'agents/b', 'agents/b/deep', 'agents/é', 'agentsx', 'main', 'x/agents/a'] as const;
const branches = (names: readonly string[]): void => {
  const stream = names.map((name, index) => {
    const text = `needle of ${name}`;
    return (
      `commit refs/heads/${name}\ncommitter A <a@x> ${100 + (index % 3)} +0000\ndata 0\n\n` +
      `M 100644 inline messages/${index}\ndata ${Buffer.byteLength(text)}\n${text}\n\n`
    );
  });
  repository.import(Buffer.from(stream.join('')), 'pack');
};
const put = (name: string, text: string | Uint8Array): void => {
  fs.mkdirSync(path.dirname(path.join(repository.dir, name)), { recursive: true });
  fs.writeFileSync(path.join(repository.dir, name), text);
};
const find = (asked: readonly string[] = ['*']): FoundOrFault =>
  reading(repository, (reader) => reader.history('needle', { branches: asked }));
const namesOf = (found: FoundOrFault): string[] => {
  if ('fault' in found) throw new Error(found.fault);
  return found.entries.map(({ blob }) => repository.say(['cat-file', 'blob', blob]).replace('needle of ', ''));
};

beforeEach(() => {
  repository = new Repository();
});
afterEach(() => repository.end());

describe('a branch is found', () => {
  test.each(['loose', 'packed', 'half'] as const)('by its pattern, as git finds it: %s', (how) => {
    branches(BRANCHES.filter((name) => name !== 'agents/b'));
    if (how === 'packed') repository.git(['pack-refs', '--all']);
    if (how === 'half') repository.git(['pack-refs', '--all']);
    if (how === 'half') branches(['agents/new', 'main2']);
    for (const pattern of [
      'agents/*',
      '*',
      'ma*',
      'agents/*/*',
      '*a',
      '*/a*',
      'x/*',
      'agents/**',
      'a*s*',
      'none/*',
      '*é',
    ]) {
      const found = find([pattern]);
      if ('fault' in found) throw new Error(found.fault);
      expect([pattern, linesOf(found.entries)]).toEqual([pattern, linesOf(repository.log('needle', pattern))]);
    }
  });

  test.each([
    [['main'], ['main']],
    [
      ['agents/a', 'main'],
      ['main', 'agents/a'],
    ],
    [['agents'], []],
    [['agents/'], []],
    [['agents/a*'], ['agents/a']],
    [['?gents/a'], []],
    [['[a]gents/a', 'agents\\/a'], []],
    [[], []],
    [[''], []],
  ])('by a pattern in which only * is special: %j', (asked, names) => {
    branches(['agents/a', 'agents/b', 'main']);
    expect(namesOf(find(asked))).toEqual(names);
  });

  test('once, by its loose ref, if it is packed too', () => {
    branches(['agents/a', 'agents/b']);
    repository.git(['pack-refs', '--all']);
    put('refs/heads/agents/a', `${repository.say(['rev-parse', 'agents/b'])}\n`);
    expect(namesOf(find())).toEqual(['agents/b']);
  });

  test('by what a symbolic ref names: loose, packed, another symbolic one; or by nothing, if that is nowhere', () => {
    branches(['main', 'other']);
    put('refs/heads/agents/one', 'ref: refs/heads/main\n');
    expect(namesOf(find(['agents/*']))).toEqual(['main']);
    repository.git(['pack-refs', '--all']);
    expect(namesOf(find(['agents/*']))).toEqual(['main']);
    put('refs/heads/agents/two', 'ref:   refs/heads/agents/one  \n');
    expect(namesOf(find(['agents/two']))).toEqual(['main']);
    put('refs/heads/agents/gone', 'ref: refs/heads/gone\n');
    put('refs/heads/agents/below', 'ref: refs/heads/main/below\n');
    expect(namesOf(find(['agents/gone', 'agents/below']))).toEqual([]);
    put('refs/heads/agents/self', 'ref: refs/heads/agents/self\n');
    expect(namesOf(find(['agents/self']))).toEqual([]);
  });

  test('through tags of tags of its commit', () => {
    branches(['main']);
    const who = ['-c', 'user.name=A', '-c', 'user.email=a@x'];
    repository.git([...who, 'tag', '-a', '-m', 'x', 'v1', 'main']);
    repository.git([...who, 'tag', '-a', '-m', 'x', 'v2', 'v1']);
    put('refs/heads/agents/tagged', `${repository.say(['rev-parse', 'v2'])}\n`);
    put('refs/heads/agents/blob', `${repository.say(['rev-parse', 'main:messages/0'])}\n`);
    put('refs/heads/agents/tree', `${repository.say(['rev-parse', 'main^{tree}'])}\n`);
    expect(namesOf(find(['agents/*']))).toEqual(['main']);
  });

  test('with a value that ends without a newline, or with more white space', () => {
    branches(['main']);
    const value = repository.say(['rev-parse', 'main']);
    for (const end of ['', '\n', ' \n', '\r\n', '\tx']) {
      put('refs/heads/agents/a', `${value}${end}`);
      expect(namesOf(find(['agents/*']))).toEqual(['main']);
    }
  });
});

describe('what git passes over is passed over', () => {
  test('locks and hidden names', () => {
    branches(['main']);
    put('refs/heads/main.lock', 'no name');
    put('refs/heads/.hidden', 'no name');
    put('refs/heads/agents/.x/y', 'no name');
    expect(namesOf(find())).toEqual(['main']);
  });

  test('refs that are no branches, in packed-refs, and its comments', () => {
    branches(['main']);
    repository.git(['-c', 'user.name=A', '-c', 'user.email=a@x', 'tag', '-a', '-m', 'x', 'v1', 'main']);
    repository.git(['update-ref', 'refs/remotes/origin/main', 'main']);
    repository.git(['pack-refs', '--all']);
    expect(fs.readFileSync(path.join(repository.dir, 'packed-refs'), 'latin1')).toMatch(/^#.*\n\^/s);
    expect(namesOf(find())).toEqual(['main']);
  });
});

describe('what cannot be read is a fault, never fewer branches', () => {
  test.each<[why: string, set: () => void, fault: string]>([
    ['a ref that is empty', () => put('refs/heads/agents/a', ''), 'corrupt'],
    ['a ref that names nothing', () => put('refs/heads/agents/a', 'nonsense\n'), 'corrupt'],
    ['a name cut short', () => put('refs/heads/agents/a', 'a'.repeat(39)), 'corrupt'],
    ['upper-case hex', () => put('refs/heads/agents/a', 'A'.repeat(40)), 'corrupt'],
    ['a symbolic ref to elsewhere', () => put('refs/heads/agents/a', 'ref: ../../outside\n'), 'corrupt'],
    ['a symbolic ref up', () => put('refs/heads/agents/a', 'ref: refs/heads/../../x\n'), 'corrupt'],
    ['an object that is nowhere', () => put('refs/heads/agents/a', `${'a'.repeat(40)}\n`), 'missing'],
    ['a line of packed-refs', () => put('packed-refs', 'nonsense\n'), 'corrupt'],
    ['packed-refs cut short', () => put('packed-refs', `${'a'.repeat(40)} refs/heads/agents/a`), 'corrupt'],
    ['a packed name', () => put('packed-refs', `${'z'.repeat(40)} refs/heads/agents/a\n`), 'corrupt'],
    [
      'a ref that is a link',
      () => fs.symlinkSync('../../packed-refs', path.join(repository.dir, 'refs/heads/link')),
      'unsupported',
    ],
    [
      'a directory of refs that is a link',
      () => fs.symlinkSync('/etc', path.join(repository.dir, 'refs/heads/agents')),
      'unsupported',
    ],
    [
      'a name that is not UTF-8',
      () => fs.writeFileSync(Buffer.concat([Buffer.from(`${repository.dir}/refs/heads/`), Buffer.of(0xe9)]), ''),
      'unsupported',
    ],
    ['no refs', () => fs.rmSync(path.join(repository.dir, 'refs'), { recursive: true }), 'no-repository'],
    ['no objects', () => fs.rmSync(path.join(repository.dir, 'objects'), { recursive: true }), 'no-repository'],
  ])('%s', (_, set, fault) => {
    branches(['main']);
    expect(find()).toMatchObject({ ending: 'complete' });
    set();
    expect(find()).toEqual({ fault });
  });

  test('and what is not asked for is not read', () => {
    branches(['main']);
    put('refs/heads/agents/a', 'nonsense\n');
    expect(namesOf(find(['main']))).toEqual(['main']);
  });
});

test('a repository without any branch has no history', () => {
  expect(find()).toMatchObject({ entries: [], commits: 0, ending: 'complete' });
});

test('thousands of branches, packed, are read', () => {
  branches(['main']);
  const value = repository.say(['rev-parse', 'main']);
  const names = Array.from(
    { length: 8_000 },
    (_, index) => `refs/heads/agents/${String((index * 7_919) % 8_000).padStart(5, '0')}`,
  );
  put('packed-refs', names.map((name) => `${value} ${name}\n`).join(''));
  expect(namesOf(find(['agents/*']))).toEqual(['main']);
});
