/** The same small worlds in each kind of tree, so that one set of claims runs over all. */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import {
  type MemoryPath,
  type MemoryThing,
  memoryCity,
  move as moveInMemory,
  put as putInMemory,
  remove as removeInMemory,
} from '../../dist/tree/memory.js';
import { enterDisk, openTree, type TreeOptions, type TreeSpec } from '../../dist/tree/spec.js';
import type { HardLinks, Tree } from '../../dist/tree/tree.js';

export type Things = readonly (readonly [MemoryPath, MemoryThing])[];

/** A city that a test may change under an open tree. */
export interface World {
  readonly spec: TreeSpec;
  open(options?: TreeOptions): Tree;
  put(at: string, thing: MemoryThing): void;
  move(from: string, to: string): void;
  remove(at: string): void;
  end(): void;
}

export type MakeWorld = (things: Things, hardLinks?: HardLinks) => World;

/** Opens, or fails the test. */
export function opened(spec: TreeSpec, options?: TreeOptions): Tree {
  const tree = openTree(spec, options);
  if (typeof tree === 'string') throw new Error(`not opened: ${tree}`);
  return tree;
}

export const memoryWorld: MakeWorld = (things, hardLinks = 'same-owner') => {
  const city = memoryCity(things, { hardLinks });
  const trees: Tree[] = [];
  return {
    spec: { kind: 'memory', city },
    open: (options) => kept(trees, opened({ kind: 'memory', city }, options)),
    put: (at, thing) => putInMemory(city, at, thing),
    move: (from, to) => moveInMemory(city, from, to),
    remove: (at) => removeInMemory(city, at),
    end: () => closeAll(trees),
  };
};

function kept(trees: Tree[], tree: Tree): Tree {
  trees.push(tree);
  return tree;
}

function closeAll(trees: Tree[]): void {
  for (const tree of trees) tree.close();
}

/** A disk world: what the memory world has, and where it is. */
export interface DiskWorld extends World {
  /** The city. */
  readonly root: string;
  /** A directory beside it, with `secret` and `only-outside` in it. */
  readonly outside: string;
}

export const diskWorld =
  (kind: 'linux' | 'portable') =>
  (things: Things, hardLinks: HardLinks = 'same-owner'): DiskWorld => {
    const base = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-tree-'));
    const root = path.join(base, 'city');
    const outside = path.join(base, 'outside');
    fs.mkdirSync(root);
    fs.mkdirSync(outside);
    fs.writeFileSync(path.join(outside, 'secret'), 'SECRET');
    fs.writeFileSync(path.join(outside, 'only-outside'), '');
    for (const [at, thing] of things) putOnDisk(root, at, thing);
    const entered = enterDisk(root, { tree: kind, hardLinks });
    if (typeof entered === 'string') throw new Error(`not entered: ${entered}`);
    const trees: Tree[] = [];
    return {
      root,
      outside,
      spec: entered.spec,
      open: (options) => kept(trees, opened(entered.spec, options)),
      put: (at, thing) => putOnDisk(root, at, thing),
      move: (from, to) => fs.renameSync(path.join(root, from), path.join(root, to)),
      remove: (at) => fs.rmSync(path.join(root, at), { recursive: true }),
      end: () => {
        closeAll(trees);
        entered.close();
        fs.rmSync(base, { recursive: true, force: true });
      },
    };
  };

function putOnDisk(root: string, at: MemoryPath, thing: MemoryThing): void {
  const names = typeof at === 'string' ? at.split('/') : at;
  const place = Buffer.concat([Buffer.from(root), ...names.flatMap((name) => [Buffer.from('/'), Buffer.from(name)])]);
  fs.mkdirSync(place.subarray(0, place.lastIndexOf('/')), { recursive: true });
  if (typeof thing === 'string' || thing instanceof Uint8Array) return fs.writeFileSync(place, thing);
  if ('file' in thing) return fs.writeFileSync(place, thing.file);
  if ('link' in thing) return fs.symlinkSync(Buffer.from(thing.link), place);
  if ('directory' in thing) return void fs.mkdirSync(place, { recursive: true });
  execFileSync('mkfifo', [place.toString()]);
}

/** How many descriptors this process has open. */
export const descriptorCount = (): number => fs.readdirSync('/proc/self/fd').length;
