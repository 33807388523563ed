/**
 * Few descriptors for a deep walk: directories a guest holds are parked (closed) when there are too many, oldest first,
 * and opened again, and proved to be the same, on the way back.
 */

import { type Dir, type Failure, failed, sameIdentity } from '../tree/tree.js';
import type { DirHandle } from './handles.js';
import type { Meter } from './meter.js';

/**
 * The directory descriptors of one call, at most so many: the oldest is closed for the newest, and opened again when
 * asked for.
 */
export class HeldDirs {
  readonly #most: number;
  readonly #meter: Meter;
  readonly #reopenTop: (handle: DirHandle) => Dir | Failure;
  /** Directories with a descriptor, oldest first. */
  readonly #held = new Set<DirHandle>();
  #hasParked = false;

  /** `reopenTop` opens a directory that has no parent handle again, by its place. */
  constructor(most: number, meter: Meter, reopenTop: (handle: DirHandle) => Dir | Failure) {
    this.#most = most;
    this.#meter = meter;
    this.#reopenTop = reopenTop;
  }

  /** Whether there were ever too many: from then on, what an open costs depends on what was opened before. */
  get hasParked(): boolean {
    return this.#hasParked;
  }

  /** Takes a directory that was just opened. */
  add(handle: DirHandle): void {
    this.#held.add(handle);
    this.#trim(handle);
  }

  /** The open directory behind a handle; opened again if it was parked. Each reopening is an open of the call. */
  use(handle: DirHandle): Dir | Failure {
    return handle.dir ?? this.#reopen(handle);
  }

  /** Closes a directory's descriptor; its handle can still be used. */
  park(handle: DirHandle): void {
    this.#held.delete(handle);
    handle.dir?.close();
    handle.dir = undefined;
  }

  /** Parks all. */
  close(): void {
    for (const handle of [...this.#held]) this.park(handle);
  }

  #reopen(handle: DirHandle): Dir | Failure {
    // The parked ancestors, deepest first; reopened from the last that is held. No recursion: depth is the guest's.
    const chain: DirHandle[] = [];
    let held: DirHandle | undefined = handle;
    while (held !== undefined && held.dir === undefined) {
      chain.push(held);
      held = held.parent;
    }
    let dir: Dir | Failure | undefined = held?.dir;
    for (const step of chain.reverse()) {
      if (this.#meter.open(step.share) !== undefined) return 'exhausted';
      dir = dir === undefined ? this.#reopenTop(step) : dir.directory(step.name);
      if (failed(dir)) return dir === 'no-entry' || dir === 'is-link' ? 'moved' : dir;
      if (!sameIdentity(dir.identity, step.identity)) {
        dir.close();
        return 'moved';
      }
      step.dir = dir;
      this.add(step);
    }
    return dir ?? 'io';
  }

  /** Parks the oldest directories until few enough are held; never the one just opened. */
  #trim(newest: DirHandle): void {
    for (const handle of this.#held) {
      if (this.#held.size <= this.#most) return;
      if (handle === newest) continue;
      this.#hasParked = true;
      this.park(handle);
    }
  }
}
