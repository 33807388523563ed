/**
 * The city the benches search: `build/bench-city/lab`, a copy of the regular files of `node_modules`, which every
 * checkout has. Real source, prose, JSON and binaries, of every size; no links.
 *
 * Searchers differ in what they do with binaries and with files over a size. So that all of them owe the same answer,
 * each needle must lie in nothing but UTF-8 files of at most 1 MiB: other files that hold one are left out of the
 * copy, and `asserted` then proves it by reading everything.
 */

import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
export const CITY = join(ROOT, 'build', 'bench-city');
export const FILE_CAP_BYTES = 1_048_576;
/** Larger files of node_modules add nothing: no contestant reads them. */
const COPIED_MAX_BYTES = 16 * FILE_CAP_BYTES;
const FILES_MIN = 6_000;

export const NEEDLES = [
  { name: 'rare', text: 'Lorem ipsum' },
  { name: 'common', text: 'export declare' },
  { name: 'indented', text: '            readonly ' },
];

const isText = (bytes) => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

const holdsNeedle = (bytes) => NEEDLES.some(({ text }) => bytes.includes(text));
const isSearched = (bytes) => bytes.length <= FILE_CAP_BYTES && isText(bytes);

/** The regular files below `directory`, by path from it, sorted. */
function* filesBelow(directory, below = '') {
  const entries = readdirSync(join(directory, below), { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(below, entry.name);
    if (entry.isDirectory()) yield* filesBelow(directory, path);
    else if (entry.isFile()) yield path;
  }
}

/** Makes the city unless it stands; one copy of node_modules after another until there are files enough. */
export function makeCity() {
  const source = join(ROOT, 'node_modules');
  const files = [...filesBelow(source)].filter((path) => statSync(join(source, path)).size <= COPIED_MAX_BYTES);
  const stamp = createHash('sha256')
    .update(JSON.stringify([files, NEEDLES]))
    .digest('hex');
  const stampFile = join(ROOT, 'build', 'bench-city.stamp');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  rmSync(CITY, { recursive: true, force: true });
  for (let made = 0, copy = 0; made < FILES_MIN; copy++) {
    for (const path of files) if (copyFile(join(source, path), join(CITY, 'lab', `copy${copy}`, path))) made++;
  }
  writeFileSync(stampFile, stamp);
}

function copyFile(from, to) {
  const bytes = readFileSync(from);
  if (holdsNeedle(bytes) && !isSearched(bytes)) return false;
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, bytes);
  return true;
}

/**
 * What is in the city, by a walk that knows nothing of the contestants: sizes and counts, and for each needle its
 * lines. Asserts what the benches stand on.
 */
export function asserted() {
  const found = {
    files: 0,
    bytes: 0,
    searchedBytes: 0,
    over: 0,
    directories: countDirectories(CITY),
    lines: new Map(),
  };
  for (const path of filesBelow(CITY)) {
    const bytes = readFileSync(join(CITY, path));
    found.files++;
    found.bytes += bytes.length;
    if (bytes.length > FILE_CAP_BYTES) found.over++;
    else found.searchedBytes += bytes.length;
    if (!holdsNeedle(bytes)) continue;
    assert(isSearched(bytes), `a needle lies in ${path}, which not everybody searches`);
    const lines = bytes.toString('utf8').split('\n');
    for (const { name, text } of NEEDLES) {
      const holding = lines.filter((line) => line.includes(text)).length;
      found.lines.set(name, (found.lines.get(name) ?? 0) + holding);
    }
  }
  assert(found.files >= FILES_MIN, `${found.files} files are too few`);
  assert(found.over > 0, 'a file over the cap belongs to the city');
  for (const { name } of NEEDLES) assert(found.lines.get(name) > 0, `no line holds the ${name} needle`);
  return found;
}

/** The start counts. */
const countDirectories = (directory) =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .reduce((sum, entry) => sum + countDirectories(join(directory, entry.name)), 1);
