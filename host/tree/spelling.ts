/**
 * Whether a spelling is a name of a directory or an alias: what both disk trees answer to `stands`. Shares and some
 * disks open `Vault`, `Ｖault`, `.g\u200cit` or `GIT~1` though the listing has another name; link texts then give back
 * the asked spelling, so only the listing can tell.
 */

import { isPlainAscii, otherCase } from './names.js';
import type { Dir, Failure, Look } from './tree.js';
import { failed, sameIdentity } from './tree.js';

/**
 * The spellings of one open directory. A file system folds the case of all its ASCII names or of none, and no directory
 * that holds names changes that: so one name in two cases that are not one thing proves it for all, as long as the
 * directory is held.
 */
export class Spellings {
  readonly #dir: Dir;
  #foldsNoCase = false;

  constructor(dir: Dir) {
    this.#dir = dir;
  }

  /**
   * Whether `name` stands byte for byte in the listing, which `seen` was seen of just now. Of plain ASCII nothing more
   * is asked where nothing folds; the first one is looked at with its case swapped, unless it has no letter. Else one
   * listing, O(names).
   */
  stands(name: string, seen?: Look): boolean | Failure {
    const asked = seen ?? this.#dir.look(name);
    if (failed(asked)) return asked === 'no-entry' ? false : asked;
    if (!isPlainAscii(name)) return this.#isListed(name);
    if (this.#foldsNoCase) return true;
    const other = otherCase(name);
    if (other === name) return true;
    const alias = this.#dir.look(other);
    // Two names of one file (hard links) look like an alias: the listing tells them apart.
    const isOther = failed(alias) ? alias === 'no-entry' : !sameIdentity(alias.identity, asked.identity);
    this.#foldsNoCase = isOther;
    return isOther || this.#isListed(name);
  }

  #isListed(name: string): boolean | Failure {
    const listed = this.#dir.list();
    return failed(listed) ? listed : listed.some((entry) => entry.nameable && entry.name === name);
  }
}
