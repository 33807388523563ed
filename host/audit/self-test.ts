/**
 * The self-test an auditor can run: the table of attacks, live, through the component that ships and both walls, on
 * temporary cities. A row passes if `read`, `search` at its path and a search of the whole city end as the table says,
 * and nothing that was answered holds a byte of the bait, a name that must not be told or a path of the host.
 */

import type { Outcome } from '../error.js';
import type { Verdict } from '../judge/bound.js';
import { BUDGETS } from '../runner/budget.js';
import { execute, type Job, type Work } from '../runner/job.js';
import { ATTACKS, type Attack, BAIT_NEEDLE, CANARY, type End } from './attacks.js';
import { canBeMade, groundOnDisk } from './file-ground.js';
import { type Ground, groundInMemory } from './ground.js';

/** One row of the table, run. */
export interface Row {
  readonly name: string;
  readonly why: string;
  /** Where it was run; null if it can be made in no tree here, which `result` says. */
  readonly tree: 'linux' | 'portable' | 'memory' | null;
  readonly result: 'passed' | 'failed' | 'not made here';
  /** Of a failed row: what differed, in words of this project. */
  readonly fact?: string;
}

/** What the self-test needs of its surroundings: the guest, and the tools. */
export interface Subject {
  readonly module: WebAssembly.Module;
  readonly workFor: (job: Job) => Work;
  /** The tree that this system's cities get. */
  readonly tree: 'linux' | 'portable';
}

/** Runs the whole table. A few seconds; writes only below the system's temporary directory, and removes it. */
export async function selfTest(subject: Subject, attacks: readonly Attack[] = ATTACKS): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const attack of attacks) rows.push(await runRow(subject, attack));
  return rows;
}

async function runRow(subject: Subject, attack: Attack): Promise<Row> {
  const { name, why } = attack;
  const tree = treeFor(subject, attack);
  if (tree === null) return { name, why, tree, result: 'not made here' };
  const fact = await firstDifference(subject, attack, tree);
  return fact === undefined ? { name, why, tree, result: 'passed' } : { name, why, tree, result: 'failed', fact };
}

function treeFor({ tree }: Subject, attack: Attack): Row['tree'] {
  if (attack.only !== 'memory' && attack.only !== 'folding' && canBeMade(attack)) return tree;
  return attack.only === 'disk' ? null : 'memory';
}

async function firstDifference(subject: Subject, attack: Attack, tree: 'linux' | 'portable' | 'memory') {
  const asks: readonly (readonly [string, (path: string) => unknown, End])[] = [
    ['read', (path) => ({ path }), attack.read],
    ['search', (path) => ({ text: 'LANDED', path }), attack.search ?? attack.read],
    ['search', () => ({ text: BAIT_NEEDLE }), endFromTop(attack)],
  ];
  const lay = (): Ground => (tree === 'memory' ? groundInMemory(attack) : groundOnDisk(attack, tree));
  const isMoved = attack.before !== undefined || attack.between !== undefined;
  let ground = lay();
  try {
    for (const [tool, args, expected] of asks) {
      const fact = await ask(subject, attack, ground, tool, args(ground.fill(attack.path)), expected);
      if (fact !== undefined) return fact;
      if (!isMoved) continue;
      // What a neighbour has moved serves once.
      ground.end();
      ground = lay();
    }
  } finally {
    ground.end();
  }
  return undefined;
}

/** A search of the whole city finds no bait, or finds that the city is another one. */
function endFromTop({ before = [], between = [] }: Attack): End {
  if (before.some((swap) => 'replaceRoot' in swap)) return { refused: 'E_STORAGE_FATAL' };
  if (between.some((swap) => 'replaceRoot' in swap)) return { refused: 'E_GATE_DENIED' };
  return 'nothing';
}

async function ask(
  subject: Subject,
  attack: Attack,
  ground: Ground,
  tool: string,
  args: unknown,
  expected: End,
): Promise<string | undefined> {
  for (const swap of attack.before ?? []) ground.swap(swap);
  const job = jobFor(attack, ground, tool, args);
  const { outcome } = await execute(job, subject.workFor(job), surroundings(subject, attack), {
    betweenWalls: () => {
      for (const swap of attack.between ?? []) ground.swap(swap);
    },
  });
  const told = JSON.stringify(outcome).replaceAll(JSON.stringify(job.asked).slice(1, -1), '');
  if (told.includes(CANARY)) return `${tool}: the answer holds what must not be told`;
  if (ground.hostPath !== undefined && told.includes(ground.hostPath))
    return `${tool}: the answer holds a path of the host`;
  const end = endOf(outcome);
  return JSON.stringify(end) === JSON.stringify(expected)
    ? undefined
    : `${tool}: ended ${JSON.stringify(end)}, not ${JSON.stringify(expected)}`;
}

function jobFor(attack: Attack, ground: Ground, tool: string, args: unknown): Job {
  const asked = ground.fill(attack.path);
  return {
    tool,
    args,
    asked,
    tenant: 'self-test',
    tree: ground.spec,
    reader: attack.reader ?? null,
    deny: attack.deny ?? [],
    asksPolicy: attack.policy !== undefined,
    budgets: BUDGETS,
    timeMs: BUDGETS.timeMs,
  };
}

const BY_NAME = (building: string): Verdict => ({
  kind: building === 'vault' || building === 'broken' ? 'confidential' : 'open',
});

const surroundings = ({ module }: Subject, { policy }: Attack) => ({
  module,
  ask: policy === undefined ? null : async (buildings: readonly string[]) => buildings.map(BY_NAME),
  partial: () => {},
  goOn: async () => true,
});

/** Where a call ended, as the table says it. The values are those of `read` and `search`. */
function endOf(outcome: Outcome<unknown>): End {
  if (!outcome.ok) return { refused: outcome.error.code };
  const value = outcome.value as { text?: string; matches?: readonly { text: string }[] };
  if (value.matches === undefined) return { lands: (value.text ?? '').split('\n', 1)[0] ?? '' };
  const [hit] = value.matches;
  return hit === undefined ? 'nothing' : { lands: hit.text };
}
