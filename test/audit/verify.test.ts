/** Verifying: whatever is done to a log is found, and the first line that does not hold is named. */

import { blake3 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { Log } from '../../dist/audit/log.js';
import { derivedDigester, digester, NO_HASH, writeLine } from '../../dist/audit/record.js';
import { RECEIPT_LINE_MAX_BYTES } from '../../dist/limits.js';
import { decision, KEY, logOf, MemorySink, OPTIONS, OTHER_KEY, records, verified } from './logs.js';

const LOG = await logOf(5);
const KEYED = await logOf(5, { key: KEY });
const OTHER = await logOf(5);
const lines = (text: string): string[] => text.split('\n').slice(0, -1);
const text = (of: readonly (string | undefined)[]): string => of.map((line) => `${line}\n`).join('');
const headOf = async (log: string, index: number): Promise<string> => blake3(lines(log).at(index) ?? '');

describe('a log that nobody touched', () => {
  it.each([1, 7, 1_000, 1 << 20])('is intact, in chunks of %i bytes', async (chunk) => {
    const result = await verified(LOG, {}, chunk);
    expect(result).toMatchObject({
      verdict: 'intact',
      lines: 6,
      logs: 1,
      seq: 5,
      bad: null,
      torn: 0,
      lost: 0,
      proof: 'none',
    });
    expect(result.head).toBe(await headOf(LOG, -1));
  });

  it('is chained as it says: prev is the BLAKE3 of the line before, seq counts, and the first line goes on from nothing', async () => {
    let prev = NO_HASH;
    for (const [index, line] of lines(LOG).entries()) {
      expect(JSON.parse(line)).toMatchObject({ seq: index, prev });
      prev = await blake3(line);
    }
  });

  it('holds against its key, and without it', async () => {
    expect(await verified(KEYED, { key: KEY })).toMatchObject({ verdict: 'intact', lines: 6, proof: 'key' });
    expect(await verified(KEYED)).toMatchObject({ verdict: 'intact', proof: 'none' });
  });
});

describe('a byte that flips', async () => {
  // One decision: each flip costs a whole verification.
  it.each([
    ['without a key', await logOf(1), {}],
    ['with a key, verified with it', await logOf(1, { key: KEY }), { key: KEY }],
    ['with a key, verified without it', await logOf(1, { key: KEY }), {}],
  ])('is found wherever it is, in a log kept %s', async (_, log, options) => {
    const bytes = Buffer.from(log);
    const missed: number[] = [];
    let line = 1;
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      const { verdict, bad } = await verified(flipped, options);
      // The last newline is the one byte whose loss looks like a crash; any other is a change in its own line.
      const isFound = at === bytes.length - 1 ? verdict === 'torn' : verdict === 'changed' && bad?.line === line;
      if (!isFound) missed.push(at);
      if (bytes[at] === 0x0a) line++;
    }
    expect(missed).toEqual([]);
  });
});

describe('lines', () => {
  const own = lines(LOG);
  const [l0, l1, l2, l3, l4, l5] = own;
  const foreign = lines(OTHER)[3];
  it.each<[string, (string | undefined)[], number]>([
    ['dropped from the middle', [l0, l1, l3, l4, l5], 3],
    ['dropped from the front', [l1, l2, l3, l4, l5], 1],
    ['swapped', [l0, l1, l3, l2, l4, l5], 3],
    ['swapped at the end', [l0, l1, l2, l3, l5, l4], 5],
    ['swapped with the first', [l1, l0, l2, l3, l4, l5], 1],
    ['doubled', [l0, l1, l2, l2, l3, l4, l5], 4],
    ['doubled at the end', [...own, l5], 7],
    ['doubled at the front', [l0, ...own], 2],
    ['inserted from another log', [l0, l1, l2, foreign, l3, l4, l5], 4],
    ['put in place of another', [l0, l1, l2, foreign, l4, l5], 4],
    ['added from another log', [...own, foreign], 7],
    ['of a whole other log behind it', [...own, ...lines(OTHER)], 7],
    ['empty', [l0, l1, '', l2, l3, l4, l5], 3],
    ['joined', [l0, `${l1}${l2}`, l3, l4, l5], 2],
    ['with a carriage return', [l0, `${l1}\r`, l2, l3, l4, l5], 2],
    ['of the writer’s own words, without a sum', [l0, l1, '{"kind":"call"}', l2, l3, l4, l5], 3],
    ['longer than any line', [l0, l1, 'x'.repeat(3 * RECEIPT_LINE_MAX_BYTES), l2, l3, l4, l5], 3],
  ])('%s are found, and the first bad one is named', async (_, changed, line) => {
    for (const chunk of [100, 1 << 20]) {
      const result = await verified(text(changed), {}, chunk);
      expect(result).toMatchObject({ verdict: 'changed', bad: { file: '1', line }, lines: line - 1 });
    }
  });

  it('that were cut from the end show only against a head that was kept', async () => {
    const head = await headOf(LOG, -1);
    const short = text(own.slice(0, 4));
    expect(await verified(short)).toMatchObject({ verdict: 'intact', proof: 'none' });
    expect(await verified(short, { head })).toMatchObject({ verdict: 'cut', since_head: null });
    expect(await verified(LOG, { head })).toMatchObject({ verdict: 'intact', since_head: 0, proof: 'head' });
  });

  it('that came after the head that was kept are no cut', async () => {
    expect(await verified(LOG, { head: await headOf(LOG, 2) })).toMatchObject({ verdict: 'intact', since_head: 3 });
  });

  it('that are all gone are a cut, not an empty truth', async () => {
    expect(await verified('')).toMatchObject({ verdict: 'cut', lines: 0, head: null });
    expect(await verified([])).toMatchObject({ verdict: 'cut' });
  });
});

/** A line with other words and a sum that fits again; its place may change, too. */
async function rewritten(line: string | undefined, change: Record<string, unknown>): Promise<string> {
  const { log, seq, time, prev, mac: _mac, sum: _sum, ...fields } = { ...JSON.parse(line ?? ''), ...change };
  return writeLine(fields, { log, seq, timeMs: Date.parse(time), prev }, await digester(), undefined);
}

describe('somebody who knows how lines are written', () => {
  const [l0, l1, l2, l3, l4, l5] = lines(LOG);

  it('and changes one is found at the next: it does not follow', async () => {
    const changed = await rewritten(l2, { verdict: 'admitted' });
    expect(await verified(text([l0, l1, changed, l3, l4, l5]))).toMatchObject({ verdict: 'changed', bad: { line: 4 } });
  });

  it('and mends the chain behind a dropped one is found by the seq', async () => {
    const mended = await rewritten(l3, { prev: await blake3(l1 ?? '') });
    expect(await verified(text([l0, l1, mended]))).toMatchObject({ verdict: 'changed', bad: { line: 3 } });
  });

  it('and adds to a file that was put aside is found by the next file, whatever that says of failed appends', async () => {
    const { log } = JSON.parse(l0 ?? '');
    const head = await blake3(l3 ?? '');
    const previous = { log, head };
    const next = await rewritten(l0, { log: 'f'.repeat(32), previous, prev: head, failed: 1 });
    expect(await verified([text([l0, l1, l2, l3]), text([next])])).toMatchObject({ verdict: 'intact', logs: 2 });
    const added = [text([l0, l1, l2, l3, l4]), text([next])];
    expect(await verified(added)).toMatchObject({ verdict: 'changed', bad: { file: '2', line: 1 } });
  });
});

describe('who can write the file', () => {
  /** Writes the log anew with one decision changed, as somebody who knows the format and not the key. */
  async function forged(log: string, mac?: Uint8Array): Promise<string> {
    const plain = await digester();
    let prev = NO_HASH;
    const written: string[] = [];
    for (const record of records(log)) {
      const { log: id, seq, time, prev: _prev, mac: _mac, sum: _sum, ...fields } = record;
      const place = { log: String(id), seq: Number(seq), timeMs: Date.parse(String(time)), prev };
      const changed = { ...fields, ...(seq === 3 && { verdict: 'admitted' }) } as unknown as ReturnType<
        typeof decision
      >;
      written.push(writeLine(changed, place, plain, mac && (await derivedDigester(mac, 'mac', place.log))));
      prev = await blake3(written.at(-1) ?? '');
    }
    return text(written);
  }

  it('can write all of it anew where there is no key: then only a kept head shows it', async () => {
    const anew = await forged(LOG);
    expect(anew).not.toBe(LOG);
    expect(await verified(anew)).toMatchObject({ verdict: 'intact', proof: 'none' });
    expect(await verified(anew, { head: await headOf(LOG, -1) })).toMatchObject({ verdict: 'cut' });
  });

  it.each<[string, Uint8Array | undefined, string]>([
    ['leaves the macs out', undefined, 'none where it has'],
    ['makes macs with another key', OTHER_KEY, 'not that of the key'],
  ])('cannot where there is one: %s', async (_, key, why) => {
    const result = await verified(await forged(KEYED, key), { key: KEY });
    expect(result).toMatchObject({ verdict: 'changed', bad: { line: 1 } });
    expect(result.bad?.why).toContain(why);
  });

  it('cannot pass a log without a key for one with a key', async () => {
    expect((await verified(LOG, { key: KEY })).bad).toMatchObject({
      line: 1,
      why: 'it begins a log that is kept without a key',
    });
  });

  it('cannot move a line of a keyed log into another log of the same key', async () => {
    const [l0, l1, l2] = lines(KEYED);
    const moved = lines(await logOf(5, { key: KEY }))[3];
    expect(await verified(text([l0, l1, l2, moved]), { key: KEY })).toMatchObject({
      verdict: 'changed',
      bad: { line: 4 },
    });
  });
});

describe('a log that ends within a line', () => {
  const whole = lines(LOG).slice(0, 5);
  const last = lines(LOG)[5] ?? '';

  it('is torn, wherever the cut is, and holds up to there', async () => {
    for (let kept = 1; kept <= last.length; kept += 3) {
      const result = await verified(text(whole) + last.slice(0, kept));
      expect(result).toMatchObject({ verdict: 'torn', bad: null, lines: 5 });
    }
  });

  it('is torn in its first line, too', async () => {
    expect(await verified('{"log":"12')).toMatchObject({ verdict: 'torn', lines: 0 });
  });

  it('is changed, not torn, if a line before that was', async () => {
    const bad = (whole[4] ?? '').replace('run 3', 'run 9');
    const result = await verified(text([...whole.slice(0, 4), bad]) + last.slice(0, 90));
    expect(result).toMatchObject({ verdict: 'changed', bad: { line: 5 } });
  });
});

describe('logs that go on from one another', () => {
  /** A sink that fails once: a new log begins in the same text. */
  async function goneOn(mood: 'fails' | 'takes and fails') {
    const sink = new MemorySink();
    const log = await Log.on(sink, OPTIONS);
    for (const run of ['a', 'b']) await log.offer(() => decision(run), 0);
    sink.mood = mood;
    expect(await log.offer(() => decision('c'), 0)).toBe(false);
    sink.mood = 'takes';
    for (const run of ['d', 'e']) expect(await log.offer(() => decision(run), 0)).toBe(true);
    return sink.text;
  }

  it.each(['fails', 'takes and fails'] as const)(
    'hold after a sink that %s, and tell what has no line',
    async (mood) => {
      const log = await goneOn(mood);
      expect(await verified(log)).toMatchObject({ verdict: 'intact', logs: 2, lost: 1 });
      const first = records(log).filter(({ kind }) => kind === 'log')[1];
      expect(first).toMatchObject({ seq: 0, previous: { log: records(log)[0]?.['log'] } });
    },
  );

  it.each(['fails', 'takes and fails'] as const)(
    'hold from the start, after a sink that %s three times',
    async (mood) => {
      const sink = new MemorySink();
      const log = await Log.on(sink, OPTIONS);
      sink.mood = mood;
      for (const run of ['a', 'b', 'c']) expect(await log.offer(() => decision(run), 0)).toBe(false);
      sink.mood = 'takes';
      expect(await log.offer(() => decision('d'), 0)).toBe(true);
      expect(await verified(sink.text)).toMatchObject({ verdict: 'intact', lost: 3 });
    },
  );

  it('do not hold without a line that was acknowledged before', async () => {
    const all = lines(await goneOn('fails'));
    expect(await verified(text(all.filter((_, index) => index !== 2)))).toMatchObject({
      verdict: 'changed',
      bad: { line: 3 },
    });
  });

  it('do not hold if nothing is said of the one before', async () => {
    expect(await verified([LOG, OTHER])).toMatchObject({ verdict: 'changed', bad: { file: '2', line: 1 } });
  });
});
