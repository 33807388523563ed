/**
 * `npm run bench`: every bench, one after another, each in a process of its own. With `--quick` the short form, which
 * shows that they run and that their answers are right. Ends with 1 if an answer was wrong, never because of time.
 */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BENCHES = ['call.mjs', 'boundary.mjs', 'search.mjs', 'read.mjs', 'history.mjs'];

const failed = BENCHES.filter((bench) => {
  const path = fileURLToPath(new URL(bench, import.meta.url));
  return spawnSync(process.execPath, [path, ...process.argv.slice(2)], { stdio: 'inherit' }).status !== 0;
});
if (failed.length > 0) console.error(`\nwrong answers: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
