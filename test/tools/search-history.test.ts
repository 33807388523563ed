/**
 * `search_history`, the host's side: what is asked, for whom it is there, what is told of the guest's pages, and what of
 * them is refused. Over guests that hand over objects made by hand, so that it holds whatever the guest does.
 */

import { afterEach, describe, expect, it } from 'vitest';
import * as limits from '../../dist/limits.js';
import { BUDGETS } from '../../dist/runner/budget.js';
import type { SearchHistoryValue } from '../../dist/tools/search-history.js';
import type { HistoryEntry, HistoryPage } from '../../dist/wasi/guest.js';
import { type CallOptions, city, type Setting, type TestCity } from '../support/cities.js';
import { type Bent, directory, gitDirectory, guestOver, lastPage, Objects, SHA256_CONFIG } from '../support/objects.js';
import { asError, asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';

const begun: TestCity[] = [];
afterEach(() => {
  for (const place of begun.splice(0)) place.end();
});

const MEMORY: Setting = { tree: 'memory', binding: 'fixed' };
const OPEN: Things = [...gitDirectory('.git'), ['lab/notes.md', 'notes\n']];
const CLOSED: Things = [...OPEN, ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n']];

function begin(things: Things = OPEN, setting: Setting = MEMORY): TestCity {
  const place = city(setting, things);
  begun.push(place);
  return place;
}

const bytes = (text: string | Uint8Array): Uint8Array => Uint8Array.from(Buffer.from(text));

/** A commit of one entry, and the hit that a guest makes of it. */
function entry(objects: Objects, path: string | Uint8Array, content: string | Uint8Array, message = 'x'): HistoryEntry {
  const blob = objects.put('blob', content);
  const latin1 = Buffer.from(path).toString('latin1');
  const segments = latin1.split('/');
  let oid = blob;
  for (const [depth, segment] of segments.reverse().entries()) {
    const name = Buffer.from(segment, 'latin1');
    const tree = Buffer.concat([
      Buffer.from(`${depth === 0 ? '100644' : '40000'} `),
      name,
      Buffer.from([0]),
      Buffer.from(oid, 'hex'),
    ]);
    oid = objects.put('tree', tree);
  }
  return { commit: objects.commitOf(oid, message), path: bytes(path), blob };
}

const ask = (place: TestCity, args: unknown, objects: Objects, bent: Bent = {}, options: CallOptions = {}) =>
  place.call('search_history', args, {
    ...options,
    unchecked: { ...options.unchecked, guest: guestOver(objects, bent) },
  });

/** The answer to a pattern, of a guest that gives these entries on one page. */
async function found(entries: readonly HistoryEntry[], objects: Objects, place = begin(), options: CallOptions = {}) {
  const pages = () => [lastPage(...entries)];
  return asValue(await ask(place, { pattern: 'needle' }, objects, { pages }, options)) as Hits;
}
type Hits = Extract<SearchHistoryValue, { addresses: string[] }>;

describe('what is asked', () => {
  it.each<[claim: string, args: unknown]>([
    ['both', { pattern: 'a', entry: `${'a'.repeat(40)}:messages/1` }],
    ['neither', {}],
    ['null', null],
    ['no object', 'needle'],
    ['an unknown field', { pattern: 'a', limit: 3 }],
    ['a null pattern', { pattern: null }],
    ['a null entry', { entry: null }],
    ['a number', { pattern: 1 }],
    ['an empty pattern', { pattern: '' }],
    ['a lone surrogate', { pattern: '\ud800' }],
  ])('%s is refused, and the refusal names the two shapes', async (_, args) => {
    const error = asError(await ask(begin(), args, new Objects()));
    expect(error).toMatchObject({ code: 'E_INVALID_ARGS', action: 'search_history' });
    expect(error.recovery).toBe('give exactly one of {"pattern": "<text>"} and {"entry": "<commit>:<path>"}');
  });

  it('a pattern goes to the guest as its bytes, newlines too, with the branches and the two directories', async () => {
    let asked: unknown;
    const onAsked = (of: unknown) => {
      asked = of;
    };
    asValue(await ask(begin(), { pattern: 'ü\nb' }, new Objects(), { onAsked }));
    expect(asked).toMatchObject({
      pattern: bytes('ü\nb'),
      branches: ['agents/*'],
      directories: ['messages', 'summary'],
      oidBytes: 20,
      pageWork: limits.HISTORY_PAGE_WORK,
      pageBytes: limits.HISTORY_PAGE_BYTES,
    });
  });
});

describe('whom it is there for', () => {
  const offered = (things: Things, options: CallOptions) =>
    ask(begin(things), { pattern: 'x' }, new Objects(), {}, options);

  it('everybody, where nothing is closed', async () => {
    expect(await offered(OPEN, {})).toMatchObject({ ok: true });
  });

  it.each<[claim: string, things: Things, options: CallOptions]>([
    ['a building is confidential', CLOSED, {}],
    ['another building is, to a resident of one', CLOSED, { reader: 'lab' }],
    ['a building’s rules do not read', [...OPEN, ['broken/.sprawling/RULES.toml', '=']], {}],
    ['the embedder’s policy closes one', OPEN, { policy: () => ({ kind: 'confidential' }) }],
    ['something is denied by pattern', OPEN, { deny: ['**/*.pem'] }],
    ['no branch at all was named', OPEN, { history: { branches: [], repository: null } }],
    ['the bound of one wall is open', CLOSED, { unchecked: { openUnchecked: 'judge' } }],
    ['the bound of the other wall is open', CLOSED, { unchecked: { openUnchecked: 'filesystem' } }],
  ])('nobody, as if there were no such tool, where %s', async (_, things, options) => {
    const error = asError(await offered(things, options));
    expect(error).toMatchObject({ code: 'E_TOOL_UNKNOWN', nearby: ['search', 'read'] });
  });

  it('whom it was named branches for, whatever is closed', async () => {
    const history = { branches: ['agents/lab-*'], repository: null };
    let asked: unknown;
    const onAsked = (of: unknown) => {
      asked = of;
    };
    const outcome = await ask(begin(CLOSED), { pattern: 'x' }, new Objects(), { onAsked }, { history, reader: 'lab' });
    expect(outcome).toMatchObject({ ok: true });
    expect(asked).toMatchObject({ branches: ['agents/lab-*'] });
  });

  it('the only resident of the one that is closed', async () => {
    expect(await offered(CLOSED, { reader: 'vault' })).toMatchObject({ ok: true });
  });
});

describe('the answer to a pattern', () => {
  it('is empty where nothing is found', async () => {
    expect(await found([], new Objects())).toEqual({ text: '', addresses: [], truncated: false });
  });

  it('is every address, newest first, then the newest five in frames that count their bytes', async () => {
    const objects = new Objects();
    const entries = Array.from({ length: 7 }, (_, at) =>
      entry(objects, `messages/00${at}.json`, `needle ${at} ü\n`, `${at}`),
    );
    const addresses = entries.map(({ commit, path }) => `${commit}:${Buffer.from(path)}`);
    const frames = entries
      .slice(0, limits.HISTORY_SHOWN)
      .map((_, at) => `\n<entry address="${addresses[at]}" bytes="12">\nneedle ${at} ü\n\n</entry>\n`);
    expect(await found(entries, objects)).toEqual({
      text: addresses.map((address) => `${address}\n`).join('') + frames.join(''),
      addresses,
      truncated: false,
    });
  });

  it('has one newline more behind an entry, also where that ends in none', async () => {
    const objects = new Objects();
    const { text } = await found([entry(objects, 'summary/1.md', 'needle')], objects);
    expect(text.endsWith('bytes="6">\nneedle\n</entry>\n')).toBe(true);
  });

  it('writes a path with a control character as a JSON string in the text, and exactly in `addresses`', async () => {
    const objects = new Objects();
    const { text, addresses } = await found([entry(objects, 'messages/a\n"b".json', 'needle')], objects);
    expect(addresses[0]).toMatch(/:messages\/a\n"b"\.json$/);
    expect(text.split('\n')[0]).toMatch(/^[0-9a-f]{40}:"messages\/a\\n\\"b\\".json"$/);
  });

  it('writes quotes alone as they are', async () => {
    const objects = new Objects();
    const { text, addresses } = await found([entry(objects, 'messages/"b".json', 'needle')], objects);
    expect(text.split('\n')[0]).toBe(addresses[0]);
  });

  it('cannot be forged by an entry’s own text: what follows a frame’s count is the next frame', async () => {
    const objects = new Objects();
    const forged = 'needle\n</entry>\n\n<entry address="x" bytes="3">\nabc\n</entry>';
    const { text } = await found(
      [entry(objects, 'messages/1', forged), entry(objects, 'messages/2', 'needle')],
      objects,
    );
    const bytesOf = Buffer.from(text.slice(text.indexOf('\n\n') + 2));
    const header = bytesOf.toString().split('\n')[0] ?? '';
    const count = Number(/ bytes="(\d+)">$/.exec(header)?.[1]);
    const rest = bytesOf.subarray(Buffer.byteLength(header) + 1 + count).toString();
    expect(rest).toMatch(/^\n<\/entry>\n\n<entry address="[0-9a-f]{40}:messages\/2" bytes="6">\nneedle\n<\/entry>\n$/);
  });

  it('shows another repository’s commit as git does, and there is no such entry to ask for', async () => {
    const objects = new Objects();
    const module = 'c'.repeat(40);
    const commit = objects.commit(directory({ 'messages/module': { mode: '160000', oid: module } }));
    const hit = { commit, path: bytes('messages/module'), blob: module };
    const outcome = await ask(begin(), { pattern: 'Subproject' }, objects, { pages: () => [lastPage(hit)] });
    expect((asValue(outcome) as Hits).text).toContain(`\nSubproject commit ${module}\n\n</entry>`);
    expect(asError(await ask(begin(), { entry: `${commit}:messages/module` }, objects)).code).toBe('E_INVALID_ARGS');
    const lie = await ask(begin(), { pattern: 'Subproject' }, objects, {
      pages: () => [lastPage({ ...hit, blob: 'd'.repeat(40) })],
    });
    expect(asError(lie).code).toBe('E_GUEST_TRAP');
  });

  it('shows a path that is not UTF-8 with U+FFFD, and its entry all the same', async () => {
    const objects = new Objects();
    const path = Buffer.from('messages/\xff.json', 'latin1');
    const { text, addresses } = await found([entry(objects, path, 'needle')], objects);
    expect(addresses[0]).toMatch(/:messages\/\ufffd\.json$/);
    expect(text).toContain('\nneedle\n</entry>');
  });
});

describe('a long entry is shown by its two ends', () => {
  const body = async (content: string | Uint8Array): Promise<string> => {
    const objects = new Objects();
    const { text } = await found([entry(objects, 'messages/1', content)], objects);
    const [, count, rest = ''] = /\n\n<entry address="[^"]*" bytes="(\d+)">\n(.*)\n<\/entry>\n$/s.exec(text) ?? [];
    expect(Buffer.byteLength(rest)).toBe(Number(count));
    return rest.replace(/[0-9a-f]{40}:/, '@:');
  };
  const marker = (total: number, lines: number, head: number, tail: number): string =>
    `[... entry truncated: ${total} bytes / ${lines} lines total; showing the first ${head} and last ${tail} bytes; full record: @:messages/1 ...]`;
  const filled = (length: number): string => `needle${'x'.repeat(length - 6)}`;

  it('8192 bytes are whole', async () => {
    expect(2 * limits.ENTRY_END_BYTES).toBe(8_192);
    expect(await body(filled(8_192))).toBe(filled(8_192));
  });

  it('8193 are 4096 and 4096, the marker on a line of its own', async () => {
    const all = filled(8_193);
    expect(await body(all)).toBe(`${all.slice(0, 4_096)}\n${marker(8_193, 1, 4_096, 4_096)}\n${all.slice(-4_096)}`);
  });

  it('a head that ends in a newline needs no other', async () => {
    const all = `needle${'x'.repeat(4_089)}\n${'y'.repeat(5_000)}\n`;
    expect(await body(all)).toBe(`${all.slice(0, 4_096)}${marker(9_097, 2, 4_096, 4_096)}\n${all.slice(-4_096)}`);
  });

  it('cuts move inward to the borders of characters, and the marker says what is shown', async () => {
    const all = `needle${'x'.repeat(4_088)}\u{1f600}${'y'.repeat(5_000)}\u{1f600}${'z'.repeat(4_094)}`;
    const head = `needle${'x'.repeat(4_088)}`;
    expect(await body(all)).toBe(`${head}\n${marker(13_196, 1, 4_094, 4_094)}\n${'z'.repeat(4_094)}`);
  });

  it.each([1, 3, 999, 4_096, 8_192, 100_000])('in pieces of %i bytes it is the same', async (pieceBytes) => {
    const objects = new Objects();
    const all = `${'line\n'.repeat(3_000)}needle é`;
    const hit = entry(objects, 'messages/1', all);
    const { trailOf } = await import('../support/objects.js');
    const outcome = await ask(begin(), { pattern: 'needle' }, objects, {
      pages: () => [lastPage(hit)],
      trail: (asked) => trailOf(objects, asked, pieceBytes),
    });
    const { text } = asValue(outcome) as Hits;
    expect(text).toContain(`15009 bytes / 3001 lines total; showing the first 4096 and last 4096 bytes`);
    expect(text.endsWith('needle é\n</entry>\n')).toBe(true);
  });

  it('one over what is read through is named instead', async () => {
    const objects = new Objects();
    const hit = entry(objects, 'messages/1', 'needle');
    let asked: unknown;
    const tooLarge = (filesystem: Parameters<ReturnType<typeof guestOver>>[0]) => ({
      ...guestOver(objects, { pages: () => [lastPage(hit)] })(filesystem),
      trail: (of: { readonly blobMax: number }) => {
        asked = of.blobMax;
        return { ok: false, fault: 'too-large' } as const;
      },
    });
    const outcome = await begin().call('search_history', { pattern: 'needle' }, { unchecked: { guest: tooLarge } });
    expect((asValue(outcome) as Hits).text).toContain('\n[... entry too large to show; full record: ');
    expect(asked).toBe(limits.ENTRY_MAX_BYTES);
  });

  it('one that is not UTF-8 is named instead', async () => {
    expect(await body(Buffer.from('needle \xff', 'latin1'))).toBe(
      '[... entry is not UTF-8: 8 bytes; full record: @:messages/1 ...]',
    );
    expect(await body(Buffer.from('needle \xc3', 'latin1'))).toContain('is not UTF-8');
  });
});

describe('pages, budgets and signals', () => {
  const objects = new Objects();
  const entries = Array.from({ length: 6 }, (_, at) => entry(objects, `messages/${at}`, `needle ${at}`, `${at}`));
  const pages = (ending: HistoryPage['ending'] = 'complete') => [
    { entries: entries.slice(0, 2), commits: 2, ending: 'paused' as const },
    { entries: [], commits: 3, ending: 'paused' as const },
    { entries: entries.slice(2, 4), commits: 9, ending },
  ];
  const addressesOf = (hits: readonly HistoryEntry[]) =>
    hits.map(({ commit, path }) => `${commit}:${Buffer.from(path)}`);

  it('pages are put together in their order', async () => {
    const value = asValue(await ask(begin(), { pattern: 'needle' }, objects, { pages: () => pages() })) as Hits;
    expect(value).toMatchObject({ addresses: addressesOf(entries.slice(0, 4)), truncated: false });
    expect(value.text.match(/<entry /g)).toHaveLength(4);
  });

  it('a signal ends it between pages', async () => {
    const outcome = await ask(
      begin(),
      { pattern: 'needle' },
      objects,
      { pages: () => pages() },
      { goOn: async () => false },
    );
    expect(asError(outcome).code).toBe('E_CANCELLED');
  });

  it('what was found is left behind page by page, in case the call is ended from outside', async () => {
    const left: Hits[] = [];
    const onPartial = (value: unknown) => left.push(value as Hits);
    asValue(await ask(begin(), { pattern: 'needle' }, objects, { pages: () => pages() }, { onPartial }));
    expect(left.map(({ addresses }) => addresses.length)).toEqual([0, 2, 2]);
    expect(left.every(({ truncated, stopped }) => truncated && stopped?.startsWith('stopped: its time is over'))).toBe(
      true,
    );
  });

  it('the guest’s memory that is full gives what was found, and says so', async () => {
    const value = asValue(await ask(begin(), { pattern: 'needle' }, objects, { pages: () => pages('budget') })) as Hits;
    expect(value).toMatchObject({ addresses: addressesOf(entries.slice(0, 4)), truncated: true });
    expect(value.stopped).toContain('memory is full');
    expect(value.text.match(/<entry /g)).toHaveLength(4);
  });

  it('the call’s time gives what was found, newest first, and says so', async () => {
    let turns = 0;
    const goOn = async () => {
      if (++turns === 2) await new Promise((resolve) => setTimeout(resolve, 120));
      return true;
    };
    const value = asValue(
      await ask(
        begin(),
        { pattern: 'needle' },
        objects,
        { pages: () => pages() },
        { goOn, timeMs: 100, budgets: { timeMs: BUDGETS.timeMs } },
      ),
    ) as Hits;
    expect(value.truncated).toBe(true);
    expect(value.stopped).toMatch(/^stopped: its time is over \(100 ms\)/);
    expect(addressesOf(entries).slice(0, value.addresses.length)).toEqual(value.addresses);
  });

  it('addresses beyond their bound are left out from the oldest on', async () => {
    const many = Array.from({ length: 400 }, (_, at) => entry(objects, `messages/many-${at}`, `needle ${at}`));
    const value = await found(many, objects);
    expect(value.truncated).toBe(true);
    expect(value.stopped).toBe('stopped: its addresses reached 16 KiB; narrow it with a longer pattern');
    expect(value.addresses).toEqual(addressesOf(many).slice(0, value.addresses.length));
    expect(value.addresses.join('\n').length).toBeLessThan(limits.HISTORY_ADDRESSES_MAX_BYTES);
    expect(value.addresses.length).toBeGreaterThan(250);
  });
});

describe('what no honest guest says is refused', () => {
  const objects = new Objects();
  const hit = entry(objects, 'messages/1', 'needle');
  const other = entry(objects, 'messages/1', 'needle too');

  it.each<[claim: string, page: HistoryPage]>([
    ['an entry of another directory', lastPage({ ...hit, path: bytes('lab/notes.md') })],
    ['an entry that is the directory', lastPage({ ...hit, path: bytes('messages') })],
    ['a path longer than any', lastPage({ ...hit, path: bytes(`messages/${'x'.repeat(limits.PATH_MAX_BYTES)}`) })],
    ['the same, left out', lastPage({ ...hit, path: bytes(`messages//${'x'.repeat(limits.PATH_MAX_BYTES)}`) })],
    ['a short commit', lastPage({ ...hit, commit: hit.commit.slice(1) })],
    ['a commit in capitals', lastPage({ ...hit, commit: 'A'.repeat(40) })],
    ['an option as a commit', lastPage({ ...hit, commit: '--upload-pack=x'.padEnd(40, 'x') })],
    ['a blob that is no name', lastPage({ ...hit, blob: 'g'.repeat(40) })],
    ['one entry twice', lastPage(hit, hit)],
    ['a blob that is another one', lastPage({ ...hit, blob: other.blob })],
    ['a commit that is not there', lastPage({ ...hit, commit: 'a'.repeat(40) })],
    ['a path that is not in the commit', lastPage({ ...hit, path: bytes('messages/2') })],
    ['an entry without the pattern', lastPage(entry(objects, 'messages/3', 'need les'))],
  ])('%s', async (_, page) => {
    const outcome = await ask(begin(), { pattern: 'needle' }, objects, { pages: () => [page] });
    expect(asError(outcome).code).toBe('E_GUEST_TRAP');
  });

  it('fewer commits than before', async () => {
    const pages = () => [{ entries: [], commits: 5, ending: 'paused' as const }, lastPage()];
    expect(asError(await ask(begin(), { pattern: 'x' }, objects, { pages })).code).toBe('E_GUEST_TRAP');
  });

  it('other bytes than the address means leave nowhere', async () => {
    const { trailOf } = await import('../support/objects.js');
    const forged = bytes('needle, but forged'.slice(0, 6));
    forged[5] = 0x45;
    const outcome = await ask(begin(), { pattern: 'needle' }, objects, {
      pages: () => [lastPage(hit)],
      trail: (asked) =>
        trailOf(objects, asked).map((page) => (page.piece.length > 0 ? { ...page, piece: forged } : page)),
    });
    expect(asError(outcome)).toMatchObject({
      code: 'E_STORAGE_FATAL',
      subject: expect.stringContaining('not the one its name means'),
    });
  });

  it('nothing is kept of what is left out, however often it is named', async () => {
    const [hidden, denied] = [
      { ...hit, path: bytes('messages//x') },
      { ...hit, path: bytes('messages/key.pem') },
    ];
    const pages = () => [lastPage(hidden, hidden, denied, denied, hit)];
    const options: CallOptions = { deny: ['**/*.pem'], history: { branches: ['agents/*'], repository: null } };
    const value = asValue(await ask(begin(), { pattern: 'needle' }, objects, { pages }, options)) as Hits;
    expect(value.addresses).toEqual([`${hit.commit}:messages/1`]);
  });

  it('a path that nobody could ask for is left out, since only a hostile repository holds one', async () => {
    const pages = () => [lastPage({ ...hit, path: bytes('messages/../x') }, hit)];
    const value = asValue(await ask(begin(), { pattern: 'needle' }, objects, { pages })) as Hits;
    expect(value.addresses).toEqual([`${hit.commit}:messages/1`]);
  });
});

describe('a city that is a bare repository', () => {
  const BARE: Things = [
    ...gitDirectory('x').map(([at, thing]) => [String(at).slice(2), thing] as const),
    ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
    ['packed-refs', '# pack-refs with: peeled fully-peeled sorted\n'],
    ['vault/secret', 'SECRET\n'],
    ['lab/key.pem', 'SECRET\n'],
    ['lab/.sprawling/RULES.toml', ''],
  ];
  const history = { branches: ['agents/*'], repository: null };

  /** What a hostile guest gets of a path, when it is handed the repository. */
  async function opened(path: string, options: CallOptions = {}): Promise<unknown> {
    let got: unknown;
    const guest = (filesystem: Parameters<ReturnType<typeof guestOver>>[0]) => ({
      ...guestOver(new Objects())(filesystem),
      history: () => {
        const root = filesystem.preopened();
        if (typeof root === 'string') throw new Error('not handed the repository');
        got = filesystem.openAt(root.handle, { follow: true, path, directory: false, mutates: false });
        return { ok: true, page: lastPage() } as const;
      },
    });
    const unchecked = { ...options.unchecked, guest };
    asValue(await begin(BARE).call('search_history', { pattern: 'x' }, { history, ...options, unchecked }));
    return got;
  }

  it.each<[wall: string, openUnchecked?: 'judge' | 'filesystem']>([
    ['both walls'],
    ['the judge open', 'judge'],
    ['the file system open', 'filesystem'],
  ])('is a city first: the guest that reads it opens nothing closed, with %s', async (_, openUnchecked) => {
    const options = { deny: ['**/*.pem'], ...(openUnchecked && { unchecked: { openUnchecked } }) };
    for (const path of ['vault/secret', 'lab/key.pem', 'lab/.sprawling/RULES.toml']) {
      expect(await opened(path, options), path).toBe('not-permitted');
    }
    expect(await opened('packed-refs', options)).toBeTypeOf('object');
  });

  it('is closed where a building of its is that the repository is kept in', async () => {
    const policy = (building: string) => ({ kind: building === 'refs' ? 'confidential' : 'open' }) as const;
    const outcome = await ask(begin(BARE), { pattern: 'x' }, new Objects(), {}, { history, policy });
    expect(asError(outcome).code).toBe('E_GATE_DENIED');
  });
});

describe('deny patterns hold for entries', () => {
  const objects = new Objects();
  const entries = [entry(objects, 'messages/key.pem', 'needle'), entry(objects, 'messages/1', 'needle 1')];
  const options: CallOptions = { deny: ['**/*.PEM'], history: { branches: ['agents/*'], repository: null } };
  const [denied, open] = entries.map(({ commit, path }) => `${commit}:${Buffer.from(path)}`);

  it.each<[wall: string, openUnchecked?: 'judge' | 'filesystem']>([
    ['both walls'],
    ['the judge open', 'judge'],
    ['the file system open', 'filesystem'],
  ])('hits and entries alike, with %s', async (_, openUnchecked) => {
    const unchecked = openUnchecked === undefined ? {} : { openUnchecked };
    const value = await found(entries, objects, begin(), { ...options, unchecked });
    expect(value.addresses).toEqual([open]);
    const refusal = await ask(begin(), { entry: denied }, objects, {}, { ...options, unchecked });
    expect(asError(refusal).code).toBe('E_GATE_DENIED');
  });

  it('and for the repository itself', async () => {
    const outcome = await ask(begin(), { pattern: 'needle' }, objects, {}, { ...options, deny: ['.git'] });
    expect(asError(outcome)).toMatchObject({ code: 'E_GATE_DENIED' });
  });
});

describe('one entry', () => {
  const objects = new Objects();
  const files = directory({
    'messages/001.json': '{"a":1}',
    'messages/deep/er/x': 'deep\n',
    'messages/bom': '\ufeffx',
    'messages/empty': '',
    'messages/bytes': bytes(Buffer.from('\xff\x00', 'latin1')),
    'messages/64k': 'x'.repeat(65_536),
    'messages/over': 'x'.repeat(65_537),
    'messages/over-in-base64': Buffer.alloc(49_153, 0xff),
    'messages/link': { mode: '120000', oid: objects.put('blob', '../../outside') },
    'messages/module': { mode: '160000', oid: 'c'.repeat(40) },
    'messages/-rf': 'option\n',
    'lab/notes.md': 'notes\n',
  });
  const commit = objects.commit(files);
  const entryOf = (address: string, bent: Bent = {}, options: CallOptions = {}) =>
    ask(begin(), { entry: address }, objects, bent, options);

  it.each<[path: string, value: object]>([
    ['messages/001.json', { text: '{"a":1}' }],
    ['messages/deep/er/x', { text: 'deep\n' }],
    ['messages/bom', { text: '\ufeffx' }],
    ['messages/empty', { text: '' }],
    ['messages/bytes', { base64: '/wA=' }],
    ['messages/64k', { text: 'x'.repeat(65_536) }],
    ['messages/link', { text: '../../outside' }],
    ['messages/-rf', { text: 'option\n' }],
  ])('%s comes byte for byte', async (path, value) => {
    expect(asValue(await entryOf(`${commit}:${path}`))).toEqual(value);
  });

  it('is asked for with the branches that its commit has to be reached from', async () => {
    let asked: unknown;
    const onAsked = (of: unknown) => {
      asked = of;
    };
    await entryOf(`${commit}:messages/001.json`, { onAsked });
    expect(asked).toMatchObject({ commit, branches: ['agents/*'], blobMax: 65_536 });
  });

  it.each(['messages/over', 'messages/over-in-base64'])(
    '%s is over the budget of one answer, never shortened',
    async (path) => {
      expect(asError(await entryOf(`${commit}:${path}`))).toMatchObject({ code: 'E_LIMIT', retry: 'no' });
    },
  );

  it.each<[claim: string, address: string]>([
    ['nothing', ''],
    ['an option', '--output=/tmp/x'],
    ['an option before the colon', `--all:messages/001.json`],
    ['a branch', 'agents/a:messages/001.json'],
    ['HEAD', 'HEAD:messages/001.json'],
    ['a short commit', `${commit.slice(1)}:messages/001.json`],
    ['a commit in capitals', `${commit.toUpperCase()}:messages/001.json`],
    ['50 digits', `${commit}0123456789:messages/001.json`],
    ['a commit of the other hash', `${'a'.repeat(64)}:messages/001.json`],
    ['white space before it', ` ${commit}:messages/001.json`],
    ['a newline before it', `\n${commit}:messages/001.json`],
    ['no path', `${commit}:`],
    ['no colon', commit],
    ['a directory of entries', `${commit}:messages`],
    ['the same with a slash', `${commit}:messages/`],
    ['a directory below', `${commit}:messages/deep`],
    ['another directory', `${commit}:lab/notes.md`],
    ['another directory by dots', `${commit}:messages/../lab/notes.md`],
    ['a single dot', `${commit}:messages/./001.json`],
    ['a doubled slash', `${commit}:messages//001.json`],
    ['a slash before it', `${commit}:/messages/001.json`],
    ['a path in capitals', `${commit}:Messages/001.json`],
    ['a NUL', `${commit}:messages/001.json\0`],
    ['a lone surrogate', `${commit}:messages/\ud800`],
    ['a submodule', `${commit}:messages/module`],
    ['what is not there', `${commit}:messages/none`],
    ['a way through a file', `${commit}:messages/001.json/x`],
    ['a commit that is not there', `${'a'.repeat(40)}:messages/001.json`],
    ['a tree', `${objects.get(commit, 'commit')?.toString('latin1', 5, 45)}:messages/001.json`],
  ])('%s names none', async (_, address) => {
    expect(asError(await entryOf(address))).toMatchObject({ code: 'E_INVALID_ARGS', action: 'search_history' });
  });

  it('a commit that no branch leads to is not told from one that is not there', async () => {
    const ending = (kind: 'unreachable' | 'no-commit') => async () =>
      asError(
        await entryOf(`${commit}:messages/001.json`, {
          trail: () => [{ commit: bytes(''), trees: [], blobSize: 0, piece: bytes(''), ending: kind }],
        }),
      );
    expect(await ending('unreachable')()).toEqual(await ending('no-commit')());
  });

  it('comes from a SHA-256 repository too', async () => {
    const large = new Objects('sha256');
    const of = large.commit(directory({ 'summary/1.md': 'sum\n' }));
    const place = begin([...gitDirectory('.git', SHA256_CONFIG), ['lab/x', '']]);
    expect(asValue(await ask(place, { entry: `${of}:summary/1.md` }, large))).toEqual({ text: 'sum\n' });
  });
});

describe('the repository', () => {
  const objects = new Objects();

  it.each<[claim: string, things: Things]>([
    ['none', [['lab/notes.md', 'x']]],
    ['a shallow one', [...OPEN, ['.git/shallow', 'x']]],
    [
      'one with an unknown extension',
      [...gitDirectory('.git', '[core]\nrepositoryformatversion=1\n[extensions]\nteleport=1\n')],
    ],
  ])('%s is E_STORAGE_FATAL for both', async (_, things) => {
    for (const args of [{ pattern: 'x' }, { entry: `${'a'.repeat(40)}:messages/1` }]) {
      expect(asError(await ask(begin(things), args, objects)).code).toBe('E_STORAGE_FATAL');
    }
  });

  it('that the embedder named is read instead of the city’s own', async () => {
    const beside = begin(gitDirectory('.git', SHA256_CONFIG));
    let asked: unknown;
    const onAsked = (of: unknown) => {
      asked = of;
    };
    const history = { branches: null, repository: beside.world.spec };
    asValue(await ask(begin([['lab/x', '']]), { pattern: 'x' }, objects, { onAsked }, { history }));
    expect(asked).toMatchObject({ oidBytes: 32 });
  });

  it('that was moved into a closed building is closed', async () => {
    const things: Things = [...CLOSED, ...gitDirectory('vault/repo')].filter(([at]) => !String(at).startsWith('.git/'));
    const history = { branches: ['agents/*'], repository: null };
    const place = begin([...things, ['.git', 'gitdir: vault/repo\n']]);
    expect(asError(await ask(place, { pattern: 'x' }, objects, {}, { history })).code).toBe('E_GATE_DENIED');
    expect(await ask(place, { pattern: 'x' }, objects, {}, { history, reader: 'vault' })).toMatchObject({ ok: true });
  });

  it.each<[fault: 'corrupt' | 'missing' | 'disk' | 'unsupported' | 'no-repository']>([
    ['corrupt'],
    ['missing'],
    ['disk'],
    ['unsupported'],
    ['no-repository'],
  ])('that the guest finds to be %s is E_STORAGE_FATAL, never a shorter answer', async (fault) => {
    const broken = (filesystem: Parameters<ReturnType<typeof guestOver>>[0]) => ({
      ...guestOver(objects)(filesystem),
      history: () => ({ ok: false, fault }) as const,
    });
    const outcome = await begin().call('search_history', { pattern: 'x' }, { unchecked: { guest: broken } });
    expect(asError(outcome).code).toBe('E_STORAGE_FATAL');
  });
});

it('a repository has no building’s share: it is one thing, however much of it is read', async () => {
  const place = begin();
  const budgets = { buildingOpens: 1, buildingEntries: 1, buildingBytes: 1 };
  // Our own guest: an empty repository costs a dozen opens below one directory.
  expect(asValue(await place.call('search_history', { pattern: 'x' }, { budgets }))).toMatchObject({ addresses: [] });
});
