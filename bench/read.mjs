/**
 * `read` of ten lines at the beginning, in the middle and at the end of a large file, against `sed -n` and a plain
 * Node stream. Ours passes over the whole file whatever is asked: it judges all bytes as UTF-8, counts all lines and
 * hashes them. So it is also measured without the hash, and what the others stop short of is theirs to gain.
 */

import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { closeSync, createReadStream, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurn, isQuick, median, table } from './measure.mjs';
import { enter } from './ours.mjs';

const CITY = join(dirname(fileURLToPath(import.meta.url)), '..', 'build', 'bench-read');
const LINES = 10;
const SIZES = isQuick
  ? [{ name: '1 MB', bytes: 1e6, rounds: 1 }]
  : [
      { name: '100 MB', bytes: 100e6, rounds: 5 },
      { name: '1 GiB', bytes: 2 ** 30, rounds: 3 },
    ];
const hasSed = spawnSync('sed', ['--version']).status === 0;

/** Line `n`: its number, then text, ASCII and not; about 100 bytes. */
const lineAt = (n) => `${n} the levelling of the mill race, éèà, 水車の水路の勾配, measured again and written down\n`;
const linesFrom = (first) => Array.from({ length: LINES }, (_, i) => lineAt(first + i)).join('');

/** Writes whole lines until the file has `bytes`; how many lines it has. */
function makeFile(path, bytes) {
  const file = openSync(path, 'w');
  let lines = 0;
  for (let size = 0; size < bytes; ) {
    let chunk = '';
    for (let i = 0; i < 20_000 && size + chunk.length * 1.4 < bytes; i++) chunk += lineAt(lines++);
    if (chunk === '') chunk = lineAt(lines++);
    size += writeSync(file, chunk);
  }
  closeSync(file);
  return lines;
}

// ---- the contestants ----

const ours = (city, name, offset, lines) => ({
  name: 'ours',
  run: () => city.call('read', { path: `lab/${name}`, offset, limit: LINES }),
  check: ({ ok, value, error }) => {
    assert(ok, error?.code);
    assert.equal(value.text, linesFrom(offset));
    assert.match(value.version, /^cas:b3-/);
    if (offset + LINES < lines) assert.equal(value.total_lines, lines);
    else assert.equal(value.next_offset, undefined);
  },
});

/** The same guest, page by page, over a file system without the hash's tap: what the hash costs. */
const withoutHash = (city, name, offset) => ({
  name: 'ours, no hash',
  run: () => city.readUnhashed(`lab/${name}`, offset, LINES),
  check: ({ ok, value, error }) => {
    assert(ok, error?.code);
    assert.equal(value, linesFrom(offset));
  },
});

const sed = (path, offset) => ({
  name: 'sed -n',
  run: () =>
    spawnSync('sed', ['-n', `${offset + 1},${offset + LINES}p;${offset + LINES}q`, path], { encoding: 'utf8' }),
  check: ({ stdout }) => assert.equal(stdout, linesFrom(offset)),
});

const stream = (path, offset) => ({
  name: 'plain Node stream',
  run: () => readByStream(path, offset),
  check: (text) => assert.equal(text, linesFrom(offset)),
});

/** Counts newlines chunk by chunk, keeps the chunks that hold the interval, stops behind it. */
async function readByStream(path, offset) {
  let line = 0;
  const kept = [];
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    let from = line >= offset ? 0 : -1;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, end + 1)) {
      line++;
      if (line === offset) from = end + 1;
      if (line !== offset + LINES) continue;
      kept.push(chunk.subarray(Math.max(from, 0), end + 1));
      return Buffer.concat(kept).toString('utf8');
    }
    if (from >= 0) kept.push(chunk.subarray(from));
  }
  return Buffer.concat(kept).toString('utf8');
}

// ---- the run ----

rmSync(CITY, { recursive: true, force: true });
mkdirSync(join(CITY, 'lab'), { recursive: true });
const city = enter(CITY);
for (const { name, bytes, rounds } of SIZES) {
  const file = 'large.txt';
  const path = join(CITY, 'lab', file);
  const lines = makeFile(path, bytes);
  const gibibytes = statSync(path).size / 2 ** 30;
  const rows = [];
  for (const [place, offset] of [
    ['first', 0],
    ['middle', Math.floor(lines / 2)],
    ['last', lines - LINES],
  ]) {
    const contestants = [
      ours(city, file, offset, lines),
      withoutHash(city, file, offset),
      ...(hasSed ? [sed(path, offset)] : []),
      stream(path, offset),
    ];
    const times = await inTurn(contestants, rounds);
    for (const [contestant, ms] of times) {
      const whole = contestant.startsWith('ours') || place === 'last';
      rows.push([`${place} ten, ${contestant}`, median(ms).toFixed(1), whole ? gbPerSecond(gibibytes, ms) : '']);
    }
  }
  table(`read: ${LINES} of ${lines} lines, ${name}, ${rounds} rounds`, ['', 'median ms', 'GiB/s'], rows);
  rmSync(path);
}
city.leave();
rmSync(CITY, { recursive: true });

function gbPerSecond(gibibytes, ms) {
  return (gibibytes / (median(ms) / 1000)).toFixed(2);
}
