/**
 * `read` of `file:<address>@<oid>`: a file as it was in a commit. Judged by its building, which must be there today and
 * be open by today's rules and by that commit's own; then its bytes, proved by the chain of hashes from the commit, are
 * all that a second guest of the same call holds, and interval.ts cuts them like any other.
 * Spec: locators-and-catalog, "Reading a Locator".
 */

import {
  type Asked,
  type AxError,
  gateDenied,
  invalidArgs,
  limitReached,
  type Outcome,
  ok,
  refused,
} from '../error.js';
import { type Address, buildingOf, segmentsOf } from '../judge/address.js';
import { admit, denied, tooLong } from '../judge/admit.js';
import type { Locator } from '../judge/locator.js';
import { rulesFrom } from '../judge/rules.js';
import * as limits from '../limits.js';
import type { Call } from '../runner/call.js';
import { memoryCity, openMemoryTree } from '../tree/memory.js';
import { isSegment } from '../tree/names.js';
import { Collected } from './entry.js';
import { cutInterval, type Interval, type IntervalValue, type Source } from './interval.js';
import { askStanding } from './judged-at.js';
import { quoting } from './locating.js';
import { type Followed, follow, type Opened, withRepository } from './repository.js';
import { sizeInWords } from './unread.js';

type FileLocator = Extract<Locator, { kind: 'file' }>;

/** Reads a file of a commit. Costs what the commit's trees and the file take; the file is held whole until it is cut. */
export async function readCommit(
  call: Call,
  at: Asked,
  asked: Interval,
  locator: FileLocator,
): Promise<Outcome<IntervalValue>> {
  if (locator.range !== undefined) return refused(noRange(at));
  const refusal = await judgedToday(call, at, locator.address);
  if (refusal !== undefined) return refused(refusal);
  const bytes = await withRepository(call, at, 'of a work tree', (repository) =>
    bytesIn(call, at, repository, locator),
  );
  return bytes.ok ? cutInterval(call, at, asked, sourceOf(locator.address, bytes.value)) : bytes;
}

// ---- the judgement ----

/** Why the address is closed as the city is now. A building that is gone closes its past: it may have been confidential. */
async function judgedToday(call: Call, at: Asked, address: Address): Promise<AxError | undefined> {
  const building = buildingOf(address);
  const standing = await askStanding(call, [building]);
  const admitted = admit(address, call.action, call.judged().bound);
  if (!admitted.ok) return quoting(at, address, admitted.error);
  // A commit can hold a longer name than any disk: no tree is made of it, and no guest asked for it.
  if (!segmentsOf(address).every(isSegment)) return tooLong(at);
  return standing.has(building) ? undefined : isGone(at);
}

async function bytesIn(
  call: Call,
  at: Asked,
  repository: Opened,
  { address, oid }: FileLocator,
): Promise<Outcome<Uint8Array>> {
  if (oid.length !== 2 * repository.oidBytes) return refused(noCommit(at));
  const open = await openInCommit(call, at, repository, buildingOf(address), oid);
  if (!open.ok) return open;
  const file = await fetch(call, at, repository, oid, address, limits.COMMIT_FILE_MAX_BYTES);
  if (file.ok) return file.value.kind === 'blob' ? ok(file.value.bytes) : refused(notThere(at, file.value));
  const isTooLarge = file.error.code === 'E_LIMIT' && call.meter.spent === undefined;
  return isTooLarge ? refused(tooLarge(at)) : file;
}

/** Holds the commit's own rules of the building against the reader: proved to be none, or read and not confidential. */
async function openInCommit(
  call: Call,
  at: Asked,
  repository: Opened,
  building: string,
  oid: string,
): Promise<Outcome<undefined>> {
  if (building === call.reader) return ok(undefined);
  const path = `${building}/.sprawling/RULES.toml`;
  const rules = await fetch(call, at, repository, oid, path, limits.RULES_MAX_BYTES);
  if (!rules.ok && (rules.error.code !== 'E_LIMIT' || call.meter.spent !== undefined)) return rules;
  const why = rules.ok ? whyClosed(building, path, rules.value) : `${path}: it is larger than is read`;
  switch (why) {
    case undefined:
      return ok(undefined);
    case 'no-commit':
      return refused(noCommit(at));
    case 'confidential':
      return refused(wasConfidential(at));
    default:
      return refused(denied(at, { kind: 'rules-unreadable', subject: `in that commit, ${why}` }));
  }
}

/** Undefined if they close nothing; else what they say, or what is wrong with them. */
function whyClosed(building: string, path: string, rules: Fetched): string | undefined {
  switch (rules.kind) {
    case 'absent':
      return undefined;
    case 'no-commit':
    case 'unreachable':
      return 'no-commit';
    case 'not-file':
      return `${path}: it is no plain file`;
    case 'blob': {
      if (rules.isLink) return `${path}: it is no plain file`;
      const read = rulesFrom(rules.bytes, building);
      if (read.kind === 'rules') return read.rules.confidential ? 'confidential' : undefined;
      return read.kind === 'broken' ? read.subject : undefined;
    }
  }
}

// ---- the bytes ----

type Fetched =
  | Exclude<Followed, { kind: 'blob' }>
  | { readonly kind: 'blob'; readonly bytes: Uint8Array; readonly isLink: boolean };

/** One file of the commit, whole. No branch has to lead there: a Locator names a commit, and its building is judged. */
async function fetch(
  call: Call,
  at: Asked,
  repository: Opened,
  commit: string,
  path: string,
  blobMaxBytes: number,
): Promise<Outcome<Fetched>> {
  const collected = new Collected();
  const asked = { commit, path: new TextEncoder().encode(path), branches: [], blobMaxBytes };
  const followed = await follow(call, at, repository, asked, (piece) => collected.take(piece));
  if (!followed.ok) return followed;
  const { value } = followed;
  return ok(value.kind === 'blob' ? { kind: 'blob', bytes: collected.bytes(), isLink: value.isLink } : value);
}

/** A tree in memory that holds these bytes at their address and nothing else. A commit's link is such bytes too. */
function sourceOf(address: Address, bytes: Uint8Array): Source {
  const segments = segmentsOf(address);
  const name = segments.at(-1) ?? address;
  const shown = segments.slice(0, -1).join('/');
  return {
    guest: {
      tree: openMemoryTree(memoryCity([[segments, bytes]])),
      place: '',
      under: address,
      preopen: { kind: 'single', shown, name, path: address },
      handed: null,
    },
    sizeBytes: bytes.length,
    versioned: false,
    isElsewhere: () => false,
  };
}

// ---- refusals ----

const noRange = (at: Asked): AxError =>
  invalidArgs(
    at,
    'a file of a commit is not read by a range in its Locator',
    'drop what follows the `#`, and use `offset` and `limit`',
  );

const isGone = (at: Asked): AxError =>
  gateDenied(
    at,
    'its building is not there today, so what it was is closed',
    'read what is there today; who may still see what is gone, a person has to decide',
  );

const wasConfidential = (at: Asked): AxError =>
  gateDenied(
    at,
    'it was in a confidential building in that commit',
    'only its residents read it: signal a resident there, or use what your own building holds',
  );

const noCommit = (at: Asked): AxError =>
  invalidArgs(at, 'there is no such commit', 'pass the full name of a commit of this city’s repository');

function notThere(at: Asked, { kind }: Exclude<Fetched, { kind: 'blob' }>): AxError {
  if (kind === 'no-commit' || kind === 'unreachable') return noCommit(at);
  const fact = kind === 'absent' ? 'there is no such file in that commit' : 'it is no file in that commit';
  return invalidArgs(at, fact, 'name a file that the commit holds, or read what is there today, by its address');
}

const tooLarge = (at: Asked): AxError =>
  limitReached(
    at,
    `it is larger than is read of a commit (${sizeInWords(limits.COMMIT_FILE_MAX_BYTES)})`,
    'read what is there today, by its address',
  );
