/**
 * What a tree holds open, so that it can count it and close what a call left behind. Used by every tree.
 */

/** Something a tree opened. Releasing it twice is once; it removes itself from its set. */
export interface Held {
  release(): void;
}

/** The open handles of one tree. Every operation is O(1) but `releaseAll`. */
export class OpenSet {
  readonly #held = new Set<Held>();

  get count(): number {
    return this.#held.size;
  }

  add(handle: Held): void {
    this.#held.add(handle);
  }

  remove(handle: Held): void {
    this.#held.delete(handle);
  }

  /** Releases all, in the order they were opened. */
  releaseAll(): void {
    for (const handle of [...this.#held]) handle.release();
  }
}
