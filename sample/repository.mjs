/**
 * The sample city's history: what two agents said over three days, a repository in build/sample/city/.git. Made by the
 * git of this system, with fixed names and times, so that its commits have the same names everywhere. Where there is no
 * git the city is without history, and says so.
 */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each commit of a branch: its day, what it says of itself, what it adds, and what it removes. */
const STORY = {
  'agents/keeper': [
    {
      day: 1,
      says: 'First turn',
      adds: {
        'messages/001-user.json': '{"role":"user","text":"Why is the sluice late on spring tides?"}\n',
        'lab/notes.md': '# Notes\n\nThe clamp on gauge seven was never loose. I looked at the wrong gauge.\n',
      },
    },
    {
      day: 1,
      says: 'Answer',
      adds: {
        'messages/002-assistant.json':
          '{"role":"assistant","text":"The sluice follows gauge seven, and gauge seven follows the mud."}\n',
      },
    },
    {
      day: 3,
      says: 'Compact',
      adds: { 'summary/001.md': '# What was found\n\nThe sluice follows gauge seven; gauge seven stands in mud.\n' },
      removes: ['messages/001-user.json', 'messages/002-assistant.json'],
    },
  ],
  'agents/mill': [
    {
      day: 2,
      says: 'Another agent',
      adds: { 'messages/001-user.json': '{"role":"user","text":"Grind the figures of March again."}\n' },
    },
  ],
};

const DAY = 86_400;
const BEGAN = 1_772_611_200; // 2026-03-04

/** The story as `git fast-import` takes it. */
function stream() {
  const parts = [];
  const say = (text) => parts.push(Buffer.from(text));
  const data = (text) => say(`data ${Buffer.byteLength(text)}\n${text}\n`);
  let mark = 0;
  for (const [branch, commits] of Object.entries(STORY)) {
    for (const { day, says, adds, removes = [] } of commits) {
      const who = `${branch.slice(7)} <${branch.slice(7)}@sample> ${BEGAN + day * DAY + ++mark} +0000`;
      say(`commit refs/heads/${branch}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\n`);
      data(`${says}\n`);
      for (const [path, text] of Object.entries(adds)) {
        say(`M 100644 inline ${path}\n`);
        data(text);
      }
      for (const path of removes) say(`D ${path}\n`);
    }
  }
  return Buffer.concat(parts);
}

/** Makes the repository of the city at `city`; beside it, `first-commit` names the one that the tour reads from. */
export function makeRepository(city, sample) {
  const git = (args, input = '') =>
    spawnSync('git', args, {
      cwd: city,
      input,
      encoding: 'utf8',
      // Nothing of this system's configuration: a template could bring hooks, a hash or a format of its own.
      env: {
        PATH: process.env.PATH,
        HOME: sample,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_TEMPLATE_DIR: '',
      },
    });
  const made = git(['init', '--quiet', '.']);
  if (made.error?.code === 'ENOENT') {
    console.error('sample city: this system has no git, so the city is without history');
    return;
  }
  const imported = git(['fast-import', '--quiet', '--force', '--export-marks=../marks'], stream());
  if (made.status !== 0 || imported.status !== 0) throw new Error(`git: ${made.stderr}${imported.stderr}`);
  writeFileSync(join(sample, 'first-commit'), git(['rev-list', '--max-parents=0', 'agents/keeper']).stdout.trim());
}
