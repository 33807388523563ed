/**
 * The attacker of the races through the product: in a directory of its own, as fast as it can and until it is ended, it
 * swaps each slot of a city with what must not be reached through it. Never as root: started so, it refuses.
 *
 *   node attacker.mjs CITY OUTSIDE SLOTS
 *
 * Slot n is a directory `lab/d<n>` with a file in it, and a file `lab/f<n>`. In turn they are replaced by a link outward,
 * a link into the confidential building, a link to a place that is open, a FIFO, another directory, and put back.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

if (process.getuid() === 0) throw new Error('not as root: a won race writes outside');
const [city, outside, slots] = process.argv.slice(2);
process.chdir(city);
fs.mkdirSync('.git/keep', { recursive: true });

const link = (name, target) => {
  fs.symlinkSync(target, `.git/keep/${name}`);
  return `.git/keep/${name}`;
};
const pipe = '.git/keep/pipe';
execFileSync('mkfifo', [pipe]);
const directories = [
  link('out', outside),
  link('vault', '../vault'),
  link('up', '../../outside'),
  link('in', '../hall'),
  pipe,
];
const files = [
  link('out-file', `${outside}/secret`),
  link('vault-file', '../vault/secret'),
  link('in-file', '../hall/secret'),
  pipe,
];
process.stdout.write('ready\n');

for (let turn = 0; ; turn++) {
  const slot = turn % Number(slots);
  const round = Math.floor(turn / Number(slots));
  swap(`lab/d${slot}`, directories[round % directories.length]);
  swap(`lab/f${slot}`, files[round % files.length]);
}

/** What is looked for is away, another thing is there, and both are back: the four moments of a race. */
function swap(name, replacement) {
  fs.renameSync(name, '.git/keep/original');
  fs.renameSync(replacement, name);
  fs.renameSync(name, replacement);
  fs.renameSync('.git/keep/original', name);
}
