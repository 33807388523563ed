/**
 * `read` of what a Locator names: which of the two it is, and what is wrong with one that does not parse. Stands between
 * read.ts, which sends here whatever begins like a Locator, and interval.ts, which cuts.
 * Spec: locators-and-catalog, "Reading a Locator".
 */

import { type Asked, type AxError, invalidArgs, type Outcome, refused } from '../error.js';
import { type BrokenLocator, isBrokenLocator, locatorSentence, parseLocator } from '../judge/locator.js';
import type { Call } from '../runner/call.js';
import type { Interval, IntervalValue } from './interval.js';
import { readBlock } from './read.block.js';
import { readCommit } from './read.commit.js';

/** Reads a Locator. Form first: nothing is judged, and nothing looked at, of a text that is none. */
export async function readLocator(call: Call, at: Asked, asked: Interval): Promise<Outcome<IntervalValue>> {
  const locator = parseLocator(asked.path);
  if (isBrokenLocator(locator)) return refused(notLocator(at, locator));
  switch (locator.kind) {
    case 'cas':
      return readBlock(call, at, asked, locator);
    case 'file':
      return readCommit(call, at, asked, locator);
  }
}

/** The refusal of the grammar: the rule broken, then both forms. */
export const notLocator = (at: Asked, broken: BrokenLocator): AxError =>
  invalidArgs(
    at,
    'it is not a Locator',
    `${locatorSentence(broken)}; a Locator is cas:b3-<64 hex digits> or file:<address>@<commit>, and may end in a range, ` +
      '#L<first>-<last> (lines from 1) or #B<first>-<last> (bytes from 0)',
  );
