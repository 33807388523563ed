/**
 * The ground an attack is made on: a city with the things of its row, what lies beside it, and a neighbour who swaps
 * things. On disks it is real; in memory there is nothing outside, so what leads there leads nowhere.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type Attack, BAIT, COMMON, OUTSIDE, type Swap, type Thing } from '../../dist/audit/attacks.js';
import { filled, filler, inMemory } from '../../dist/audit/ground.js';
import {
  MEMORY_ROOT,
  type MemoryCity,
  type MemoryThing,
  memoryCity,
  move,
  put,
  remove,
} from '../../dist/tree/memory.js';
import type { Setting } from '../support/cities.js';
import { type DiskWorld, diskWorld, opened, type World } from '../tree/worlds.js';

const STRANGER = 12_345;

/** A world, and what a neighbour does to it. */
export interface Ground {
  readonly world: World;
  /** How the city is spelled. */
  readonly root: string;
  /** A directory beside it. */
  readonly outside: string;
  /** What no output may hold, beside the bait. */
  readonly hostPath: string | undefined;
  /** Of a city in memory, what it is. */
  readonly memory: MemoryCity | undefined;
  fill(text: string): string;
  swap(swaps: readonly Swap[]): void;
}

/** Whether a row can be made in a tree. */
export const isExpressible = (attack: Attack, tree: Setting['tree']): boolean =>
  attack.only === undefined || (attack.only === 'disk') === (tree !== 'memory');

export function ground(attack: Attack, tree: Setting['tree']): Ground {
  const made = tree === 'memory' ? memoryGround(attack) : onDisk(tree);
  try {
    for (const [at, thing] of [...COMMON, ...(attack.layout ?? [])]) made.put(at, filled(thing, made.fill));
  } catch (thrown) {
    made.world.end();
    throw thrown;
  }
  return { ...made, swap: (swaps) => swaps.forEach(made.swapOne) };
}

type Made = Omit<Ground, 'swap'> & {
  put(at: string | readonly (string | Uint8Array)[], thing: Thing): void;
  swapOne(swap: Swap): void;
};

// ---- in memory ----

function memoryGround(attack: Attack): Made {
  const city = memoryCity([], { foldsNames: attack.only === 'folding' });
  const spec = { kind: 'memory', city } as const;
  const fill = filler(MEMORY_ROOT, '/outside');
  const world: World = {
    spec,
    open: (options) => opened(spec, options),
    put: (at, thing) => put(city, at, thing),
    move: (from, to) => move(city, from, to),
    remove: (at) => remove(city, at),
    end() {},
  };
  return {
    world,
    root: MEMORY_ROOT,
    outside: '/outside',
    hostPath: undefined,
    memory: city,
    fill,
    put: (at, thing) => put(city, at, inMemory(thing)),
    swapOne(swap) {
      if ('put' in swap) put(city, swap.put, inMemory(filled(swap.thing, fill)));
      else if ('move' in swap) move(city, swap.move, swap.to);
      else if ('moveOut' in swap) remove(city, swap.moveOut);
      else throw new Error('a city in memory is never replaced');
    },
  };
}

// ---- on disk ----

function onDisk(tree: 'linux' | 'portable'): Made {
  const world: DiskWorld = diskWorld(tree)([]);
  const { root, outside } = world;
  for (const [name, text] of [...OUTSIDE, ['../city-evil/secret', BAIT] as const]) {
    fs.mkdirSync(path.dirname(path.join(outside, name)), { recursive: true });
    fs.writeFileSync(path.join(outside, name), text);
  }
  const fill = filler(root, outside);
  const putThing = (at: string | readonly (string | Uint8Array)[], thing: Thing): void => {
    if (typeof at === 'string') fs.rmSync(path.join(root, at), { force: true });
    putOnDisk(world, at, thing);
  };
  return {
    world,
    root,
    outside,
    hostPath: path.dirname(root),
    memory: undefined,
    fill,
    put: putThing,
    swapOne(swap) {
      if ('put' in swap) putThing(swap.put, filled(swap.thing, fill));
      else if ('move' in swap) world.move(swap.move, swap.to);
      else if ('moveOut' in swap) fs.renameSync(path.join(root, swap.moveOut), path.join(outside, 'moved'));
      else replaceRoot(root, swap.replaceRoot);
    },
  };
}

function replaceRoot(root: string, bait: string): void {
  fs.renameSync(root, `${root}-before`);
  fs.mkdirSync(path.dirname(path.join(root, bait)), { recursive: true });
  fs.writeFileSync(path.join(root, bait), BAIT);
}

function putOnDisk(world: DiskWorld, at: string | readonly (string | Uint8Array)[], thing: Thing): void {
  if (typeof thing === 'string' || thing instanceof Uint8Array || typeof at !== 'string') {
    world.put(at as string, thing as MemoryThing); // the world takes every memory path; its type says text alone
    return;
  }
  const place = path.join(world.root, at);
  if ('device' in thing) execFileSync('mknod', [place, 'c', '1', '5']);
  else if ('socket' in thing) listenAndDie(place);
  else if ('hardLink' in thing) {
    const file = path.join(world.outside, thing.hardLink);
    if (thing.otherOwner) fs.chownSync(file, STRANGER, STRANGER);
    fs.linkSync(file, place);
  } else world.put(at, thing);
}

/** A socket file outlives a process that is killed. */
function listenAndDie(place: string): void {
  const script = `require('net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  try {
    execFileSync(process.execPath, ['-e', script, place], { stdio: 'ignore' });
  } catch {
    // killed, as it asked
  }
  if (!fs.lstatSync(place).isSocket()) throw new Error('no socket was made');
}
