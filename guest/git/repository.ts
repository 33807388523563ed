/**
 * The repository that is the one preopened directory: opened at the start of a query, closed at its end. Stands between
 * history.ts, trail.ts and abi/lift.ts. Configuration, hooks, replace refs, grafts and alternates are not looked at.
 */

import { close, Code, openDirectory, preopen } from '../abi/lift';
import { Fault, faultOf } from './fault';
import { forgetGraph } from './graph';
import { beginObjects, closeBlob, forgetObjects } from './objects';

const OBJECTS: usize = memory.data<u8>([0x6f, 0x62, 0x6a, 0x65, 0x63, 0x74, 0x73]);
const PACK: usize = memory.data<u8>([0x70, 0x61, 0x63, 0x6b]);

/** The repository's directory, while it is open. */
export let root: i32 = -1;
/** Its directory `objects`, likewise. */
export let objects: i32 = -1;
let packs: i32 = -1;

/** Opens the repository. Whoever opens it closes it, also after a fault. */
export function openRepository(): i32 {
  root = preopen();
  objects = openDirectory(root, OBJECTS, 7);
  if (objects < 0) return ~objects === Code.NO_ENTRY ? Fault.NO_REPOSITORY : faultOf(~objects);
  packs = openDirectory(objects, PACK, 4);
  if (packs < 0 && ~packs !== Code.NO_ENTRY) return faultOf(~packs);
  return beginObjects(objects, packs);
}

/** Closes it, if it is open. */
export function closeRepository(): void {
  closeBlob();
  forgetGraph();
  forgetObjects();
  if (packs >= 0) close(packs);
  if (objects >= 0) close(objects);
  if (root >= 0) close(root);
  root = objects = packs = -1;
}
