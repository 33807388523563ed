/**
 * The public API as an embedder meets it: what the compiler says of a call, and what a closed runner says. The claims
 * about types are the lines below `@ts-expect-error`: `npm run typecheck` fails if one of them compiles. The suite runs
 * them too, since what the compiler lets pass has to be true.
 */

import { afterAll, describe, expect, expectTypeOf, test } from 'vitest';
import { memoryCity, type Outcome, openRunner, type ReadValue, type SearchValue } from '../../dist/index.js';

describe('call, to a compiler', async () => {
  const runner = await openRunner({ mode: 'inline' });
  afterAll(() => runner.close());
  const entered = await runner.enter(memoryCity([['lab/a', 'needle\n']]));
  if (!entered.ok) throw new Error(entered.error.recovery);
  const city = entered.value;

  test('gives the value of the tool that was named', async () => {
    const found = await city.call('search', { text: 'needle' });
    const text = await city.call('read', { path: 'lab/a', limit: 1 });
    expectTypeOf(found).toEqualTypeOf<Outcome<SearchValue>>();
    expectTypeOf(text).toEqualTypeOf<Outcome<ReadValue>>();
    expect(found).toMatchObject({ ok: true, value: { count: 1 } });
    expect(text).toMatchObject({ ok: true, value: { text: 'needle\n' } });
  });

  test('refuses the wrong arguments of a tool that was named', async () => {
    // @ts-expect-error -- there is no such argument
    expect((await city.call('read', { pth: 'lab/a' })).ok).toBe(false);
    // @ts-expect-error -- `text` is missing
    expect((await city.call('search', {})).ok).toBe(false);
    // @ts-expect-error -- the argument of another tool
    expect((await city.call('search', { path: 'lab' })).ok).toBe(false);
  });

  test('takes anything for a name that is not known when compiling, and gives unknown', async () => {
    const name: string = 'read';
    const text = await city.call(name, { path: 'lab/a' });
    expectTypeOf(text).toEqualTypeOf<Outcome<unknown>>();
    expect(text.ok).toBe(true);
    expect(await city.call('write', {})).toMatchObject({ ok: false, error: { code: 'E_TOOL_UNKNOWN' } });
  });
});

describe.each(['workers', 'inline'] as const)('a runner that was closed (%s)', (mode) => {
  test('says so, takes no call and enters no city', async () => {
    const runner = await openRunner({ mode, workers: 1 });
    const lab = memoryCity([['lab/a', 'needle\n']]);
    const entered = await runner.enter(lab);
    if (!entered.ok) throw new Error(entered.error.recovery);
    await runner.close();
    const closed = { code: 'E_INVALID_ARGS', recovery: 'open another one, and enter the city there', retry: 'no' };
    expect(await entered.value.call('search', { text: 'needle' })).toMatchObject({ ok: false, error: closed });
    expect(await runner.enter(lab)).toMatchObject({ ok: false, error: closed });
    expect(await runner.enter('.')).toMatchObject({
      ok: false,
      error: { ...closed, subject: '.: the runner was closed' },
    });
    await runner.close();
  });
});
