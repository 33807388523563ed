/**
 * What the tools that read history share: the repository of a call, opened for it and closed after it; one address
 * followed through it, proved by hashes; and what a repository that gives nothing is called.
 *
 * Stands between such a tool and store/ (repository.ts finds, objects.ts proves) and the guest, which does the reading.
 */

import {
  type Asked,
  type AxError,
  cancelled,
  limitReached,
  type Outcome,
  ok,
  type Retry,
  refused,
  storageFatal,
} from '../error.js';
import { buildingOf, isReservedSegment } from '../judge/address.js';
import { denied } from '../judge/admit.js';
import * as limits from '../limits.js';
import type { Call, GuestOptions } from '../runner/call.js';
import { Chain, type Trailed } from '../store/objects.js';
import { isUnfit, type NoRepository, openRepository, type Repository, type Whose } from '../store/repository.js';
import { openTree } from '../tree/spec.js';
import type { Tree } from '../tree/tree.js';
import type { GitFault, Guest, Trail } from '../wasi/guest.js';
import { spentError } from './locating.js';

/** A repository that may be read, and how a guest comes to hold it. */
export interface Opened {
  readonly oidBytes: Repository['oidBytes'];
  /** For `call.open`: the git directory, whole, and nothing else. */
  readonly guest: GuestOptions;
  /** The one guest that follows addresses in it, one after another: it has its pages of indexes by then. */
  readonly follower: () => Guest;
}

/**
 * Hands the city's repository (`of a work tree`, for files of it), or the one that history was to be taken from (`any`),
 * to `use`, and closes it. Refusals: none there, one that does not open, one that lies in a place closed to the reader.
 */
export async function withRepository<T>(
  call: Call,
  at: Asked,
  whose: Whose,
  use: (repository: Opened) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const named = whose === 'any' ? call.history.repository : null;
  if (named === null) return openIn(call, at, call.tree, whose, use);
  const beside = openTree(named);
  if (typeof beside === 'string') return refused(notThere(at));
  try {
    return await openIn(call, at, beside, whose, use);
  } finally {
    beside.close();
  }
}

async function openIn<T>(
  call: Call,
  at: Asked,
  tree: Tree,
  whose: Whose,
  use: (repository: Opened) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const found = openRepository(tree, whose);
  if (isUnfit(found)) return refused(unfit(at, found));
  const isCitys = tree === call.tree;
  try {
    const refusal = isCitys ? await closedPlace(call, at, found.place) : undefined;
    if (refusal !== undefined) return refused(refusal);
    const guest: GuestOptions = {
      tree: found.tree,
      // A city that is a bare repository is a city first: its guest has the bound of the city.
      ...(!(isCitys && found.place === '') && { place: found.place }),
      preopen: { kind: 'directory', shown: '', path: '' },
      handed: { kind: 'repository', landed: isCitys ? found.place : null },
    };
    let follower: Guest | undefined;
    return await use({
      oidBytes: found.oidBytes,
      guest,
      follower: () => {
        follower ??= call.open(guest).guest;
        return follower;
      },
    });
  } finally {
    found.tree.close();
  }
}

/** The embedder's deny patterns hold for the repository too; so does a building that it was moved to. */
async function closedPlace(call: Call, at: Asked, place: string): Promise<AxError | undefined> {
  const places = place === '' ? BARE_NAMES : [place];
  if (places.some((one) => call.isDenied(one))) return denied(at, { kind: 'pattern' });
  const buildings = places.map(buildingOf).filter((name) => !isReservedSegment(name));
  await call.askFor(buildings);
  return buildings.every((name) => call.mayTell(name)) ? undefined : denied(at, { kind: 'confidential' });
}
/** What the guest opens at the top of a repository: of a bare city, so many of its buildings. */
const BARE_NAMES: readonly string[] = ['objects', 'refs', 'packed-refs'];

// ---- one address, followed ----

/** What is followed: see `TrailQuery`. */
export interface Following {
  readonly commit: string;
  readonly path: Uint8Array;
  /** The commit has to be reachable from one of them; empty: that is not asked. */
  readonly branches: readonly string[];
  readonly blobMaxBytes: number;
}

/** Where an address leads, when nothing went wrong. */
export type Followed = Exclude<Trailed, { kind: 'budget' | 'fault' | 'mismatch' }>;

/**
 * Follows an address, proving each object, and passes on the blob's pieces in order: they count
 * only if this comes back with the blob. Between pages the time and the caller's signal are asked.
 */
export async function follow(
  call: Call,
  at: Asked,
  repository: Opened,
  asked: Following,
  pass: (piece: Uint8Array) => void,
): Promise<Outcome<Followed>> {
  const { commit, path, branches, blobMaxBytes } = asked;
  const { oidBytes } = repository;
  const chain = await Chain.of({ commit, path, oidBytes, blobMaxBytes }, pass);
  const guest = repository.follower();
  let trail: Trail = guest.trail({ commit, path, branches, oidBytes, blobMax: blobMaxBytes, ...PAGE });
  for (;;) {
    if (!trail.ok) return refused(faultError(call, at, trail.fault));
    const trailed = chain.take(trail.page);
    if (trailed !== undefined) return ended(call, at, trailed);
    if (call.meter.late()) return refused(spentError(at, call));
    if (!(await call.goOn())) return refused(cancelled(at));
    trail = guest.further();
  }
}

/** How much a guest takes up before the host is asked. */
export const PAGE = { pageWork: limits.HISTORY_PAGE_WORK, pageBytes: limits.HISTORY_PAGE_BYTES } as const;

function ended(call: Call, at: Asked, trailed: Trailed): Outcome<Followed> {
  switch (trailed.kind) {
    case 'budget':
      return refused(call.meter.spent === undefined ? memoryError(at) : spentError(at, call));
    case 'fault':
      return refused(faultError(call, at, trailed.fault));
    case 'mismatch':
      return refused(mismatch(at));
    default:
      return ok(trailed);
  }
}

// ---- refusals ----

const unfit = (at: Asked, { unfit: fact, isMissing, retry }: NoRepository): AxError =>
  isMissing
    ? storageFatal(at, 'there is no repository', 'a person has to keep the city in git, or name its repository')
    : storageFatal(at, `the repository does not open: ${fact}`, MENDED, retry);
const MENDED = 'a person has to name a repository that is whole by itself, or mend this one';

const notThere = (at: Asked): AxError =>
  storageFatal(
    at,
    'the repository’s directory does not open',
    'a person has to look at it, and enter the city again',
    'unknown',
  );

const mismatch = (at: Asked): AxError =>
  storageFatal(
    at,
    'an object of the repository is not the one its name means',
    'a person has to run `git fsck` there; if that finds nothing, the sandboxed component made it up: report it with its hash',
  );

const memoryError = (at: Asked): AxError =>
  limitReached(at, 'an object takes more memory than the sandboxed component may have', 'read another one');

const FAULTS: Readonly<
  Record<Exclude<GitFault, 'too-large'>, readonly [fact: string, recovery: string, retry: Retry]>
> = {
  'no-repository': ['the repository does not open: it is none', MENDED, 'no'],
  corrupt: ['an object of the repository does not read', 'a person has to run `git fsck` there', 'no'],
  missing: ['the repository lacks an object that it names', 'a person has to run `git fsck` there', 'no'],
  unsupported: ['the repository is of a form that is not read here', MENDED, 'no'],
  disk: ['the repository’s disk did not answer', 'ask again; if it stays so, a person has to look at it', 'unknown'],
};

/** What a guest that gives no answer says of the repository, in our words. */
export function faultError(call: Call, at: Asked, fault: GitFault): AxError {
  if (call.meter.spent !== undefined) return spentError(at, call);
  if (fault === 'too-large') return limitReached(at, 'an object of the repository is larger than is read', TOO_LARGE);
  const [fact, recovery, retry] = FAULTS[fault];
  return storageFatal(at, fact, recovery, retry);
}
const TOO_LARGE = 'read another one; a person can still open it with git';
