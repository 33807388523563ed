/**
 * The repositories that history.mjs measures: made by `git fast-import` from a seed, in `build/`, and thrown away after.
 * One of agents alone, 20 branches × 300 commits; and one where an agent's hundred commits stand on other people's many.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BUILD = join(dirname(fileURLToPath(import.meta.url)), '..', 'build');

/** The git of this system without any configuration; undefined where there is none. */
export function gitIn(dir) {
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_NO_REPLACE_OBJECTS: '1',
    LC_ALL: 'C',
  };
  return (args, input) => {
    const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: dir, input, env, maxBuffer: 2 ** 30 });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
}

/** Numbers from a seed (mulberry32). */
function dice(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const words = (roll, count) => Array.from({ length: count }, () => `w${roll(3_000).toString(36)}`).join(' ');

class Story {
  #parts = [];
  say(text) {
    this.#parts.push(text);
  }
  data(text) {
    this.say(`data ${Buffer.byteLength(text)}\n${text}\n`);
  }
  commit(branch, date, from) {
    this.say(`commit refs/heads/${branch}\ncommitter A <a@x> ${date} +0000\n`);
    this.data('turn\n');
    if (from !== undefined) this.say(`from ${from}\n`);
  }
  file(path, text) {
    this.say(`M 100644 inline ${path}\n`);
    this.data(text);
  }
  bytes() {
    return Buffer.from(this.#parts.join(''));
  }
}

function made(story, repack) {
  mkdirSync(BUILD, { recursive: true });
  const dir = mkdtempSync(join(BUILD, 'bench-history-'));
  const git = gitIn(dir);
  git(['init', '--quiet', '--bare', '.']);
  git(['-c', 'fastimport.unpackLimit=1', 'fast-import', '--quiet'], story.bytes());
  if (repack) git(['repack', '-adfq', '--depth=50']);
  return { dir, git, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Agents alone: each commit adds a message, each twentieth a summary too. Packed anew, with deltas. */
export function agents(branches, each) {
  const [roll, story] = [dice(1), new Story()];
  for (let number = 0; number < each; number++) {
    for (let branch = 0; branch < branches; branch++) {
      story.commit(`agents/a${branch}`, 1_700_000_000 + number * 60 + branch);
      const name = String(number).padStart(4, '0');
      const text = `${words(roll, 60 + roll(200))}${roll(600) === 0 ? ' the sluice follows' : ''}`;
      story.file(`messages/${name}.json`, JSON.stringify({ role: 'assistant', number, branch, text }));
      if (number % 20 === 19) story.file(`summary/${name}.md`, `# summary ${number}\n${text}\n`);
    }
  }
  return made(story, true);
}

/** `others` commits of other people's on main, and an agent's hundred on top of them. As fast-import packs it. */
export function agentAmong(others) {
  const [roll, story] = [dice(2), new Story()];
  for (let number = 0; number < others; number++) {
    story.commit('main', 1_600_000_000 + number * 60);
    story.file(`src/${number % 50}/${number % 7}.txt`, `${number} ${words(roll, 3)}\n`);
  }
  for (let number = 0; number < 100; number++) {
    story.commit('agents/only', 1_700_000_000 + number * 60, number === 0 ? 'refs/heads/main' : undefined);
    story.file(
      `messages/${String(number).padStart(4, '0')}.json`,
      `${words(roll, 80)}${number % 10 === 0 ? ' the sluice follows' : ''}\n`,
    );
  }
  return made(story, false);
}
