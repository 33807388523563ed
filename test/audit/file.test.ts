/** The log in a file: one writer, an end that a crash cut, files put aside, and processes that are killed. */

import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openReceiptFile, type ReceiptFile, readReceiptKey, verifyFiles } from '../../dist/audit/file.js';
import { Log, type LogOptions } from '../../dist/audit/log.js';
import { ReceiptError } from '../../dist/audit/record.js';
import { decision, KEY, OPTIONS, OTHER_KEY, records } from './logs.js';

let directory: string;
let file: string;
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-receipts-'));
  file = path.join(directory, 'log');
});
afterEach(() => fs.rmSync(directory, { recursive: true, force: true }));

const text = (name = file): string => fs.readFileSync(name, 'utf8');

/** Opens the file, puts decisions on record, and closes it. Whether each was taken. */
async function put(runs: readonly string[], options: Partial<LogOptions> = {}, maxBytes?: number): Promise<boolean[]> {
  const sink = await openReceiptFile(file, maxBytes === undefined ? {} : { maxBytes });
  try {
    const log = await Log.on(sink, { ...OPTIONS, ...options });
    await log.ready();
    const taken: boolean[] = [];
    for (const run of runs) taken.push(await log.offer(() => decision(run), 0));
    return taken;
  } finally {
    await sink.close();
  }
}

const runsIn = (name = file): unknown[] =>
  records(text(name)).flatMap(({ kind, run }) => (kind === 'call' ? [run] : []));

describe('a log in a file', () => {
  it('goes on where it ended when it is opened again', async () => {
    await put(['a', 'b']);
    await put(['c']);
    expect(records(text()).map(({ kind, seq }) => [kind, seq])).toEqual([
      ['log', 0],
      ['call', 1],
      ['call', 2],
      ['resumed', 3],
      ['call', 4],
    ]);
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', lines: 5, logs: 1, torn: 0 });
  });

  it('is its owner’s alone, and leaves no lock', async () => {
    await put(['a']);
    expect(fs.statSync(file).mode & 0o077).toBe(0);
    expect(fs.readdirSync(directory)).toEqual(['log']);
  });

  it('goes on with the key it was begun with, and with no other', async () => {
    await put(['a'], { key: KEY });
    await expect(put(['b'], { key: OTHER_KEY })).rejects.toThrow('another key');
    await expect(put(['b'])).rejects.toThrow('another key');
    await put(['c'], { key: KEY });
    expect(runsIn()).toEqual(['a', 'c']);
    expect(await verifyFiles([file], { key: KEY })).toMatchObject({ verdict: 'intact' });
  });

  it('begun without a key does not go on with one', async () => {
    await put(['a']);
    await expect(put(['b'], { key: KEY })).rejects.toThrow('another key');
  });

  it('fails a decision if another wrote to the file meanwhile, and keeps what that was as torn', async () => {
    const sink = await openReceiptFile(file);
    const log = await Log.on(sink, OPTIONS);
    expect(await log.offer(() => decision('a'), 0)).toBe(true);
    fs.appendFileSync(file, '{"log":"not ours');
    expect(await log.offer(() => decision('b'), 0)).toBe(false);
    expect(await log.offer(() => decision('c'), 0)).toBe(true);
    await sink.close();
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', torn: 1, lost: 1 });
  });

  it.each<[string, () => void]>([
    ['cut', () => fs.truncateSync(file, text().split('\n').slice(0, 2).join('\n').length + 1)],
    ['emptied', () => fs.truncateSync(file, 0)],
    ['of another log', () => fs.copyFileSync(path.join(directory, 'other'), file)],
  ])('takes no more decisions once it was %s under its writer', async (_, change) => {
    await put(['x', 'y', 'z']);
    fs.renameSync(file, path.join(directory, 'other'));
    const sink = await openReceiptFile(file);
    const troubles: string[] = [];
    const log = await Log.on(sink, { ...OPTIONS, onTrouble: (error) => troubles.push(String(error)) });
    for (const run of ['a', 'b']) expect(await log.offer(() => decision(run), 0)).toBe(true);
    change();
    for (const run of ['c', 'd']) expect(await log.offer(() => decision(run), 0)).toBe(false);
    expect(troubles.at(-1)).toContain('does not hold the lines it took');
    await sink.close();
  });

  it('finds lines that stand there although their append failed, and tells that they were late', async () => {
    const sink = await openReceiptFile(file);
    let fails = true;
    const log = await Log.on(
      {
        append: async (lines: string) => {
          await sink.append(lines);
          if (fails) throw new Error('the answer was lost on the way');
        },
        stand: () => sink.stand(),
        isFull: () => sink.isFull(),
        turn: () => sink.turn(),
      },
      OPTIONS,
    );
    expect(await log.offer(() => decision('a'), 0)).toBe(false);
    fails = false;
    expect(await log.offer(() => decision('b'), 0)).toBe(true);
    await sink.close();
    expect(records(text())[2]).toMatchObject({ kind: 'resumed', late: [1, 1], lost: 0, answers: 'withheld' });
    expect(runsIn()).toEqual(['a', 'b']);
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', logs: 1 });
  });

  it.each(['not a log\n', '\0\0\0\0', 'x', '{"kind":"call"}\n'])(
    'is not begun behind something else: %j',
    async (other) => {
      fs.writeFileSync(file, other);
      await expect(put(['a'])).rejects.toThrow(ReceiptError);
      expect(text()).toBe(other);
    },
  );

  it.each([
    ['a directory', () => fs.mkdirSync(file)],
    ['nowhere', () => fs.rmSync(directory, { recursive: true })],
  ])('that is %s is said to be', async (_, make) => {
    make();
    await expect(openReceiptFile(file)).rejects.toThrow(ReceiptError);
  });
});

describe('a line that a crash cut', () => {
  it('is closed off by a line that says so, wherever it was cut, and then the log is intact', async () => {
    await put(['a', 'b', 'c']);
    const whole = text();
    const start = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let end = start + 1; end < whole.length - 1; end += 37) {
      fs.writeFileSync(file, whole.slice(0, end));
      expect((await verifyFiles([file])).verdict).toBe('torn');
      expect(await put(['d'])).toEqual([true]);
      expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', torn: 1 });
    }
  });

  it('without its newline alone is whole: nothing was torn', async () => {
    await put(['a', 'b']);
    fs.writeFileSync(file, text().slice(0, -1));
    expect((await verifyFiles([file])).verdict).toBe('torn');
    await put(['c']);
    expect(runsIn()).toEqual(['a', 'b', 'c']);
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', torn: 0 });
  });

  it('again while it was being closed off is closed off with it', async () => {
    await put(['a', 'b']);
    const whole = text().slice(0, -40);
    fs.writeFileSync(file, whole);
    await put(['c']);
    fs.writeFileSync(file, text().slice(0, whole.length + 60));
    await put(['d']);
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', torn: 1 });
  });

  it('is not what it was closed off as, if anything in it is changed or it is taken out', async () => {
    await put(['a', 'b']);
    const cut = text().slice(0, -40);
    fs.writeFileSync(file, cut);
    await put(['c']);
    const closed = text();
    const start = cut.lastIndexOf('\n') + 1;
    const bent = `${closed.slice(0, start + 5)}X${closed.slice(start + 6)}`;
    for (const changed of [bent, closed.slice(0, start) + closed.slice(cut.length + 1)]) {
      fs.writeFileSync(file, changed);
      expect(await verifyFiles([file])).toMatchObject({ verdict: 'changed', bad: { line: 3 } });
    }
  });

  it('in the very first line begins the log anew: nothing was acknowledged there', async () => {
    fs.writeFileSync(file, '{"log":"0123');
    await put(['a']);
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact', lines: 2 });
  });

  it.each(['{"log":"mine","level":3', '{"log":"0123456789abcdef0123456789abcdef","seq":1,', '{"logs":['])(
    'is not taken for one if it never was: %s is somebody’s, and stays',
    async (text) => {
      fs.writeFileSync(file, text);
      await expect(put(['a'])).rejects.toThrow('does not end as a receipt log does');
      expect(fs.readFileSync(file, 'utf8')).toBe(text);
    },
  );

  it('is not taken for one if it is whole and was changed: nothing is added behind it', async () => {
    await put(['a', 'b']);
    const changed = text().replace('"run":"b"', '"run":"z"');
    fs.writeFileSync(file, changed);
    await expect(put(['c'])).rejects.toThrow('does not end as a receipt log does');
    expect(text()).toBe(changed);
  });
});

describe('a full file', () => {
  const RUNS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const files = (): string[] =>
    [
      ...fs
        .readdirSync(directory)
        .filter((name) => name !== 'log')
        .sort(),
      'log',
    ].map((name) => path.join(directory, name));

  it('is put aside under a number, and the next one goes on from its head', async () => {
    await put(RUNS, { key: KEY }, 1_500);
    await put(['h', 'i'], { key: KEY }, 1_500);
    expect(files().length).toBeGreaterThan(3);
    expect(files()[0]).toBe(`${file}.000001`);
    expect(files().flatMap((name) => runsIn(name))).toEqual([...RUNS, 'h', 'i']);
    expect(await verifyFiles(files(), { key: KEY })).toMatchObject({
      verdict: 'intact',
      logs: files().length,
      previous: null,
    });
    const alone = await verifyFiles([file], { key: KEY });
    expect(alone).toMatchObject({ verdict: 'intact', logs: 1 });
    expect(alone.previous).not.toBeNull();
  });

  it.each<[string, (names: string[]) => string[], number]>([
    ['is missing', ([a, , ...rest]) => [a, ...rest] as string[], 1],
    ['is out of order', ([a, b, c, ...rest]) => [a, c, b, ...rest] as string[], 1],
    ['is there twice', ([a, ...rest]) => [a, a, ...rest] as string[], 1],
  ])('that %s among the others is found', async (_, change, line) => {
    await put(RUNS, {}, 1_500);
    expect(await verifyFiles(change(files()))).toMatchObject({ verdict: 'changed', bad: { line } });
  });

  it('that lost its last line is found by the next one', async () => {
    await put(RUNS, {}, 1_500);
    const [first = ''] = files();
    fs.writeFileSync(first, `${text(first).split('\n').slice(0, -2).join('\n')}\n`);
    expect((await verifyFiles(files())).bad).toMatchObject({ file: files()[1], line: 1 });
  });

  it('put aside just before a crash is gone on from', async () => {
    await put(RUNS, {}, 1_500);
    fs.renameSync(file, `${file}.000099`);
    await put(['h']);
    expect(await verifyFiles(files())).toMatchObject({ verdict: 'intact', previous: null });
  });
});

describe('one writer a file', () => {
  let sink: ReceiptFile;
  afterEach(() => sink?.close());
  const lockSays = (holder: object): void => fs.writeFileSync(`${file}.lock`, JSON.stringify(holder));
  const own = async () => {
    const probe = await openReceiptFile(file);
    const holder = JSON.parse(text(`${file}.lock`));
    await probe.close();
    return holder;
  };

  it('a second one in this process is refused, and may write once the first is gone', async () => {
    sink = await openReceiptFile(file);
    await expect(openReceiptFile(file)).rejects.toThrow('the log has a writer: this very process');
    await sink.close();
    sink = await openReceiptFile(file);
  });

  it('a second one in another process is refused, by the number of the first', async () => {
    const child = writer('hold');
    await said(child, 'open');
    await expect(openReceiptFile(file)).rejects.toThrow(`the log has a writer: process ${child.pid}`);
    await killed(child);
    sink = await openReceiptFile(file);
  });

  it('of many at once one gets it, also where a stale lock has to be taken over', async () => {
    // Many rounds: who takes a stale lock away without holding a lock for that is caught in one of some.
    for (let round = 0; round < 25; round++) {
      lockSays({ ...(await own()), start: `another boot ${round}` });
      const tries = await Promise.allSettled(Array.from({ length: 20 }, () => openReceiptFile(file)));
      const open = tries.filter((one) => one.status === 'fulfilled');
      expect(open).toHaveLength(1);
      sink = (open[0] as PromiseFulfilledResult<ReceiptFile>).value;
      expect(fs.readdirSync(directory).sort()).toEqual(['log', 'log.lock']);
      if (round < 24) await sink.close();
    }
  });

  it.skipIf(process.platform !== 'linux')(
    'a process number that was used again is not the one that locked (needs procfs)',
    async () => {
      lockSays({ ...(await own()), start: 'this boot 1' });
      sink = await openReceiptFile(file);
    },
  );

  it.each<[string, (holder: object) => object, string]>([
    ['of another machine', (holder) => ({ ...holder, where: 'elsewhere' }), 'another machine or container'],
    ['that says nothing', () => ({}), 'does not say which'],
  ])('a lock %s is not taken over', async (_, change, why) => {
    lockSays(change(await own()));
    await expect(openReceiptFile(file)).rejects.toThrow(why);
    fs.rmSync(`${file}.lock`);
  });

  it('one whose lock was taken away writes no more', async () => {
    sink = await openReceiptFile(file);
    const log = await Log.on(sink, OPTIONS);
    expect(await log.offer(() => decision('a'), 0)).toBe(true);
    fs.rmSync(`${file}.lock`);
    const other = await openReceiptFile(file);
    expect(await log.offer(() => decision('b'), 0)).toBe(false);
    await other.close();
    expect(runsIn()).toEqual(['a']);
  });
});

describe('a writer that is killed', () => {
  it('in the middle of its appends leaves a log that is intact or torn, never changed, and that goes on', async () => {
    for (let round = 0; round < 4; round++) {
      const child = writer('flood');
      await said(child, 'taken 3');
      await killed(child);
      const { verdict, lines } = await verifyFiles([file]);
      expect(['intact', 'torn']).toContain(verdict);
      expect(lines).toBeGreaterThan(round * 3);
    }
    await put(['after']);
    expect(await verifyFiles([file])).toMatchObject({ verdict: 'intact' });
  });

  it('loses no decision that was acknowledged', async () => {
    const child = writer('flood');
    let heard = '';
    child.stdout?.on('data', (chunk) => {
      heard += chunk;
    });
    await said(child, 'taken 5');
    await killed(child);
    const acknowledged = [...heard.matchAll(/^taken (\d+)\n/gm)].map(([, run]) => run);
    expect(acknowledged.length).toBeGreaterThan(4);
    expect(runsIn().slice(0, acknowledged.length)).toEqual(acknowledged);
  });
});

describe('a key file', () => {
  it.each<[string, Uint8Array | string, boolean]>([
    ['32 bytes', KEY, true],
    ['64 digits', '07'.repeat(32), true],
    ['64 digits and a newline', `${'07'.repeat(32)}\n`, true],
    ['31 bytes', KEY.subarray(1), false],
    ['63 digits', '07'.repeat(32).slice(1), false],
    ['nothing', '', false],
  ])('of %s is a key: %#', async (_, bytes, isKey) => {
    fs.writeFileSync(file, bytes);
    if (isKey) expect(new Uint8Array(await readReceiptKey(file))).toEqual(KEY);
    else await expect(readReceiptKey(file)).rejects.toThrow(ReceiptError);
  });
});

// ---- another process ----

const dist = new URL('../../dist/', import.meta.url).href;
const WRITER = `
  const { openReceiptFile } = await import(${JSON.stringify(`${dist}audit/file.js`)});
  const { Log } = await import(${JSON.stringify(`${dist}audit/log.js`)});
  const [file, what, options, fields] = JSON.parse(process.argv[1]);
  const log = await Log.on(await openReceiptFile(file), options);
  console.log('open');
  if (what === 'hold') setInterval(() => {}, 1_000);
  for (let run = 1; what === 'flood'; run++) {
    if (await log.offer(() => ({ ...fields, run: String(run) }), 0)) console.log('taken ' + run);
  }
`;

function writer(what: 'hold' | 'flood'): ChildProcess {
  const words = JSON.stringify([file, what, OPTIONS, decision('')]);
  return spawn(process.execPath, ['--input-type=module', '-e', WRITER, words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const said = (child: ChildProcess, line: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let heard = '';
    child.stdout?.on('data', (chunk) => {
      heard += chunk;
      if (heard.includes(`${line}\n`)) resolve();
    });
    child.on('exit', () => reject(new Error(`the writer ended before it said ${line}`)));
  });

function killed(child: ChildProcess): Promise<void> {
  child.removeAllListeners('exit');
  return new Promise((resolve) => {
    child.on('close', () => resolve());
    child.kill('SIGKILL');
  });
}
