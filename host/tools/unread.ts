/**
 * What could not be looked at: the names of the causes and, in this one place, every sentence that says why.
 * Written from the address and what wall 2 recorded; never a system's message, never a host path.
 */

import { line } from '../error.js';
import { isBroken, parseAddress, RULE_SENTENCES } from '../judge/address.js';
import { FAILURE_SENTENCES, type FailedLanding, landingError } from '../judge/locate.js';
import * as limits from '../limits.js';
import type { ErrorCode } from '../wasi/codes.js';
import { ERROR_CODES } from '../wasi/codes.js';
import type { Reason } from '../wasi/filesystem.js';

/** Why something is unread, for programs: keys of `coverage.unread_by_cause`. */
export const CAUSES = [
  'too_large',
  'name',
  'not_regular',
  'foreign',
  'rules',
  'link',
  'vanished',
  'access',
  'share',
  'entries',
  'depth',
  'disk',
] as const;
/** One of them. */
export type Cause = (typeof CAUSES)[number];

const CAUSE_OF_CODE: Readonly<Partial<Record<ErrorCode, Cause>>> = {
  'file-too-large': 'too_large',
  'illegal-byte-sequence': 'name',
  unsupported: 'not_regular',
  'cross-device': 'foreign',
  'not-recoverable': 'rules',
  loop: 'link',
  'no-entry': 'vanished',
  access: 'access',
  'insufficient-space': 'share',
  overflow: 'entries',
  'name-too-long': 'depth',
};

/** Any code is a cause: what is not named is the disk. */
export const causeOf = (code: ErrorCode): Cause => CAUSE_OF_CODE[code] ?? 'disk';

/** Counts by cause, of counts by code; causes that did not occur are left out. */
export function byCause(counts: readonly number[]): Partial<Record<Cause, number>> {
  const sums = new Map<Cause, number>();
  for (const [number, count] of counts.entries()) {
    const code = ERROR_CODES[number];
    if (count > 0 && code !== undefined) sums.set(causeOf(code), (sums.get(causeOf(code)) ?? 0) + count);
  }
  return Object.fromEntries(CAUSES.flatMap((cause) => (sums.has(cause) ? [[cause, sums.get(cause)]] : [])));
}

/** Bytes as people say them: `1 MiB`, `1536 KiB`, `12 bytes`. */
export function sizeInWords(bytes: number): string {
  for (const [unit, size] of [
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
    ['KiB', 2 ** 10],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size} ${unit}`;
  }
  return `${bytes} bytes`;
}

/** The sentence of one unread entry. `reason` is what wall 2 recorded of this address, if it did. */
export function whyUnread(path: string, code: ErrorCode, reason: Reason | undefined, fileCapBytes: number): string {
  const cause = causeOf(code);
  switch (cause) {
    case 'too_large':
      return `larger than ${sizeInWords(fileCapBytes)}; read it by interval with \`read\``;
    case 'name':
      return nameSentence(path);
    case 'not_regular':
      return 'not a regular file';
    case 'foreign':
      return FAILURE_SENTENCES[reason?.failure === 'hard-link' ? 'hard-link' : 'other-mount'];
    case 'rules':
      return `its rules did not read: ${reason?.rules ?? 'the reason is not kept'}`;
    case 'link':
      return line(landingError({ action: 'search', asked: path }, linkFailure(reason)));
    case 'vanished':
      return 'it vanished since it was listed';
    case 'access':
      return FAILURE_SENTENCES.access;
    case 'share':
      return 'it is over its share of one call; its rest was not looked at: search it, or rooms of it, by `path`';
    case 'entries':
      return `it has more than ${limits.DIR_ENTRIES_MAX} entries (DIR_ENTRIES_MAX)`;
    case 'depth':
      return path.split('/').length > limits.DEPTH_MAX
        ? `deeper than ${limits.DEPTH_MAX} directories (DEPTH_MAX)`
        : `what it holds has paths that may be longer than ${sizeInWords(limits.PATH_MAX_BYTES)} (PATH_MAX_BYTES)`;
    case 'disk':
      return FAILURE_SENTENCES[reason?.failure ?? 'io'];
  }
}

const linkFailure = (reason: Reason | undefined): FailedLanding =>
  reason?.rule === undefined ? { kind: 'unresolved' } : { kind: 'not-address', rule: reason.rule, linked: true };

function nameSentence(path: string): string {
  const parsed = parseAddress(path);
  if (isBroken(parsed)) return `its name is not an address: ${RULE_SENTENCES[parsed.broken]}`;
  return 'its name is not an address: it is not UTF-8';
}
