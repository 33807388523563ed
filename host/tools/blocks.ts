/**
 * The host's own two doors to the block store, as work for a worker: storing bytes, and handing out a block as the reader
 * it is asked for. No tools: no model is offered them, and nothing of them passes a guest.
 * Spec: locators-and-catalog, "Block store".
 */

import { type Asked, type AxError, invalidArgs, type Outcome, ok, refused } from '../error.js';
import { type Address, buildingOf, isBroken, isReserved, parseAddress } from '../judge/address.js';
import { denied, notAddress } from '../judge/admit.js';
import { isBrokenLocator, parseLocator, printLocator } from '../judge/locator.js';
import { CALL_TIME_MS, NAME_MAX_BYTES } from '../limits.js';
import type { Call } from '../runner/call.js';
import { treeError } from '../runner/job.js';
import { Blocks, isFault } from '../store/blocks.js';
import { blockRoom } from '../store/layout.js';
import { isRunName, NO_RUN, type Origin } from '../store/origins.js';
import { isBuildingOf, judgedAt } from './judged-at.js';
import { notLocator } from './read.locator.js';
import { storeError } from './store-error.js';
import type { Errand } from './tool.js';

/** What is stored, and for whom. */
export interface PutArgs {
  readonly bytes: Uint8Array;
  /** The building or room it is stored for; left out: no run reads it by its Locator. */
  readonly for?: string | undefined;
  /** The run that stores it, for the origin; default: none. */
  readonly run?: string | undefined;
}

/** Stores bytes; the value is their Locator. */
export const putBlock: Errand<PutArgs, string> = {
  name: 'blocks put',
  timeMs: CALL_TIME_MS,
  asked: (args) => args.for ?? '',
  told: ({ bytes, ...rest }) => ({ ...rest, bytes: bytes.length }),
  sizeOf: (locator) => locator.length,
  run: put,
};

async function put(call: Call, args: PutArgs): Promise<Outcome<string>> {
  const at: Asked = { action: call.action, asked: args.for ?? '' };
  const tree = call.store();
  if (typeof tree === 'string') return refused(treeError(at, tree));
  const origin = args.for === undefined ? ok(undefined) : originOf(call, at, args.for, args.run ?? NO_RUN);
  if (!origin.ok) return origin;
  const blocks = new Blocks(tree);
  const kept = await (origin.value === undefined ? blocks.put(args.bytes) : blocks.putFor(args.bytes, origin.value));
  if (isFault(kept)) return refused(storeError(call, at, kept));
  return ok(printLocator({ kind: 'cas', hash: kept.hash }));
}

/** What would not count when it is read is not written. */
function originOf(call: Call, at: Asked, place: string, run: string): Outcome<Origin> {
  const address = parseAddress(place);
  if (isBroken(address)) return refused(notAddress(at, address.broken));
  if (isReserved(address)) return refused(denied(at, { kind: 'reserved' }));
  if (!isBuildingOf(call.tree, buildingOf(address))) return refused(noBuilding(at, address));
  return isRunName(run) ? ok({ run, place: address }) : refused(noRunName(at));
}

const noBuilding = (at: Asked, address: Address): AxError =>
  invalidArgs(
    at,
    'it lies in no building of this city',
    `name a building that is there, or a room in one, like lab/room1: \`${buildingOf(address)}\` is no directory at the top`,
  );

const noRunName = (at: Asked): AxError =>
  invalidArgs(
    at,
    'its run is no name',
    `name the run by text without white space, at most ${NAME_MAX_BYTES} bytes of it`,
  );

/** Which block, or which range of one. */
export interface GetArgs {
  readonly locator: string;
}

/** Hands out a block, or exactly a range of it, as the reader of the call. Not through the guest: bytes, not text. */
export const getBlock: Errand<GetArgs, Uint8Array> = {
  name: 'blocks get',
  timeMs: CALL_TIME_MS,
  asked: ({ locator }) => locator,
  told: (args) => ({ ...args }),
  sizeOf: (bytes) => bytes.length,
  run: get,
};

async function get(call: Call, { locator: asked }: GetArgs): Promise<Outcome<Uint8Array>> {
  const at: Asked = { action: call.action, asked };
  const locator = parseLocator(asked);
  if (isBrokenLocator(locator)) return refused(notLocator(at, locator));
  if (locator.kind === 'file') return refused(noBlock(at));
  const { hash, range } = locator;
  const judged = await judgedAt(call, at, hash);
  if (!judged.ok) return judged;
  const denial = call.denialOf(judged.value.origin, blockRoom(hash).join('/'), hash);
  if (denial !== undefined) return refused(denied(at, denial));
  const blocks = new Blocks(judged.value.tree);
  const { meter } = call;
  const toll = {
    mayRead: () => meter.mayRead(undefined) === undefined,
    read: (bytes: number) => meter.read(bytes, undefined),
  };
  const bytes = await (range === undefined ? blocks.get(hash) : blocks.getRange(hash, range, toll));
  return isFault(bytes) ? refused(storeError(call, at, bytes)) : ok(alone(bytes));
}

/** The bytes with no others behind them: a message to another thread carries all of the memory they lie in. */
const alone = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice());

const noBlock = (at: Asked): AxError =>
  invalidArgs(
    at,
    'it names a file in a commit, not a block',
    'hand it to `read`, or name a block: cas:b3-<64 hex digits>',
  );
