/**
 * The block store through the doors: `city.blocks` of the API, `portcullis blocks` of the command line, and a work tree
 * that uses the store of its city. The real command and the real runner, with their threads.
 */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { blake3 } from 'hash-wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openReceiptFile } from '../../dist/audit/file.js';
import { shownBlock } from '../../dist/door/blocks.js';
import { type City, type CityOptions, memoryCity, openRunner, type Runner, TOOLS } from '../../dist/index.js';
import { blockAt, laid, originsAt } from '../store/blocks.js';
import { asError, asValue } from '../support/outcomes.js';

const base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-blocks-'));
const root = path.join(base, 'city');
const tree = path.join(base, 'tree');
const write = (at: string, content: string | Uint8Array): void => {
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, content);
};
const RULES = 'confidential = true\nwrite = "everything"\n';
const GREEK = 'alpha\nbeta\ngamma';
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

beforeAll(() => {
  for (const city of [root, tree]) {
    write(path.join(city, 'lab/notes.md'), 'notes\n');
    write(path.join(city, 'vault/.sprawling/RULES.toml'), RULES);
  }
});
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

describe.each(['workers', 'inline'] as const)('blocks of a city, %s', (mode) => {
  let runner: Runner;
  beforeAll(async () => {
    runner = await openRunner({ mode, workers: 2 });
  });
  afterAll(() => runner.close());
  const enter = async (where: Parameters<Runner['enter']>[0] = root, options?: CityOptions): Promise<City> =>
    asValue(await runner.enter(where, options));

  it('are put for a place, and read by their Locator', async () => {
    const city = await enter();
    const locator = asValue(await city.blocks.put(bytes(GREEK), { for: 'lab/a room', run: 'run7' }));
    const hash = await blake3(GREEK);
    expect(locator).toBe(`cas:b3-${hash}`);
    expect(fs.readFileSync(path.join(root, originsAt(hash)), 'utf8')).toContain('run7 lab/a room\n');
    expect(asValue(await city.call('read', { path: locator }))).toMatchObject({ text: GREEK });
    expect(asValue(await city.call('read', { path: `${locator}#L2-3` }))).toMatchObject({ text: 'beta\ngamma' });
    expect(asValue(await city.blocks.get(locator))).toEqual(bytes(GREEK));
    expect(asValue(await city.blocks.get(`${locator}#B0-4`))).toEqual(bytes('alpha'));
    await city.leave();
  });

  it('put for nobody are read by nobody', async () => {
    const city = await enter();
    const locator = asValue(await city.blocks.put(bytes(`for nobody, ${mode}`)));
    expect(asError(await city.call('read', { path: locator })).code).toBe('E_GATE_DENIED');
    expect(asError(await city.blocks.get(locator))).toMatchObject({
      code: 'E_GATE_DENIED',
      action: 'blocks get',
      subject: `${locator}: nothing says which building it was stored for`,
    });
    await city.leave();
  });

  it('come out for the reader they are asked for, as `read` judges it, and with either wall’s word', async () => {
    const city = await enter();
    const locator = asValue(await city.blocks.put(bytes(`of the vault, ${mode}`), { for: 'vault' }));
    expect(asError(await city.blocks.get(locator)).subject).toBe(`${locator}: it is in a confidential building`);
    const resident = await enter(root, { reader: 'vault' });
    expect(asValue(await resident.blocks.get(locator))).toEqual(bytes(`of the vault, ${mode}`));
    const denied = await enter(root, { reader: 'vault', deny: ['vault/**', 'vault'] });
    expect(asError(await denied.blocks.get(locator)).subject).toContain('deny pattern');
    const store = await enter(root, { reader: 'vault', deny: ['.sprawling/cas/**'] });
    expect(asError(await store.blocks.get(locator)).subject).toContain('deny pattern');
    const policy = await enter(root, {
      policy: async (name) => ({ kind: name === 'vault' ? 'open' : 'confidential' }),
    });
    expect(asValue(await policy.blocks.get(locator)).length).toBeGreaterThan(0);
    for (const each of [city, resident, denied, store, policy]) await each.leave();
  });

  it.each([
    ['nowhere', undefined, 'E_INVALID_ARGS', 'it lies in no building of this city'],
    ['LAB', undefined, 'E_INVALID_ARGS', 'it lies in no building of this city'],
    ['../lab', undefined, 'E_INVALID_ARGS', 'it is not an address'],
    ['lab:', undefined, 'E_INVALID_ARGS', 'it is not an address'],
    ['.sprawling/library', undefined, 'E_GATE_DENIED', 'it is in a reserved place'],
    ['lab/.git', undefined, 'E_GATE_DENIED', 'it is in a reserved place'],
    ['lab', 'run 1', 'E_INVALID_ARGS', 'its run is no name'],
    ['lab', '', 'E_INVALID_ARGS', 'its run is no name'],
    ['lab', 'a\nb vault', 'E_INVALID_ARGS', 'its run is no name'],
  ])('are not put for %j by the run %j: it would not count', async (place, run, code, fact) => {
    const city = await enter();
    const text = `never stored, ${mode} ${place} ${run}`;
    const refusal = asError(await city.blocks.put(bytes(text), { for: place, ...(run !== undefined && { run }) }));
    expect(refusal).toMatchObject({ code, action: 'blocks put', subject: `${place}: ${fact}` });
    expect(fs.existsSync(path.join(root, blockAt(await blake3(text))))).toBe(false);
    await city.leave();
  });

  it.each([
    ['cas:b3-00', 'it is not a Locator'],
    ['lab/notes.md', 'it is not a Locator'],
    [`file:lab/notes.md@${'0'.repeat(40)}`, 'it names a file in a commit, not a block'],
  ])('are not had by %s', async (locator, fact) => {
    const city = await enter();
    expect(asError(await city.blocks.get(locator))).toMatchObject({
      code: 'E_INVALID_ARGS',
      subject: `${locator}: ${fact}`,
    });
    await city.leave();
  });

  it('are no tools: a caller of tools reaches none of it', async () => {
    const city = await enter();
    for (const name of ['blocks put', 'blocks get', 'blocks']) {
      expect(asError(await city.call(name, { bytes: bytes('x'), locator: 'cas:' })).code).toBe('E_TOOL_UNKNOWN');
      expect(TOOLS.has(name)).toBe(false);
    }
    await city.leave();
  });

  it('are bytes: a text is a bug of the embedder', async () => {
    const city = await enter();
    // @ts-expect-error: the type says so
    await expect(city.blocks.put('text')).rejects.toThrow('a block is bytes');
    await city.leave();
  });

  it('do not change with what the embedder does to its memory meanwhile', async () => {
    const city = await enter();
    const mine = bytes(`mine, ${mode}`);
    const putting = city.blocks.put(mine, { for: 'lab' });
    mine.fill(0);
    const locator = asValue(await putting);
    expect(asValue(await city.blocks.get(locator))).toEqual(bytes(`mine, ${mode}`));
    await city.leave();
  });

  it('end with the city, and with the caller’s signal', async () => {
    const city = await enter();
    expect(asError(await city.blocks.put(bytes('x'), { signal: AbortSignal.abort() })).code).toBe('E_CANCELLED');
    await city.leave();
    expect(asError(await city.blocks.put(bytes('x'))).subject).toContain('the city was left');
    expect(asError(await city.blocks.get('cas:b3-00')).subject).toContain('the city was left');
  });

  it('of a work tree are those of the city named as its store, judged by the work tree’s own buildings', async () => {
    const [city, worktree, bare] = [await enter(), await enter(tree, { store: root }), await enter(tree)];
    const stored = asValue(await city.blocks.put(bytes(`stored in the city, ${mode}`), { for: 'lab' }));
    const there = asValue(await worktree.blocks.put(bytes(`stored from the tree, ${mode}`), { for: 'lab' }));
    const closed = asValue(await city.blocks.put(bytes(`of the city’s vault, ${mode}`), { for: 'vault' }));
    expect(asValue(await worktree.call('read', { path: stored })).text).toContain('stored in the city');
    expect(asValue(await city.call('read', { path: there })).text).toContain('stored from the tree');
    expect(asError(await worktree.call('read', { path: closed })).subject).toContain('confidential');
    expect(asError(await bare.call('read', { path: stored })).subject).toContain('nothing says which building');
    expect(fs.existsSync(path.join(tree, '.sprawling'))).toBe(false);
    for (const each of [city, worktree, bare]) await each.leave();
    const refusal = asError(await runner.enter(tree, { store: path.join(base, 'none') }));
    expect(refusal).toMatchObject({ code: 'E_CONFIG_INVALID', action: 'enter' });
  });

  it('of a city in memory are its files, and it takes no others', async () => {
    const block = await laid(GREEK, 'run1 lab\n');
    const city = await enter(memoryCity([['lab/notes.md', ''], ...block.things]));
    expect(asValue(await city.call('read', { path: block.locator })).text).toBe(GREEK);
    expect(asValue(await city.blocks.get(block.locator))).toEqual(bytes(GREEK));
    expect(asError(await city.blocks.put(bytes('x'), { for: 'lab' }))).toMatchObject({ code: 'E_CONFIG_INVALID' });
    await city.leave();
  });
});

describe('receipts', () => {
  it('tell of what was put and got: the Locator as a digest, the bytes as a number', async () => {
    const file = path.join(base, 'log');
    const sink = await openReceiptFile(file);
    const runner = await openRunner({ mode: 'inline', receipts: { sink } });
    const city = asValue(await runner.enter(root));
    const locator = asValue(await city.blocks.put(bytes('SECRET of a receipt'), { for: 'lab', run: 'run9' }));
    asValue(await city.blocks.get(locator));
    asError(await city.blocks.get(`cas:b3-${'0'.repeat(64)}`));
    await runner.close();
    await sink.close();
    const text = fs.readFileSync(file, 'utf8');
    const calls = text
      .split('\n')
      .filter((line) => line.includes('"kind":"call"'))
      .map((line) => JSON.parse(line));
    expect(calls.map(({ tool, verdict, code }) => [tool, verdict, code])).toEqual([
      ['blocks put', 'admitted', null],
      ['blocks get', 'admitted', null],
      ['blocks get', 'refused', 'E_GATE_DENIED'],
    ]);
    expect(calls[0].asked).toMatchObject({ bytes: 19, for: { bytes: 3 }, run: { bytes: 4 } });
    expect(calls[1]).toMatchObject({ bytes_out: 19, asked: { locator: { bytes: locator.length } } });
    expect(text).not.toMatch(/SECRET|lab/);
  });
});

describe('portcullis blocks', () => {
  const command = (words: readonly string[], input?: string | Uint8Array) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [path.resolve('bin/portcullis.js'), ...words], {
      cwd: root,
      input,
      maxBuffer: 64 * 2 ** 20,
    });
    return { status, out: stdout, text: stdout.toString(), err: stderr.toString() };
  };

  it('puts standard input or a file, and gets exactly its bytes', () => {
    const binary = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);
    write(path.join(base, 'binary'), binary);
    const put = command(['blocks', 'put', '../binary', '--for', 'lab']);
    expect(put).toMatchObject({ status: 0, err: '', text: expect.stringMatching(/^cas:b3-[0-9a-f]{64}\n$/) });
    expect(command(['blocks', 'put', '-', '--for', 'lab'], binary).text).toBe(put.text);
    const locator = put.text.trim();
    const got = command(['blocks', 'get', locator]);
    expect(got).toMatchObject({ status: 0, err: '' });
    expect(new Uint8Array(got.out)).toEqual(binary);
    expect(new Uint8Array(command(['blocks', 'get', `${locator}#B1-3`]).out)).toEqual(binary.subarray(1, 4));
  });

  it('is read by `read` and by `call`, and refused as they refuse', () => {
    const locator = command(['blocks', 'put', '--for', 'lab'], GREEK).text.trim();
    expect(command(['read', locator]).text).toBe(GREEK);
    expect(JSON.parse(command(['call', 'read', JSON.stringify({ path: `${locator}#L2-2` })]).text)).toMatchObject({
      text: 'beta',
    });
    const closed = command(['blocks', 'put', '--for', 'vault'], 'of the vault, by hand').text.trim();
    const refused = command(['blocks', 'get', closed]);
    expect(refused).toMatchObject({ status: 1, text: '' });
    expect(refused.err).toContain('E_GATE_DENIED: cannot blocks get');
    expect(command(['blocks', 'get', closed, '--reader', 'vault']).text).toBe('of the vault, by hand');
    expect(command(['blocks', 'get', locator, '--city', '../tree', '--store', root]).text).toBe(GREEK);
  });

  it('says of what is put for nobody that no run reads it, beside its Locator', () => {
    const put = command(['blocks', 'put'], 'for nobody');
    expect(put).toMatchObject({ status: 0, text: expect.stringMatching(/^cas:b3-[0-9a-f]{64}\n$/) });
    expect(put.err).toMatch(/^stored for nobody: .*--for names a building that may\n$/);
  });

  it('says what is wrong with a file, a place and a usage', () => {
    expect(command(['blocks', 'put', 'none'])).toMatchObject({ status: 1, text: '' });
    expect(command(['blocks', 'put', 'none']).err).toContain('it does not open (ENOENT)');
    expect(command(['blocks', 'put', '--for', 'nowhere'], 'x')).toMatchObject({ status: 1, text: '' });
    const elsewhere = command(['blocks', 'put', '--store', 'none'], 'x').err;
    expect(elsewhere).toMatch(/^E_CONFIG_INVALID: cannot enter none: .*\n→ .*begins at the current directory/);
    expect(command(['blocks', 'get']).status).toBe(2);
    expect(command(['blocks', 'steal']).status).toBe(2);
  });

  it('shows a terminal nothing that it would obey, and anything else the bytes', () => {
    const bell = bytes('a\u0007b\u001b[2J\nc');
    expect(shownBlock(bell, false)).toBe(bell);
    expect(shownBlock(bell, true)).toBe('a\\x07b\\x1b[2J\nc\n');
    expect(shownBlock(bytes('a\n'), true)).toBe('a\n');
    expect(shownBlock(new Uint8Array(), true)).toBe('');
    expect(shownBlock(Uint8Array.from([0x61, 0xff]), true)).toBe('a\ufffd\n');
  });
});
