/** Turns are fair: laws over the queue alone, without threads. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NoSlot, type Slot, Slots } from '../../dist/runner/slots.js';

const LIMITS = { queue: 1_000, tenantQueue: 500, queueTimeMs: 10_000 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Serves until nobody waits, one release a time; the order in which tenants were served. */
async function orderOf(slots: Slots, arrivals: readonly string[]): Promise<string[]> {
  const served: [string, Slot][] = [];
  const order: string[] = [];
  for (const name of arrivals) {
    void slots.take(name).then((given: Slot | NoSlot) => {
      if (typeof given === 'string') throw new Error(given);
      served.push([name, given]);
      order.push(name);
    });
  }
  await settled();
  for (let next = served.shift(); next !== undefined; next = served.shift()) {
    next[1].release();
    await settled();
  }
  return order;
}

describe('slots', () => {
  it('are given at once while some are free', async () => {
    const slots = new Slots(2, LIMITS);
    const [a, b] = await Promise.all([slots.take('a'), slots.take('b')]);
    expect([typeof a, typeof b]).toEqual(['object', 'object']);
    expect(slots.running).toBe(2);
  });

  it('go round by tenant: whoever floods waits behind itself', async () => {
    const order = await orderOf(new Slots(1, LIMITS), ['a', 'a', 'a', 'a', 'b', 'c', 'b']);
    // The first was alone when it came; from then on the three take turns.
    expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  });

  it('are never all one tenant’s: one is left for whoever comes', async () => {
    const slots = new Slots(3, LIMITS);
    for (let n = 0; n < 5; n++) void slots.take('flood');
    await settled();
    expect(slots.running).toBe(2);
    expect(typeof (await slots.take('other'))).toBe('object');
  });

  it('are lent while nobody waits, and called back by the first call that could have one', async () => {
    const slots = new Slots(2, LIMITS);
    await slots.take('large');
    let recalled = 0;
    const lent = slots.lend(() => recalled++);
    expect(lent).toBeDefined();
    expect(slots.lend(() => {})).toBeUndefined();
    // The same tenant could not have it: one slot is left for others.
    const own = slots.take('large');
    await settled();
    expect(recalled).toBe(0);
    const other = slots.take('other');
    await settled();
    expect(recalled).toBe(1);
    lent?.release();
    lent?.release();
    expect(typeof (await other)).toBe('object');
    expect([slots.running, slots.waiting, slots.lend(() => {})]).toEqual([2, 1, undefined]);
    void own;
  });

  it('that are lent fill no queue: a call that could have one waits for it, whatever the queue holds', async () => {
    const slots = new Slots(1, { ...LIMITS, queue: 0 });
    const lent = slots.lend(() => lent?.release());
    expect(typeof (await slots.take('a'))).toBe('object');
  });

  it('refuse what the queue, or the tenant’s own queue, cannot hold', async () => {
    const slots = new Slots(1, { ...LIMITS, queue: 3, tenantQueue: 2 });
    void slots.take('a');
    void slots.take('a');
    void slots.take('a');
    expect(await slots.take('a')).toBe('full');
    void slots.take('b');
    expect(await slots.take('c')).toBe('full');
  });

  it('end a wait at its time, and at its caller’s signal', async () => {
    const slots = new Slots(1, { ...LIMITS, queueTimeMs: 20 });
    void slots.take('a');
    expect(await slots.take('b')).toBe('late');
    const abort = new AbortController();
    const waiting = slots.take('c', abort.signal);
    abort.abort();
    expect(await waiting).toBe('cancelled');
    expect(await slots.take('d', abort.signal)).toBe('cancelled');
    expect(slots.waiting).toBe(0);
  });

  it('bound what one tenant has waiting also while the slot that is left for others is free', async () => {
    const slots = new Slots(3, { ...LIMITS, tenantQueue: 2 });
    const taken = ['a', 'a', 'a', 'a', 'a'].map((name) => slots.take(name));
    expect(await taken[4]).toBe('full');
    expect([slots.running, slots.waiting]).toEqual([2, 2]);
    expect(typeof (await slots.take('b'))).toBe('object');
  });

  it('given back twice are given back once', async () => {
    const slots = new Slots(1, LIMITS);
    const slot = await slots.take('a');
    if (typeof slot === 'string') throw new Error(slot);
    slot.release();
    slot.release();
    expect(slots.running).toBe(0);
  });

  it('serve every call exactly once, and no tenant twice before another that waited as long', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 24 }),
        fc.integer({ min: 1, max: 3 }),
        async (arrivals, count) => {
          const order = await orderOf(new Slots(count, LIMITS), arrivals);
          expect([...order].sort()).toEqual([...arrivals].sort());
          if (count > 1) return;
          const left = new Map<string, number>();
          for (const name of arrivals) left.set(name, (left.get(name) ?? 0) + 1);
          // With one slot and all waiting from the start, two turns of a tenant have every other waiting tenant between.
          order.forEach((name, index) => {
            const next = order.indexOf(name, index + 1);
            const between = new Set(order.slice(index + 1, next < 0 ? undefined : next));
            left.set(name, (left.get(name) ?? 0) - 1);
            if (next < 0 || index === 0) return;
            for (const [other, calls] of left) if (other !== name && calls > 0) expect(between.has(other)).toBe(true);
          });
        },
      ),
      { numRuns: 60 },
    );
  });
});
