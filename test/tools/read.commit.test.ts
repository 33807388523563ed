/**
 * `read` of `file:<address>@<oid>`: whose past is open, and that what comes is what stood there. Over guests that hand
 * over objects made by hand; the cutting is our own guest's.
 */

import { afterEach, describe, expect, it } from 'vitest';
import { COMMIT_FILE_MAX_BYTES } from '../../dist/limits.js';
import type { TrailQuery } from '../../dist/wasi/guest.js';
import { type CallOptions, city, SETTINGS, type Setting, type TestCity } from '../support/cities.js';
import { type Bent, directory, gitDirectory, guestOver, Objects, SHA256_CONFIG, trailOf } from '../support/objects.js';
import { asError, asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';

const begun: TestCity[] = [];
afterEach(() => {
  for (const place of begun.splice(0)) place.end();
});

const MEMORY: Setting = { tree: 'memory', binding: 'fixed' };
const CONFIDENTIAL = 'confidential = true\nwrite = "documents"\n';
const ORDINARY = 'confidential = false\nwrite = "documents"\n';

const objects = new Objects();
const AS_IT_WAS = 'first\nsecond ü\nthird\n';
const commit = objects.commit(
  directory({
    'lab/notes.md': AS_IT_WAS,
    'lab/empty': '',
    'lab/a@b#c': 'odd name\n',
    'lab/bytes': Buffer.from('text \xff', 'latin1'),
    'lab/link': { mode: '120000', oid: objects.put('blob', '../vault/secret') },
    'lab/module': { mode: '160000', oid: 'c'.repeat(40) },
    'lab/room/deep.md': 'deep\n',
    'lab/long': 'line of text\n'.repeat(10_000),
    'vault/secret': 'SECRET\n',
    'was-closed/.sprawling/RULES.toml': CONFIDENTIAL,
    'was-closed/secret': 'SECRET\n',
    'was-open/.sprawling/RULES.toml': ORDINARY,
    'was-open/notes.md': 'open then\n',
    'was-broken/.sprawling/RULES.toml': 'confidential = ',
    'was-broken/secret': 'SECRET\n',
    'was-binary/.sprawling/RULES.toml': Buffer.from([0xff]),
    'was-binary/secret': 'SECRET\n',
    'was-large/.sprawling/RULES.toml': `#${'x'.repeat(65_536)}`,
    'was-large/secret': 'SECRET\n',
    'rules-linked/.sprawling/RULES.toml': { mode: '120000', oid: objects.put('blob', ORDINARY) },
    'rules-linked/secret': 'SECRET\n',
    'rules-room-linked/.sprawling': { mode: '120000', oid: objects.put('blob', '../lab') },
    'rules-room-linked/secret': 'SECRET\n',
    'rules-a-directory/.sprawling/RULES.toml/x': '',
    'rules-a-directory/secret': 'SECRET\n',
    'deleted/secret': 'SECRET\n',
    'now-a-file/secret': 'SECRET\n',
    'now-a-link/secret': 'SECRET\n',
  }),
);

const TODAY: Things = [
  ...gitDirectory('.git'),
  ['lab/notes.md', 'as it is\n'],
  ['vault/.sprawling/RULES.toml', CONFIDENTIAL],
  ['vault/secret', 'SECRET\n'],
  ...['was-closed', 'was-open', 'was-broken', 'was-binary', 'was-large'].map((name) => [`${name}/x`, ''] as const),
  ...['rules-linked', 'rules-room-linked', 'rules-a-directory'].map((name) => [`${name}/x`, ''] as const),
  ['renamed/secret', 'SECRET\n'],
  ['now-a-file', ''],
  ['now-a-link', { link: 'lab' }],
];

function begin(things: Things = TODAY, setting: Setting = MEMORY): TestCity {
  const place = city(setting, things);
  begun.push(place);
  return place;
}

const read = (place: TestCity, path: string, bent: Bent = {}, options: CallOptions & { args?: object } = {}) =>
  place.call(
    'read',
    { path, ...options.args },
    { ...options, unchecked: { ...options.unchecked, guest: guestOver(objects, bent) } },
  );

const at = (address: string, oid = commit): string => `file:${address}@${oid}`;

describe.each(SETTINGS.filter(({ binding }) => binding === 'fixed'))('in a $tree tree', (setting) => {
  it('what stood there in the commit comes, not what stands there today, and without a version', async () => {
    expect(asValue(await read(begin(TODAY, setting), at('lab/notes.md')))).toEqual({
      path: at('lab/notes.md'),
      text: AS_IT_WAS,
      bytes: Buffer.byteLength(AS_IT_WAS),
    });
  });

  it.each<[address: string, text: string]>([
    ['lab/empty', ''],
    ['lab/a@b#c', 'odd name\n'],
    ['lab/room/deep.md', 'deep\n'],
    ['lab/link', '../vault/secret'],
    ['was-open/notes.md', 'open then\n'],
  ])('%s', async (address, text) => {
    expect(asValue(await read(begin(TODAY, setting), at(address)))).toMatchObject({ text });
  });

  it.each<[claim: string, address: string]>([
    ['that is confidential today', 'vault/secret'],
    ['that was confidential in that commit', 'was-closed/secret'],
    ['whose rules of then do not parse', 'was-broken/secret'],
    ['whose rules of then are no text', 'was-binary/secret'],
    ['whose rules of then are too large', 'was-large/secret'],
    ['whose rules of then are a link', 'rules-linked/secret'],
    ['whose rules of then lie behind a link', 'rules-room-linked/secret'],
    ['whose rules of then are a directory', 'rules-a-directory/secret'],
    ['that was deleted', 'deleted/secret'],
    ['that never was', 'never/secret'],
    ['that is a file today', 'now-a-file/secret'],
    ['that is a link today, also to an open one', 'now-a-link/secret'],
  ])('the past of a building is closed %s', async (_, address) => {
    const error = asError(await read(begin(TODAY, setting), at(address)));
    expect(error).toMatchObject({ code: 'E_GATE_DENIED', action: 'read' });
    expect(error.subject.startsWith(`${at(address)}: `)).toBe(true);
    expect(JSON.stringify(error)).not.toContain('SECRET');
  });

  it.each<[claim: string, address: string, change: (place: TestCity) => void]>([
    ['comes', 'deleted/secret', ({ world }) => world.put('deleted/x', '')],
    ['goes', 'was-open/notes.md', ({ world }) => world.remove('was-open')],
    [
      'is another one',
      'was-open/notes.md',
      ({ world }) => {
        world.move('was-open', 'away');
        world.put('was-open/x', '');
      },
    ],
  ])('and of one that %s while the policy is asked about it', async (_, address, change) => {
    const place = begin(TODAY, setting);
    const policy = () => {
      change(place);
      return { kind: 'open' } as const;
    };
    expect(asError(await read(place, at(address), {}, { policy })).code).toBe('E_GATE_DENIED');
  });

  it('and of one that was renamed, under both of its names', async () => {
    const place = begin(TODAY, setting);
    expect(asError(await read(place, at('deleted/secret'))).code).toBe('E_GATE_DENIED');
    expect(asError(await read(place, at('renamed/secret'))).code).toBe('E_INVALID_ARGS');
  });
});

describe('who lives there', () => {
  it('reads the building’s past, whatever its rules were', async () => {
    expect(asValue(await read(begin(), at('was-closed/secret'), {}, { reader: 'was-closed' }))).toMatchObject({
      text: 'SECRET\n',
    });
    expect(asValue(await read(begin(), at('vault/secret'), {}, { reader: 'vault' }))).toMatchObject({
      text: 'SECRET\n',
    });
  });

  it('but not once the building is gone', async () => {
    expect(asError(await read(begin(), at('deleted/secret'), {}, { reader: 'deleted' })).code).toBe('E_GATE_DENIED');
  });
});

describe('the embedder', () => {
  it('closes by a policy, and cannot open what the commit’s rules closed', async () => {
    const policy = (building: string) => ({ kind: building === 'lab' ? 'confidential' : 'open' }) as const;
    expect(asError(await read(begin(), at('lab/notes.md'), {}, { policy })).code).toBe('E_GATE_DENIED');
    expect(asError(await read(begin(), at('was-closed/secret'), {}, { policy })).code).toBe('E_GATE_DENIED');
  });

  it.each<[wall: string, openUnchecked?: 'judge' | 'filesystem']>([
    ['both walls'],
    ['the judge open', 'judge'],
    ['the file system open', 'filesystem'],
  ])('denies by pattern, and closes buildings, with %s', async (_, openUnchecked) => {
    const unchecked = openUnchecked === undefined ? {} : { openUnchecked };
    const options = { deny: ['lab/room', '**/*.MD'], unchecked };
    for (const address of ['lab/notes.md', 'lab/room/deep.md']) {
      expect(asError(await read(begin(), at(address), {}, options)).code).toBe('E_GATE_DENIED');
    }
    expect(asError(await read(begin(), at('vault/secret'), {}, { unchecked })).code).toBe('E_GATE_DENIED');
    expect(asValue(await read(begin(), at('lab/a@b#c'), {}, options))).toMatchObject({ text: 'odd name\n' });
  });
});

describe('form first', () => {
  it.each(['#L1-2', '#B0-4'])('a range is refused before anything is judged: %s', async (range) => {
    const error = asError(await read(begin(), at('vault/secret') + range));
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', recovery: expect.stringContaining('`offset` and `limit`') });
  });

  it('a reserved place is refused before the repository is looked for', async () => {
    const error = asError(await read(begin([['lab/x', '']]), at('lab/.sprawling/RULES.toml')));
    expect(error).toMatchObject({ code: 'E_GATE_DENIED', subject: expect.stringContaining('reserved') });
  });

  it('no repository is E_STORAGE_FATAL, only once the address is admitted', async () => {
    const things: Things = [
      ['lab/x', ''],
      ['vault/.sprawling/RULES.toml', CONFIDENTIAL],
    ];
    expect(asError(await read(begin(things), at('lab/x'))).code).toBe('E_STORAGE_FATAL');
    expect(asError(await read(begin(things), at('vault/x'))).code).toBe('E_GATE_DENIED');
  });

  it('a repository that was named for history is not asked: a file’s is always the city’s own', async () => {
    const beside = begin(gitDirectory('.git'));
    const history = { branches: ['agents/*'], repository: beside.world.spec };
    const error = asError(await read(begin([['lab/x', '']]), at('lab/x'), {}, { history }));
    expect(error.code).toBe('E_STORAGE_FATAL');
  });
});

it('a name that no disk takes is refused as one, whether or not the commit holds it', async () => {
  const long = 'n'.repeat(256);
  const oid = objects.commit(directory({ [`lab/${long}`]: 'held\n', [`lab/${long}/deep`]: 'held\n' }));
  for (const address of [`lab/${long}`, `lab/${long}/deep`, `lab/${long}none`]) {
    const error = asError(await read(begin(), at(address, oid)));
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', subject: expect.stringContaining('too long') });
  }
});

describe('what the commit does not hold is the caller’s mistake', () => {
  it.each<[claim: string, locator: string]>([
    ['a file that is not there', at('lab/none')],
    ['a file in another case', at('lab/Notes.md')],
    ['a directory', at('lab/room')],
    ['the building', at('lab')],
    ['a submodule', at('lab/module')],
    ['a way through a file', at('lab/notes.md/x')],
    ['a commit that is not there', at('lab/notes.md', 'a'.repeat(40))],
    ['a commit of the other hash', at('lab/notes.md', 'a'.repeat(64))],
    ['a tree', at('lab/notes.md', objects.get(commit, 'commit')?.toString('latin1', 5, 45))],
    ['bytes that are not UTF-8', at('lab/bytes')],
  ])('%s', async (_, locator) => {
    expect(asError(await read(begin(), locator)).code).toBe('E_INVALID_ARGS');
  });
});

describe('it is cut like any file', () => {
  it('by offset and limit', async () => {
    const value = asValue(await read(begin(), at('lab/notes.md'), {}, { args: { offset: 1, limit: 1 } }));
    expect(value).toMatchObject({ text: 'second ü\n', total_lines: 3, next_offset: 2 });
    expect(value).not.toHaveProperty('version');
  });

  it('by the caps of one answer', async () => {
    expect(asValue(await read(begin(), at('lab/long')))).toMatchObject({
      bytes: 512 * 13,
      next_offset: 512,
      total_lines: 10_000,
    });
  });

  it('one over what is held is E_LIMIT', async () => {
    const asked: number[] = [];
    const guest = (filesystem: Parameters<ReturnType<typeof guestOver>>[0]) => {
      const honest = guestOver(objects)(filesystem);
      return {
        ...honest,
        trail: (of: TrailQuery) => {
          asked.push(of.blobMax);
          return of.blobMax === COMMIT_FILE_MAX_BYTES ? ({ ok: false, fault: 'too-large' } as const) : honest.trail(of);
        },
      };
    };
    const outcome = await begin().call('read', { path: at('lab/notes.md') }, { unchecked: { guest } });
    expect(asError(outcome)).toMatchObject({ code: 'E_LIMIT', subject: expect.stringContaining('64 MiB') });
    expect(asked.at(-1)).toBe(COMMIT_FILE_MAX_BYTES);
  });

  it('in a SHA-256 repository too', async () => {
    const large = new Objects('sha256');
    const oid = large.commit(directory({ 'lab/notes.md': 'long names\n' }));
    const place = begin([...gitDirectory('.git', SHA256_CONFIG), ['lab/x', '']]);
    const outcome = await place.call(
      'read',
      { path: at('lab/notes.md', oid) },
      { unchecked: { guest: guestOver(large) } },
    );
    expect(asValue(outcome)).toMatchObject({ text: 'long names\n' });
  });
});

describe('a guest that lies opens nothing', () => {
  const pathOf = (asked: TrailQuery): string => Buffer.from(asked.path).toString();
  const swapped = (path: string, instead: string) => (asked: TrailQuery) =>
    trailOf(objects, pathOf(asked) === path ? { ...asked, path: Buffer.from(instead) } : asked);

  it.each<[claim: string, path: string, bent: Bent]>([
    ['another file’s bytes', 'lab/notes.md', { trail: swapped('lab/notes.md', 'vault/secret') }],
    [
      'another building’s rules',
      'was-closed/secret',
      { trail: swapped('was-closed/.sprawling/RULES.toml', 'was-open/.sprawling/RULES.toml') },
    ],
    [
      'rules that are there as absent',
      'was-closed/secret',
      { trail: swapped('was-closed/.sprawling/RULES.toml', 'lab/.sprawling/RULES.toml') },
    ],
    [
      'rules of no such commit',
      'was-closed/secret',
      {
        trail: (asked) =>
          trailOf(objects, pathOf(asked).endsWith('.toml') ? { ...asked, commit: 'a'.repeat(40) } : asked),
      },
    ],
    [
      'another commit’s objects',
      'was-closed/secret',
      {
        trail: (asked) =>
          trailOf(objects, { ...asked, commit: objects.commit(directory({ 'was-closed/secret': 'SECRET\n' })) }),
      },
    ],
  ])('%s', async (_, path, bent) => {
    const error = asError(await read(begin(), at(path), bent));
    expect(JSON.stringify(error)).not.toContain('SECRET');
  });
});
