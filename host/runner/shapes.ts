/**
 * Keeps a thread fast between calls. All a call makes dies with it; the engine then forgets the shapes of those
 * objects, and at each full collection throws away the code it had optimised for them ("weak objects"): the next
 * search takes twice its time. So a thread does one tiny walk of its own over this package's directory, closes it, and
 * holds what it was made of. Nothing of any caller's call is kept, and no descriptor.
 */

import { fileURLToPath } from 'node:url';
import { Bound } from '../judge/bound.js';
import { granted } from '../tree/granted.js';
import { enterDisk, openTree } from '../tree/spec.js';
import { statsOfShapes } from '../tree/system.js';
import { failed } from '../tree/tree.js';
import { Filesystem } from '../wasi/filesystem.js';
import { type Handle, isCode } from '../wasi/handles.js';
import { ALLOWANCE, Meter } from '../wasi/meter.js';
import { instantiate } from '../wasi/world.js';

/** As long as the thread lives. */
let kept: readonly unknown[] | undefined;

/**
 * Makes and keeps the shapes, once a thread; about 1 ms. Where the package's directory does not open nothing is kept,
 * which costs time later and nothing else.
 */
export function keepShapes(module: WebAssembly.Module): void {
  if (kept === undefined) kept = walk(module, fileURLToPath(new URL('..', import.meta.url)));
}

function walk(module: WebAssembly.Module, path: string): readonly unknown[] {
  const entered = enterDisk(path);
  if (typeof entered === 'string') return [];
  const tree = openTree(entered.spec);
  try {
    if (typeof tree === 'string') return [];
    const listing = tree.root.list();
    if (failed(listing)) return [];
    const entries = new Map(listing.map(({ name }) => [name, { kind: 'open' } as const]));
    const bound = new Bound({ reader: null, entries });
    const meter = new Meter(ALLOWANCE, Number.POSITIVE_INFINITY);
    const preopen = { kind: 'directory', shown: '', path: '' } as const;
    const filesystem = new Filesystem({ tree: granted(tree, bound), bound, meter, preopen });
    const shapes = [filesystem, instantiate(module, filesystem), statsOfShapes(path), ...lookAround(filesystem)];
    filesystem.close();
    return shapes;
  } finally {
    if (typeof tree !== 'string') tree.close();
    entered.close();
  }
}

/** A directory below the preopen and a file in it: everything a walk has handles of, the listings too. */
function lookAround(filesystem: Filesystem): readonly unknown[] {
  const start = filesystem.preopened();
  if (isCode(start)) return [];
  const [names, dir] = openFirst(filesystem, start.handle, 'directory');
  if (dir === undefined) return [start.handle, names];
  const [files, file] = openFirst(filesystem, dir, 'file');
  return [start.handle, names, dir, files, file, file && filesystem.read(file, new Uint8Array(1), 0)];
}

function openFirst(
  filesystem: Filesystem,
  from: Handle,
  kind: 'directory' | 'file',
): readonly [listing: Handle | undefined, opened: Handle | undefined] {
  const stream = filesystem.readDirectory(from);
  if (isCode(stream)) return [undefined, undefined];
  filesystem.readEntry(stream);
  const name = stream.entries.find((entry) => entry.kind === kind)?.name;
  if (name === undefined) return [stream, undefined];
  const asked = { follow: kind === 'file', path: name, directory: kind === 'directory', mutates: false };
  const opened = filesystem.openAt(from, asked);
  return [stream, isCode(opened) ? undefined : opened];
}
