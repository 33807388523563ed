/**
 * What the boundary costs whoever embeds it: a small `read` and a small `search` through the worker pool of one runner,
 * at 1, 10 and 100 tenants, with receipts on record before each answer and without; and how far one tenant that floods
 * slows the others. Every tenant has a city of its own that says something else, and one call under way at a time;
 * every answer must be that of its own city, and every call with receipts must stand in a log that verifies.
 */

import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openReceiptFile, openRunner, verifyFiles } from '../dist/index.js';
import { isQuick, median, quantile, roundsOr, table } from './measure.mjs';

const TENANTS = isQuick ? [1, 10] : [1, 10, 100];
const MOST_TENANTS = Math.max(...TENANTS);
/** Of one row in one round, shared out to its tenants. */
const CALLS = isQuick ? 40 : 1_000;
const ROUNDS = roundsOr(3);
const FLOOD_CALLS = 64;
const FLOODED_OTHERS = 3;
const CALLS_UNDER_FLOOD = isQuick ? 20 : 200;

const BUILD = join(dirname(fileURLToPath(import.meta.url)), '..', 'build');
mkdirSync(BUILD, { recursive: true });
/** Not in the directory for temporary files: that is often memory, where a receipt's sync costs nothing. */
const SCRATCH = mkdtempSync(join(BUILD, 'bench-boundary-'));
process.on('exit', () => rmSync(SCRATCH, { recursive: true, force: true }));

// ---- the cities, and what is asked of them ----

const markOf = (tenant) => `the mark of tenant ${tenant}`;
const pathOf = (tenant) => join(SCRATCH, `city${tenant}`);
for (let tenant = 0; tenant < MOST_TENANTS; tenant++) {
  mkdirSync(join(pathOf(tenant), 'lab'), { recursive: true });
  writeFileSync(join(pathOf(tenant), 'lab', 'a.md'), `one\n${markOf(tenant)}\nthree\n`);
  for (const name of ['b.md', 'c.md']) writeFileSync(join(pathOf(tenant), 'lab', name), 'one\ntwo\nthree\n');
}

/** A tool, small arguments, and the one line that the answer owes its tenant. */
const ASKED = {
  read: { args: { path: 'lab/a.md', offset: 1, limit: 1 }, told: ({ text }) => text.trimEnd() },
  search: {
    args: { text: 'the mark' },
    told: ({ count, matches, coverage }) => {
      assert.deepEqual([count, coverage.looked], [1, 3]);
      return matches[0].text;
    },
  },
};

/** The same without a boundary: nothing judged, nothing checked, on this thread. */
const PLAIN = {
  read: (path) => readFileSync(join(path, 'lab', 'a.md'), 'utf8').split('\n', 2)[1],
  search: (path) => {
    for (const { name } of readdirSync(join(path, 'lab'), { withFileTypes: true })) {
      const bytes = readFileSync(join(path, 'lab', name));
      const at = bytes.indexOf('the mark');
      if (at >= 0) return bytes.toString('utf8', at, bytes.indexOf(10, at));
    }
  },
};

// ---- measuring ----

async function timed(city, tenant, tool) {
  const { args, told } = ASKED[tool];
  const before = performance.now();
  const answer = await city.call(tool, args);
  const ms = performance.now() - before;
  assert(answer.ok, `${answer.error?.code}: ${answer.error?.subject}`);
  assert.equal(told(answer.value), markOf(tenant));
  return ms;
}

/** `calls` of each of these cities, one after another in a city, the cities at once: milliseconds of each call. */
async function load(cities, tool, calls) {
  const times = [];
  const one = async ([tenant, city]) => {
    for (let call = 0; call < calls; call++) times.push(await timed(city, tenant, tool));
  };
  await Promise.all(cities.map(one));
  return times;
}

async function open(receipts) {
  const runner = await openRunner(receipts);
  const cities = [];
  for (let tenant = 0; tenant < MOST_TENANTS; tenant++) {
    const entered = await runner.enter(pathOf(tenant), { tenant: `tenant ${tenant}` });
    assert(entered.ok, entered.error?.code);
    cities.push([tenant, entered.value]);
  }
  return { runner, cities };
}

/** p50, p99 and calls per second of one round. */
async function measure(cities, tool) {
  const calls = CALLS / cities.length;
  const before = performance.now();
  const times = await load(cities, tool, calls);
  const seconds = (performance.now() - before) / 1_000;
  assert.equal(times.length, CALLS);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond: CALLS / seconds };
}

function measurePlain(tool) {
  const times = [];
  const begun = performance.now();
  for (let call = 0; call < CALLS; call++) {
    const before = performance.now();
    assert.equal(PLAIN[tool](pathOf(0)), markOf(0));
    times.push(performance.now() - before);
  }
  const seconds = (performance.now() - begun) / 1_000;
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), perSecond: CALLS / seconds };
}

/** p50 of some tenants alone, and while another one always has FLOOD_CALLS calls under way. */
async function flooded([flooder, ...rest]) {
  const others = rest.slice(0, FLOODED_OTHERS);
  const quiet = await load(others, 'search', CALLS_UNDER_FLOOD);
  let isFlooding = true;
  const floodTimes = [];
  const flood = Array.from({ length: FLOOD_CALLS }, async () => {
    while (isFlooding) floodTimes.push(await timed(flooder[1], flooder[0], 'search'));
  });
  const under = await load(others, 'search', CALLS_UNDER_FLOOD);
  isFlooding = false;
  await Promise.all(flood);
  return { quiet: median(quiet), under: median(under), flood: median(floodTimes) };
}

// ---- the run ----

const named = (tenants) => `${tenants} tenant${tenants === 1 ? '' : 's'}`;
const log = join(SCRATCH, 'receipts.jsonl');
const bare = await open({});
const sink = await openReceiptFile(log);
const recorded = await open({ receipts: { sink } });
let recordedCalls = 0;

/** Both runners take turns in each round, on the same question: what differs is the receipts. */
const rows = [];
for (const tool of ['read', 'search']) {
  const contestants = TENANTS.flatMap((tenants) => [
    { name: `${tool}, ${named(tenants)}`, run: () => measure(bare.cities.slice(0, tenants), tool) },
    {
      name: `${tool}, ${named(tenants)}, receipts`,
      run: () => {
        recordedCalls += CALLS;
        return measure(recorded.cities.slice(0, tenants), tool);
      },
    },
  ]);
  contestants.push({ name: `${tool}, plain Node, no boundary`, run: () => measurePlain(tool) });
  const measured = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = -1; round < ROUNDS; round++) {
    for (const { name, run } of contestants) {
      const values = await run();
      if (round >= 0) measured.get(name).push(values);
    }
  }
  for (const [name, values] of measured) {
    const of = (key) => median(values.map((value) => value[key]));
    rows.push([name, of('perSecond').toFixed(0), of('p50').toFixed(2), of('p99').toFixed(2)]);
  }
}

const ratios = [];
for (let round = 0; round < ROUNDS; round++) ratios.push(await flooded(bare.cities));

for (const { runner, cities } of [bare, recorded]) {
  for (const [, city] of cities) await city.leave();
  await runner.close();
}
await sink.close();
const standing = await verifyFiles([log]);
assert.equal(standing.verdict, 'intact', JSON.stringify(standing));
const decisions = readFileSync(log, 'utf8')
  .split('\n')
  .filter((line) => line.includes('"tool":"')).length;
assert.equal(decisions, recordedCalls, 'each recorded call has its line');

table(
  `the boundary: ${CALLS} small calls a row, ${availableParallelism()} workers, medians of ${ROUNDS} rounds`,
  ['', 'calls/s', 'p50 ms', 'p99 ms'],
  rows,
);
const of = (key) => median(ratios.map((value) => value[key]));
console.log(
  `\n  fairness: a search of ${FLOODED_OTHERS} tenants, p50 ${of('quiet').toFixed(2)} ms alone and ` +
    `${of('under').toFixed(2)} ms under a tenant with ${FLOOD_CALLS} calls under way (its own p50 ` +
    `${of('flood').toFixed(1)} ms): ratio ${median(ratios.map(({ quiet, under }) => under / quiet)).toFixed(2)}`,
);
