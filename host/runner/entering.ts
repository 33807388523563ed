/**
 * Entering a city: its root is found, proved and pinned once, in the thread that will let go of it, and the reader's
 * name is checked against what stands there. Entering a city decides nothing about what may be read.
 */

import { type Asked, type AxError, configInvalid, type Outcome, ok, refused, storageFatal } from '../error.js';
import { isBroken, isReservedSegment, parseAddress } from '../judge/address.js';
import { FAILURE_SENTENCES } from '../judge/locate.js';
import type { EnterRefusal } from '../tree/opening.js';
import { type EnterOptions, enterDisk, openTree, type TreeSpec } from '../tree/spec.js';
import { failed, type Tree } from '../tree/tree.js';

/** What is entered: a directory by its path, or a city in memory. */
export type Where = { readonly path: string } | { readonly spec: TreeSpec };

/** An entered city. `close` in the thread that entered; twice is once. */
export interface Entered {
  readonly spec: TreeSpec;
  close(): void;
}

/** Enters. Blocks on the disk: on a keeper's thread, never on the embedder's (but in inline mode). */
export function enterCity(where: Where, reader: string | null, options: EnterOptions): Outcome<Entered> {
  const at: Asked = { action: 'enter', asked: 'path' in where ? where.path : 'the city in memory' };
  const entered = 'path' in where ? enterDisk(where.path, options) : { spec: where.spec, close() {} };
  if (typeof entered === 'string') return refused(enterError(at, entered));
  const wrong = reader === null ? undefined : readerError(entered.spec, reader);
  if (wrong === undefined) return ok(entered);
  entered.close();
  return refused(wrong);
}

function readerError(spec: TreeSpec, reader: string): AxError | undefined {
  const at: Asked = { action: 'enter', asked: reader };
  const address = parseAddress(reader);
  if (isBroken(address) || reader.includes('/') || isReservedSegment(reader)) {
    return configInvalid(at, 'a reader is a building', 'name one plain, unreserved segment, like lab');
  }
  const tree = openTree(spec);
  if (typeof tree === 'string')
    return storageFatal(at, 'the city’s root does not open', 'enter the city again', 'unknown');
  try {
    return spellingError(at, tree, reader);
  } finally {
    tree.close();
  }
}

/** A reader need not exist; one that does must be spelled as the root lists it, or two names would be one reader. */
function spellingError(at: Asked, tree: Tree, reader: string): AxError | undefined {
  const look = tree.root.look(reader);
  if (look === 'no-entry') return undefined;
  const stands = failed(look) ? look : tree.root.stands(reader, look);
  if (stands === true) return undefined;
  const fact = failed(stands) ? FAILURE_SENTENCES[stands] : 'the city does not list a building of this spelling';
  return configInvalid(at, fact, 'spell the reader as the city’s own listing does');
}

/** Of a city, and of what is entered like one: a shelf, a store, a repository. */
const NAME_ONE = 'name a directory that is there; a relative path begins at the current directory, not at the city';

function enterError(at: Asked, refusal: EnterRefusal): AxError {
  switch (refusal) {
    case 'missing':
      return configInvalid(at, 'there is no such directory', NAME_ONE);
    case 'not-directory':
      return configInvalid(at, 'it is not a directory', NAME_ONE);
    case 'bad-name':
      return configInvalid(
        at,
        'its path or real location is not well-formed text',
        'name a directory whose path is UTF-8',
      );
    case 'access':
      return configInvalid(
        at,
        'the system does not permit opening it',
        'a person has to give the runner permission to read it',
      );
    case 'no-procfs':
      return configInvalid(
        at,
        'this system does not prove openat semantics through /proc',
        "mount procfs, or opt in to the portable tree (tree: 'portable') where nobody untrusted writes during calls",
      );
    case 'exhausted':
    case 'io':
      return storageFatal(
        at,
        'the disk did not answer',
        'ask again; if it stays so, a person has to look at the disk',
        'unknown',
      );
  }
}
