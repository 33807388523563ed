/** The runner as an embedder uses it: real directories, real threads, the public API. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { City, CityOptions, Policy, Runner } from '../../dist/index.js';
import { memoryCity, openRunner } from '../../dist/index.js';
import { asError, asValue } from '../support/outcomes.js';

const MODES = ['workers', 'inline'] as const;

function tree(files: Readonly<Record<string, string>>): string {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-runner-'));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(base, 'city', name)), { recursive: true });
    fs.writeFileSync(path.join(base, 'city', name), text);
  }
  return path.join(base, 'city');
}

const FILES = {
  'lab/a.txt': 'one\ntwo needle\n',
  'hall/b.txt': 'needle in the hall\n',
  'vault/.sprawling/RULES.toml': 'confidential = true\nwrite = "documents"\n',
  'vault/s.txt': 'needle in the vault\n',
};

describe.each(MODES)('a runner in %s mode', (mode) => {
  let runner: Runner;
  let root: string;

  beforeAll(async () => {
    runner = await openRunner({ mode, workers: 2 });
  });
  afterAll(() => runner.close());
  beforeEach(() => {
    root = tree(FILES);
  });
  afterEach(() => fs.rmSync(path.dirname(root), { recursive: true, force: true }));

  const entered = async (options?: CityOptions): Promise<City> => asValue(await runner.enter(root, options));

  it('answers typed calls of an outsider', async () => {
    const city = await entered();
    const found = asValue(await city.call('search', { text: 'needle' }));
    expect(found.matches.map(({ path: at }) => at)).toEqual(['hall/b.txt', 'lab/a.txt']);
    const text = asValue(await city.call('read', { path: 'lab/a.txt', offset: 1 }));
    expect(text.text).toBe('two needle\n');
    await city.leave();
  });

  it('opens a confidential building to its own resident, without asking its rules', async () => {
    const city = await entered({ reader: 'vault' });
    expect(asValue(await city.call('read', { path: 'vault/s.txt' })).text).toBe('needle in the vault\n');
    await city.leave();
  });

  it('knows its tools: any other name is E_TOOL_UNKNOWN with the tools nearby', async () => {
    const city = await entered();
    for (const name of ['serach', '__proto__', 'constructor', '']) {
      const error = asError(await city.call(name, {}));
      expect(error).toMatchObject({
        code: 'E_TOOL_UNKNOWN',
        nearby: ['search', 'read', 'search_history'],
        retry: 'no',
      });
    }
    await city.leave();
  });

  it('lets an embedder’s policy decide, asked once a building and call, sync or async', async () => {
    const asked: string[] = [];
    const policy: Policy = async (building) => {
      asked.push(building);
      return building === 'vault' ? { kind: 'open' } : { kind: 'confidential' };
    };
    const city = await entered({ policy });
    const found = asValue(await city.call('search', { text: 'needle' }));
    expect(found.matches.map(({ path: at }) => at)).toEqual(['vault/s.txt']);
    expect(asked.sort()).toEqual(['hall', 'lab', 'vault']);
    await city.leave();
  });

  it.each<[string, Policy]>([
    [
      'throws',
      () => {
        throw new Error(`canary ${root}`);
      },
    ],
    ['rejects', () => Promise.reject(new Error(`canary ${root}`))],
    // biome-ignore lint/suspicious/noExplicitAny: a JavaScript embedder may give anything
    ['gives no verdict', () => 'open' as any],
    // biome-ignore lint/suspicious/noExplicitAny: a JavaScript embedder may give anything
    ['gives undefined', () => undefined as any],
  ])('closes a building when the policy %s, and says so without the policy’s words', async (_, policy) => {
    const city = await entered({ policy });
    const error = asError(await city.call('read', { path: 'lab/a.txt' }));
    expect(error.code).toBe('E_GATE_DENIED');
    expect(JSON.stringify(error)).not.toContain('canary');
    await city.leave();
  });

  it('refuses a call whose signal has fired, and one whose signal fires on the way: E_CANCELLED', async () => {
    const city = await entered({
      policy: () => new Promise((resolve) => setTimeout(() => resolve({ kind: 'open' }), 100)),
    });
    const before = asError(await city.call('search', { text: 'needle' }, { signal: AbortSignal.abort() }));
    expect(before.code).toBe('E_CANCELLED');
    const later = new AbortController();
    const call = city.call('search', { text: 'needle' }, { signal: later.signal });
    setTimeout(() => later.abort(), 20);
    expect(asError(await call).code).toBe('E_CANCELLED');
    // The thread that was ended is replaced.
    expect((await city.call('read', { path: 'lab/a.txt' })).ok).toBe(true);
    await city.leave();
  });

  it('tells how far a long search has come', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`lab/f${n}`, 'x']));
    const big = tree(many);
    const city = asValue(await runner.enter(big));
    const seen: number[] = [];
    await city.call('search', { text: 'absent' }, { onProgress: ({ entries }) => seen.push(entries) });
    expect(seen.length).toBeGreaterThan(1);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
    await city.leave();
    fs.rmSync(path.dirname(big), { recursive: true });
  });

  it('throws what a listener of progress throws, and ends nobody else’s calls', async () => {
    const things = Array.from({ length: 2_500 }, (_, n) => [`lab/f${n}`, 'x'] as const);
    const city = asValue(await runner.enter(memoryCity(things)));
    // A RangeError is what a guest that uses up its stack throws: this one is not the guest's.
    const thrown = new RangeError('a bug of the embedder');
    let told = 0;
    const onProgress = () => {
      told++;
      throw thrown;
    };
    await expect(city.call('search', { text: 'absent' }, { onProgress })).rejects.toBe(thrown);
    expect(told).toBe(1);
    expect((await city.call('search', { text: 'absent' })).ok).toBe(true);
    await city.leave();
  });

  it.each([0, -1, Number.NaN, 1.5])('opens no runner of %d workers', async (workers) => {
    await expect(openRunner({ mode, workers })).rejects.toThrow('workers must be a whole number of 1 or more');
  });

  it('takes no call after it was left, and leaves only when those under way have answered', async () => {
    const city = await entered();
    const call = city.call('search', { text: 'needle' });
    const left = city.leave();
    expect((await call).ok).toBe(true);
    await left;
    expect(asError(await city.call('read', { path: 'lab/a.txt' }))).toMatchObject({ code: 'E_INVALID_ARGS' });
  });

  it('notices that the city was replaced: never an answer from a directory that is gone', async () => {
    const city = await entered();
    fs.renameSync(root, `${root}-old`);
    fs.mkdirSync(path.join(root, 'lab'), { recursive: true });
    const error = asError(await city.call('search', { text: 'needle' }));
    expect(error).toMatchObject({ code: 'E_STORAGE_FATAL', subject: 'needle: the city was replaced' });
    await city.leave();
  });

  it('takes up the new root at each call with root: reopen', async () => {
    const city = await entered({ root: 'reopen' });
    fs.renameSync(root, `${root}-old`);
    fs.mkdirSync(path.join(root, 'new'), { recursive: true });
    fs.writeFileSync(path.join(root, 'new/n.txt'), 'a needle');
    const found = asValue(await city.call('search', { text: 'needle' }));
    expect(found.matches.map(({ path: at }) => at)).toEqual(['new/n.txt']);
    await city.leave();
  });

  it('serves a city in memory', async () => {
    const city = asValue(await runner.enter(memoryCity([['lab/a', 'needle']])));
    expect(city.tree).toBe('memory');
    expect(asValue(await city.call('search', { text: 'needle' })).count).toBe(1);
    await city.leave();
  });

  it.each<[string, string, string]>([
    ['a directory that does not exist', 'nowhere', 'there is no such directory'],
    ['a file', 'lab/a.txt', 'it is not a directory'],
  ])('does not enter %s', async (_, where, fact) => {
    const error = asError(await runner.enter(path.join(root, where)));
    expect(error.code).toBe('E_CONFIG_INVALID');
    expect(error.subject.endsWith(fact)).toBe(true);
  });

  it.each(['', 'a/b', '..', '.git', '.Sprawling', 'a:b', 'a\\b'])('takes no reader called %j', async (reader) => {
    expect(asError(await runner.enter(root, { reader })).code).toBe('E_CONFIG_INVALID');
  });

  it('takes a reader that does not exist: a run may belong to a building that is not there yet', async () => {
    const city = await entered({ reader: 'tomorrow' });
    expect(city.reader).toBe('tomorrow');
    await city.leave();
  });

  it('takes no reader that the city spells otherwise', async () => {
    const folds = memoryCity([['Vault/s', 'x']], { foldsNames: true });
    expect(asError(await runner.enter(folds, { reader: 'vault' })).code).toBe('E_CONFIG_INVALID');
    const city = asValue(await runner.enter(folds, { reader: 'Vault' }));
    await city.leave();
  });

  it('leaves no descriptor open', async () => {
    const count = (): number => fs.readdirSync('/proc/self/fd').length;
    const city = await entered();
    await city.call('search', { text: 'needle' });
    const before = count();
    for (let n = 0; n < 50; n++) {
      await city.call('search', { text: 'needle' });
      await city.call('read', { path: 'lab/a.txt' });
      await city.call('read', { path: 'lab/nothing' });
      await city.call('read', { path: 'vault/s.txt' });
    }
    expect(count()).toBe(before);
    await city.leave();
  });
});

/** Waits until a thread stands ready: one that is still starting counts as waiting. */
async function warm(runner: Runner): Promise<void> {
  const city = asValue(await runner.enter(memoryCity([['lab/a', 'x']])));
  while (!(await city.call('read', { path: 'lab/a' })).ok);
  await city.leave();
}

describe('a pool of threads', () => {
  it('refuses what its queue cannot hold, with retry yes and a time', async () => {
    const runner = await openRunner({ workers: 1, limits: { queue: 1 } });
    const slow: Policy = () => new Promise((resolve) => setTimeout(() => resolve({ kind: 'open' }), 300));
    const city = asValue(await runner.enter(memoryCity([['lab/a', 'needle']]), { policy: slow }));
    const calls = Array.from({ length: 4 }, () => city.call('search', { text: 'needle' }));
    const answers = await Promise.all(calls);
    const refused = answers.filter((answer) => !answer.ok);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused)
      expect(asError(answer)).toMatchObject({ code: 'E_LIMIT', retry: 'yes', retry_after_ms: 250 });
    expect(answers.some((answer) => answer.ok)).toBe(true);
    await runner.close();
  });

  it('ends a wait in the queue at its own limit', async () => {
    const runner = await openRunner({ workers: 1, limits: { queueTimeMs: 50 } });
    const slow: Policy = () => new Promise((resolve) => setTimeout(() => resolve({ kind: 'open' }), 400));
    const city = asValue(await runner.enter(memoryCity([['lab/a', 'needle']]), { policy: slow }));
    await warm(runner);
    const [first, second] = await Promise.all([city.call('search', { text: 'a' }), city.call('search', { text: 'a' })]);
    expect(first?.ok).toBe(true);
    expect(asError(second)).toMatchObject({ code: 'E_LIMIT', retry: 'yes' });
    await runner.close();
  });

  it('answers at the deadline when the policy never does', async () => {
    const runner = await openRunner({ workers: 1, limits: { timeMs: 150 } });
    const city = asValue(
      await runner.enter(memoryCity([['lab/a', 'needle']]), { policy: () => new Promise(() => {}) }),
    );
    const began = performance.now();
    const found = asValue(await city.call('search', { text: 'needle' }));
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(found).toMatchObject({ truncated: true, count: 0 });
    expect(found.stopped).toContain('150 ms');
    await runner.close();
  });

  it.each(MODES)('waits for a policy that never answers once, not once a batch of buildings (%s)', async (mode) => {
    const runner = await openRunner({ mode, workers: 1, limits: { timeMs: 200 } });
    const many = Array.from({ length: 1_200 }, (_, n) => [`building${n}/a`, 'needle'] as const);
    const city = asValue(await runner.enter(memoryCity(many), { policy: () => new Promise(() => {}) }));
    const began = performance.now();
    expect(asValue(await city.call('search', { text: 'needle' }))).toMatchObject({ count: 0, truncated: true });
    expect(performance.now() - began).toBeLessThan(3_000);
    await runner.close();
  });

  it('refuses a budget that is no positive number, as a bug of the embedder', async () => {
    await expect(openRunner({ limits: { timeMs: 0 } })).rejects.toThrow(RangeError);
  });

  it.each(['matches', 'timeMS', '__proto__', 'toString'])(
    'refuses a budget of no known name, and lists those: %s',
    (name) =>
      // What a program without types may pass.
      expect(openRunner({ limits: JSON.parse(`{${JSON.stringify(name)}: 1}`) })).rejects.toThrow(
        /^limits\.\w+ is no limit; .*: opens, .*timeMs, .*cityStuckWorkers$/,
      ),
  );
});
