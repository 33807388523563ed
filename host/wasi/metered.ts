/**
 * Lookups that cost: wall 2 resolves a link through a place whose every open is charged to the call, so that what links
 * cost is counted like what a walk costs, and a bomb of links ends at the same budget.
 */

import {
  type Dir,
  type Failure,
  type FileOptions,
  failed,
  type Identity,
  type LinkText,
  type Look,
  type OpenFile,
  type Place,
} from '../tree/tree.js';
import type { Meter, Refusal, Share } from './meter.js';

/** What the lookups of one resolution are charged to, and whether that is used up. */
export class Toll {
  refusal: Refusal | undefined;
  readonly #meter: Meter;
  readonly #share: Share | undefined;
  constructor(meter: Meter, share: Share | undefined) {
    this.#meter = meter;
    this.#share = share;
  }
  spent(): boolean {
    this.refusal ??= this.#meter.open(this.#share);
    return this.refusal !== undefined;
  }
}

/** A directory whose lookups are charged to a toll. The root of a resolution is borrowed: it is the tree's. */
export class Metered implements Place<Metered> {
  readonly identity: Identity;
  readonly #dir: Dir;
  readonly #toll: Toll;
  readonly #borrowed: boolean;
  constructor(dir: Dir, toll: Toll, borrowed: boolean) {
    this.identity = dir.identity;
    this.#dir = dir;
    this.#toll = toll;
    this.#borrowed = borrowed;
  }
  look(name: string): Look | Failure {
    return this.#toll.spent() ? 'exhausted' : this.#dir.look(name);
  }
  directory(name: string): Metered | Failure {
    if (this.#toll.spent()) return 'exhausted';
    const opened = this.#dir.directory(name);
    return failed(opened) ? opened : new Metered(opened, this.#toll, false);
  }
  file(name: string, options?: FileOptions): OpenFile | Failure {
    return this.#toll.spent() ? 'exhausted' : this.#dir.file(name, options);
  }
  linkText(name: string): LinkText | Failure {
    return this.#dir.linkText(name);
  }
  stands(name: string, seen?: Look): boolean | Failure {
    return this.#dir.stands(name, seen);
  }
  /** The directory itself, for whoever keeps it; the root is the tree's, so a handle of its own is given. */
  give(): Dir | Failure {
    return this.#borrowed ? this.#dir.again() : this.#dir;
  }
  close(): void {
    if (!this.#borrowed) this.#dir.close();
  }
}
