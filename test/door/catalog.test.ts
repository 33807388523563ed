/**
 * The catalog as an embedder meets it: shelves that are entered with a city, one scan a run, pins that its reads keep.
 * Spec: locators-and-catalog, "Catalog".
 */

import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createBLAKE3 } from 'hash-wasm';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunCatalog } from '../../dist/door/catalog.js';
import { limitReached, ok, refused } from '../../dist/error.js';
import { type City, type CityOptions, memoryCity, openRunner } from '../../dist/index.js';
import { EMPTY_CATALOG } from '../../dist/judge/catalog.js';
import { SHELVES_MAX } from '../../dist/limits.js';
import { asError, asValue } from '../support/outcomes.js';
import { descriptorCount } from '../tree/worlds.js';

const hash = await createBLAKE3();
const blake3 = (text: string): string => `cas:b3-${hash.init().update(text).digest('hex')}`;

const roomOf = (...names: string[]): string =>
  `confidential = false\nwrite = "everything"\nreading_room = ${JSON.stringify(names)}\n`;

describe.each(['workers', 'inline'] as const)('a run with shelves, with calls %s', async (mode) => {
  const runner = await openRunner({ mode, workers: 2 });
  afterAll(() => runner.close());
  let base: string;
  const entered: City[] = [];
  const write = (at: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(base, at)), { recursive: true });
    fs.writeFileSync(path.join(base, at), text);
  };
  const enter = async (options: CityOptions = {}): Promise<City> => {
    const city = asValue(await runner.enter(path.join(base, 'city'), { reader: 'lab', ...options }));
    entered.push(city);
    return city;
  };
  const shelf = (): string => path.join(base, 'shelf');
  beforeEach(() => {
    base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-catalog-'));
    write('city/lab/.sprawling/RULES.toml', roomOf('pack', 'outer', 'none'));
    write('city/.sprawling/library/s/pack/SKILL.md', '# Pack\n');
    write('city/.sprawling/library/s/pack/deep/notes.md', 'deep\n');
    write('city/lab/notes.md', 'notes\n');
    write('shelf/outer/SKILL.md', '# Outer\n');
  });
  afterEach(async () => {
    for (const city of entered.splice(0)) await city.leave();
    fs.rmSync(base, { recursive: true, force: true });
  });

  it('tells what it may open by name, the pins for its record, and what a person should know', async () => {
    const catalog = asValue(await (await enter({ shelves: [shelf()] })).catalog());
    expect(catalog.entries.map(({ name, disclosure }) => [name, disclosure])).toEqual([
      ['pack', 'Pack'],
      ['outer', 'Outer'],
    ]);
    expect(catalog.pins()).toEqual([
      { name: 'pack', hash: blake3('# Pack\n') },
      { name: 'outer', hash: blake3('# Outer\n') },
    ]);
    expect(catalog.diagnostics).toEqual([{ name: 'none', why: 'no shelf has it' }]);
  });

  it('reads by name, and what is carried hashes to its pin whatever its file holds since', async () => {
    const city = await enter({ shelves: [shelf()] });
    const [, pin] = asValue(await city.catalog()).pins();
    write('shelf/outer/SKILL.md', 'other bytes\n');
    const { text } = asValue(await city.call('read', { path: 'outer' }));
    expect(blake3(text)).toBe(pin?.hash);
    fs.rmSync(shelf(), { recursive: true });
    expect(asValue(await city.call('read', { path: 'outer' })).text).toBe('# Outer\n');
    expect(asValue(await city.call('read', { path: 'pack/deep/notes.md' })).text).toBe('deep\n');
  });

  it('keeps its names as long as it lasts; the next run has the new ones', async () => {
    const first = await enter();
    expect(asValue(await first.call('read', { path: 'pack' })).text).toBe('# Pack\n');
    write('city/lab/.sprawling/RULES.toml', roomOf());
    expect(asValue(await first.call('read', { path: 'pack' })).text).toBe('# Pack\n');
    expect(asError(await (await enter()).call('read', { path: 'pack' })).code).toBe('E_INVALID_ARGS');
  });

  it('scans once, however many first reads there are', async () => {
    const city = await enter({ shelves: [shelf()] });
    const reads = await Promise.all(Array.from({ length: 8 }, () => city.call('read', { path: 'outer' })));
    for (const read of reads) expect(asValue(read).text).toBe('# Outer\n');
    const [a, b] = await Promise.all([city.catalog(), city.catalog()]);
    expect(asValue(a).entries).toBe(asValue(b).entries);
  });

  it('takes the shelves farthest first, one in memory too', async () => {
    const near = memoryCity([['outer/SKILL.md', '# Nearer\n']]);
    const city = await enter({ shelves: [shelf(), near] });
    expect(asValue(await city.catalog()).entries[1]?.disclosure).toBe('Nearer');
    expect(asValue(await city.call('read', { path: 'outer' })).text).toBe('# Nearer\n');
  });

  it('is empty for an outsider, and looks at nothing', async () => {
    const city = await enter({ reader: null, shelves: [shelf()] });
    expect(asValue(await city.catalog())).toMatchObject({ entries: [], diagnostics: [] });
    expect(asError(await city.call('read', { path: 'outer' })).code).toBe('E_INVALID_ARGS');
  });

  it('says what is wrong with a catalog; read refuses, search goes on', async () => {
    write('city/.sprawling/library/t/pack.md', 'a second one of the name');
    const city = await enter();
    expect(asError(await city.catalog())).toMatchObject({ code: 'E_INVALID_ARGS', action: 'catalog' });
    expect(asError(await city.call('read', { path: 'lab/notes.md' }))).toMatchObject({
      code: 'E_STORAGE_FATAL',
      subject: 'lab/notes.md: the catalog cannot be consulted',
      recovery: expect.stringMatching(/: the catalog has more than one entry of the name "pack"$/),
    });
    expect(asValue(await city.call('search', { text: 'notes' })).count).toBe(1);
  });

  it('says that its own rules do not read; read refuses, search goes on', async () => {
    write('city/lab/.sprawling/RULES.toml', 'reading_room = 5');
    const city = await enter();
    expect(asError(await city.catalog())).toMatchObject({ code: 'E_CONFIG_INVALID', action: 'catalog' });
    expect(asError(await city.call('read', { path: 'lab/notes.md' }))).toMatchObject({
      code: 'E_CONFIG_INVALID',
      action: 'read',
    });
    expect(asValue(await city.call('search', { text: 'notes' })).count).toBe(1);
  });

  it('is not entered without one of its shelves, and nothing stays open', async () => {
    const open = descriptorCount();
    const refuse = async (shelves: string[]) =>
      asError(await runner.enter(path.join(base, 'city'), { reader: 'lab', shelves }));
    const none = path.join(base, 'none');
    expect(await refuse([shelf(), none])).toMatchObject({
      code: 'E_CONFIG_INVALID',
      subject: `${none}: there is no such directory`,
    });
    const file = path.join(base, 'city/lab/notes.md');
    expect((await refuse([file])).code).toBe('E_CONFIG_INVALID');
    expect((await refuse(Array(SHELVES_MAX + 1).fill(shelf()))).code).toBe('E_CONFIG_INVALID');
    expect(asValue(await (await enter({ shelves: Array(SHELVES_MAX).fill(shelf()) })).catalog()).entries).toHaveLength(
      2,
    );
    for (const city of entered.splice(0)) await city.leave();
    // A keeper lets go in its own thread.
    await expect.poll(descriptorCount).toBeLessThanOrEqual(open);
  });

  it('gives no catalog once it was left', async () => {
    const city = await enter();
    await city.leave();
    expect(asError(await city.catalog()).recovery).toBe('enter it again');
  });

  it('hears the signal of a read that waits for the scan', async () => {
    const city = await enter();
    expect(asError(await city.call('read', { path: 'pack' }, { signal: AbortSignal.abort() })).code).toBe(
      'E_CANCELLED',
    );
    expect(asValue(await city.call('read', { path: 'pack' })).text).toBe('# Pack\n');
  });
});

describe('the receipt of a read by name', () => {
  it('says what kind of thing was handed over, and nothing of the city for what is carried', async () => {
    const lines: string[] = [];
    const sink = {
      append: async (text: string) => {
        lines.push(...text.trimEnd().split('\n'));
      },
    };
    const runner = await openRunner({ mode: 'inline', receipts: { sink } });
    const things = memoryCity([
      ['lab/.sprawling/RULES.toml', roomOf('pack', 'doc', 'outer')],
      ['.sprawling/library/s/pack/SKILL.md', '# Pack\n'],
      ['.sprawling/library/s/doc.md', '# Doc\n'],
    ]);
    const shelves = [memoryCity([['outer/SKILL.md', '# Outer\n']])];
    const city = asValue(await runner.enter(things, { reader: 'lab', shelves }));
    for (const name of ['pack', 'doc', 'outer']) asValue(await city.call('read', { path: name }));
    await runner.close();
    const kinds = lines.map((line) => JSON.parse(line)).flatMap(({ handed }) => handed ?? []);
    expect(kinds).toEqual(['package', 'document', 'none']);
    expect(lines.join()).not.toContain('.sprawling');
  });
});

describe('the scan of a run', () => {
  const at = { action: 'read', asked: 'x' };
  it('that found no thread is made again, and told as the answer to who asked', async () => {
    const answers = [
      refused(limitReached({ action: 'catalog', asked: '' }, 'its queue is full', 'later', 'yes')),
      ok(EMPTY_CATALOG),
    ];
    const catalog = new RunCatalog(async () => answers.shift() ?? Promise.reject(new Error('scanned too often')));
    expect(asError(await catalog.read(at))).toMatchObject({
      action: 'read',
      subject: 'x: its queue is full',
      retry: 'yes',
    });
    expect(asValue(await catalog.read(at))).toBe(EMPTY_CATALOG);
    expect(asValue(await catalog.read(at))).toBe(EMPTY_CATALOG);
  });

  it('goes on when one who waits for it is cancelled, and leaves nothing on a signal', async () => {
    let finish = (): void => {};
    const made = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const catalog = new RunCatalog(() => made.then(() => ok(EMPTY_CATALOG)));
    const cancel = new AbortController();
    const other = new AbortController();
    const [cancelled, patient] = [catalog.read(at, cancel.signal), catalog.read(at, other.signal)];
    cancel.abort();
    expect(asError(await cancelled).code).toBe('E_CANCELLED');
    finish();
    expect(asValue(await patient)).toBe(EMPTY_CATALOG);
    for (const { signal } of [cancel, other]) expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
