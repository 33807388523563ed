/**
 * Admitting: the first judgement of a call, on what was asked and before anything is looked at. Every tool and
 * every door asks here, so the whole city has one answer to "may this path be reached". No I/O.
 */

import { type Asked, type AxError, gateDenied, invalidArgs, type Outcome, ok, refused } from '../error.js';
import { PATH_MAX_BYTES } from '../limits.js';
import { type Address, type AddressRule, isBroken, parseAddress, RULE_SENTENCES } from './address.js';
import type { Bound, Denial } from './bound.js';

/**
 * The address `asked` spells, if `bound` lets it be read: grammar, then length, then reserved, then the building's
 * verdict. Says nothing of whether the place exists. A building the bound was not asked about is closed here:
 * callers that can ask the policy do so before. Linear in `asked`.
 */
export function admit(asked: string, action: string, bound: Bound): Outcome<Address> {
  const at = { action, asked };
  const parsed = parseAddress(asked);
  if (isBroken(parsed)) return refused(notAddress(at, parsed.broken));
  if (isTooLong(asked)) return refused(tooLong(at));
  const denial = bound.judge(parsed);
  return denial === undefined ? ok(parsed) : refused(denied(at, denial));
}

/** Whether a path is longer than any path may be. Linear, and only for paths that may be. */
export const isTooLong = (path: string): boolean =>
  path.length > PATH_MAX_BYTES || (3 * path.length > PATH_MAX_BYTES && encoder.encode(path).length > PATH_MAX_BYTES);
const encoder = new TextEncoder();

/** The refusal of a path that no file system takes. */
export const tooLong = (at: Asked): AxError =>
  invalidArgs(at, 'the path or a name in it is too long', 'pass a shorter path: no place of the city has this one');

/** The refusal of the grammar: the rule broken, then the legal form. */
export const notAddress = (at: Asked, rule: AddressRule): AxError =>
  invalidArgs(
    at,
    'it is not an address',
    `${RULE_SENTENCES[rule]}; pass a city-relative path of plain segments, like lab/notes.md`,
  );

const CLOSED = {
  fact: 'it is in a confidential building',
  recovery: 'only its residents read it: signal a resident there, or use what your own building holds',
};

/** The one constructor of refusals by the bound. A building that was not asked about is closed like a confidential one. */
export function denied(at: Asked, denial: Denial): AxError {
  switch (denial.kind) {
    case 'reserved':
      return gateDenied(
        at,
        'it is in a reserved place',
        'what governs a scope or keeps the repository is not read by a run; use a catalog name or another path',
      );
    case 'pattern':
      return gateDenied(
        at,
        'a deny pattern of this runner covers it',
        'name another path: what is denied by pattern is read by nobody here',
      );
    case 'confidential':
    case 'unasked':
      return gateDenied(at, CLOSED.fact, CLOSED.recovery);
    case 'rules-unreadable':
      return gateDenied(
        at,
        'its building is closed because its rules did not read',
        `closed because its rules may say confidential; they did not read (${denial.subject}); a person has to fix them`,
      );
  }
}
