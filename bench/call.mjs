/**
 * What a call costs that does next to nothing: an instance, a search and a read in a city of three files, inline and
 * through a worker. The runner's own share of every answer. Of each way the first calls, while the engine still
 * interprets most of it, and the calls once it is warm: those the targets are of.
 */

import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRunner } from '../dist/door/node.js';
import { instantiate } from '../dist/wasi/world.js';
import { isQuick, quantile, table, target } from './measure.mjs';
import { component } from './ours.mjs';

const CALLS = isQuick ? 30 : 1_000;
/** Calls after which a thread's code is optimised, and stays so. */
const WARM_UP = isQuick ? 0 : 2_500;
const INSTANCES = isQuick ? 100 : 5_000;

const city = mkdtempSync(join(tmpdir(), 'portcullis-bench-'));
mkdirSync(join(city, 'lab'));
for (const name of ['a.md', 'b.md', 'c.md']) writeFileSync(join(city, 'lab', name), `one\nthe ${name} clamp\nthree\n`);

const ms = new Map();
function took(name, times) {
  ms.set(name, quantile(times, 0.5));
  return [name, ...[0.5, 0.9, 0.99].map((share) => quantile(times, share).toFixed(3))];
}

/** Nothing is asked of it: a guest that is made touches no file system. */
function instances() {
  const times = [];
  for (let i = 0; i < INSTANCES; i++) {
    const before = performance.now();
    const guest = instantiate(component.module, undefined);
    times.push(performance.now() - before);
    assert(guest.memoryBytes() > 0);
  }
  return times;
}

async function calls(entered, tool, args, check) {
  const times = [];
  for (let i = 0; i < WARM_UP + CALLS; i++) {
    const before = performance.now();
    const answer = await entered.call(tool, args);
    times.push(performance.now() - before);
    assert(answer.ok, answer.error?.code);
    check(answer.value);
  }
  return times;
}

const ofCalls = (name, times) => [took(`${name}, the first`, times.slice(0, CALLS)), took(name, times.slice(-CALLS))];

const threeHits = ({ count, truncated }) => assert.deepEqual([count, truncated], [3, false]);
const oneLine = ({ text, next_offset }) => assert.deepEqual([text, next_offset], ['the b.md clamp\n', 2]);

const rows = [took('an instance', instances())];
for (const mode of ['inline', 'workers']) {
  const runner = await openRunner(mode === 'inline' ? { mode } : { mode, workers: 1 });
  const entered = await runner.enter(city);
  assert(entered.ok, entered.error?.code);
  rows.push(...ofCalls(`search, ${mode}`, await calls(entered.value, 'search', { text: 'clamp' }, threeHits)));
  const interval = { path: 'lab/b.md', offset: 1, limit: 1 };
  rows.push(...ofCalls(`read, ${mode}`, await calls(entered.value, 'read', interval, oneLine)));
  await entered.value.leave();
  await runner.close();
}
rmSync(city, { recursive: true });

table(`a small call: ${CALLS} of each, ms; warm after ${WARM_UP}`, ['', 'p50', 'p90', 'p99'], rows);
console.log();
target('an instance', ms.get('an instance'), 0.2, ' ms');
target('a search through a worker', ms.get('search, workers'), 1, ' ms');
target('a read through a worker', ms.get('read, workers'), 1, ' ms');
