/**
 * Threads that cannot be ended. A guest that loops is ended within milliseconds; a system call on a mount that does not
 * answer is not, whatever is done to its thread. Such a thread is left behind, counted here, and replaced by its pool.
 * Over the limits the city, or the runner, is refused before it takes another one. Stands beside the queue, on the
 * embedder's side of a call.
 */

import { STUCK_AFTER_MS } from '../limits.js';
import type { TreeSpec } from '../tree/spec.js';

/** What is watched of a thread: that it ends. */
export interface Ending {
  once(event: 'exit', listener: () => void): unknown;
}

/** How many stuck threads are left behind before calls are refused. */
export interface StuckLimits {
  /** Threads left behind, of all cities. */
  readonly stuckWorkers: number;
  /** Threads left behind by one city. */
  readonly cityStuckWorkers: number;
}

/** Which disk a city lies on, for this count; undefined for a city in memory, which has none. */
export function diskOf(spec: TreeSpec): string | undefined {
  return spec.kind === 'memory' ? undefined : `${spec.device}:${spec.inode}`;
}

/** The count of one runner. */
export class Stuck {
  readonly #limits: StuckLimits;
  /** By disk; one with none is not kept. */
  readonly #byDisk = new Map<string, number>();
  readonly #watched = new Set<Promise<void>>();
  #count = 0;

  constructor(limits: StuckLimits) {
    this.#limits = limits;
  }

  /** Threads that did not end, or answer, when they had to. */
  get count(): number {
    return this.#count;
  }

  /** Whether no more may be left behind. */
  get isFull(): boolean {
    return this.#count >= this.#limits.stuckWorkers;
  }

  /** Whether a call on this disk is not to take a thread now. A city in memory always may. */
  refuses(disk: string | undefined): boolean {
    if (disk === undefined) return false;
    if (this.isFull) return true;
    return (this.#byDisk.get(disk) ?? 0) >= this.#limits.cityStuckWorkers;
  }

  /**
   * Follows a thread that was told to end. Resolves when it has, or after STUCK_AFTER_MS, when it counts as stuck until
   * it ends after all. Never rejects.
   */
  watch(thread: Ending, disk: string | undefined): Promise<void> {
    const watched = this.#follow(thread, disk).finally(() => this.#watched.delete(watched));
    this.#watched.add(watched);
    return watched;
  }

  /** Resolves when every thread that was told to end has ended or counts as stuck: at most STUCK_AFTER_MS. */
  async settled(): Promise<void> {
    await Promise.all(this.#watched);
  }

  #follow(thread: Ending, disk: string | undefined): Promise<void> {
    return new Promise((resolve) => {
      let counted = false;
      const timer = setTimeout(() => {
        counted = true;
        this.#add(disk, 1);
        resolve();
      }, STUCK_AFTER_MS);
      thread.once('exit', () => {
        clearTimeout(timer);
        if (counted) this.#add(disk, -1);
        resolve();
      });
    });
  }

  /** Counts a thread that was not ended as stuck, until what comes back is called. Twice is once. */
  leaveBehind(): () => void {
    let counted = true;
    this.#add(undefined, 1);
    return () => {
      if (counted) this.#add(undefined, -1);
      counted = false;
    };
  }

  #add(disk: string | undefined, by: 1 | -1): void {
    this.#count += by;
    if (disk === undefined) return;
    const count = (this.#byDisk.get(disk) ?? 0) + by;
    if (count === 0) this.#byDisk.delete(disk);
    else this.#byDisk.set(disk, count);
  }
}
