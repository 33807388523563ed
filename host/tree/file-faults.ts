/**
 * Why what was found or opened is not read as a file: its kind, and the policy on hard links. For every tree.
 */

import type { Failure, HardLinks, Kind } from './tree.js';

/** Why a name that is this is not opened as a file; undefined for a file. */
export const FILE_FAULTS: Readonly<Record<Kind, Failure | undefined>> = {
  file: undefined,
  directory: 'is-directory',
  link: 'is-link',
  other: 'not-regular',
};

/**
 * Whether the policy refuses a regular file of `names` names, owned by `owner` and found in a directory of
 * `directoryOwner`: one of its other names may be outside the city, which no path can tell. Never a file with one name.
 */
export function refusesHardLink(
  policy: HardLinks,
  file: { readonly names: number; readonly owner: number },
  directoryOwner: number,
): boolean {
  if (file.names <= 1 || policy === 'allow') return false;
  return policy === 'deny' || file.owner !== directoryOwner;
}
