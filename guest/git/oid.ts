/**
 * The names of objects: 20 bytes (SHA-1) or 32 (SHA-256), one size for a repository. Leaf of git/: raw loads, inside the
 * names. Nothing is hashed in the guest; names are compared and looked up.
 */

import { reserveWithin } from '../abi/arena';

/** Bytes of the largest name there is: what a place for any must hold. */
export const OID_MAX: usize = 32;

/** Bytes of a name in this repository. */
export let oidBytes: usize = 20;

/** Sets the size of names. A host that names another one breaks the contract: a trap. */
export function setOidBytes(size: usize): void {
  if (size !== 20 && size !== 32) unreachable();
  oidBytes = size;
}

// @ts-ignore: decorator
@inline
export function isSameOid(a: usize, b: usize): bool {
  if (load<u64>(a) !== load<u64>(b) || load<u64>(a, 8) !== load<u64>(b, 8)) return false;
  if (oidBytes === 20) return load<u32>(a, 16) === load<u32>(b, 16);
  return load<u64>(a, 16) === load<u64>(b, 16) && load<u64>(a, 24) === load<u64>(b, 24);
}

/** Below zero if a comes before b by bytes, zero if they are the same. */
export function compareOids(a: usize, b: usize): i32 {
  for (let i: usize = 0; i < oidBytes; i += 4) {
    const left = bswap<u32>(load<u32>(a + i));
    const right = bswap<u32>(load<u32>(b + i));
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

// @ts-ignore: decorator
@inline
export function copyOid(to: usize, from: usize): void {
  memory.copy(to, from, oidBytes);
}

/** The value of a lower-case hex digit, or 16. */
function digit(byte: u32): u32 {
  if (byte - 0x30 < 10) return byte - 0x30;
  return byte - 0x61 < 6 ? byte - 0x61 + 10 : 16;
}

/** Reads the hex of a name from `at`, where two digits for each byte lie; false if they do not. */
export function fromHex(at: usize, to: usize): bool {
  for (let i: usize = 0; i < oidBytes; i++) {
    const high = digit(load<u8>(at + 2 * i));
    const low = digit(load<u8>(at + 2 * i + 1));
    if ((high | low) & 16) return false;
    store<u8>(to + i, <u8>((high << 4) | low));
  }
  return true;
}

const HEX: usize = memory.data<u8>([48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102]);

/** Writes the name in lower-case hex: two digits for each byte. */
export function toHex(oid: usize, to: usize): void {
  for (let i: usize = 0; i < oidBytes; i++) {
    const byte = load<u8>(oid + i);
    store<u8>(to + 2 * i, load<u8>(HEX + (byte >> 4)));
    store<u8>(to + 2 * i + 1, load<u8>(HEX + (byte & 15)));
  }
}

/** How much memory in all these tables and their like may bring the guest to; beyond it a budget is spent. */
export const MEMORY_MOST: usize = 208 << 20;

const CHUNK: usize = 256 << 10;

/**
 * Names, each with a word of whoever put it there. Open addressing over a pool that never moves; grows by doubling and
 * is at most three quarters full. About 30 bytes a name of SHA-1.
 *
 *   slots   u32 each: 0, or where the name lies
 *   name    | word | bytes of the name, in fours |
 */
// @ts-ignore: decorator
@unmanaged
export class OidMap {
  slots: usize;
  mask: u32;
  count: u32;
  /** The next free byte of the pool, and where its newest chunk ends. */
  top: usize;
  end: usize;

  /** Forgets all. What it had of memory stays its own. */
  clear(): void {
    if (this.slots !== 0) memory.fill(this.slots, 0, (<usize>this.mask + 1) << 2);
    this.count = 0;
  }

  /** Where the word of this name lies, or 0. */
  find(oid: usize): usize {
    if (this.slots === 0) return 0;
    const at = load<usize>(this.slotOf(oid));
    return at;
  }

  /** Where the word of this name lies, put there as 0 if it was not; `added` says which. 0: no memory is left. */
  put(oid: usize): usize {
    if (<u64>this.count * 4 >= (<u64>this.mask + 1) * 3 || this.slots === 0) if (!this.grow()) return 0;
    const slot = this.slotOf(oid);
    const known = load<usize>(slot);
    added = known === 0;
    if (known !== 0) return known;
    const size: usize = 4 + oidBytes;
    if (this.end - this.top < size) {
      const chunk = reserveWithin(CHUNK, MEMORY_MOST);
      if (chunk === 0) return 0;
      this.top = chunk;
      this.end = chunk + CHUNK;
    }
    const at = this.top;
    this.top += size;
    store<u32>(at, 0);
    copyOid(at + 4, oid);
    store<usize>(slot, at);
    this.count++;
    return at;
  }

  private slotOf(oid: usize): usize {
    let index = hashOf(oid) & this.mask;
    while (true) {
      const slot = this.slots + (<usize>index << 2);
      const at = load<usize>(slot);
      if (at === 0 || isSameOid(at + 4, oid)) return slot;
      index = (index + 1) & this.mask;
    }
  }

  private grow(): bool {
    const before = this.slots;
    const size = before === 0 ? <usize>4_096 : (<usize>this.mask + 1) << 1;
    const slots = reserveWithin(size << 2, MEMORY_MOST);
    if (slots === 0) return false;
    const old: usize = before === 0 ? 0 : <usize>this.mask + 1;
    memory.fill(slots, 0, size << 2);
    this.slots = slots;
    this.mask = <u32>size - 1;
    for (let i: usize = 0; i < old; i++) {
      const at = load<usize>(before + (i << 2));
      if (at !== 0) store<usize>(this.slotOf(at + 4), at);
    }
    return true;
  }
}

/** Whether the last `put` found the name new. */
export let added: bool = false;

/** Names are hashes already; the mixing is for those that somebody made up. */
// @ts-ignore: decorator
@inline
function hashOf(oid: usize): u32 {
  const mixed = (load<u64>(oid) ^ rotl<u64>(load<u64>(oid, 8), 29)) * 0x9e37_79b9_7f4a_7c15;
  return <u32>(mixed >> 32);
}
