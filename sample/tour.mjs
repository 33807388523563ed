/**
 * What `npm start` shows: a walk through the sample city with the real command, each line typed as you would
 * type it and answered as it answers you. A step that ends otherwise than it should ends the tour with 1.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BLOCKS } from './blocks.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const CITY = 'build/sample/city';
const ANSWERED = 0;
const REFUSED = 1;

const STEPS = [
  {
    says: 'All that an outsider may read, searched for one substring. What could not be looked at is named, with its reason;\nthe confidential vault is not met at all.',
    words: ['search', 'the clamp'],
    ends: ANSWERED,
  },
  {
    says: 'The lines around a hit.',
    words: ['read', 'lab/notes.md', '--line', '8', '--limit', '4'],
    ends: ANSWERED,
  },
  {
    says: 'A refusal says what to do next.',
    words: ['read', 'vault/claims/harnett.md'],
    ends: REFUSED,
  },
  {
    says: 'A link is judged where it lands, and where it passes.',
    words: ['read', 'lab/links/diary.md'],
    ends: REFUSED,
  },
  {
    says: 'A skill by its name: the library lies in a reserved place, and a person put its name into the lab’s reading room.',
    words: ['read', 'staffs', '--reader', 'lab'],
    ends: ANSWERED,
  },
  {
    says: 'And a file of its package.',
    words: ['call', 'read', '{"path":"staffs/closing-error.md","limit":1}', '--reader', 'lab'],
    ends: ANSWERED,
  },
  ...history(),
  {
    says: 'Bytes that were stored, by their hash: read by whoever may read the building they were stored for.',
    words: ['read', BLOCKS.said.locator],
    ends: ANSWERED,
  },
  {
    says: 'What was stored for nobody is read by nobody.',
    words: ['read', BLOCKS.strayed.locator],
    ends: REFUSED,
  },
  {
    says: 'For programs: JSON in, JSON out.',
    words: ['call', 'read', '{"path":"lab/letters/maker.ja.md","offset":4,"limit":1}'],
    ends: ANSWERED,
  },
];

/** What agents said, from git. Without git at set-up the sample has none, and that was said then. */
function history() {
  const named = join(ROOT, 'build/sample/first-commit');
  if (!existsSync(named)) return [];
  return [
    {
      says: 'What was said and committed, though two of the three were removed since. The vault is closed to an outsider, so\nwhoever runs this has to say whose branches they may see.',
      words: ['history', 'sluice', '--branches', 'agents/*'],
      ends: ANSWERED,
    },
    {
      says: 'A file as it was in a commit: judged by its building, today’s rules and that commit’s.',
      words: ['read', `file:lab/notes.md@${readFileSync(named, 'utf8')}`],
      ends: ANSWERED,
    },
  ];
}

const inColour = process.stdout.isTTY === true && !process.env.NO_COLOR;
const bold = (words) => (inColour ? `\u001b[1m${words}\u001b[0m` : words);
const quoted = (word) => (/^[\w./:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

let failed = 0;
for (const { says, words, ends } of STEPS) {
  const typed = [...words, '--city', CITY];
  console.log(`\n${says}\n${bold(`$ node bin/portcullis.js ${typed.map(quoted).join(' ')}`)}`);
  // Its streams are ours, so that what you see, colours included, is what the command writes.
  const { status } = spawnSync(process.execPath, ['bin/portcullis.js', ...typed], { cwd: ROOT, stdio: 'inherit' });
  if (status !== ends) {
    console.log(`this should have ended with ${ends}, and ended with ${status}`);
    failed++;
  }
}

console.log(`
Now yours: any directory is a city.

  node bin/portcullis.js search TODO --city ~/your/project
  node bin/portcullis.js read README.md --city ~/your/project
  node bin/portcullis.js --help
`);
process.exitCode = failed === 0 ? 0 : 1;
