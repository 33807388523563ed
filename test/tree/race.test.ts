/**
 * Races: while another process swaps a directory with a link outward and a file with a link or a FIFO, nothing
 * outside is read and nothing waits. The naive open by joined path is shown to lose the same race.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from 'vitest';

import { type Dir, failed } from '../../dist/tree/tree.js';
import { type DiskWorld, descriptorCount, diskWorld } from './worlds.js';

const ROUNDS = 20_000;
/** Far over what the rounds take on a busy machine: an open that waits for a FIFO never ends. */
const DEADLINE_MS = 60_000;
const ATTACKER = fileURLToPath(new URL('race.attacker.mjs', import.meta.url));

let world: DiskWorld | undefined;
let attacker: ChildProcess | undefined;
afterEach(async () => {
  if (attacker?.exitCode === null) {
    attacker.kill('SIGKILL');
    await once(attacker, 'exit');
  }
  attacker = undefined;
  world?.end();
  world = undefined;
});

async function underAttack(kind: 'linux' | 'portable'): Promise<DiskWorld> {
  const w = diskWorld(kind)([
    ['dir/secret', 'inside'],
    ['file', 'inside'],
  ]);
  world = w;
  fs.chmodSync(path.dirname(w.root), 0o755);
  const child = spawn(process.execPath, [ATTACKER, w.root, w.outside], {
    ...(process.getuid?.() === 0 ? givenToNobody(w) : {}),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  attacker = child;
  await once(child.stdout, 'data');
  return w;
}

/** A won race, or a bug of the harness, writes outside: not as root. */
function givenToNobody(w: DiskWorld): { readonly uid: number; readonly gid: number } {
  for (const at of [w.root, path.join(w.root, 'dir')]) fs.chownSync(at, 65_534, 65_534);
  return { uid: 65_534, gid: 65_534 };
}

interface Outcome {
  inside: number;
  outside: number;
  refused: number;
}

const into = new Uint8Array(16);

function readThrough(dir: Dir | string, name: string): string {
  if (typeof dir === 'string') return dir;
  const file = dir.file(name);
  if (failed(file)) return file;
  const came = file.read(into, 0);
  file.close();
  return failed(came) ? came : new TextDecoder().decode(into.subarray(0, came));
}

function tally(rounds: number, read: () => string): Outcome {
  const outcome = { inside: 0, outside: 0, refused: 0 };
  for (let round = 0; round < rounds; round++) {
    const text = read();
    if (text === 'inside') outcome.inside++;
    else if (text.startsWith('SECRET')) outcome.outside++;
    else outcome.refused++;
  }
  return outcome;
}

const whose = (names: readonly string[]): string => (names.includes('only-outside') ? 'SECRET' : 'inside');

function listNaively(place: string): string {
  try {
    return whose(fs.readdirSync(place));
  } catch (thrown) {
    return thrown instanceof Error ? 'refused' : 'bug';
  }
}

/** What everyone writes first. */
function readNaively(place: string): string {
  try {
    // Without O_NONBLOCK the FIFO would hang this test, which is the other half of the point.
    const fd = fs.openSync(place, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      return new TextDecoder().decode(into.subarray(0, fs.readSync(fd, into, 0, into.length, 0)));
    } finally {
      fs.closeSync(fd);
    }
  } catch (thrown) {
    return thrown instanceof Error ? 'refused' : 'bug';
  }
}

describe.skipIf(process.platform !== 'linux')(
  'under an attacker who swaps what is opened',
  { timeout: 2 * DEADLINE_MS },
  () => {
    it('an open by joined path reads outside', async () => {
      const w = await underAttack('linux');
      const through = tally(ROUNDS, () => readNaively(path.join(w.root, 'dir', 'secret')));
      const last = tally(ROUNDS, () => readNaively(path.join(w.root, 'file')));
      const listed = tally(ROUNDS, () => listNaively(path.join(w.root, 'dir')));
      expect(listed.outside).toBeGreaterThan(0);
      expect(through.outside).toBeGreaterThan(0);
      expect(last.outside).toBeGreaterThan(0);
    });

    it('the linux tree never reads outside, never waits, and leaves nothing open', async () => {
      const w = await underAttack('linux');
      const tree = w.open();
      const before = descriptorCount();
      const startMs = performance.now();
      const through = tally(ROUNDS, () => {
        const dir = tree.root.directory('dir');
        const text = readThrough(dir, 'secret');
        if (!failed(dir)) dir.close();
        return text;
      });
      const last = tally(ROUNDS, () => readThrough(tree.root, 'file'));
      const listed = tally(ROUNDS, () => {
        const dir = tree.root.directory('dir');
        if (failed(dir)) return dir;
        const names = dir.list();
        dir.close();
        return failed(names) ? names : whose(names.map((entry) => entry.name));
      });
      expect([through.outside, last.outside, listed.outside]).toEqual([0, 0, 0]);
      // The race was run: both sides of a swap were met.
      for (const outcome of [through, last, listed]) {
        expect(outcome.inside).toBeGreaterThan(0);
        expect(outcome.refused).toBeGreaterThan(0);
      }
      expect(tree.openCount()).toBe(1);
      expect(performance.now() - startMs).toBeLessThan(DEADLINE_MS);
      expect(descriptorCount()).toBe(before);
      tree.close();
      expect(tree.openCount()).toBe(0);
    });
  },
);
