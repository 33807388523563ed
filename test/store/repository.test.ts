/** Which repository is a city's own, and what is refused rather than answered in part. */

import { afterEach, describe, expect, it } from 'vitest';
import { REPOSITORY_CONFIG_MAX_BYTES } from '../../dist/limits.js';
import { isUnfit, openRepository } from '../../dist/store/repository.js';
import { gitDirectory, SHA256_CONFIG } from '../support/objects.js';
import { descriptorCount, diskWorld, memoryWorld, type Things, type World } from '../tree/worlds.js';

const begun: World[] = [];
afterEach(() => {
  for (const world of begun.splice(0)) world.end();
});

const WORLDS = { linux: diskWorld('linux'), portable: diskWorld('portable'), memory: memoryWorld } as const;
const TREES = ['linux', 'portable', 'memory'] as const;

function open(tree: (typeof TREES)[number], things: Things, whose: 'any' | 'of a work tree' = 'any') {
  const world = WORLDS[tree](things);
  begun.push(world);
  const city = world.open();
  const opened = openRepository(city, whose);
  const names = isUnfit(opened) ? [] : opened.tree.root.list();
  if (!isUnfit(opened)) opened.tree.close();
  city.close();
  const listed = typeof names === 'string' ? names : names.map(({ name }) => name).sort();
  return isUnfit(opened) ? opened : { place: opened.place, oidBytes: opened.oidBytes, listed };
}

const PLAIN = { oidBytes: 20, listed: ['HEAD', 'config', 'objects', 'refs'] };
const CONFIG = '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n';

describe.each(TREES)('in a %s tree', (tree) => {
  it.each<[claim: string, things: Things, found: object]>([
    ['`.git` is a directory', gitDirectory('.git'), { ...PLAIN, place: '.git' }],
    [
      'its objects are named by SHA-256',
      gitDirectory('.git', SHA256_CONFIG),
      { ...PLAIN, oidBytes: 32, place: '.git' },
    ],
    [
      'the city itself is bare',
      [...gitDirectory('x').map(([at, thing]) => [String(at).slice(2), thing] as const)],
      { ...PLAIN, place: '' },
    ],
    [
      '`.git` points to a directory inside',
      [...gitDirectory('store/repo'), ['.git', 'gitdir: store/repo\n']],
      { ...PLAIN, place: 'store/repo' },
    ],
    [
      '`.git` points there with dots',
      [...gitDirectory('store/repo'), ['.git', 'gitdir: ./x/../store//repo\n']],
      { ...PLAIN, place: 'store/repo' },
    ],
    [
      'a linked work tree shares the refs and objects of another',
      [
        ...gitDirectory('.sprawling/repo'),
        ['.git', 'gitdir: .sprawling/repo/worktrees/w\n'],
        ['.sprawling/repo/worktrees/w/HEAD', 'x'],
        ['.sprawling/repo/worktrees/w/commondir', '../..\n'],
      ],
      { place: '.sprawling/repo', oidBytes: 20, listed: ['HEAD', 'config', 'objects', 'refs', 'worktrees'] },
    ],
    [
      'a config is missing',
      gitDirectory('.git').filter(([at]) => at !== '.git/config'),
      { place: '.git', oidBytes: 20 },
    ],
  ])('opens where %s', (_, things, found) => {
    expect(open(tree, things)).toMatchObject(found);
  });

  it.each<[claim: string, things: Things, fact: string]>([
    ['there is none', [['lab/notes.md', 'x']], 'there is none'],
    [
      '`.git` is a link, also to a repository inside',
      [...gitDirectory('real'), ['.git', { link: 'real' }]],
      '`.git` is a link',
    ],
    ['`gitdir:` leads out', [['.git', 'gitdir: ../outside\n']], 'leads out of the city'],
    [
      '`gitdir:` leads out and in again',
      [...gitDirectory('repo'), ['.git', 'gitdir: ../city/repo\n']],
      'leads out of the city',
    ],
    ['`gitdir:` is absolute and elsewhere', [['.git', 'gitdir: /etc\n']], 'leads out of the city'],
    [
      '`gitdir:` passes a link',
      [...gitDirectory('real/repo'), ['way', { link: 'real' }], ['.git', 'gitdir: way/repo\n']],
      'a link is on the way',
    ],
    ['`gitdir:` leads nowhere', [['.git', 'gitdir: nowhere\n']], 'is not there'],
    ['`.git` says something else', [['.git', 'hello\n']], 'names no directory'],
    ['`.git` is not UTF-8', [['.git', Buffer.from('gitdir: \xff', 'latin1')]], 'is not UTF-8'],
    ['`.git` holds more than a path', [['.git', `gitdir: ${'a/'.repeat(40_000)}`]], 'is larger than'],
    [
      '`commondir` leads out',
      [...gitDirectory('.git'), ['.git/commondir', '../../outside\n']],
      'leads out of the city',
    ],
    ['`commondir` is a link', [...gitDirectory('.git'), ['.git/commondir', { link: 'x' }]], 'no plain file'],
    ['it is shallow', [...gitDirectory('.git'), ['.git/shallow', '']], 'shallow'],
    [
      'it has alternates',
      [...gitDirectory('.git'), ['.git/objects/info/alternates', '/elsewhere\n']],
      'objects/info/alternates',
    ],
    [
      'its alternates are empty',
      [...gitDirectory('.git'), ['.git/objects/info/alternates', '']],
      'objects/info/alternates',
    ],
    [
      'its alternates are a link to nothing',
      [...gitDirectory('.git'), ['.git/objects/info/alternates', { link: 'x' }]],
      'objects/info/alternates',
    ],
    [
      'it has alternates of another machine',
      [...gitDirectory('.git'), ['.git/objects/info/http-alternates', 'http://x\n']],
      'http-alternates',
    ],
    [
      'its objects/info is a link',
      [
        ...gitDirectory('.git').filter(([at]) => at !== '.git/objects/info'),
        ['.git/objects/pack', { directory: true }],
        ['.git/objects/info', { link: '../x' }],
      ],
      'objects/info',
    ],
    [
      'its objects are a link',
      [
        ['.git/HEAD', 'x'],
        ['.git/refs', { directory: true }],
        ['.git/objects', { link: '../real' }],
      ],
      'no directory of its own',
    ],
    ['it is a reftable', [...gitDirectory('.git'), ['.git/reftable/tables.list', '']], 'reftable'],
    ['an extension is not known', gitDirectory('.git', `${CONFIG}teleport = true\n`), 'teleport'],
    ['it is partial', gitDirectory('.git', `${CONFIG}partialClone = origin\n`), 'partialclone'],
    ['its configuration does not parse', gitDirectory('.git', '[core\n'), 'does not parse'],
    [
      'its configuration is a link',
      [...gitDirectory('.git').filter(([at]) => at !== '.git/config'), ['.git/config', { link: 'HEAD' }]],
      'no plain file',
    ],
    [
      'its configuration is a directory',
      [...gitDirectory('.git').filter(([at]) => at !== '.git/config'), ['.git/config/x', '']],
      'no plain file',
    ],
    [
      'its configuration is beyond its bound',
      gitDirectory('.git', `#${'x'.repeat(REPOSITORY_CONFIG_MAX_BYTES)}`),
      'is larger than',
    ],
  ])('is refused where %s', (_, things, fact) => {
    expect(open(tree, things)).toMatchObject({ unfit: expect.stringContaining(fact) });
  });

  it('is not looked for at the city’s top when files of a work tree are asked for', () => {
    const bare = gitDirectory('x').map(([at, thing]) => [String(at).slice(2), thing] as const);
    expect(open(tree, bare, 'of a work tree')).toMatchObject({ isMissing: true });
  });

  it('includes nothing, whatever the configuration says', () => {
    const config = '[include]\n\tpath = ../evil\n[includeIf "gitdir:/"]\n\tpath = ../evil\n';
    expect(open(tree, [...gitDirectory('.git', config), ['evil', `${CONFIG}teleport = 1\n`]])).toMatchObject(PLAIN);
  });

  it('holds nothing open where it was refused', () => {
    const before = descriptorCount();
    open(tree, [...gitDirectory('.git'), ['.git/shallow', '']]);
    for (const world of begun.splice(0)) world.end();
    expect(descriptorCount()).toBe(before);
  });
});

it('an absolute `gitdir:` is followed where it is under the city', () => {
  const world = diskWorld('linux')(gitDirectory('store/repo'));
  begun.push(world);
  world.put('.git', `gitdir: ${world.root}/store/repo\n`);
  const city = world.open();
  const opened = openRepository(city, 'any');
  expect(opened).toMatchObject({ place: 'store/repo' });
  city.close();
});
