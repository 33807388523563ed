/** The resolver: where each path of a city in memory lands, what it looks at on the way, and what is said if it does not. */

import { afterEach, describe, expect, it } from 'vitest';
import { type Address, isBroken, parseAddress } from '../../dist/judge/address.js';
import { Bound, type Verdict } from '../../dist/judge/bound.js';
import {
  FAILURE_SENTENCES,
  failureError,
  type Landing,
  landingError,
  outsideCity,
  release,
  resolve,
  stillJudged,
  withinCity,
} from '../../dist/judge/locate.js';
import type { Failure, Identity, RootSpellings } from '../../dist/judge/place.js';
import { LINK_HOPS_MAX, PATH_MAX_BYTES, PATH_STEPS_MAX } from '../../dist/limits.js';
import { City, directory, fifo, file, link, type MemoryPlace, type Shape } from './city.js';

const SPELLINGS: RootSpellings = { entered: '/city', real: '/srv/real', style: 'posix' };
const VERDICTS: [string, Verdict][] = [
  ['lab', { kind: 'open' }],
  ['hall', { kind: 'open' }],
  ['l', { kind: 'open' }],
  ['vault', { kind: 'confidential' }],
  ['torn', { kind: 'rules-unreadable', subject: 'torn rules' }],
];
const BOUND = new Bound({ reader: 'home', entries: new Map(VERDICTS) });

const LAYOUT = {
  lab: { 'x.md': 'x', room: { 'y.md': 'y', deep: {} }, pipe: fifo, '.git': { HEAD: 'ref' }, access: {} },
  hall: { 'z.md': 'z' },
  vault: { secret: 's' },
} satisfies Shape;

let city = new City(LAYOUT);
afterEach(() => expect(city.open).toBe(0));

/** What a landing comes to, in one line; what it holds is let go. */
function told(landing: Landing<MemoryPlace>): string {
  release(landing);
  const via = 'linked' in landing && landing.linked ? ' linked' : '';
  switch (landing.kind) {
    case 'directory':
      return `directory ${landing.address}${via}`;
    case 'entry':
      return `${landing.look.kind} ${landing.address}${via}`;
    case 'absent':
      return `absent ${landing.address} below ${landing.deepest}${via}`;
    case 'denied':
      return `denied ${landing.denial.kind}${via}`;
    case 'failed':
      return `failed ${landing.failure}`;
    case 'not-address':
      return `not-address ${landing.rule}${via}`;
    default:
      return landing.kind + via;
  }
}

function land(shape: Shape, path: string, base: readonly string[] = []): string {
  city = new City(shape);
  return told(resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base, path }));
}

const l = (text: string): Shape => ({ ...LAYOUT, l: link(text) });

describe('resolve: a plain path', () => {
  const rows: [path: string, landing: string, why: string][] = [
    ['lab/x.md', 'file lab/x.md', 'a file'],
    ['lab/room', 'directory lab/room', 'a directory'],
    ['lab/pipe', 'other lab/pipe', 'neither, never opened'],
    ['', 'directory ', 'the root itself is a directory'],
    ['.', 'directory ', 'the root by a dot'],
    ['lab/room/', 'directory lab/room', 'a trailing slash after a directory'],
    ['lab//room/./y.md', 'file lab/room/y.md', 'empty and dot segments'],
    ['lab/room/../x.md', 'file lab/x.md', '.. pops'],
    ['lab/room/deep/../../../hall/z.md', 'file hall/z.md', '.. up to the root and down again'],
    ['lab/..', 'directory ', '.. to the root'],
    ['lab/none', 'absent lab/none below lab', 'a missing leaf'],
    ['lab/none/a/b', 'absent lab/none/a/b below lab', 'a missing directory'],
    ['lab/none/a/..', 'absent lab/none below lab', '.. below what is missing'],
    ['lab/none/..', 'absent lab/none below lab', '.. to what exists, where the system would not get'],
    ['lab/none/../x.md', 'absent lab/none below lab', 'nor to a sibling'],
    ['lab/x.md/a', 'through-file', 'through a file'],
    ['lab/x.md/', 'through-file', 'a slash after a file'],
    ['lab/x.md/.', 'through-file', 'a dot after a file'],
    ['lab/x.md/..', 'through-file', '.. after a file'],
    ['lab/pipe/a', 'through-file', 'through a FIFO'],
    ['/lab', 'outside', 'absolute'],
    ['//x', 'outside', 'absolute, doubled'],
    ['..', 'outside', 'above the root'],
    ['./..', 'outside', 'the same behind a dot'],
    ['lab/../..', 'outside', 'the same after coming in'],
    ['lab/none/../../..', 'outside', 'the same through what is missing'],
    ['lab/x.md/../../..', 'outside', 'the same through a file'],
    ['vault', 'denied confidential', 'a closed building'],
    ['vault/secret', 'denied confidential', 'a place in it'],
    ['vault/none', 'denied confidential', 'a place it does not have'],
    ['vault/../lab/x.md', 'denied confidential', 'passing through'],
    ['torn/x', 'denied rules-unreadable', 'rules that do not read, though nothing is there'],
    ['new', 'denied unasked', 'what nobody asked about, though nothing is there'],
    ['lab/.git', 'denied reserved', 'reserved'],
    ['lab/.GIT/HEAD', 'denied reserved', 'reserved in another case'],
    ['lab/room/.sprawling/x', 'denied reserved', 'reserved and missing'],
    ['lab/none/.git', 'denied reserved', 'reserved below what is missing'],
    ['lab/x.md/.git', 'denied reserved', 'reserved below a file'],
    ['lab/none/../../vault', 'denied confidential', 'closed, by way of what is missing'],
    ['lab/a\\b', 'not-address backslash', 'a backslash'],
    ['lab/a\u0000', 'not-address control', 'NUL'],
    ['lab/\ud800', 'not-address not-unicode', 'a lone surrogate'],
    ['lab/a.', 'not-address trailing', 'what Windows would shorten'],
    ['C:/x', 'not-address colon', 'a drive'],
    ['lab/__proto__', 'absent lab/__proto__ below lab', 'a name is a name'],
    ['lab/constructor/x', 'absent lab/constructor/x below lab', 'a name is a name'],
    ['%2e%2e', 'denied unasked', 'no escape is decoded'],
    [`lab/${'n'.repeat(300)}`, 'failed bad-name', 'a name longer than the file system takes'],
    [`lab/${'n'.repeat(300)}/.git`, 'denied reserved', 'the rest is judged all the same'],
    [`lab/${'a/'.repeat(PATH_MAX_BYTES / 2)}`, 'failed bad-name', 'more bytes than a path may have'],
    [`lab/${`${'n'.repeat(200)}/`.repeat(PATH_MAX_BYTES / 200)}`, 'failed bad-name', 'the same in few segments'],
    [`lab/${'./'.repeat(PATH_STEPS_MAX)}`, 'failed bad-name', 'more segments than a path may have'],
  ];
  for (const [path, landing, why] of rows) {
    it(`${JSON.stringify(path.slice(0, 40))} → ${landing} (${why})`, () => expect(land(LAYOUT, path)).toBe(landing));
  }
});

describe('resolve: from a base', () => {
  const rows: [base: string[], path: string, landing: string, why: string][] = [
    [['lab'], 'x.md', 'file lab/x.md', 'below'],
    [['lab'], '', 'directory lab', 'the base itself'],
    [['lab', 'room'], 'deep/../y.md', 'file lab/room/y.md', '.. that stays'],
    [['lab'], '..', 'outside', 'the path’s own .. does not leave the base'],
    [['lab'], 'room/../..', 'outside', 'nor after coming in'],
    [['lab'], '../lab/x.md', 'outside', 'not even to come back'],
    [['lab'], 'none/../../hall', 'outside', 'nor through what is missing'],
    [['vault'], 'secret', 'denied confidential', 'a base is judged'],
    [['lab', '.git'], 'HEAD', 'denied reserved', 'each level of it'],
    [['lab', 'x.md'], 'a', 'failed not-directory', 'a base that became a file'],
    [['lab', 'none'], 'a', 'failed no-entry', 'a base that is gone'],
    [['lab', '..'], 'hall', 'not-address dot-segment', 'a base is plain segments'],
  ];
  for (const [base, path, landing, why] of rows) {
    it(`[${base}] + ${path} → ${landing} (${why})`, () => expect(land(LAYOUT, path, base)).toBe(landing));
  }

  it('a base that became a link is a failure, never followed', () => {
    expect(land({ ...LAYOUT, l: link('lab') }, 'x.md', ['l'])).toBe('failed is-link');
  });

  it('a link’s own .. may climb above the base', () => {
    const shape = { lab: { up: link('../hall/z.md'), top: link('..') }, hall: LAYOUT.hall };
    expect(land(shape, 'up', ['lab'])).toBe('file hall/z.md linked');
    expect(land(shape, 'top', ['lab'])).toBe('directory  linked');
  });

  it('behind such a link the path’s own .. still ends at no directory above the base', () => {
    const shape = { lab: { in: link('../hall/a') }, hall: { a: { b: {} } } };
    expect(land(shape, 'in/..', ['lab'])).toBe('directory hall linked');
    expect(land(shape, 'in/../..', ['lab'])).toBe('outside linked');
  });
});

describe('resolve: links', () => {
  const rows: [text: string, path: string, landing: string, why: string][] = [
    ['lab/x.md', 'l', 'file lab/x.md linked', 'to a file'],
    ['lab/room', 'l', 'directory lab/room linked', 'to a directory'],
    ['lab/room', 'l/', 'directory lab/room linked', 'with a trailing slash'],
    ['lab/room', 'l/y.md', 'file lab/room/y.md linked', 'in the middle'],
    ['lab/room', 'l/../x.md', 'file lab/x.md linked', 'a => b/c, a/../x is b/x, as POSIX'],
    ['lab/pipe', 'l', 'other lab/pipe linked', 'to a FIFO'],
    ['.', 'l', 'directory  linked', 'to where it stands'],
    ['lab/room/', 'l', 'directory lab/room linked', 'a text with a trailing slash'],
    ['lab//room/./y.md', 'l', 'file lab/room/y.md linked', 'a text with empty and dot segments'],
    ['/city/lab/x.md', 'l', 'file lab/x.md linked', 'absolute, under the entered root'],
    ['/srv/real/lab/x.md', 'l', 'file lab/x.md linked', 'absolute, under the real root'],
    ['/city', 'l/lab/x.md', 'file lab/x.md linked', 'absolute, the root'],
    ['/city/', 'l', 'directory  linked', 'absolute, the root with a slash'],
    ['/city//lab', 'l', 'directory lab linked', 'absolute, doubled slash'],
    ['lab/none', 'l', 'unresolved', 'to nothing inside'],
    ['lab/none/deep', 'l', 'unresolved', 'to nothing inside, deeper'],
    ['lab/none', 'l/a', 'unresolved', 'through one to nothing'],
    ['lab', 'l/none', 'absent lab/none below lab linked', 'the asked part is missing'],
    ['lab/x.md', 'l/a', 'through-file linked', 'the asked path goes through a file'],
    ['lab/x.md', 'l/', 'through-file linked', 'a slash behind a link to a file'],
    ['lab/x.md/', 'l', 'unresolved', 'the text goes through a file'],
    ['lab/x.md/a', 'l', 'unresolved', 'the text goes through a file'],
    ['l', 'l', 'unresolved', 'to itself'],
    ['./l', 'l/a', 'unresolved', 'to itself, with a rest'],
    ['', 'l', 'unresolved', 'an empty text leads nowhere'],
    ['..', 'l', 'outside linked', 'out'],
    ['../x', 'l', 'outside linked', 'out, relative'],
    ['../city/lab', 'l', 'outside linked', 'out and back in'],
    ['/etc/passwd', 'l', 'outside linked', 'out, absolute'],
    ['/etc/passwd', 'l/', 'outside linked', 'out, with a trailing slash'],
    ['/etc/passwd', 'l/.', 'outside linked', 'out, with a trailing dot'],
    ['/city-evil/x', 'l', 'outside linked', 'a sibling whose name only begins like the root'],
    ['/city/../etc', 'l', 'outside linked', 'out through the root'],
    ['//city/lab', 'l', 'outside linked', 'another spelling of the root is none of the two'],
    ['/none/at/all', 'l', 'outside linked', 'out and dangling: refused, not reported broken'],
    ['lab/none/../../../x', 'l', 'outside linked', 'out by way of what is missing'],
    ['lab/x.md/../../../x', 'l', 'outside linked', 'out by way of a file'],
    ['vault/secret', 'l', 'denied confidential linked', 'into a closed building'],
    ['vault/none', 'l', 'denied confidential linked', 'dangling into a closed building'],
    ['vault/../lab/x.md', 'l', 'denied confidential linked', 'through a closed building'],
    ['/city/vault/secret', 'l', 'denied confidential linked', 'absolute into a closed building'],
    ['lab/none/../../vault/x', 'l', 'denied confidential linked', 'closed by way of what is missing'],
    ['lab/.git/HEAD', 'l', 'denied reserved linked', 'into a reserved place'],
    ['lab/none/.GIT/x', 'l', 'denied reserved linked', 'dangling into a reserved place'],
    ['lab', 'l/.git', 'denied reserved linked', 'a reserved place behind it'],
    ['torn/x', 'l', 'denied rules-unreadable linked', 'into a building whose rules do not read'],
    ['new/x', 'l', 'denied unasked linked', 'into a building nobody asked about'],
    ['lab/a:b', 'l', 'not-address colon linked', 'to a name that is no address'],
    ['lab/a\\b', 'l', 'not-address backslash linked', 'with a backslash'],
    ['lab', 'l/a:b', 'not-address colon', 'the asked part is no address'],
    [`lab/${'n'.repeat(300)}`, 'l', 'unresolved', 'to a name longer than the file system takes'],
    ['./'.repeat(PATH_STEPS_MAX), 'l', 'unresolved', 'a text of more segments than may be walked'],
    ['x'.repeat(PATH_MAX_BYTES + 1), 'l', 'unresolved', 'a text of more bytes than a path may have'],
    ['lab/access', 'l', 'directory lab/access linked', 'a text spelled like a failure is a text'],
  ];
  for (const [text, path, landing, why] of rows) {
    it(`l => ${JSON.stringify(text.slice(0, 40))}, ${path} → ${landing} (${why})`, () =>
      expect(land(l(text), path)).toBe(landing));
  }

  it('a text that is exactly the word of a failure is a text', () => {
    expect(land({ lab: { in: link('access'), access: 'x' } }, 'lab/in')).toBe('file lab/access linked');
    expect(land({ lab: { in: link('bad-name'), 'bad-name': 'x' } }, 'lab/in')).toBe('file lab/bad-name linked');
  });

  it('a link is read relative to the directory it stands in', () => {
    expect(land({ lab: { room: { up: link('../x.md') }, 'x.md': 'x' }, 'x.md': 'no' }, 'lab/room/up')).toBe(
      'file lab/x.md linked',
    );
  });

  it('three links to a closed place are refused, whether or not it exists', () => {
    const chain = (end: string): Shape => ({ lab: { a: link('b'), b: link('c'), c: link(end) }, vault: LAYOUT.vault });
    for (const end of ['../vault/secret', '../vault/none', '../../x', '/etc', '/city/vault']) {
      expect(land(chain(end), 'lab/a')).toMatch(/^(denied confidential|outside) linked$/);
    }
  });

  const chain = (hops: number): Shape => {
    const links = Array.from({ length: hops }, (_, index) => [`n${index}`, link(`n${index + 1}`)] as const);
    return { lab: { ...Object.fromEntries(links), [`n${hops}`]: 'end' } };
  };
  it(`${LINK_HOPS_MAX} links are followed`, () => {
    expect(land(chain(LINK_HOPS_MAX), 'lab/n0')).toBe(`file lab/n${LINK_HOPS_MAX} linked`);
  });
  it('and not one more', () => expect(land(chain(LINK_HOPS_MAX + 1), 'lab/n0')).toBe('unresolved'));

  it('a link bomb of long texts ends at the step limit, before the hop limit', () => {
    const text = `${'./'.repeat(1_000)}n`;
    const links = Array.from({ length: 10 }, (_, index) => [`n${index}`, link(`${text}${index + 1}`)] as const);
    expect(land({ lab: { ...Object.fromEntries(links), n10: 'end' } }, 'lab/n0')).toBe('unresolved');
  });

  it('a text that is not UTF-8 leads to no address', () => {
    city = new City({ lab: { bad: link('x') } });
    city.failures.set('linkText lab/bad', 'bad-name');
    expect(told(resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path: 'lab/bad' }))).toBe(
      'not-address not-unicode linked',
    );
  });
});

describe('resolve: nothing is looked at that was not judged', () => {
  const paths: [Shape, string, string[]][] = [
    [LAYOUT, 'vault/secret', []],
    [LAYOUT, 'lab/.git/HEAD', ['lab']],
    [l('/etc/passwd'), 'l', ['l']],
    [l('vault/secret'), 'l/x', ['l']],
    [l('../x'), 'l', ['l']],
    [LAYOUT, '../lab', []],
    [LAYOUT, 'lab/none/a/b', ['lab', 'lab/none']],
  ];
  for (const [shape, path, seen] of paths) {
    it(`${path} touches ${seen.length === 0 ? 'nothing' : seen.join(', ')}`, () => {
      land(shape, path);
      expect([...new Set(city.log.map((entry) => entry.address))]).toEqual(seen);
    });
  }
});

describe('resolve: spelling', () => {
  const folding = (shape: Shape, path: string): string => {
    city = new City(shape, (name) => name.normalize('NFKC').replaceAll('\u200c', '').toUpperCase());
    const bound = new Bound({ reader: null, entries: new Map([...VERDICTS, ['Lab', { kind: 'open' }]]) });
    return told(resolve({ root: city.root, spellings: SPELLINGS, bound }, { base: [], path }));
  };
  const rows: [string, string, string][] = [
    ['lab/x.md', 'file lab/x.md', 'the listed spelling'],
    ['Lab/x.md', 'alias', 'a building in another case'],
    ['lab/X.MD', 'alias', 'a file in another case'],
    ['lab/Room/none', 'alias', 'a directory in another case, whatever follows'],
    ['lab/x\u200c.md', 'alias', 'an ignorable code point'],
    ['lab/.g\u200cit/HEAD', 'alias', 'a reserved place behind one'],
    ['lab/.\uff47it/HEAD', 'alias', 'a reserved place in full width'],
    ['lab/.\u0067\u0131t', 'alias', 'a reserved place with a dotless i'],
    ['lab/none', 'absent lab/none below lab', 'a missing name is no alias'],
  ];
  for (const [path, landing, why] of rows) {
    it(`where names fold, ${JSON.stringify(path)} → ${landing} (${why})`, () =>
      expect(folding(LAYOUT, path)).toBe(landing));
  }

  it('a link’s text proves place, never spelling', () => {
    expect(folding({ lab: { a: link('X.md'), 'x.md': 'x' } }, 'lab/a')).toBe('alias');
    expect(folding({ lab: { a: link('x.md'), 'x.md': 'x' } }, 'lab/a')).toBe('file lab/x.md linked');
  });
});

describe('resolve: the disk fails or changes meanwhile', () => {
  const failing = (question: string, failure: Failure, path: string): string => {
    city = new City({ ...LAYOUT, l: link('lab/room') });
    city.failures.set(question, failure);
    return told(resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path }));
  };
  const rows: [string, Failure, string][] = [
    ['look lab/room', 'access', 'lab/room/y.md'],
    ['directory lab', 'access', 'lab/room'],
    ['directory lab/room', 'moved', 'lab/room/y.md'],
    ['directory lab/room', 'other-mount', 'lab/room'],
    ['directory lab/room', 'is-link', 'lab/room'],
    ['directory lab/room', 'exhausted', 'l'],
    ['stands lab/room', 'too-many-entries', 'lab/room'],
    ['linkText l', 'io', 'l'],
  ];
  for (const [question, failure, path] of rows) {
    it(`\`${question}\` → ${failure} is told as a failure and holds nothing`, () =>
      expect(failing(question, failure, path)).toBe(`failed ${failure}`));
  }

  it('a name that vanishes between the look and the question for its spelling is absent, no alias', () => {
    city = new City({ lab: { x: 'x' } });
    city.before = (operation, address) => {
      const lab = city.at('lab');
      if (operation === 'stands' && address === 'lab/x' && lab?.kind === 'directory') lab.names.delete('x');
    };
    expect(told(resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path: 'lab/x' }))).toBe(
      'absent lab/x below lab',
    );
  });

  it('a place that throws leaves nothing open', () => {
    city = new City(LAYOUT);
    city.before = (_, address) => {
      if (address === 'lab/room/y.md') throw new Error('a bug');
    };
    const scene = { root: city.root, spellings: SPELLINGS, bound: BOUND };
    expect(() => resolve(scene, { base: ['lab'], path: 'room/y.md' })).toThrow('a bug');
  });
});

describe('what a landing holds', () => {
  it('is the directory, or the parent of the entry, and is let go once by release', () => {
    for (const path of ['lab/room', 'lab/room/y.md']) {
      city = new City(LAYOUT);
      const landing = resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path });
      expect(city.open).toBe(1);
      release(landing);
      release(landing);
      expect(city.open).toBe(0);
    }
  });

  it('is not the root, which is only lent', () => {
    city = new City({ 'top.md': 'x', lab: {} });
    const bound = new Bound({ reader: null, entries: new Map([['top.md', { kind: 'open' }]]) });
    const scene = { root: city.root, spellings: SPELLINGS, bound };
    for (const path of ['', 'top.md']) {
      const landing = resolve(scene, { base: [], path });
      expect(landing).toMatchObject({ owned: false });
      release(landing);
    }
  });
});

describe('withinCity', () => {
  const windows: RootSpellings = { entered: 'C:\\city', real: 'D:\\real', style: 'win32' };
  const system: RootSpellings = { entered: '/', real: '/', style: 'posix' };
  const inside = (rest: string): object => ({ kind: 'inside', rest });
  const rows: [RootSpellings, string, object, string][] = [
    [SPELLINGS, 'lab/x', { kind: 'relative' }, 'a relative path'],
    [SPELLINGS, '', { kind: 'relative' }, 'nothing'],
    [SPELLINGS, '..', { kind: 'relative' }, 'dots are relative, and refused by the grammar'],
    [SPELLINGS, 'C:\\city\\x', { kind: 'relative' }, 'what another platform calls absolute'],
    [SPELLINGS, '/city', { kind: 'city' }, 'the root'],
    [SPELLINGS, '/city/', { kind: 'city' }, 'the root with a slash'],
    [SPELLINGS, '/srv/real', { kind: 'city' }, 'its real location'],
    [SPELLINGS, '/city/lab/x', inside('lab/x'), 'below the root'],
    [SPELLINGS, '/srv/real/lab', inside('lab'), 'below its real location'],
    [SPELLINGS, '/city/lab/', inside('lab/'), 'a trailing slash stays, for the grammar'],
    [SPELLINGS, '/city//lab', inside('/lab'), 'a doubled one too'],
    [SPELLINGS, '/city//', inside('/'), 'also alone'],
    [SPELLINGS, '/city/../etc', inside('../etc'), 'dots stay, for the grammar'],
    [SPELLINGS, '/city-evil/x', { kind: 'outside' }, 'components, not prefixes'],
    [SPELLINGS, '/citylab', { kind: 'outside' }, 'components, not prefixes'],
    [SPELLINGS, '/City/x', { kind: 'outside' }, 'case is not folded'],
    [SPELLINGS, '//city/x', { kind: 'outside' }, 'text, not meaning'],
    [SPELLINGS, '/x/../city/lab', { kind: 'outside' }, 'text, not meaning'],
    [SPELLINGS, '/', { kind: 'outside' }, 'above'],
    [SPELLINGS, '/etc/passwd', { kind: 'outside' }, 'elsewhere'],
    [SPELLINGS, '/srv', { kind: 'outside' }, 'above the real location'],
    [system, '/', { kind: 'city' }, 'a city that is the whole system'],
    [system, '/etc', inside('etc'), 'a place in it'],
    [windows, 'lab/x', { kind: 'relative' }, 'a relative path'],
    [windows, 'C:x', { kind: 'relative' }, 'relative to a drive: the grammar refuses it'],
    [windows, 'C:\\city\\lab', inside('lab'), 'below the root'],
    [windows, 'C:/city/lab', inside('lab'), 'with slashes'],
    [windows, 'C:\\city\\', { kind: 'city' }, 'the root'],
    [windows, 'D:\\real\\a\\b', inside('a\\b'), 'the rest keeps its spelling'],
    [windows, 'C:\\citylab', { kind: 'outside' }, 'components, not prefixes'],
    [windows, '\\\\?\\C:\\city\\x', { kind: 'outside' }, 'a device path'],
    [windows, '/city/x', { kind: 'outside' }, 'absolute without a drive'],
  ];
  for (const [spellings, raw, expected, why] of rows) {
    it(`${spellings.style} ${spellings.entered}: ${JSON.stringify(raw)} is ${JSON.stringify(expected)} (${why})`, () =>
      expect(withinCity(raw, spellings)).toEqual(expected));
  }
});

describe('landingError', () => {
  const errorOf = (shape: Shape, path: string): string => {
    city = new City(shape);
    const landing = resolve({ root: city.root, spellings: SPELLINGS, bound: BOUND }, { base: [], path });
    if (landing.kind === 'directory' || landing.kind === 'entry' || landing.kind === 'absent')
      throw new Error(landing.kind);
    const error = landingError({ action: 'read', asked: path }, landing);
    expect(error.action).toBe('read');
    return `${error.code} ${error.subject} | ${error.recovery}`;
  };

  it('is one and the same for every way out through a link, and never tells where it leads', () => {
    const ways = [
      '/etc/CANARY',
      '../CANARY',
      'vault/CANARY',
      'torn/CANARY',
      'new/CANARY',
      'lab/.git/CANARY',
      '/city/vault/CANARY',
    ];
    const answers = new Set(ways.map((text) => errorOf(l(text), 'l')));
    expect([...answers]).toEqual([
      'E_GATE_DENIED l: it leads out of what may be read through a link | name a path whose every link stays inside',
    ]);
  });

  const rows: [Shape, string, RegExp][] = [
    [LAYOUT, 'vault/x', /^E_GATE_DENIED vault\/x: it is in a confidential building \| only its residents/],
    [LAYOUT, 'lab/.git', /^E_GATE_DENIED .*reserved/],
    [LAYOUT, 'torn/x', /^E_GATE_DENIED .*torn rules/],
    [LAYOUT, '..', /^E_GATE_DENIED .*outside the city \| these tools reach only inside the city/],
    [l('CANARY'), 'l', /^E_GATE_DENIED l: it leads out/],
    [
      l('lab/CANARY'),
      'l',
      /^E_STORAGE_FATAL l: its real location did not resolve \| a person has to repair the path or link$/,
    ],
    [l('l'), 'l', /^E_STORAGE_FATAL l: its real location did not resolve/],
    [LAYOUT, 'lab/x.md/a', /^E_INVALID_ARGS lab\/x.md\/a: it leads through a file/],
    [LAYOUT, 'lab/a:b', /^E_INVALID_ARGS lab\/a:b: it is not an address \| it contains a colon/],
    [l('lab/CANARY:b'), 'l', /^E_INVALID_ARGS l: a link leads to a name that is no address: it contains a colon/],
    [LAYOUT, `lab/${'n'.repeat(300)}`, /^E_INVALID_ARGS .*too long/],
  ];
  for (const [shape, path, expected] of rows) {
    it(`${path.slice(0, 20)} is told as ${expected.source}`, () => {
      const answer = errorOf(shape, path);
      expect(answer).toMatch(expected);
      expect(answer).not.toContain('CANARY');
    });
  }

  it('tells an alias as a denial, without the listed spelling', () => {
    const error = landingError({ action: 'read', asked: 'Lab' }, { kind: 'alias' });
    expect(error).toMatchObject({ code: 'E_GATE_DENIED', retry: 'no' });
  });

  it('is the refusal of within_city too', () => {
    const at = { action: 'search', asked: '/etc' };
    expect(landingError(at, { kind: 'outside', linked: false })).toEqual(outsideCity(at));
  });
});

describe('failureError', () => {
  const codes: Record<Failure, [string, string]> = {
    'no-entry': ['E_GATE_DENIED', 'yes'],
    'not-directory': ['E_GATE_DENIED', 'yes'],
    'is-directory': ['E_GATE_DENIED', 'yes'],
    'is-link': ['E_GATE_DENIED', 'yes'],
    moved: ['E_GATE_DENIED', 'yes'],
    'bad-name': ['E_INVALID_ARGS', 'no'],
    'not-regular': ['E_INVALID_ARGS', 'no'],
    'other-mount': ['E_GATE_DENIED', 'no'],
    'hard-link': ['E_GATE_DENIED', 'no'],
    'too-many-entries': ['E_LIMIT', 'no'],
    'not-granted': ['E_GATE_DENIED', 'no'],
    access: ['E_STORAGE_FATAL', 'no'],
    exhausted: ['E_STORAGE_FATAL', 'unknown'],
    io: ['E_STORAGE_FATAL', 'unknown'],
  };
  it('has a code and a sentence for every failure', () => {
    // The keys of a record of Failure are failures.
    for (const failure of Object.keys(codes) as Failure[]) {
      const error = failureError({ action: 'read', asked: 'x' }, failure);
      expect([error.code, error.retry]).toEqual(codes[failure]);
      expect(error.recovery).not.toBe('');
      expect(FAILURE_SENTENCES[failure]).not.toBe('');
    }
  });
});

describe('stillJudged', () => {
  const address = (text: string): Address => {
    const parsed = parseAddress(text);
    if (isBroken(parsed)) throw new Error(text);
    return parsed;
  };
  const still = (path: string, identity: Identity): boolean =>
    stillJudged({ root: city.root, spellings: SPELLINGS, bound: BOUND }, address(path), identity);
  const identity = (path: string): Identity => {
    const node = city.at(path);
    if (node === undefined) throw new Error(path);
    return city.identity(node);
  };
  /** Puts something else at a name of `lab`. */
  const swap = (name: string, node: Parameters<City['identity']>[0]): void => {
    const lab = city.at('lab');
    if (lab?.kind === 'directory') lab.names.set(name, node);
  };

  it('holds for what did not change, file and directory', () => {
    city = new City(LAYOUT);
    expect(still('lab/x.md', identity('lab/x.md'))).toBe(true);
    expect(still('lab/room', identity('lab/room'))).toBe(true);
  });

  it('fails where another file stands in the same place', () => {
    city = new City(LAYOUT);
    const opened = identity('lab/x.md');
    swap('x.md', file('x'));
    expect(still('lab/x.md', opened)).toBe(false);
  });

  it('fails where another directory does', () => {
    city = new City(LAYOUT);
    const opened = identity('lab/room');
    swap('room', directory({}));
    expect(still('lab/room', opened)).toBe(false);
  });

  it('fails where a link was put in its place, even one to the same file', () => {
    city = new City({ lab: { 'x.md': 'x', y: 'y' } });
    const opened = identity('lab/y');
    swap('x.md', link('y'));
    expect(still('lab/x.md', opened)).toBe(false);
  });

  it('fails where a link on the way leads around and back to the same place', () => {
    city = new City({ lab: { real: { x: 'x' } } });
    const opened = identity('lab/real/x');
    const real = city.at('lab/real');
    if (real?.kind !== 'directory') throw new Error('lab/real');
    swap('moved', real);
    swap('real', link('moved'));
    expect(still('lab/real/x', opened)).toBe(false);
  });

  it('fails where it is gone, or is closed', () => {
    city = new City(LAYOUT);
    expect(still('lab/none', identity('lab/x.md'))).toBe(false);
    expect(still('vault/secret', identity('vault/secret'))).toBe(false);
  });
});
