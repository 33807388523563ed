/**
 * `search` against its peers: the same needle over the same city, side by side in one run, every answer compared.
 * Ours answers addresses, line numbers, windows and coverage; the others print lines. All of them skip files over 1 MiB.
 */

import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ripgrep } from 'ripgrep';
import { asserted, CITY, FILE_CAP_BYTES, makeCity, NEEDLES } from './city.mjs';
import { inTurn, ratio, roundsOr, target, timesTable } from './measure.mjs';
import { enter, openThreads } from './ours.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROUNDS = roundsOr(11);
const OURS = 'ours, warm runner';
const ALONE = 'ours, one thread (inline)';
const NATIVE = 'rg -j1';
const WASI = 'ripgrep (WASI)';
const PLAIN = 'plain Node';
const FLOOR = 'our system calls alone';
const RG_ARGS = ['-F', '-uuu', '--no-config', '-n', '--max-filesize', '1M'];
const hasRg = spawnSync('rg', ['--version']).status === 0;

// ---- the contestants ----

const linesIn = (printed) => {
  let lines = 0;
  for (let at = printed.indexOf('\n'); at >= 0; at = printed.indexOf('\n', at + 1)) lines++;
  return lines;
};

const ours = (name, city, text, lines, found) => ({
  name,
  run: () => city.searchAll(text),
  check: ({ ok, value, error }) => {
    assert(ok, error?.code);
    assert.equal(value.count, lines);
    assert.equal(value.truncated, false);
    assert.equal(value.coverage.looked, found.files - found.over);
    assert.equal(value.unreadable, found.over);
    assert.equal(value.coverage.directories, found.directories);
  },
});

/** The command as a person starts it. Its caps stand: it stops at the 65th hit. */
const cold = (text, lines) => ({
  name: 'ours, cold CLI (capped)',
  run: () =>
    spawnSync(process.execPath, ['bin/portcullis.js', 'call', 'search', JSON.stringify({ text }), '--city', CITY], {
      cwd: ROOT,
      encoding: 'utf8',
    }),
  check: ({ status, stdout, stderr }) => {
    assert.equal(status, 0, stderr);
    const { count, truncated } = JSON.parse(stdout);
    assert.equal(count, Math.min(lines, 64));
    assert.equal(truncated, lines > 64);
  },
});

const native = (name, more, text, lines) => ({
  name,
  run: () => spawnSync('rg', [...RG_ARGS, ...more, text, CITY], { maxBuffer: 1 << 30 }),
  check: ({ status, stdout }) => {
    assert.equal(status, 0);
    assert.equal(linesIn(stdout), lines);
  },
});

const wasi = (text, lines) => ({
  name: WASI,
  run: () => ripgrep([...RG_ARGS, text, CITY], { buffer: true, nodeWasi: false }),
  check: ({ code, stdout }) => {
    assert.equal(code, 0);
    assert.equal(linesIn(stdout), lines);
  },
});

const plain = (text, lines) => ({
  name: PLAIN,
  run: () => plainSearch(CITY, Buffer.from(text), []),
  check: (hits) => assert.equal(hits.length, lines),
});

/** What one writes in an afternoon: walk, read, `indexOf`, and nothing checked. */
function plainSearch(directory, needle, hits) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory()) plainSearch(path, needle, hits);
    else if (entry.isFile() && statSync(path).size <= FILE_CAP_BYTES) plainScan(path, needle, hits);
  }
  return hits;
}

const LF = 0x0a;
function plainScan(path, needle, hits) {
  const bytes = readFileSync(path);
  let line = 0;
  let counted = 0;
  for (let at = bytes.indexOf(needle); at >= 0; ) {
    for (let end = bytes.indexOf(LF, counted); end >= 0 && end < at; end = bytes.indexOf(LF, counted)) {
      line++;
      counted = end + 1;
    }
    const end = bytes.indexOf(LF, at);
    const stop = end < 0 ? bytes.length : end;
    hits.push({ path, line, text: bytes.toString('utf8', counted, stop) });
    at = bytes.indexOf(needle, stop);
  }
}

/** Not a search: the system calls of ours on Linux in a bare loop. What is above it is ours, what it costs is Node's. */
const floor = (found) => ({
  name: FLOOR,
  run: () => callsAlone(),
  check: (seen) => assert.deepEqual(seen, { directories: found.directories, bytes: found.searchedBytes }),
});

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const FILE_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

function callsAlone() {
  const buffer = Buffer.allocUnsafe(FILE_CAP_BYTES);
  const seen = { directories: 0, bytes: 0 };
  const below = (directory) => {
    const place = `/proc/self/fd/${directory}`;
    fstatSync(directory, { bigint: true });
    readlinkSync(place, { encoding: 'buffer' });
    seen.directories++;
    for (const entry of readdirSync(place, { withFileTypes: true, encoding: 'latin1' })) {
      const isDirectory = entry.isDirectory();
      const fd = openSync(`${place}/${entry.name}`, isDirectory ? FILE_FLAGS | O_DIRECTORY : FILE_FLAGS);
      if (isDirectory) below(fd);
      else if (fstatSync(fd).size <= FILE_CAP_BYTES) seen.bytes += readSync(fd, buffer, 0, FILE_CAP_BYTES, 0);
      closeSync(fd);
    }
  };
  const root = openSync(CITY, FILE_FLAGS | O_DIRECTORY);
  below(root);
  closeSync(root);
  return seen;
}

// ---- the run ----

makeCity();
const found = asserted();
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);
console.log(
  `\nsearch: ${found.files} files in ${found.directories} directories, ${megabytes(found.bytes)} MB, ` +
    `of them ${megabytes(found.searchedBytes)} MB in files up to 1 MiB; ${ROUNDS} rounds`,
);
if (!hasRg) console.log('rg is not installed: the rows of rg are missing');

const city = enter(CITY);
const threads = openThreads(CITY);
for (const { name, text } of NEEDLES) {
  const lines = found.lines.get(name);
  const contestants = [
    ours(OURS, threads, text, lines, found),
    ours(ALONE, city, text, lines, found),
    cold(text, lines),
    ...(hasRg ? [native(NATIVE, ['-j1'], text, lines), native('rg, its own threads', [], text, lines)] : []),
    wasi(text, lines),
    plain(text, lines),
    ...(process.platform === 'linux' ? [floor(found)] : []),
  ];
  const times = await inTurn(contestants, ROUNDS);
  timesTable(`${name}: '${text}', ${lines} lines`, times, hasRg ? NATIVE : PLAIN);
  console.log();
  if (hasRg) target(`${name}: ours, warm runner, of rg -j1`, ratio(times, OURS, NATIVE), 1.3);
  target(`${name}: ours, warm runner, of WASI ripgrep`, ratio(times, OURS, WASI), 0.5);
  target(`${name}: ours, warm runner, of plain Node`, ratio(times, OURS, PLAIN), 1);
}
city.leave();
await threads.close();
