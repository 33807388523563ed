/**
 * Wall 1 for the tools that take a path: within_city, admit, land, in this order, and what a city that cannot be
 * listed or a spent budget is called. One path in, one place or one refusal out.
 */

import {
  type Asked,
  type AxError,
  echo,
  gateDenied,
  invalidArgs,
  limitReached,
  type Outcome,
  ok,
  refused,
} from '../error.js';
import { type Address, buildingOf, isBroken, parseAddress } from '../judge/address.js';
import { admit, denied } from '../judge/admit.js';
import {
  failureError,
  type Landing,
  landingError,
  outsideCity,
  release,
  resolve,
  type Scene,
  withinCity,
} from '../judge/locate.js';
import { LINK_HOPS_MAX, TOP_ENTRIES_MAX } from '../limits.js';
import type { Call } from '../runner/call.js';
import { type Dir, type Entry, failed, sameIdentity } from '../tree/tree.js';
import type { ErrorCode } from '../wasi/codes.js';
import type { Filesystem } from '../wasi/filesystem.js';
import type { Spent } from '../wasi/meter.js';

/** A place that wall 1 admits. What it holds open is the caller's to release. */
export type Located =
  /** The whole city: an absolute path that is its root. */
  | { readonly kind: 'city' }
  | {
      readonly kind: 'place';
      /** As asked. */
      readonly address: Address;
      readonly landing: Extract<Landing<Dir>, { kind: 'directory' | 'entry' | 'absent' }>;
    };

/** A landing on what is no directory. */
export type LandedFile = Extract<Landing<Dir>, { kind: 'entry' }>;

/** Judges a path as the caller wrote it. Asks the policy about each building it meets, once. */
export async function locate(call: Call, path: string): Promise<Outcome<Located>> {
  const at: Asked = { action: call.action, asked: path };
  const within = withinCity(path, call.tree.spellings);
  if (within.kind === 'outside') return refused(outsideCity(at));
  if (within.kind === 'city') return ok({ kind: 'city' });
  const spelling = within.kind === 'inside' ? within.rest : path;
  await askForBuilding(call, spelling);
  const admitted = admit(spelling, call.action, call.judged().bound);
  if (!admitted.ok) return refused(quoting(at, spelling, admitted.error));
  const landing = await land(call, admitted.value);
  if (landing.kind === 'directory' || landing.kind === 'entry' || landing.kind === 'absent') {
    return ok({ kind: 'place', address: admitted.value, landing });
  }
  return refused(landingError(at, landing));
}

async function askForBuilding(call: Call, spelling: string): Promise<void> {
  const address = parseAddress(spelling);
  if (!isBroken(address)) await call.askFor([buildingOf(address)]);
}

/** Links may pass through buildings nobody asked about yet: ask, and resolve again from the start. */
async function land(call: Call, address: Address): Promise<Landing<Dir>> {
  for (let asked = 0; ; asked++) {
    const landing = resolve(call.judged(), { base: [], path: address });
    const unasked =
      landing.kind === 'denied' && landing.denial.kind === 'unasked' ? landing.denial.building : undefined;
    if (unasked === undefined || asked > LINK_HOPS_MAX) return landing;
    await call.askFor([unasked]);
  }
}

/** A refusal quotes what was asked, also where the city's own spelling of it was judged. */
export const quoting = (at: Asked, judged: string, error: AxError): AxError =>
  at.asked === judged ? error : { ...error, subject: echo(at.asked) + error.subject.slice(echo(judged).length) };

/** The root's names: what the bound's table is made of, and what the guest will see. */
export function listRoot(call: Call, asked: string): Outcome<readonly Entry[]> {
  const at: Asked = { action: call.action, asked };
  const listing = call.tree.root.list();
  if (listing === 'too-many-entries' || (!failed(listing) && listing.length > TOP_ENTRIES_MAX)) {
    const fact = `the city has more than ${TOP_ENTRIES_MAX} names at its top (TOP_ENTRIES_MAX)`;
    return refused(limitReached(at, fact, 'a person has to divide the city: nothing narrower can be asked'));
  }
  return failed(listing) ? refused(failureError(at, listing)) : ok(listing);
}

/**
 * Whether `path` leads to another place or thing now than the judged one: a link to a closed place or a hole, perhaps.
 * A disk that does not answer is no proof. One resolution.
 */
export function isElsewhere(scene: Scene<Dir>, path: Address, judged: Pick<LandedFile, 'address' | 'look'>): boolean {
  const landing = resolve(scene, { base: [], path });
  release(landing);
  if (landing.kind === 'failed') return false;
  if (landing.kind !== 'entry' || landing.address !== judged.address) return true;
  // A disk gives the number of what was removed to what is made next, of whatever kind.
  return landing.look.kind !== judged.look.kind || !sameIdentity(landing.look.identity, judged.look.identity);
}

/** Neither directory nor regular file: never opened. */
export const notRegular = (at: Asked): AxError =>
  invalidArgs(
    at,
    'it is neither a file nor a directory',
    'name an existing file: devices, pipes and sockets are never opened',
  );

/** How a spent budget is named, with its value: one wording for `stopped` and for `E_LIMIT`. */
export const SPENT_SENTENCES: Readonly<Record<Spent['budget'], (value: number) => string>> = {
  time: (value) => `its time is over (${value} ms)`,
  opens: (value) => `its opens are used up (${value})`,
  entries: (value) => `its directory entries are used up (${value})`,
  bytes: (value) => `its bytes are used up (${value})`,
  handles: (value) => `its open handles are used up (${value})`,
};

/** A call that has nothing to give back and no budget left. */
export function spentError(at: Asked, call: Call): AxError {
  const { spent, used } = call.meter;
  const fact = spent === undefined ? 'the call ended early' : SPENT_SENTENCES[spent.budget](spent.value);
  const recovery = 'ask for less, or have a person raise the runner’s budget';
  return limitReached(
    at,
    `${fact}; ${used.bytes} bytes were read`,
    recovery,
    spent?.budget === 'time' ? 'unknown' : 'no',
  );
}

/**
 * What wall 1 admitted and wall 2 did not open: there, but it will not open. The name is right, so nothing is offered
 * instead. `shown` is the address under which wall 2 kept its reason.
 */
export function notOpened(call: Call, at: Asked, shown: string, code: ErrorCode, filesystem: Filesystem): AxError {
  const reason = filesystem.reason(shown);
  switch (code) {
    case 'quota':
      return spentError(at, call);
    case 'insufficient-space':
      return limitReached(
        at,
        'its building’s share of one call is used up',
        'name the place by a shorter way, or have a person raise the runner’s budget',
      );
    case 'not-permitted':
      return gateDenied(at, 'it is closed to this run', 'name another path: this one was refused where it was opened');
    case 'not-recoverable':
      return denied(at, { kind: 'rules-unreadable', subject: reason?.rules ?? 'its rules' });
    case 'loop':
      return landingError(at, { kind: 'unresolved' });
    default:
      return failureError(at, reason?.failure ?? 'io');
  }
}
