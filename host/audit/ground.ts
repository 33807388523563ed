/**
 * The ground an attack is made on: a city with the things of its row, what lies beside it, and a neighbour who swaps
 * things. Here in memory, where nothing is outside, so what leads there leads nowhere; on a disk in file-ground.ts.
 */

import { MEMORY_ROOT, type MemoryThing, memoryCity, move, put, remove } from '../tree/memory.js';
import type { TreeSpec } from '../tree/spec.js';
import { type Attack, COMMON, OUTSIDE, type Swap, type Thing } from './attacks.js';

/** A city as a row of the table wants it. `end` it. */
export interface Ground {
  readonly spec: TreeSpec;
  /** What no answer may hold, beside the bait: the path of the host that leads here. */
  readonly hostPath: string | undefined;
  /** A path or a link's text, with `{root}` and `{outside}` filled in. */
  fill(text: string): string;
  swap(swap: Swap): void;
  end(): void;
}

/** Fills in how the city and the directory beside it are spelled. */
export const filler = (root: string, outside: string) => (text: string) =>
  text.replaceAll('{root}', root).replaceAll('{outside}', outside);

/** A thing whose link text, if it is a link, is filled in. */
export function filled(thing: Thing, fill: (text: string) => string): Thing {
  if (typeof thing === 'string' || thing instanceof Uint8Array || !('link' in thing)) return thing;
  return typeof thing.link === 'string' ? { ...thing, link: fill(thing.link) } : thing;
}

/** Everything that lies in the city of a row, in order. */
export const layoutOf = (attack: Attack) => [...COMMON, ...(attack.layout ?? [])];

/** The row's ground in memory. */
export function groundInMemory(attack: Attack): Ground {
  const city = memoryCity([], { foldsNames: attack.only === 'folding' });
  const fill = filler(MEMORY_ROOT, '/outside');
  for (const [at, thing] of layoutOf(attack)) put(city, at, inMemory(filled(thing, fill)));
  return {
    spec: { kind: 'memory', city },
    hostPath: undefined,
    fill,
    swap(swap) {
      if ('put' in swap) put(city, swap.put, inMemory(filled(swap.thing, fill)));
      else if ('move' in swap) move(city, swap.move, swap.to);
      else if ('moveOut' in swap) remove(city, swap.moveOut);
      else throw new Error('a city in memory is never replaced');
    },
    end() {},
  };
}

/** What stands for a thing that only disks have. */
export function inMemory(thing: Thing): MemoryThing {
  if (typeof thing === 'string' || thing instanceof Uint8Array) return thing;
  if ('device' in thing || 'socket' in thing) return { other: true };
  if (!('hardLink' in thing)) return thing;
  const file = OUTSIDE.find(([name]) => name === thing.hardLink)?.[1] ?? '';
  return { file, names: 2, otherOwner: thing.otherOwner === true };
}
