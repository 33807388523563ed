/** The shape of the house, read from its import lines: which way arrows point, and who may touch a file system. */

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/** Floors, lowest first: a file imports from its own floor and from those below. */
const FLOORS = [
  'limits',
  'error',
  'judge',
  'tree',
  'wasi',
  'runner',
  'audit',
  'store',
  'tools',
  'profile',
  'door',
  'index',
];
/** The only rooms with `node:fs`. */
const FS_ROOMS = [/^tree\//, /^store\//, /^audit\/file(-\w+)?\.ts$/, /^door\/node\.ts$/];

interface Import {
  readonly file: string;
  readonly from: string;
}

const filesUnder = (root: string): string[] =>
  fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.replaceAll('\\', '/'));

/** Every specifier of an import or export-from, static or dynamic, also of types. */
function importsOf(file: string, text: string): Import[] {
  const specifiers = text.matchAll(/(?:\bfrom|\bimport\s*\(|^import)\s*['"]([^'"]+)['"]/gm);
  return Array.from(specifiers, ([, from]) => ({ file, from: from ?? '' }));
}

const floorOf = (file: string): string =>
  (file.includes('/') ? file.split('/')[0] : file.replace(/\.[jt]s$/, '')) ?? '';

function wrongArrow({ file, from }: Import): string | undefined {
  if (!from.startsWith('.')) return undefined;
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), from));
  const [own, its] = [FLOORS.indexOf(floorOf(file)), FLOORS.indexOf(floorOf(target))];
  if (own >= 0 && its >= 0 && its <= own) return undefined;
  return `${file} → ${target}`;
}

function wrongRoom({ file, from }: Import): string | undefined {
  if (/^(node:)?child_process$/.test(from)) return `${file} starts processes`;
  const isFs = /^(node:)?fs(\/promises)?$/.test(from);
  return isFs && !FS_ROOMS.some((room) => room.test(file)) ? `${file} touches the file system` : undefined;
}

const HOST = filesUnder('host').flatMap((file) => importsOf(file, fs.readFileSync(path.join('host', file), 'utf8')));
const GUEST = filesUnder('guest').flatMap((file) => importsOf(file, fs.readFileSync(path.join('guest', file), 'utf8')));

describe('the host', () => {
  it('has imports to look at', () => {
    expect(HOST.length).toBeGreaterThan(50);
  });

  it('imports one way: limits, error ← judge ← tree ← wasi ← runner ← audit ← store ← tools ← profile ← door', () => {
    expect(HOST.map(wrongArrow).filter(Boolean)).toEqual([]);
  });

  it('touches a file system only in tree/, store/, audit/file and door/node, and starts no process', () => {
    expect(HOST.map(wrongRoom).filter(Boolean)).toEqual([]);
  });

  it('changes a city in tree/writing alone, for the block store alone', () => {
    const writers = HOST.filter(({ from }) => /\/writing\.js$/.test(from)).map(({ file }) => file);
    expect(writers).toEqual(['store/blocks.ts']);
    const CHANGES = /\b(writeSync|writeFileSync|mkdirSync|renameSync|unlinkSync|rmSync|symlinkSync|linkSync|O_CREAT)\b/;
    const changing = filesUnder('host').filter(
      (file) =>
        /^(judge|tree|wasi|runner|store|tools)\//.test(file) &&
        CHANGES.test(fs.readFileSync(path.join('host', file), 'utf8')),
    );
    expect(changing).toEqual(['tree/writing.ts']);
  });

  it('judges without node: of any kind', () => {
    const judging = HOST.filter(({ file, from }) => file.startsWith('judge/') && from.startsWith('node:'));
    expect(judging).toEqual([]);
  });
});

describe('the guest', () => {
  it('declares every import of the world in abi/imports.ts alone', () => {
    const declaring = filesUnder('guest').filter((file) =>
      /^\s*@external\b/m.test(fs.readFileSync(path.join('guest', file), 'utf8')),
    );
    expect(declaring).toEqual(['abi/imports.ts']);
  });

  it('keeps text/, walk/, pattern/ and git/ away from the world’s declarations', () => {
    const leaks = GUEST.filter(
      ({ file, from }) => /^(text|walk|pattern|git)\//.test(file) && /abi\/imports/.test(from),
    );
    expect(leaks).toEqual([]);
  });
});

describe('this test itself', () => {
  it.each<[string, string, string]>([
    ['judge/a.ts', "import { x } from '../tree/tree.js';", 'judge/a.ts → tree/tree.js'],
    ['tree/a.ts', "export * from '../door/node.js';", 'tree/a.ts → door/node.js'],
    ['limits.ts', "import type { E } from './error.js';", 'limits.ts → error.js'],
    ['runner/a.ts', "const t = await import('../tools/x.js');", 'runner/a.ts → tools/x.js'],
    ['runner/a.ts', "import '../nowhere/x.js';", 'runner/a.ts → nowhere/x.js'],
  ])('sees the wrong arrow in %s: %s', (file, text, wrong) => {
    expect(importsOf(file, text).map(wrongArrow)).toEqual([wrong]);
  });

  it.each<[string, string]>([
    ['wasi/a.ts', "import fs from 'node:fs';"],
    ['door/cli.ts', "import { readFile } from 'fs/promises';"],
    ['tree/a.ts', "import { spawn } from 'node:child_process';"],
  ])('sees who stands in the wrong room: %s %s', (file, text) => {
    expect(importsOf(file, text).map(wrongRoom)[0]).toContain(file);
  });
});
