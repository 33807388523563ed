/**
 * Where a block is judged: at a place it was stored for, and in this one place for every tool and door that takes a
 * `cas:` Locator. By building, never by run, and never by text that somebody wrote into a block. Stands before anything of
 * the block itself is looked at.
 * Spec: locators-and-catalog, "Reading a Locator".
 */

import { type Asked, type AxError, gateDenied, type Outcome, ok, refused } from '../error.js';
import { type Address, buildingOf } from '../judge/address.js';
import { denied } from '../judge/admit.js';
import type { BlockHash } from '../judge/locator.js';
import type { Call } from '../runner/call.js';
import { treeError } from '../runner/job.js';
import { Blocks, isFault } from '../store/blocks.js';
import { failed, type Identity, sameIdentity, type Tree } from '../tree/tree.js';
import { storeError } from './store-error.js';

/** A block that may be read. */
export interface JudgedBlock {
  /** The tree its store is in; the call's to close. */
  readonly tree: Tree;
  /** The origin it may be read by: what the other wall asks its own bound about. */
  readonly origin: Address;
}

/**
 * The first origin that `call` may read, asked of wall 1. None that counts, or no store at all: denied, whether or not
 * there is such a block. Only closed ones: refused as the first of them is. Reads the block's origins, and asks the policy
 * about their buildings.
 */
export async function judgedAt(call: Call, at: Asked, hash: BlockHash): Promise<Outcome<JudgedBlock>> {
  const tree = call.store();
  if (typeof tree === 'string') return refused(treeError(at, tree));
  const origins = new Blocks(tree).origins(hash);
  if (isFault(origins)) return refused(storeError(call, at, origins));
  const named = new Set(origins.map(({ place }) => buildingOf(place)));
  const buildings = await askStanding(
    call,
    [...named].filter((name) => isBuildingOf(call.tree, name)),
  );
  const places = origins.map(({ place }) => place).filter((place) => buildings.has(buildingOf(place)));
  const [first] = places;
  if (first === undefined) return refused(noOrigin(at));
  const { bound } = call.judged();
  const open = places.find((place) => bound.judge(place) === undefined);
  if (open !== undefined) return ok({ tree, origin: open });
  const denial = bound.judge(first);
  return refused(denial === undefined ? noOrigin(at) : denied(at, denial));
}

/**
 * Asks the policy about these buildings: those that stood at the top of the city when it was asked, and stand there now,
 * each the same directory. One that was away for the moment of the question had no rules to say that it is closed, and
 * what is read by its verdict lies elsewhere, in the block store or in history.
 */
export async function askStanding(call: Call, names: readonly string[]): Promise<ReadonlySet<string>> {
  const before = names.map((name) => standing(call.tree, name));
  await call.askFor(names);
  return new Set(names.filter((name, index) => isSame(before[index], standing(call.tree, name))));
}

const isSame = (a: Identity | undefined, b: Identity | undefined): boolean =>
  a !== undefined && b !== undefined && sameIdentity(a, b);

/** Whether there is a directory of this spelling at the top of the city. What a link leads to is another building. */
export const isBuildingOf = (tree: Tree, name: string): boolean => standing(tree, name) !== undefined;

function standing({ root }: Tree, name: string): Identity | undefined {
  const look = root.look(name);
  return !failed(look) && look.kind === 'directory' && root.stands(name, look) === true ? look.identity : undefined;
}

const noOrigin = (at: Asked): AxError =>
  gateDenied(
    at,
    'nothing says which building it was stored for',
    'read the file: Locator it came from, or the file itself by its address',
  );
