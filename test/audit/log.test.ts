/** The log under way: order, groups, and what a sink that fails, throws or hangs does to it. */

import { describe, expect, it } from 'vitest';
import { Log } from '../../dist/audit/log.js';
import { RECEIPT_QUEUE_MAX } from '../../dist/limits.js';
import { decision, MemorySink, OPTIONS, records, verified } from './logs.js';

const calls = (text: string) => records(text).filter(({ kind }) => kind === 'call');

describe('a log', () => {
  it('gives a thousand decisions at once a gapless seq, in the order they were offered, in few appends', async () => {
    const sink = new MemorySink();
    const log = await Log.on(sink, OPTIONS);
    const taken = await Promise.all(Array.from({ length: 1_000 }, (_, run) => log.offer(() => decision(`${run}`), 0)));
    expect(taken.every(Boolean)).toBe(true);
    expect(calls(sink.text).map(({ run }) => run)).toEqual(Array.from({ length: 1_000 }, (_, run) => `${run}`));
    expect(records(sink.text).map(({ seq }) => seq)).toEqual(Array.from({ length: 1_001 }, (_, seq) => seq));
    expect(sink.appends).toBeLessThan(5);
    expect(await verified(sink.text)).toMatchObject({ verdict: 'intact', lines: 1_001 });
  });

  it('orders by seq, not by the clock', async () => {
    const sink = new MemorySink();
    const log = await Log.on(sink, OPTIONS);
    for (const timeMs of [5_000, 1_000, 3_000]) await log.offer(() => decision('x'), timeMs);
    expect(calls(sink.text).map(({ time }) => Date.parse(String(time)))).toEqual([5_000, 1_000, 3_000]);
    expect(await verified(sink.text)).toMatchObject({ verdict: 'intact' });
  });

  it.each(['fails', 'throws', 'takes and fails'] as const)(
    'fails the decision whose sink %s, goes on when it takes lines again, and tells the operator alone why',
    async (mood) => {
      const sink = new MemorySink();
      const troubles: unknown[] = [];
      const log = await Log.on(sink, { ...OPTIONS, onTrouble: (error) => troubles.push(error) });
      sink.mood = mood;
      expect(await log.offer(() => decision('lost'), 0)).toBe(false);
      expect(await log.offer(() => decision('lost too'), 0)).toBe(false);
      expect(troubles.map(String)).toEqual(Array(2).fill(expect.stringContaining('canary')));
      sink.mood = 'takes';
      expect(await log.offer(() => decision('taken'), 0)).toBe(true);
      expect(sink.text).not.toContain('canary');
      expect(records(sink.text).at(-2)).toMatchObject({ kind: 'resumed', lost: 2, late: null, answers: 'withheld' });
    },
  );

  it('is overdue while an append hangs: whoever waits fails at its time, who comes later at once', async () => {
    const sink = new MemorySink();
    const log = await Log.on(sink, { ...OPTIONS, timeMs: 400 });
    sink.mood = 'hangs';
    const [first, second] = [log.offer(() => decision('late'), 0), log.offer(() => decision('waiting'), 0)];
    expect(await Promise.all([first, second])).toEqual([false, false]);
    expect(log.isOverdue).toBe(true);
    expect(await log.offer(() => decision('later'), 0)).toBe(false);
    expect(sink.appends).toBe(1);
  });

  it('tells which lines were taken late, and how many never, once the hanging append settles', async () => {
    const sink = new MemorySink();
    const log = await Log.on(sink, { ...OPTIONS, timeMs: 400 });
    sink.mood = 'hangs';
    await Promise.all(['late', 'lost', 'lost'].map((run) => log.offer(() => decision(run), 0)));
    log.miss();
    sink.mood = 'takes';
    sink.release();
    await new Promise(setImmediate);
    expect(log.isOverdue).toBe(false);
    expect(await log.offer(() => decision('on time'), 0)).toBe(true);
    expect(records(sink.text).map(({ kind, run }) => [kind, run])).toEqual([
      ['log', undefined],
      ['call', 'late'],
      ['resumed', undefined],
      ['call', 'on time'],
    ]);
    expect(records(sink.text)[2]).toMatchObject({ late: [1, 1], lost: 3, answers: 'withheld' });
    expect(await verified(sink.text)).toMatchObject({ verdict: 'intact', lost: 3 });
  });

  it('holds no more than its queue: a flood fails at once', async () => {
    const sink = new MemorySink();
    const log = await Log.on(sink, { ...OPTIONS, timeMs: 400 });
    sink.mood = 'hangs';
    const first = log.offer(() => decision('first'), 0);
    const waiting = Array.from({ length: RECEIPT_QUEUE_MAX }, () => log.offer(() => decision('waiting'), 0));
    expect(await Promise.race([log.offer(() => decision('one more'), 0), first])).toBe(false);
    expect(log.isOverdue).toBe(false);
    await Promise.all(waiting);
  });
});
