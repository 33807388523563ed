/**
 * `search_history` against `git log -S` as the documents have it, side by side over one repository. Both answers are
 * compared whole: ours with its caps lifted, each of its first entries proved by hashes. git starts a process each turn,
 * and that is in its time; ours runs warm in this process, with every check on.
 */

import { strict as assert } from 'node:assert';
import { searchHistoryWith } from '../dist/tools/search-history.js';
import { inTurn, isQuick, median, ratio, roundsOr, table, target, timesTable } from './measure.mjs';
import { enter } from './ours.mjs';
import { agentAmong, agents } from './repositories.mjs';

const PATTERNS = [
  { name: 'rare', text: 'the sluice follows' },
  { name: 'none', text: 'nobody ever said this' },
  { name: 'common', text: 'assistant' },
];
const LIFTED = { addressesBytes: Number.MAX_SAFE_INTEGER, shown: 5 };

const logArgs = (pattern) => [
  ...['log', '--full-history', '--branches=agents/*', '--no-renames', '--no-textconv', '--diff-filter=A'],
  ...[`-S${pattern}`, '--raw', '-z', '--no-abbrev', '--format=%x01%H', '--', 'messages', 'summary'],
];

/** Addresses as git tells them, one entry one hit. */
function addressesOf(printed) {
  const [found, known] = [[], new Set()];
  let commit = '';
  const fields = printed.toString().split('\0');
  for (let i = 0; i < fields.length; i++) {
    const at = fields[i].indexOf('\u0001');
    if (at >= 0) commit = fields[i].slice(at + 1).trim();
    const blob = /^\n?:\d{6} \d{6} [0-9a-f]+ ([0-9a-f]+) A$/.exec(fields[i])?.[1];
    if (blob === undefined) continue;
    const path = fields[++i];
    if (!known.has(`${blob} ${path}`)) found.push(`${commit}:${path}`);
    known.add(`${blob} ${path}`);
  }
  return found;
}

const ours = (city, pattern, expected) => ({
  name: 'ours',
  run: () => city.history(pattern, (call) => searchHistoryWith(call, pattern, LIFTED)),
  check: ({ ok, value, error }) => {
    assert(ok, error?.code);
    assert.equal(value.truncated, false, value.stopped);
    assert.deepEqual(value.addresses, expected);
  },
});

const gits = (git, pattern, expected) => ({
  name: 'git log -S',
  run: () => git(logArgs(pattern)),
  check: (printed) => assert.deepEqual(addressesOf(printed), expected),
});

async function compare(heading, repository, patterns, rounds) {
  const city = enter(repository.dir);
  for (const { name, text } of patterns) {
    const expected = addressesOf(repository.git(logArgs(text)));
    const times = await inTurn([ours(city, text, expected), gits(repository.git, text, expected)], rounds);
    timesTable(`history: ${heading}, ${name} (${expected.length} entries), ${rounds} rounds`, times, 'git log -S');
    target(`ours of git log -S, ${name}`, ratio(times, 'ours', 'git log -S'), 2);
  }
  city.leave();
}

const peak = () => (process.resourceUsage().maxRSS / 1024).toFixed(0);

const [branches, each] = isQuick ? [4, 20] : [20, 300];
const small = agents(branches, each);
try {
  const before = peak();
  await compare(`${branches} branches × ${each} commits, packed`, small, PATTERNS, roundsOr(5));
  table(
    'peak memory of this process, MiB',
    ['', 'MiB'],
    [
      ['before', before],
      ['after', peak()],
    ],
  );
} finally {
  small.remove();
}

// The tool as it is called: its caps and its time stand, and a stop is an answer.
const GRAPHS = [
  { graph: 'no commit-graph' },
  { graph: 'a commit-graph', write: [] },
  { graph: 'a commit-graph with filters of paths', write: ['--changed-paths'] },
];

/** One question, answered some times, and git's time for it. */
async function askTool({ city, git, name, text }) {
  const [times, rows] = [[], []];
  const began = performance.now();
  const expected = addressesOf(git(logArgs(text)));
  const gitsMs = performance.now() - began;
  for (let round = 0; round < roundsOr(3); round++) {
    const start = performance.now();
    const { ok, value, error } = await city.history(text);
    times.push(performance.now() - start);
    assert(ok, error?.code);
    const wanted = value.truncated ? expected.slice(0, value.addresses.length) : expected;
    assert.deepEqual(value.addresses, wanted);
    const ms = times.at(-1).toFixed(0);
    rows.push([`${name}, round ${round + 1}`, ms, value.addresses.length, value.stopped ?? 'complete']);
  }
  rows.push([`${name}, git log -S`, gitsMs.toFixed(0), '', '']);
  return { times, rows };
}

const others = isQuick ? 2_000 : 300_000;
const large = agentAmong(others);
try {
  const city = enter(large.dir);
  for (const { graph, write } of GRAPHS) {
    if (write !== undefined) large.git(['commit-graph', 'write', '--reachable', ...write]);
    const rows = [];
    for (const { name, text } of PATTERNS.slice(0, 2)) {
      const asked = await askTool({ city, git: large.git, name, text });
      rows.push(...asked.rows);
      target(`${name}, ${graph}, of a call’s 30 s`, median(asked.times) / 1000, 30, ' s');
    }
    const heading = `history: an agent’s 100 commits on ${others} others, ${graph}`;
    table(heading, ['', 'ms', 'entries', 'stopped'], rows);
  }
  table('peak memory of this process, MiB', ['', 'MiB'], [['after', peak()]]);
  city.leave();
} finally {
  large.remove();
}
