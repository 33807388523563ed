/**
 * What entering a city and opening its tree share, whatever the tree: the refusals, and the options of one call.
 */

import { DIR_ENTRIES_MAX } from '../limits.js';
import type { Failure } from './tree.js';

/**
 * Why a city was not entered. `no-procfs`: `/proc` does not give what the Linux tree stands on; no other tree is
 * chosen then. `bad-name`: its spelling, or its real location, is no text.
 */
export type EnterRefusal = 'missing' | 'not-directory' | 'access' | 'bad-name' | 'no-procfs' | 'exhausted' | 'io';

/** Why no tree was opened. `replaced`: the entered spelling leads elsewhere or nowhere, or the pinned root is gone. */
export type TreeRefusal = 'replaced' | 'access' | 'exhausted' | 'io';

/** Limits of one tree; tests lower them. */
export interface TreeOptions {
  /** Names in one directory, at most and by default DIR_ENTRIES_MAX. */
  readonly dirEntriesMax?: number;
}

/** Names a directory may hold in this call: what was asked, at most DIR_ENTRIES_MAX. */
export const dirEntriesMaxOf = (options: TreeOptions): number =>
  Math.min(options.dirEntriesMax ?? DIR_ENTRIES_MAX, DIR_ENTRIES_MAX);

/** A failure on the way to a root, on entering. */
export function enterRefusalOf(failure: Failure): EnterRefusal {
  switch (failure) {
    case 'no-entry':
    case 'is-link': // links that lead in a circle
      return 'missing';
    case 'not-directory':
    case 'access':
    case 'bad-name':
    case 'exhausted':
      return failure;
    default:
      return 'io';
  }
}

/** The same on opening: a place that is not there or is something else now was replaced. */
export const treeRefusalOf = (failure: Failure): TreeRefusal =>
  failure === 'access' || failure === 'exhausted' || failure === 'io' ? failure : 'replaced';
