/** A process that stores blocks and is killed at any moment, and what its store holds then. Used here and by the soak. */

import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { blake3 } from 'hash-wasm';
import { CAS, originsAt } from './blocks.js';

/** Starts one; `count` 0: it never ends by itself. */
export const putter = (
  root: string,
  tree: 'linux' | 'portable',
  run: string,
  count: number,
  prefix = run,
): ChildProcess =>
  spawn(process.execPath, ['test/store/putter.mjs', root, tree, run, String(count), prefix], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** The hashes it said, once it ended; killed `afterMs` its first one, if that is given. */
export function heard(child: ChildProcess, afterMs?: number): Promise<string[]> {
  return new Promise((resolve) => {
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => {
      if (text === '' && afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), afterMs);
      text += part;
    });
    child.on('close', () => resolve(text.split('\n').slice(0, -1)));
  });
}

/** What is wrong with the store of a city, given the blocks that were acknowledged: nothing, if all is well. */
export async function faultsOf(root: string, acknowledged: Iterable<string>): Promise<string[]> {
  const faults: string[] = [];
  const blocks = new Set<string>();
  const b3 = path.join(root, CAS, 'b3');
  for (const room of fs.existsSync(b3) ? fs.readdirSync(b3) : []) {
    for (const name of fs.readdirSync(path.join(b3, room))) {
      if ((await blake3(fs.readFileSync(path.join(b3, room, name)))) !== name) faults.push(`wrong block ${name}`);
      blocks.add(name);
    }
  }
  for (const hash of acknowledged) {
    if (!blocks.has(hash)) faults.push(`lost block ${hash}`);
    const file = path.join(root, originsAt(hash));
    const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n') : [];
    if (!lines.slice(0, -1).some((line) => /^\S+ lab$/.test(line))) faults.push(`lost origin of ${hash}`);
  }
  return faults;
}
