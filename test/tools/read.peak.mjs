/**
 * Reads the last lines of a file in a process of its own, and prints what that took: the peak of resident memory is a
 * process's, and the suite's own would hide it. Arguments: the city, the path, the first line.
 */

import { readFileSync } from 'node:fs';
import { openRunner } from '../../dist/index.js';

/** A line of /proc/self/status, in bytes. */
const statusBytes = (name) =>
  Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;

const [root, path, offset] = process.argv.slice(2);
const runner = await openRunner({ mode: 'inline' });
const entered = await runner.enter(root);
if (!entered.ok) throw new Error(JSON.stringify(entered.error));
await entered.value.call('read', { path: 'lab/small' });
globalThis.gc?.();
const before = statusBytes('VmRSS');
const startMs = performance.now();
const outcome = await entered.value.call('read', { path, offset: Number(offset) });
const tookMs = performance.now() - startMs;
console.log(JSON.stringify({ outcome, tookMs, growthBytes: statusBytes('VmHWM') - before }));
await entered.value.leave();
await runner.close();
