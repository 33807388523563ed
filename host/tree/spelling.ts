/**
 * Whether a spelling is a name of a directory or an alias: what both disk trees answer to `stands`. Shares and some
 * disks open `Vault`, `Ｖault`, `.g\u200cit` or `GIT~1` though the listing has another name; link texts then give back
 * the asked spelling, so only the listing can tell.
 */

import { otherCase } from './names.js';
import type { Dir, Failure, Look } from './tree.js';
import { failed, sameIdentity } from './tree.js';

/**
 * Whether `name` stands byte for byte in the listing of `dir`, which `seen` was seen of just now. One more look for plain
 * ASCII (none without letters) where nothing folds: the name with its case swapped is absent or another thing. Else one
 * listing, O(names).
 */
export function standsInListing(dir: Dir, name: string, seen?: Look): boolean | Failure {
  const asked = seen ?? dir.look(name);
  if (failed(asked)) return asked === 'no-entry' ? false : asked;
  const other = otherCase(name);
  if (other === name) return true;
  const alias = other === undefined ? undefined : dir.look(other);
  if (alias === 'no-entry') return true;
  // Two names of one file (hard links) look like an alias: the listing tells them apart.
  if (alias !== undefined && !failed(alias) && !sameIdentity(alias.identity, asked.identity)) return true;
  const listed = dir.list();
  return failed(listed) ? listed : listed.some((entry) => entry.nameable && entry.name === name);
}
