/**
 * What is held open, so that it can be counted and given back: of a tree, whatever it opened; of a guest, its handles.
 * An array whose members know their places, since a walk adds and removes each file: a `Set` makes its table anew for
 * every few of them.
 */

/** What can be in one set at a time. */
export interface Member {
  /** Its place in the set it is in: that set's to write. -1: in none. */
  slot: number;
}

/** Things that are open, in no order. Every operation is O(1) but `all`. */
export class OpenSet<T extends Member> {
  readonly #members: T[] = [];

  get count(): number {
    return this.#members.length;
  }

  add(member: T): void {
    member.slot = this.#members.length;
    this.#members.push(member);
  }

  /** Whether it was in. */
  remove(member: T): boolean {
    const { slot } = member;
    if (slot < 0 || this.#members[slot] !== member) return false;
    const last = this.#members.pop();
    if (last !== undefined && last !== member) {
      this.#members[slot] = last;
      last.slot = slot;
    }
    member.slot = -1;
    return true;
  }

  /** All of them now: what is removed meanwhile stays in it. */
  all(): readonly T[] {
    return [...this.#members];
  }
}

/** Something a tree opened. Releasing it twice is once; it removes itself from its set. */
export interface Held extends Member {
  release(): void;
}

/** Releases all that a tree still holds. */
export function releaseAll(held: OpenSet<Held>): void {
  for (const each of held.all()) each.release();
}
