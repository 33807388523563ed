/**
 * An open regular file of a disk tree: a descriptor that was checked, and is read by position. The tree's `file`
 * makes one; wasi/ reads through it straight into the guest's memory.
 */

import type { Held, OpenSet } from './open-set.js';
import { closeQuietly, failureOf, fstatSync, identityOf, readSync } from './system.js';
import type { Failure, Identity, OpenFile } from './tree.js';

/** Bytes the system takes at once; more is answered by a shorter read. */
const READ_MAX_BYTES = 0x7fff_f000;

/** Takes `fd` over. Once closed every method says `io`: the number may be another file's by then. */
export class DiskFile implements OpenFile, Held {
  slot = -1;
  readonly sizeBytes: number;
  readonly #held: OpenSet<Held>;
  #fd: number;
  #identity: Identity | undefined;

  constructor(held: OpenSet<Held>, fd: number, sizeBytes: number, identity?: Identity) {
    this.sizeBytes = sizeBytes;
    this.#held = held;
    this.#fd = fd;
    this.#identity = identity;
    held.add(this);
  }

  /** @throws if it is closed and was never asked before: a bug of the caller. */
  identity(): Identity {
    if (this.#identity === undefined) {
      if (this.#fd < 0) throw new Error('identity of a closed file');
      this.#identity = identityOf(fstatSync(this.#fd, { bigint: true }));
    }
    return this.#identity;
  }

  read(into: Uint8Array, offsetBytes: number): number | Failure {
    if (this.#fd < 0 || !Number.isSafeInteger(offsetBytes) || offsetBytes < 0) return 'io';
    try {
      return readSync(this.#fd, into, 0, Math.min(into.length, READ_MAX_BYTES), offsetBytes);
    } catch (thrown) {
      return failureOf(thrown);
    }
  }

  close(): void {
    this.release();
  }

  release(): void {
    if (this.#fd < 0) return;
    const fd = this.#fd;
    this.#fd = -1;
    this.#held.remove(this);
    closeQuietly(fd);
  }
}
