/**
 * The attacker of the race test: swaps, as fast as it can and until it is ended, a directory with a link that leads
 * outward, and a file with a link and with a FIFO. Run as an unprivileged user in a temporary directory:
 * `node race.attacker.mjs CITY OUTSIDE`.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const [city, outside] = process.argv.slice(2);
process.chdir(city);
fs.mkdirSync('keep');
fs.symlinkSync(outside, 'keep/link-to-directory');
fs.symlinkSync(`${outside}/secret`, 'keep/link-to-file');
execFileSync('mkfifo', ['keep/pipe']);
process.stdout.write('ready\n');

for (;;) {
  swap('dir', 'keep/link-to-directory');
  swap('file', 'keep/link-to-file');
  swap('file', 'keep/pipe');
}

function swap(name, replacement) {
  fs.renameSync(name, 'keep/original');
  fs.renameSync(replacement, name);
  fs.renameSync(name, replacement);
  fs.renameSync('keep/original', name);
}
