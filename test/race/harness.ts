/**
 * Races through the whole product: while the attacker swaps every place of a city, real threads search and read it. What
 * is counted: opens of the guests, answers, and every answer that holds what lies outside, or in the confidential
 * building. The naive open by joined path runs in the same harness, so that the race is known to be won by somebody.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outcome } from '../../dist/error.js';
import { lowered } from '../../dist/runner/budget.js';
import { admitComponent } from '../../dist/runner/component.js';
import type { Executed, Job } from '../../dist/runner/job.js';
import type { ThreadPool } from '../../dist/runner/pool.js';
import type { SearchValue } from '../../dist/tools/search.js';
import { poolOf } from '../tenants/pool.js';
import { type DiskWorld, diskWorld, type Things } from '../tree/worlds.js';

const ATTACKER = fileURLToPath(new URL('attacker.mjs', import.meta.url));
/** Fewer than half of MATCH_CAP, so that no search ends before it has met them all. */
const SLOTS = 24;
/** Files beside the one with the needle in each directory that is swapped: opened by each search, from a place that moves. */
const BESIDE = 16;
/** In every file, so that one search would bring all of them. */
const NEEDLE = 'needle';
const INSIDE = `inside ${NEEDLE}`;
/** Words that are in no answer: texts and names of what lies outside, and of the closed building. */
const CANARIES = ['CANARY', 'only-outside', 'only-vault'] as const;
/** Of one call: what waits for a FIFO never ends, and would be seen as this limit. */
const CALL_MS = 15_000;
const NOBODY = 65_534;

export interface Race {
  /** Opens the guests made, all of places that are swapped. */
  opens: number;
  calls: number;
  /** Hits and texts of the places that may be read. */
  inside: number;
  /** Links that were met and not followed, places that vanished, refusals: the other side of a swap. */
  swapped: number;
  /** Calls that ended at their deadline. */
  hung: number;
  /** Answers of `E_GUEST_TRAP`. */
  traps: number;
  /** Answers that hold a canary. */
  readonly escapes: string[];
}

function things(): Things {
  const slots = Array.from(
    { length: SLOTS },
    (_, n): Things => [
      [`lab/d${n}/secret`, `${INSIDE}\n`],
      [`lab/f${n}`, `${INSIDE}\n`],
      ...Array.from({ length: BESIDE }, (_, file) => [`lab/d${n}/beside${file}`, 'nothing\n'] as const),
    ],
  );
  return [
    ...slots.flat(),
    ['hall/secret', `${INSIDE}\n`],
    ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
    ['vault/secret', `CANARY of the vault, ${NEEDLE}\n`],
    ['vault/only-vault', `${NEEDLE}\n`],
  ];
}

/** Runs `race` over a city under attack. */
export async function underAttack<T>(race: (world: DiskWorld) => Promise<T>): Promise<T> {
  const world = diskWorld('linux')(things());
  fs.writeFileSync(path.join(world.outside, 'secret'), `CANARY from outside, ${NEEDLE}\n`);
  let attacker: ChildProcess | undefined;
  try {
    attacker = await attack(world);
    return await race(world);
  } finally {
    if (attacker?.exitCode === null) {
      attacker.kill('SIGKILL');
      await once(attacker, 'exit');
    }
    world.end();
  }
}

/** As an unprivileged user, in a directory that is its own: a won race, or a bug of the harness, writes outside. */
async function attack(world: DiskWorld): Promise<ChildProcess> {
  fs.chmodSync(path.dirname(world.root), 0o755);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const at of [world.root, path.join(world.root, 'lab')]) fs.chownSync(at, NOBODY, NOBODY);
  if (isRoot) giveSlots(path.join(world.root, 'lab'));
  const child = spawn(process.execPath, [ATTACKER, world.root, world.outside, String(SLOTS)], {
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the attacker did not start'))),
  ]);
  return child;
}

/** To move a directory, its owner must be who moves it. */
function giveSlots(lab: string): void {
  for (const name of fs.readdirSync(lab)) fs.chownSync(path.join(lab, name), NOBODY, NOBODY);
}

const component = await admitComponent(fs.readFileSync('dist/portcullis.wasm'));

/** Searches and reads until `enough` says so, with one call under way a thread. */
export async function race(world: DiskWorld, threads: number, enough: (sofar: Race) => boolean): Promise<Race> {
  const sofar: Race = { opens: 0, calls: 0, inside: 0, swapped: 0, hung: 0, traps: 0, escapes: [] };
  const pool = poolOf(component.module, threads);
  try {
    const runs = Array.from({ length: threads }, async (_, thread) => {
      while (!enough(sofar)) count(sofar, await next(pool, world, thread, sofar.calls));
    });
    await Promise.all(runs);
    return sofar;
  } finally {
    await pool.close();
  }
}

/** Mostly searches, which open all there is; and each kind of read in turn. */
function next(pool: ThreadPool, world: DiskWorld, thread: number, turn: number): Promise<Executed> {
  const slot = turn % SLOTS;
  const reads = [`lab/d${slot}/secret`, `lab/f${slot}`, `lab/d${slot}/only-vault`];
  const asked = turn % 4 === 3 ? reads[Math.floor(turn / 4) % reads.length] : undefined;
  const job: Job = {
    tool: asked === undefined ? 'search' : 'read',
    args: asked === undefined ? { text: NEEDLE, context: 1 } : { path: asked },
    asked: asked ?? NEEDLE,
    tenant: `racer ${thread}`,
    tree: world.spec,
    reader: null,
    deny: [],
    asksPolicy: false,
    budgets: lowered(),
    timeMs: CALL_MS,
  };
  return pool.run(job, {});
}

function count(sofar: Race, { outcome, account }: Executed): void {
  sofar.calls++;
  sofar.opens += account?.opens ?? 0;
  // It did not end by itself.
  if (account === null) sofar.hung++;
  const told = tellsOf(outcome);
  for (const canary of CANARIES) if (told.includes(canary)) sofar.escapes.push(told);
  if (!outcome.ok) {
    if (outcome.error.code === 'E_LIMIT') sofar.hung++;
    else if (outcome.error.code === 'E_GUEST_TRAP') sofar.traps++;
    else sofar.swapped++;
    return;
  }
  // Every value here is a search's or a read's.
  const value = outcome.value as Partial<SearchValue> & { readonly text?: string };
  if (value.text !== undefined) sofar.inside++;
  sofar.inside += value.matches?.length ?? 0;
  sofar.swapped += (value.coverage?.links ?? 0) + (value.unreadable ?? 0);
  if (value.stopped !== undefined) sofar.hung++;
}

/** All an answer tells, but for the caller's own words. */
function tellsOf(outcome: Outcome<unknown>): string {
  const told = JSON.stringify(outcome.ok ? outcome.value : outcome.error);
  return outcome.ok ? told : told.replace(/lab\/d\d+\/only-vault/g, '');
}

/** What everyone writes first: how many of these opens by joined path read a canary. */
export function readNaively(world: DiskWorld, rounds: number): number {
  let leaked = 0;
  for (let round = 0; round < rounds; round++) {
    const place = path.join(world.root, `lab/d${round % SLOTS}`, 'secret');
    if (textAt(place).includes('CANARY')) leaked++;
  }
  return leaked;
}

function textAt(place: string): string {
  try {
    const fd = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      return fs.readFileSync(fd, 'utf8');
    } finally {
      fs.closeSync(fd);
    }
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown) return '';
    throw thrown;
  }
}
