/**
 * The ground floor: makes a checkout ready, and does nothing when it already is.
 *
 * `npm start`, `npm test` and the benches run this first, so a fresh clone needs no other command. Each step
 * knows by itself whether it is due: the packages by comparing the lock with what npm wrote down after
 * installing, the builds by a hash over their sources. Two set-ups at once take turns (a lock folder).
 * Imports nothing that has to be installed.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(fileURLToPath(import.meta.url));
const STAMPS = join(ROOT, 'build', 'setup');
const LOCK = join(ROOT, 'build', 'setup.lock');
const OLDEST_NODE = [20, 19];
/** A lock whose owner is alive is waited for this long: an install over a slow line, and both builds. */
const LOCK_PATIENCE_MS = 15 * 60_000;
/** A lock without an owner's number in it: its maker was ended between two system calls. */
const LOCK_NAMELESS_MS = 10_000;
const LOCK_POLL_MS = 100;

/** What is made, from what, by which command, and which files prove that it is there. In order. */
const STEPS = [
  {
    name: 'packages',
    does: 'installing the packages of package-lock.json',
    command: () => ['npm', ['ci', '--no-audit', '--no-fund']],
    isDue: () => !packagesFit(),
  },
  {
    name: 'guest',
    does: 'building the sandboxed component',
    command: () => [process.execPath, ['guest/build.mjs']],
    sources: ['guest', 'wit', 'package-lock.json'],
    results: () => ['dist/portcullis.wasm', 'build/reference'],
  },
  {
    name: 'host',
    does: 'compiling the host',
    command: () => [process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json']],
    sources: ['host', 'tsconfig.json', 'package.json', 'package-lock.json'],
    results: () =>
      filesUnder('host')
        .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
        .map((file) => file.replace(/^host/, 'dist').replace(/\.ts$/, '.js')),
  },
  {
    name: 'sample',
    does: 'laying out the sample city',
    command: () => [process.execPath, ['sample/make.mjs']],
    sources: ['sample'],
    results: () => ['build/sample/city'],
  },
];

/** Whether a version of Node, as in `process.version`, is older than the oldest one this runs on. */
export function isTooOld(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
}

/**
 * Whether what npm says it installed is what the lock asks for: by content, because a checkout of another
 * branch and back touches the lock's time and changes nothing. What is optional (another system's binaries)
 * may be missing.
 *
 * @param wanted - `packages` of package-lock.json
 * @param installed - `packages` of node_modules/.package-lock.json, which npm writes when it is done
 */
export function isInstalled(wanted, installed) {
  return Object.entries(wanted).every(([place, { version, integrity, link, ...rest }]) => {
    if (place === '' || link) return true;
    const there = installed[place];
    if (there === undefined) return Boolean(rest.optional || rest.devOptional || rest.peer);
    return there.version === version && there.integrity === integrity;
  });
}

function packagesFit() {
  const [wanted, installed] = ['package-lock.json', 'node_modules/.package-lock.json'].map((file) => join(ROOT, file));
  return existsSync(installed) && isInstalled(lockedPackages(wanted), lockedPackages(installed));
}

function lockedPackages(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
}

/** Every file at or under a path of the project, sorted, relative to the root; a missing one has none. */
function filesUnder(path) {
  const whole = join(ROOT, path);
  if (!existsSync(whole)) return [];
  if (!statSync(whole).isDirectory()) return [path];
  return readdirSync(whole, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .sort();
}

/** Names and bytes of all sources: times would lie after a checkout, a copy or a restored cache. */
export function hashOf(sources) {
  const hash = createHash('sha256');
  for (const file of sources.flatMap(filesUnder)) {
    const bytes = readFileSync(join(ROOT, file));
    hash.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

const stampOf = (step) => join(STAMPS, `${step.name}.sha256`);

function isDue(step) {
  if (step.isDue) return step.isDue();
  if (!existsSync(stampOf(step)) || !step.results().every((file) => existsSync(join(ROOT, file)))) return true;
  return readFileSync(stampOf(step), 'utf8') !== hashOf(step.sources);
}

function run(step) {
  const started = Date.now();
  process.stderr.write(`portcullis: ${step.does} … `);
  // Taken before the command runs: a source that changes meanwhile makes the step due again.
  const hash = step.sources ? hashOf(step.sources) : undefined;
  const [program, args] = step.command();
  // npm is a script on Windows, and only a shell starts those.
  const shell = process.platform === 'win32' && program === 'npm';
  const done = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8', shell, maxBuffer: 64 * 1024 * 1024 });
  if (done.error || done.status !== 0) {
    process.stderr.write('failed\n');
    process.stderr.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
    const why = done.error ? done.error.message : `it ended with ${done.signal ?? done.status}`;
    throw new SetupFailed(`${step.does} did not work: \`${[program, ...args].join(' ')}\`: ${why}`);
  }
  if (hash !== undefined) {
    mkdirSync(STAMPS, { recursive: true });
    writeFileSync(stampOf(step), hash);
  }
  process.stderr.write(`${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

/** A failure of the machine or of the sources, told in one line and without a stack. */
class SetupFailed extends Error {}

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** Makes a folder that must not be there yet; false if it is. mkdir is the one atomic test-and-set everywhere. */
function madeFolder(path) {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function ageMs(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? Date.now() - stat.mtimeMs : 0;
}

/** Whether nobody stands behind the lock any more: its owner is gone, or it never got to write its number. */
function isAbandoned() {
  let owner;
  try {
    owner = Number(readFileSync(join(LOCK, 'owner'), 'utf8'));
  } catch {
    return ageMs(LOCK) > LOCK_NAMELESS_MS; // not written yet, or the lock was just given back: 0
  }
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

/**
 * Removes an abandoned lock. Under a second folder, and asked again inside it: otherwise the slower of two
 * that saw the same dead owner would remove the lock the faster one has taken since.
 */
function clearIfAbandoned() {
  const clearing = `${LOCK}.clearing`;
  if (!isAbandoned()) return;
  if (!madeFolder(clearing)) {
    if (ageMs(clearing) > LOCK_NAMELESS_MS) rmSync(clearing, { recursive: true, force: true });
    return;
  }
  if (isAbandoned()) rmSync(LOCK, { recursive: true, force: true });
  rmdirSync(clearing);
}

function takeLock() {
  mkdirSync(dirname(LOCK), { recursive: true });
  const until = Date.now() + LOCK_PATIENCE_MS;
  for (let told = false; !madeFolder(LOCK); ) {
    clearIfAbandoned();
    if (Date.now() > until)
      throw new SetupFailed(`another set-up holds ${relative(ROOT, LOCK)} for too long; remove it`);
    if (!told && existsSync(LOCK)) process.stderr.write('portcullis: waiting for another set-up of this checkout\n');
    told = true;
    sleep(LOCK_POLL_MS);
  }
  writeFileSync(join(LOCK, 'owner'), String(process.pid));
}

/** Makes what is due; returns how many steps ran. Throws `SetupFailed` when one does not work. */
export function setUp() {
  if (isTooOld(process.version)) {
    throw new SetupFailed(
      `Node ${OLDEST_NODE.join('.')} or newer is needed, this is ${process.version}: https://nodejs.org`,
    );
  }
  // Asked without the lock first: nothing to do is the usual case, and must cost nothing.
  if (!STEPS.some(isDue)) return 0;
  takeLock();
  try {
    let ran = 0;
    for (const step of STEPS) {
      // Asked when its turn comes: what ran before it, or whoever held the lock, may have done it.
      if (!isDue(step)) continue;
      run(step);
      ran++;
    }
    return ran;
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  try {
    setUp();
  } catch (error) {
    if (!(error instanceof SetupFailed)) throw error;
    process.stderr.write(`portcullis: ${error.message}\n`);
    process.exitCode = 1;
  }
}
