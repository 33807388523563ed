/**
 * How the benches measure: contestants take turns, every answer is asserted, medians are kept, and only ratios of
 * one and the same run are compared. Nothing here ends a bench because of time; a wrong answer ends it at once.
 */

import { strict as assert } from 'node:assert';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');
/**
 * Between turns, so that nobody pays for what another one left. Only the young: a full collection also throws away
 * optimised code, which no program that runs for a while does before each call.
 */
const collect = () => gc({ type: 'minor' });

/** Whether this is the short form: fewest rounds and smallest files, to see that everything still runs. */
export const isQuick = process.argv.includes('--quick');

/** Rounds before those that count: so many until every contestant's code is as fast as it will be. */
const WARM_UP_ROUNDS = isQuick ? 1 : 3;

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {() => unknown} run one turn, timed whole; may be async
 * @property {(answer: any) => void} check throws unless the answer is right
 */

/**
 * Runs the contestants in turn, `rounds` times after the warm-up rounds, each round beginning with the next of them.
 * Every answer of every round is checked, outside of the time.
 *
 * @param {readonly Contestant[]} contestants
 * @returns {Promise<Map<string, number[]>>} milliseconds of each round by name
 */
export async function inTurn(contestants, rounds) {
  const times = new Map(contestants.map(({ name }) => [name, []]));
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const { name, run, check } = contestants[(turn + round + WARM_UP_ROUNDS) % contestants.length];
      collect();
      const before = performance.now();
      const answer = await run();
      const ms = performance.now() - before;
      check(answer);
      if (round >= 0) times.get(name).push(ms);
    }
  }
  return times;
}

/** The value below which the part `share` (0 … 1) of the numbers lies. @throws for no numbers */
export function quantile(numbers, share) {
  assert(numbers.length > 0, 'a quantile of nothing');
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
export const median = (numbers) => quantile(numbers, 0.5);

/**
 * The median of the ratios round by round: a machine that was slow for a while was slow for both.
 * @param {Map<string, number[]>} times
 */
export function ratio(times, one, other) {
  const others = times.get(other);
  return median(times.get(one).map((ms, round) => ms / others[round]));
}

/** Prints rows of text under a heading, columns aligned, numbers to the right. */
export function table(heading, columns, rows) {
  const cells = [columns, ...rows.map((row) => row.map(String))];
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  console.log(`\n${heading}\n`);
  for (const row of cells) {
    const line = row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])));
    console.log(`  ${line.join('  ')}`);
  }
}

/** A row for each contestant: median, fastest, slowest, and its ratio to `base`. */
export function timesTable(heading, times, base) {
  const rows = [...times].map(([name, ms]) => [
    name,
    median(ms).toFixed(1),
    Math.min(...ms).toFixed(1),
    Math.max(...ms).toFixed(1),
    ratio(times, name, base).toFixed(2),
  ]);
  table(heading, ['', 'median ms', 'min', 'max', `of ${base}`], rows);
}

/** Says how a measured value stands to its target. Never fails: machines differ, answers do not. */
export function target(claim, value, most, unit = '') {
  const verdict = value <= most ? 'met' : 'MISSED';
  console.log(`  ${verdict.padEnd(6)}  ${claim}: ${value.toFixed(2)}${unit}, target at most ${most}${unit}`);
}

/** Rounds: 1 in the short form, as `--rounds N` says, or as many as the bench thinks enough. */
export function roundsOr(usual) {
  const asked = Number(process.argv[process.argv.indexOf('--rounds') + 1]);
  if (isQuick) return 1;
  return process.argv.includes('--rounds') && asked >= 1 ? asked : usual;
}
