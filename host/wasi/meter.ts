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

/** What was used of the file system: of the whole call, and of each building. Plain data: it crosses between threads. */
export interface Usage {
  readonly opens: number;
  readonly entries: number;
  readonly bytes: number;
  readonly shares: ReadonlyMap<string, Readonly<Share>>;
}

/** Nothing was used. */
export const NO_USAGE: Usage = { opens: 0, entries: 0, bytes: 0, shares: new Map() };

/** Both together. O(buildings). */
export function bothUsed(one: Usage, other: Usage): Usage {
  const shares = new Map(one.shares);
  for (const [building, share] of other.shares) {
    const before = shares.get(building) ?? NOTHING;
    shares.set(building, {
      opens: before.opens + share.opens,
      entries: before.entries + share.entries,
      bytes: before.bytes + share.bytes,
    });
  }
  const { opens, entries, bytes } = one;
  return { opens: opens + other.opens, entries: entries + other.entries, bytes: bytes + other.bytes, shares };
}

/**
 * Whether a walk that used this was refused nothing on its way, whatever its order: what was used fits each budget, and
 * of bytes one is left, since a read is asked after the bytes before it. O(buildings).
 */
export function fitsAllowance(usage: Usage, allowance: Allowance): boolean {
  const { opens, entries, bytes, buildingOpens, buildingEntries, buildingBytes } = allowance;
  if (usage.opens > opens || usage.entries > entries || usage.bytes >= bytes) return false;
  for (const share of usage.shares.values()) {
    if (share.opens > buildingOpens || share.entries > buildingEntries || share.bytes >= buildingBytes) return false;
  }
  return true;
}

/** What a spent budget is to the guest: `quota` the call’s, `insufficient-space` a building’s share. */
export type Refusal = 'quota' | 'insufficient-space';

const NOTHING: Readonly<Share> = new Share();

/** One function for all calls, and the object looked up once: it is asked twice for each file of a walk. */
const { performance } = globalThis;
const monotonic = (): number => performance.now();

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
  #hasRefused = false;
  /** Until `arrived`: what the counts go on from then. */
  #ahead: Usage | undefined;
  /** What the counts began from, and what the way was that is not among them. */
  #before = { opens: 0, entries: 0 };

  /** `timeMs` from now on; `now` is a monotonic clock in milliseconds. */
  constructor(allowance: Allowance, timeMs: number, now: () => number = monotonic) {
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

  /** What was used, with each building's account. O(buildings). */
  usage(): Usage {
    return { ...this.used, shares: new Map([...this.#shares].map(([building, share]) => [building, { ...share }])) };
  }

  /** What the walk under way used, the way to where it began included. */
  get walked(): { readonly opens: number; readonly entries: number } {
    return { opens: this.#opens - this.#before.opens, entries: this.#entries - this.#before.entries };
  }

  /** Whether anything was refused since the call, or its last `resume`, began. */
  get hasRefused(): boolean {
    return this.#hasRefused;
  }

  /**
   * Another walk begins, at a place that one before had come to by then. The way there was paid by that one: until
   * `arrived` counts go from nothing, and then on from `used`. Time goes on. O(buildings).
   */
  resume(used: Usage): void {
    this.#set(NO_USAGE);
    this.#ahead = used;
    this.#before = { opens: 0, entries: 0 };
    this.#hasRefused = false;
    if (this.#spent?.budget !== 'time') this.#spent = undefined;
  }

  /** The walk has come to where it begins. Once; further ones do nothing. */
  arrived(): void {
    const used = this.#ahead;
    if (used === undefined) return;
    this.#ahead = undefined;
    this.#before = { opens: used.opens - this.#opens, entries: used.entries - this.#entries };
    this.#set(used);
  }

  /** The handles that are open hold the accounts: those stay, with other numbers. */
  #set({ opens, entries, bytes, shares }: Usage): void {
    this.#opens = opens;
    this.#entries = entries;
    this.#bytes = bytes;
    for (const building of shares.keys()) this.share(building);
    for (const [building, share] of this.#shares) Object.assign(share, shares.get(building) ?? NOTHING);
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

  /** Whether the time is over, whatever else is. */
  isTimeOver(): boolean {
    return this.leftMs <= 0;
  }

  /** Milliseconds until the time is over. */
  get leftMs(): number {
    return Math.max(0, this.#deadlineAt - this.#now());
  }

  /** One more open, in this building (or in none: the root). */
  open(share: Share | undefined): Refusal | undefined {
    if (this.late()) return 'quota';
    if (this.#opens >= this.#allowance.opens) return this.#end('opens', this.#allowance.opens);
    if (share !== undefined && share.opens >= this.#allowance.buildingOpens) return this.#over();
    this.#opens++;
    if (share !== undefined) share.opens++;
    return undefined;
  }

  /** So many more names. */
  list(count: number, share: Share | undefined): Refusal | undefined {
    if (this.late()) return 'quota';
    if (this.#entries + count > this.#allowance.entries) return this.#end('entries', this.#allowance.entries);
    if (share !== undefined && share.entries + count > this.#allowance.buildingEntries) return this.#over();
    this.#entries += count;
    if (share !== undefined) share.entries += count;
    return undefined;
  }

  /** Whether anything may still be read. */
  mayRead(share: Share | undefined): Refusal | undefined {
    if (this.late()) return 'quota';
    if (this.#bytes >= this.#allowance.bytes) return this.#end('bytes', this.#allowance.bytes);
    return share !== undefined && share.bytes >= this.#allowance.buildingBytes ? this.#over() : undefined;
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
    this.#hasRefused = true;
    this.#spent ??= { budget, value };
    return 'quota';
  }

  #over(): 'insufficient-space' {
    this.#hasRefused = true;
    return 'insufficient-space';
  }
}
