/**
 * Runs the suite: what `npm test` and `npm run check` call. A whole run that passed is remembered by the bytes of every
 * file it depends on, in build/; `--unless-passed` then does not run the same thing on the same bytes twice, and says so.
 * Words that follow go to vitest, and a run of a part is never remembered.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf } from '../setup.mjs';

const ROOT = join(import.meta.dirname, '..');
const STAMP = join(ROOT, 'build/suite.sha256');
/** Everything a test reads: sources, what is built from them, documents, and the locked packages. */
const DEPENDS_ON = [
  ...['host', 'guest', 'wit', 'test', 'bench', 'sample', 'docs', 'bin', 'dist'],
  ...['setup.mjs', 'package.json', 'package-lock.json', 'vitest.config.ts', 'README.md', 'CHANGELOG.md', 'LICENSE'],
];

const words = process.argv.slice(2);
const unlessPassed = words[0] === '--unless-passed';
const forVitest = unlessPassed ? words.slice(1) : words;
const hash = hashOf(DEPENDS_ON);

if (unlessPassed && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === hash) {
  console.log('suite: passed for exactly these files before; not run again (remove build/suite.sha256 to run it)');
} else {
  rmSync(STAMP, { force: true });
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...forVitest], { cwd: ROOT, stdio: 'inherit' });
  // A file that changed while the suite ran was not what it ran on.
  if (status === 0 && forVitest.length === 0 && hashOf(DEPENDS_ON) === hash) {
    mkdirSync(join(ROOT, 'build'), { recursive: true });
    writeFileSync(STAMP, hash);
  }
  process.exitCode = status ?? 1;
}
