/**
 * The ground of an attack on a real disk, in a temporary directory of its own: a city, a directory beside it with the
 * bait, a sibling whose name begins like the city's. What needs another process or the system's help to be made (pipes,
 * sockets, devices, a stranger's files) is not made here; the suite makes those.
 */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { MemoryPath } from '../tree/memory.js';
import { enterDisk } from '../tree/spec.js';
import { type Attack, BAIT, OUTSIDE, type Swap, type Thing } from './attacks.js';
import { filled, filler, type Ground, layoutOf } from './ground.js';

/** Whether a row's city can be made by this process alone. */
export function canBeMade(attack: Attack): boolean {
  const swapped = [...(attack.before ?? []), ...(attack.between ?? [])].flatMap((swap) =>
    'put' in swap ? [swap.thing] : [],
  );
  return [...layoutOf(attack).map(([, thing]) => thing), ...swapped].every(isPlain);
}

const isPlain = (thing: Thing): boolean =>
  typeof thing === 'string' ||
  thing instanceof Uint8Array ||
  'file' in thing ||
  'link' in thing ||
  'directory' in thing ||
  ('hardLink' in thing && thing.otherOwner !== true);

/** The row's ground on the disk of this system's temporary directory. */
export function groundOnDisk(attack: Attack, tree: 'linux' | 'portable'): Ground {
  const base = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'portcullis-audit-'));
  const [root, outside] = [path.join(base, 'city'), path.join(base, 'outside')];
  const fill = filler(root, outside);
  fs.mkdirSync(root);
  for (const [name, text] of [...OUTSIDE, ['../city-evil/secret', BAIT] as const])
    write(path.join(outside, name), text);
  for (const [at, thing] of layoutOf(attack)) lay(root, outside, at, filled(thing, fill));
  const entered = enterDisk(root, { tree });
  if (typeof entered === 'string') throw new Error(`the temporary city is not entered: ${entered}`);
  return {
    spec: entered.spec,
    hostPath: base,
    fill,
    swap: (swap) => swapOnDisk(root, outside, swap, fill),
    end() {
      entered.close();
      fs.rmSync(base, { recursive: true, force: true });
    },
  };
}

function write(file: string, content: string | Uint8Array): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

function lay(root: string, outside: string, at: MemoryPath, thing: Thing): void {
  const names = typeof at === 'string' ? at.split('/') : at;
  const place = Buffer.concat(
    [root, ...names].flatMap((name, index) => [...(index > 0 ? [SLASH] : []), Buffer.from(name)]),
  );
  fs.mkdirSync(place.subarray(0, place.lastIndexOf('/')), { recursive: true });
  if (typeof thing === 'string' || thing instanceof Uint8Array) fs.writeFileSync(place, thing);
  else if ('file' in thing) fs.writeFileSync(place, thing.file);
  else if ('link' in thing) fs.symlinkSync(Buffer.from(thing.link), place);
  else if ('hardLink' in thing) fs.linkSync(path.join(outside, thing.hardLink), place);
  else if ('directory' in thing) fs.mkdirSync(place, { recursive: true });
}
const SLASH = Buffer.from('/');

function swapOnDisk(root: string, outside: string, swap: Swap, fill: (text: string) => string): void {
  if ('put' in swap) {
    fs.rmSync(path.join(root, swap.put), { force: true });
    lay(root, outside, swap.put, filled(swap.thing, fill));
  } else if ('move' in swap) fs.renameSync(path.join(root, swap.move), path.join(root, swap.to));
  else if ('moveOut' in swap) fs.renameSync(path.join(root, swap.moveOut), path.join(outside, 'moved'));
  else {
    fs.renameSync(root, `${root}-before`);
    write(path.join(root, swap.replaceRoot), BAIT);
  }
}
