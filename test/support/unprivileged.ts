/**
 * Tool calls as a user whom permissions stop: root passes them all, so calls that must meet them are made in a process
 * of nobody's. A suite that does not run as root makes them as itself.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import type { Outcome } from '../../dist/error.js';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const script = path.resolve('test/support/unprivileged.mjs');
const as = { ...(isRoot && NOBODY), cwd: '/', env: {}, encoding: 'utf8' } as const;

/** Whether nobody may read this checkout; without it, tests that need it are skipped by name. */
export const canBeUnprivileged: boolean =
  spawnSync(process.execPath, ['--input-type=module', '-e', `await import('${path.resolve('dist/index.js')}')`], as)
    .status === 0;

/** The outcomes of calls on the city at `root`, which has to be reachable for everyone. */
export function callUnprivileged(
  tree: 'linux' | 'portable',
  root: string,
  calls: readonly (readonly [tool: string, args: unknown])[],
): Outcome<unknown>[] {
  const printed = execFileSync(process.execPath, [script, tree, root, JSON.stringify(calls)], as);
  return JSON.parse(printed) as Outcome<unknown>[]; // what the script prints
}
