/**
 * The budgets of a runner: what the embedder may lower, each from its default in limits.ts. Nothing can be raised.
 */

import * as limits from '../limits.js';
import { ALLOWANCE, type Allowance } from '../wasi/meter.js';

/** What calls may cost and how many may wait: the names an embedder lowers them by. */
export interface Budgets extends Allowance {
  /** Milliseconds of one call, from when a worker takes it. */
  readonly timeMs: number;
  /** The same for `read`. */
  readonly readTimeMs: number;
  /** Calls that wait for a worker. */
  readonly queue: number;
  /** Calls of one tenant that wait for a worker. */
  readonly tenantQueue: number;
  /** Milliseconds a call may wait for a worker. */
  readonly queueTimeMs: number;
  /** Milliseconds that entering a city may take. */
  readonly enterTimeMs: number;
  /** Threads stuck in system calls that may be left behind. */
  readonly stuckWorkers: number;
  /** The same of one city. */
  readonly cityStuckWorkers: number;
}

/** The most of each: an embedder may lower them and not raise them. */
export const BUDGETS: Budgets = {
  ...ALLOWANCE,
  timeMs: limits.CALL_TIME_MS,
  readTimeMs: limits.READ_TIME_MS,
  queue: limits.QUEUE_MAX,
  tenantQueue: limits.TENANT_QUEUE_MAX,
  queueTimeMs: limits.QUEUE_TIME_MS,
  enterTimeMs: limits.ENTER_TIME_MS,
  stuckWorkers: limits.STUCK_WORKERS_MAX,
  cityStuckWorkers: limits.CITY_STUCK_WORKERS_MAX,
};

/**
 * The defaults, lowered where `asked` is lower. Throws a RangeError for a name that is no budget's, since a misspelled one
 * would leave its default in force unsaid, and for what is no positive number: bugs of the embedder.
 */
export function lowered(asked: Partial<Budgets> = {}): Budgets {
  const unknown = Object.keys(asked).find((name) => !Object.hasOwn(BUDGETS, name));
  if (unknown !== undefined) {
    throw new RangeError(
      `limits.${unknown} is no limit; those that can be lowered: ${Object.keys(BUDGETS).join(', ')}`,
    );
  }
  const entries = Object.entries(BUDGETS).map(([name, most]) => {
    const wish = asked[name as keyof Budgets]; // the keys of BUDGETS are the keys of Budgets
    if (wish === undefined) return [name, most];
    if (!(wish > 0)) throw new RangeError(`limits.${name} must be a positive number`);
    return [name, Math.min(wish, most)];
  });
  return Object.fromEntries(entries) as Budgets; // the same keys, the same type of values
}
