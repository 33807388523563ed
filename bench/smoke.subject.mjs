/**
 * What every runtime must do with this package, in both modes: enter a city, search, read, be refused, be cancelled,
 * leave, close, and then end by itself. Run by bench/smoke.mjs on each runtime; prints one word a mode.
 */

import { strict as assert } from 'node:assert';
import { openRunner } from '../dist/index.js';

const [city, ...modes] = process.argv.slice(2);

/** @throws for the first thing that is not as it should be */
async function walkThrough(mode) {
  const runner = await openRunner(mode === 'inline' ? { mode } : { mode, workers: 1 });
  const entered = await runner.enter(city);
  assert(entered.ok, `not entered: ${entered.error?.code}`);
  const { call, leave } = {
    call: (...asked) => entered.value.call(...asked),
    leave: () => entered.value.leave(),
  };

  const found = await call('search', { text: 'the clamp' });
  assert(found.ok, `search: ${found.error?.code} ${found.error?.subject}`);
  assert(found.value.count > 0, 'nothing was found');
  const [{ path, line, text }] = found.value.matches;
  const lines = await call('read', { path, offset: line, limit: 1 });
  assert(lines.ok, `read: ${lines.error?.code}`);
  assert.equal(lines.value.text.trimEnd(), text);
  assert.match(lines.value.version, /^cas:b3-[0-9a-f]{64}$/);

  const refused = await call('read', { path: 'vault/claims/harnett.md' });
  assert.equal(refused.error?.code, 'E_GATE_DENIED');
  const cancelled = await call('search', { text: 'the clamp' }, { signal: AbortSignal.abort() });
  assert.equal(cancelled.error?.code, 'E_CANCELLED');
  const controller = new AbortController();
  const underWay = call('search', { text: 'no such words' }, { signal: controller.signal });
  controller.abort();
  assert.equal((await underWay).error?.code, 'E_CANCELLED');
  const after = await call('search', { text: 'the clamp' });
  assert(after.ok, 'a call after a cancelled one');

  await leave();
  await runner.close();
}

for (const mode of modes) {
  await walkThrough(mode);
  console.log(mode);
}
