/** What the tests of blocks share: a block as things of a city, so that a city in memory can hold one too. */

import { blake3 } from 'hash-wasm';
import type { MemoryThing } from '../../dist/tree/memory.js';
import type { Things } from '../tree/worlds.js';

export const CAS = '.sprawling/cas';
export const blockAt = (hash: string): string => `${CAS}/b3/${hash.slice(0, 2)}/${hash}`;
export const originsAt = (hash: string): string => `${CAS}/from/${hash.slice(0, 2)}/${hash}`;

/** A block, its Locator, and the things that put it in a city, with the text of its origins if it has any. */
export interface Laid {
  readonly hash: string;
  readonly locator: string;
  readonly things: Things;
}

export async function laid(content: string | Uint8Array, origins?: string, instead?: MemoryThing): Promise<Laid> {
  const hash = await blake3(content);
  return {
    hash,
    locator: `cas:b3-${hash}`,
    things: [
      [blockAt(hash), instead ?? content],
      ...(origins === undefined ? [] : ([[originsAt(hash), origins]] as const)),
    ],
  };
}
