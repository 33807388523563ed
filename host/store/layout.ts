/**
 * Where the block store keeps what, below the root of the city it belongs to: names alone, no I/O. Used by whoever reads
 * a block (tools/) and by blocks.ts, which writes them.
 *
 *     .sprawling/cas/b3/<first two digits>/<64 digits>     a block
 *     .sprawling/cas/from/<first two digits>/<64 digits>   where it came from: origins.ts
 *     .sprawling/cas/tmp/<64 digits>.<pid>.<n>.part        a block being written
 *
 * Spec: locators-and-catalog, "Block store".
 */

import type { BlockHash } from '../judge/locator.js';

const STORE: readonly string[] = ['.sprawling', 'cas'];

/** The directory that holds the block; its name there is its hash. */
export const blockRoom = (hash: BlockHash): readonly string[] => [...STORE, 'b3', hash.slice(0, 2)];
/** The directory that holds the block's origins; their name there is its hash. */
export const originsRoom = (hash: BlockHash): readonly string[] => [...STORE, 'from', hash.slice(0, 2)];
/** Where blocks are written before they have their name. */
export const PARTS_ROOM: readonly string[] = [...STORE, 'tmp'];

/** The name of a block that this process is writing for the `n`th time. */
export const partName = (hash: BlockHash, pid: number, n: number): string => `${hash}.${pid}.${n}.part`;

const PART = /^[0-9a-f]{64}\.([1-9][0-9]{0,9})\.[0-9]+\.part$/;
/** The process that writes, or wrote, a part of this name; undefined for a name that is no part's. */
export function writerOf(name: string): number | undefined {
  const pid = PART.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
