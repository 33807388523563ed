/**
 * Many tenants in one pool of threads, whose guest may be another than ours: what the tests of neighbours share.
 * Jobs as the door makes them, run by the pool and the worker that ship.
 */

import fs from 'node:fs';
import { main as asc } from 'assemblyscript/asc';
import type { Outcome } from '../../dist/error.js';
import { type Budgets, lowered } from '../../dist/runner/budget.js';
import type { Job } from '../../dist/runner/job.js';
import { ThreadPool } from '../../dist/runner/pool.js';
import { Stuck } from '../../dist/runner/stuck.js';
import { TOOLS } from '../../dist/tools/registry.js';
import type { TreeSpec } from '../../dist/tree/spec.js';
import { type DiskWorld, diskWorld, type Things } from '../tree/worlds.js';

const WORKER = new URL('../../dist/tools/worker.js', import.meta.url);

/** Compiles guest/unruly.ts as our guest is compiled. About two seconds. */
export async function unrulyGuest(): Promise<WebAssembly.Module> {
  const options = [
    '--runtime',
    'stub',
    '--enable',
    'simd',
    '-O1',
    '--noAssert',
    '--use',
    'abort=',
    '--maximumMemory',
    '4096',
  ];
  let binary: Uint8Array | undefined;
  const { error, stderr } = await asc(['test/tenants/guest/unruly.ts', '--outFile', 'unruly.wasm', ...options], {
    readFile: (name) => (fs.existsSync(name) ? fs.readFileSync(name, 'utf8') : null),
    writeFile: (_name, contents) => {
      if (typeof contents !== 'string') binary = contents;
    },
    listFiles: () => null,
  });
  if (error !== null || binary === undefined) throw new Error(`unruly guest: ${error?.message}\n${stderr.toString()}`);
  return WebAssembly.compile(new Uint8Array(binary));
}

/** A pool that runs this guest. `close` it. */
export function poolOf(module: WebAssembly.Module, threads: number, limits: Partial<Budgets> = {}): ThreadPool {
  const budgets = lowered(limits);
  return new ThreadPool(WORKER, module, threads, budgets, new Stuck(budgets));
}

export interface Ask {
  readonly tenant: string;
  readonly spec: TreeSpec;
  readonly tool: 'search' | 'read';
  readonly args: unknown;
  readonly reader?: string | null;
  readonly timeMs?: number;
}

/** One call of a tenant. */
export async function ask(
  pool: ThreadPool,
  { tenant, spec, tool, args, reader, timeMs }: Ask,
): Promise<Outcome<unknown>> {
  const job: Job = {
    tool,
    args,
    asked: TOOLS.get(tool)?.asked(args) ?? '',
    tenant,
    tree: spec,
    reader: reader ?? null,
    deny: [],
    asksPolicy: false,
    budgets: lowered(),
    timeMs: timeMs ?? 20_000,
  };
  return (await pool.run(job, {})).outcome;
}

/** Cities that differ in nothing but a number: the same addresses, another text in each. */
export const twins = (count: number): DiskWorld[] =>
  Array.from({ length: count }, (_, n) => diskWorld('linux')(twin(n)));

const twin = (n: number): Things => [
  ['lab/same.md', `the mark of city ${n}\nand another line\n`],
  ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
  ['vault/same.md', `the mark of the vault of city ${n}\n`],
];

/** Threads of this process. */
export const threadCount = (): number => fs.readdirSync('/proc/self/task').length;

/** The middle of some times. */
export function median(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
