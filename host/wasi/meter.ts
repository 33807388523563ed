/**
 * What one call has used of the file system, counted at the host functions the guest calls, and where it ends.
 * Two ends: `quota`, the call's own budget, which ends the page; and `insufficient-space`, one building's share,
 * which ends only that building, so that one tenant's bomb does not spoil everybody's search.
 * Counted, so the same tree gives the same answer; only the deadline can make two answers differ.
 */

import * as limits from '../limits.js';

/** The budgets of a call. Every number is a default of limits.ts that the embedder may lower. */
export interface Allowance {
  readonly opens: number;
  readonly entries: number;
  readonly bytes: number;
  readonly handles: number;
  readonly buildingOpens: number;
  readonly buildingEntries: number;
  readonly buildingBytes: number;
}

/** The most of each. */
export const ALLOWANCE: Allowance = {
  opens: limits.CALL_OPENS_MAX,
  entries: limits.CALL_ENTRIES_MAX,
  bytes: limits.CALL_BYTES_MAX,
  handles: limits.HANDLES_MAX,
  buildingOpens: limits.BUILDING_OPENS_MAX,
  buildingEntries: limits.BUILDING_ENTRIES_MAX,
  buildingBytes: limits.BUILDING_BYTES_MAX,
};

/** Which budget of the call ended it, and its value (milliseconds for time, else a count or bytes). */
export interface Spent {
  readonly budget: 'time' | 'opens' | 'entries' | 'bytes' | 'handles';
  readonly value: number;
}

/** What one building has used. */
export class Share {
  opens = 0;
  entries = 0;
  bytes = 0;
}

/** What a spent budget is to the guest: `quota` the call’s, `insufficient-space` a building’s share. */
export type Refusal = 'quota' | 'insufficient-space';

/** What one call has used, asked before each cost. Constant time; never gives back what was used. */
export class Meter {
  readonly #allowance: Allowance;
  readonly #deadlineAt: number;
  /** The time of the call, in milliseconds. */
  readonly timeMs: number;
  readonly #now: () => number;
  readonly #shares = new Map<string, Share>();
  #opens = 0;
  #entries = 0;
  #bytes = 0;
  #spent: Spent | undefined;

  /** `timeMs` from now on; `now` is a monotonic clock in milliseconds. */
  constructor(allowance: Allowance, timeMs: number, now: () => number = () => performance.now()) {
    this.#allowance = allowance;
    this.timeMs = timeMs;
    this.#now = now;
    this.#deadlineAt = now() + timeMs;
  }

  /** The budget that ended the call, once one has. */
  get spent(): Spent | undefined {
    return this.#spent;
  }

  get used(): { readonly opens: number; readonly entries: number; readonly bytes: number } {
    return { opens: this.#opens, entries: this.#entries, bytes: this.#bytes };
  }

  /** The account of a building; the same one for the same name as long as the call lasts. */
  share(building: string): Share {
    const known = this.#shares.get(building);
    if (known !== undefined) return known;
    const share = new Share();
    this.#shares.set(building, share);
    return share;
  }

  /** Whether the time is over; remembers it. One look at the clock. */
  late(): boolean {
    if (this.#spent === undefined && this.#now() >= this.#deadlineAt) this.#end('time', this.timeMs);
    return this.#spent !== undefined;
  }

  /** One more open, in this building (or in none: the root). */
  open(share: Share | undefined): Refusal | undefined {
    if (this.late()) return 'quota';
    if (this.#opens >= this.#allowance.opens) return this.#end('opens', this.#allowance.opens);
    if (share !== undefined && share.opens >= this.#allowance.buildingOpens) return 'insufficient-space';
    this.#opens++;
    if (share !== undefined) share.opens++;
    return undefined;
  }

  /** So many more names. */
  list(count: number, share: Share | undefined): Refusal | undefined {
    if (this.late()) return 'quota';
    if (this.#entries + count > this.#allowance.entries) return this.#end('entries', this.#allowance.entries);
    if (share !== undefined && share.entries + count > this.#allowance.buildingEntries) return 'insufficient-space';
    this.#entries += count;
    if (share !== undefined) share.entries += count;
    return undefined;
  }

  /** Whether anything may still be read. */
  mayRead(share: Share | undefined): Refusal | undefined {
    if (this.late()) return 'quota';
    if (this.#bytes >= this.#allowance.bytes) return this.#end('bytes', this.#allowance.bytes);
    return share !== undefined && share.bytes >= this.#allowance.buildingBytes ? 'insufficient-space' : undefined;
  }

  /** So many bytes were read. */
  read(bytes: number, share: Share | undefined): void {
    this.#bytes += bytes;
    if (share !== undefined) share.bytes += bytes;
  }

  /** Whether one more handle may be held beside `held`. */
  hold(held: number): Refusal | undefined {
    return held < this.#allowance.handles ? undefined : this.#end('handles', this.#allowance.handles);
  }

  #end(budget: Spent['budget'], value: number): 'quota' {
    this.#spent ??= { budget, value };
    return 'quota';
  }
}
