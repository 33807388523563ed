/**
 * The tools as an embedder's worker runs them, without the embedder: one entered city, and calls through the same
 * `execute`, tool and guest, with every check of production. Caps are parameters of `searchWith`; the benches lift
 * them, so that an answer can be compared whole.
 */

import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ok } from '../dist/error.js';
import { lowered } from '../dist/runner/budget.js';
import { admitComponent } from '../dist/runner/component.js';
import { execute } from '../dist/runner/job.js';
import { ThreadPool } from '../dist/runner/pool.js';
import { keepShapes } from '../dist/runner/shapes.js';
import { Stuck } from '../dist/runner/stuck.js';
import { unpackHits } from '../dist/tools/hits.js';
import { TOOLS } from '../dist/tools/registry.js';
import { searchWith } from '../dist/tools/search.js';
import { parseArgs } from '../dist/tools/tool.js';
import { enterDisk } from '../dist/tree/spec.js';
import { LIFTED } from './lifted.mjs';

export const component = await admitComponent(readFileSync(new URL('../dist/portcullis.wasm', import.meta.url)));

// As every thread of the runner does.
keepShapes(component.module);

/**
 * The threads of a runner with its default options, but for the caps: what `worker.mjs` runs in them.
 * `searchAll` answers like the runner; `close` it.
 */
export function openThreads(path, n = availableParallelism()) {
  const entered = enterDisk(path);
  assert(typeof entered !== 'string', `${path}: not entered: ${entered}`);
  const budgets = lowered();
  const entry = new URL('./worker.mjs', import.meta.url);
  const pool = new ThreadPool(entry, component.module, n, budgets, new Stuck(budgets));
  return {
    searchAll: async (text) => {
      const { outcome } = await pool.run(jobOf('search', { text }, entered.spec), {});
      if (!outcome.ok) return outcome;
      return ok({ ...outcome.value, matches: unpackHits(outcome.value.matches) });
    },
    close: () => pool.close().finally(() => entered.close()),
  };
}

function jobOf(name, args, tree) {
  const tool = TOOLS.get(name);
  const parsed = parseArgs(tool, args);
  assert(parsed.ok);
  return {
    tool: name,
    args: parsed.value,
    asked: tool.asked(args),
    tenant: 'bench',
    deny: [],
    tree,
    reader: null,
    asksPolicy: false,
    budgets: lowered(),
    timeMs: tool.timeMs,
    history: { branches: ['agents/*'], repository: null },
  };
}

/** An entered city; `call` answers like the runner, `searchAll` with the caps lifted. `leave` it. */
export function enter(path) {
  const entered = enterDisk(path);
  assert(typeof entered !== 'string', `${path}: not entered: ${entered}`);
  const run = (name, args, work) => {
    const job = jobOf(name, args, entered.spec);
    const around = { module: component.module, ask: null, partial: () => {}, goOn: async () => true };
    return execute(job, (call) => work(TOOLS.get(name), call, job.args), around).then(({ outcome }) => outcome);
  };
  return {
    call: (name, args) => run(name, args, (tool, call, parsed) => tool.run(call, parsed)),
    searchAll: (text) => run('search', { text }, (_, call, args) => searchWith(call, args, LIFTED)),
    history: (pattern, work) =>
      run('search_history', { pattern }, (tool, call, args) => work?.(call) ?? tool.run(call, args)),
    readUnhashed: (path, offset, limit) => run('read', { path }, (_, call) => readUnhashed(call, path, offset, limit)),
    leave: () => entered.close(),
  };
}

/** `read`'s guest over the same file system, whole and page by page, but nobody hashes what passes. */
async function readUnhashed(call, path, offset, limit) {
  await call.askFor([path.split('/')[0]]);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const { guest } = call.open({ preopen: { kind: 'single', shown: path.slice(0, -name.length - 1), name, path } });
  const caps = { textCap: 65_536, lineCap: 1_048_576, pageBytes: 67_108_864 };
  let reading = guest.read({ name, offset: BigInt(offset), byte: 0n, limit, whole: true, ...caps });
  while (reading.kind === 'going') reading = guest.next();
  assert.equal(reading.kind, 'done');
  return { ok: true, value: reading.slice.text };
}
