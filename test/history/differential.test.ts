/** `search_history` over the guest that ships, against the real git; and over repositories that were spoilt. */

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Dice, FORMATS, GRAPHS, makeRepository, once, STORAGES } from '../support/repositories.js';
import { agrees, entered } from './differential.js';

const SETTINGS = STORAGES.flatMap((storage) => FORMATS.map((format) => ({ storage, format })));
const GRAPHED = GRAPHS.flatMap((graph) => FORMATS.map((format) => ({ graph, format })));

describe('the same addresses, in the same order, and the same bytes as git', () => {
  it.each(SETTINGS)('$storage, $format', async ({ storage, format }) => {
    const repository = makeRepository({ seed: 77, storage, format });
    try {
      expect(await agrees(repository)).toBeGreaterThan(10);
    } finally {
      repository.end();
    }
  });
});

describe('the same with the commit-graph that git wrote, which git uses too', () => {
  it.each(GRAPHED)('$graph, $format', async ({ graph, format }) => {
    const repository = makeRepository({ seed: 78, format, graph, storage: 'packs' });
    try {
      expect(await agrees(repository)).toBeGreaterThan(10);
    } finally {
      repository.end();
    }
  });
});

describe('a repository with a flipped byte', () => {
  it.each(['loose', 'packed', 'aggressive'] as const)('gives an error or the right answer: %s', async (storage) => {
    const repository = makeRepository({ seed: 5, storage, commits: 25 });
    const dice = new Dice(9);
    const ours = entered(repository.dir);
    try {
      const word = 'sluice';
      const right = once(repository.log(word)).map(({ commit, path: at }) => `${commit}:${at}`);
      const files = filesUnder(path.join(repository.dir, 'objects')).filter((file) => !/info/.test(file));
      for (let round = 0; round < 30; round++) {
        const file = files[dice.below(files.length)] ?? '';
        const before = fs.readFileSync(file);
        const after = Buffer.from(before);
        const at = dice.below(after.length);
        after[at] = (after[at] ?? 0) ^ (1 << dice.below(8));
        fs.chmodSync(file, 0o644);
        fs.writeFileSync(file, after);
        const outcome = await ours.find(word);
        if (outcome.ok) expect([file, at, outcome.value.addresses]).toEqual([file, at, right]);
        else expect(['E_STORAGE_FATAL', 'E_LIMIT', 'E_GUEST_TRAP']).toContain(outcome.error.code);
        fs.writeFileSync(file, before);
      }
    } finally {
      ours.leave();
      repository.end();
    }
  });
});

const filesUnder = (dir: string): string[] =>
  fs
    .readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
