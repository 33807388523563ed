/**
 * A place that remembers the directory that was last entered from it, so that many paths in walk order are resolved
 * with one open a directory instead of one a path. Wall 1 lands so on the paths of one answer (tools/search.ts): all
 * of them after the guest has ended, each directory looked at once.
 *
 * It owns what it opened: `close` gives nothing back, `forget` all of it. A resolution goes down one way at a time, so
 * one open directory a level is all that is held.
 */

import {
  type Failure,
  type FileOptions,
  failed,
  type Identity,
  type LinkText,
  type Look,
  type OpenFile,
  type Place,
} from './place.js';

/** See above. For one pass: what it remembers is not asked again. */
export class Recent<D extends Place<D>> implements Place<Recent<D>> {
  readonly identity: Identity;
  readonly #dir: D;
  /** The name that was looked at last, and what was seen of it. */
  #name: string | undefined;
  #look: Look | undefined;
  #stands = false;
  /** The directory of that name, once it was entered. */
  #entered: Recent<D> | undefined;

  /** Borrows `dir`. */
  constructor(dir: D) {
    this.identity = dir.identity;
    this.#dir = dir;
  }

  look(name: string): Look | Failure {
    if (this.#entered !== undefined && this.#look !== undefined && name === this.#name) return this.#look;
    this.#turnTo(name);
    const look = this.#dir.look(name);
    if (!failed(look)) this.#look = look;
    return look;
  }

  stands(name: string, seen?: Look): boolean | Failure {
    if (this.#entered !== undefined && this.#stands && name === this.#name) return true;
    const stands = this.#dir.stands(name, seen);
    if (name === this.#name) this.#stands = stands === true;
    return stands;
  }

  directory(name: string): Recent<D> | Failure {
    if (this.#entered !== undefined && name === this.#name) return this.#entered;
    const opened = this.#dir.directory(name);
    if (failed(opened)) return opened;
    if (name !== this.#name) this.#turnTo(name);
    this.#entered = new Recent(opened);
    return this.#entered;
  }

  file(name: string, options?: FileOptions): OpenFile | Failure {
    return this.#dir.file(name, options);
  }

  linkText(name: string): LinkText | Failure {
    return this.#dir.linkText(name);
  }

  close(): void {}

  /** Closes what was entered from here, and from there. Not the place itself. O(levels). */
  forget(): void {
    let entered = this.#entered;
    this.#entered = undefined;
    while (entered !== undefined) {
      const below: Recent<D> | undefined = entered.#entered;
      entered.#entered = undefined;
      entered.#dir.close();
      entered = below;
    }
  }

  #turnTo(name: string): void {
    this.forget();
    this.#name = name;
    this.#look = undefined;
    this.#stands = false;
  }
}
