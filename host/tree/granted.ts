/**
 * What wall 1 hands over: a city's root that gives nothing wall 1's own copy of the bound denies. Wall 2 (wasi/) opens
 * everything from here, so what was judged and what is held are one thing: with wall 2's bound gone, a guest still
 * holds no directory, no file, no look and no link text of a place that wall 1 closes.
 *
 * Each directory knows its address, since it was reached from the root one judged name at a time; so a name is judged
 * by what is new of it, and what wall 2 resolves, links too, is judged at every step. Where both copies of the bound
 * are equal, wall 2 asks for nothing that is refused here, and answers are what they were. It is the bound alone:
 * containment and spelling stay the tree's and the resolver's.
 */

import { joined } from '../judge/address.js';
import type { Bound } from '../judge/bound.js';
import {
  type Dir,
  type Entry,
  type Failure,
  type FileOptions,
  failed,
  type Identity,
  type LinkText,
  type Look,
  type OpenFile,
  type Rooted,
} from './tree.js';

/**
 * The tree's root as far as `bound` lets it be read. What is opened from it is counted and closed by `tree` as ever;
 * its root is borrowed. O(1).
 */
export const granted = ({ root, spellings }: Rooted, bound: Bound): Rooted => ({
  spellings,
  root: new Granted(root, bound, ''),
});

/** Of a listing of the directory at `address`, the names that `bound` does not hide. O(names), or free if none can be. */
export function listedWithin(bound: Bound, address: string, entries: readonly Entry[]): readonly Entry[] {
  if (!bound.hidesIn(address)) return entries;
  return entries.filter(({ name, nameable }) => !nameable || !bound.hides(address, name));
}

/** An open directory that was granted. A denied name is `not-granted`, whether or not anything has it. */
class Granted implements Dir {
  readonly identity: Identity;
  readonly #dir: Dir;
  readonly #bound: Bound;
  readonly #address: string;

  /** `bound` let `address` pass, which is what `dir` is. */
  constructor(dir: Dir, bound: Bound, address: string) {
    this.identity = dir.identity;
    this.#dir = dir;
    this.#bound = bound;
    this.#address = address;
  }

  look(name: string): Look | Failure {
    return this.#denies(name) ? 'not-granted' : this.#dir.look(name);
  }

  directory(name: string): Dir | Failure {
    if (this.#denies(name)) return 'not-granted';
    const dir = this.#dir.directory(name);
    return failed(dir) ? dir : new Granted(dir, this.#bound, joined(this.#address, name));
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    return this.#denies(name) ? 'not-granted' : this.#dir.file(name, options);
  }

  linkText(name: string): LinkText | Failure {
    return this.#denies(name) ? 'not-granted' : this.#dir.linkText(name);
  }

  stands(name: string, seen?: Look): boolean | Failure {
    return this.#denies(name) ? 'not-granted' : this.#dir.stands(name, seen);
  }

  list(): readonly Entry[] | Failure {
    const entries = this.#dir.list();
    return failed(entries) ? entries : listedWithin(this.#bound, this.#address, entries);
  }

  again(): Dir | Failure {
    const dir = this.#dir.again();
    return failed(dir) ? dir : new Granted(dir, this.#bound, this.#address);
  }

  close(): void {
    this.#dir.close();
  }

  /** Asked of every name a walk opens: no text is built where nothing is denied by pattern. */
  #denies(name: string): boolean {
    return this.#bound.judgeWithin(this.#address, name) !== undefined;
  }
}
