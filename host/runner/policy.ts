/**
 * The embedder's policy, as a function of the building. It may be async, throw or never answer: whatever it does, each
 * building has a verdict within the call's time, and what is no verdict closes.
 */

import type { Verdict } from '../judge/bound.js';

/** Decides what a reader may read of a building. Asked once a building and call. */
export type Policy = (building: string, reader: string | null) => Verdict | Promise<Verdict>;

const closed = (subject: string): Verdict => ({ kind: 'rules-unreadable', subject });

/** Verdicts in the order of the names, each asked at once; after `timeMs` what has no answer is closed. */
export async function askPolicy(
  policy: Policy,
  reader: string | null,
  buildings: readonly string[],
  timeMs: number,
): Promise<readonly Verdict[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    timer = setTimeout(() => resolve(closed('the policy did not answer in time')), timeMs);
  });
  try {
    return await Promise.all(buildings.map((building) => Promise.race([ask(policy, reader, building), late])));
  } finally {
    clearTimeout(timer);
  }
}

async function ask(policy: Policy, reader: string | null, building: string): Promise<Verdict> {
  if (building === reader) return { kind: 'open' };
  try {
    return asVerdict(await policy(building, reader));
  } catch {
    // Refuses: what the embedder's error says is not for the model.
    return closed('the policy failed');
  }
}

/** Only the three words of a verdict pass; a value of another shape closes. */
function asVerdict(given: unknown): Verdict {
  const { kind, subject } = (given ?? {}) as { kind?: unknown; subject?: unknown };
  if (kind === 'open' || kind === 'confidential') return { kind };
  return closed(kind === 'rules-unreadable' && typeof subject === 'string' ? subject : 'the policy gave no verdict');
}
