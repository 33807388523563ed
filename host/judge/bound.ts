/**
 * The read bound: which buildings a run may read, as data. It is built in the worker from the policy's answers,
 * and each wall holds a copy of its own: wall 1 asks it in `admit` and `locate`, wall 2 at every open.
 * What it was not told is closed.
 */

import { buildingOf, isReserved, isReservedSegment, joined, segmentRule } from './address.js';
import { compileDeny, type Denying, isDenied } from './deny.js';
import type { RulesRead } from './rules.js';

/** What the policy says of one building. */
export type Verdict =
  | { readonly kind: 'open' }
  | { readonly kind: 'confidential' }
  /** Its rules may say confidential; `subject` is what is wrong with them, without any text of the file. */
  | { readonly kind: 'rules-unreadable'; readonly subject: string };

/** Why a place is not read. */
export type Denial =
  | { readonly kind: 'reserved' }
  /** A deny pattern of the embedder covers it. */
  | { readonly kind: 'pattern' }
  | { readonly kind: 'confidential' }
  | { readonly kind: 'rules-unreadable'; readonly subject: string }
  /** The policy was not asked about this building: who can ask it does, who cannot treats it as closed. */
  | { readonly kind: 'unasked'; readonly building: string };

/** A bound as it crosses to a worker (structured clone). */
export interface BoundTable {
  /** The building the run belongs to, or null for an outsider everywhere. */
  readonly reader: string | null;
  /** Building → verdict. */
  readonly entries: ReadonlyMap<string, Verdict>;
  /** The embedder's deny patterns (deny.ts); none by default. They win over every verdict, at home too. */
  readonly deny?: readonly string[];
}

/** The read bound of one run. What it says never changes. */
export class Bound {
  readonly #reader: string | null;
  readonly #entries: ReadonlyMap<string, Verdict>;
  readonly #deny: readonly string[];
  readonly #denying: Denying;
  #unchecked = false;
  /** Where its root is in the city, of a bound `ofPlace`. */
  #place: string | undefined;
  /** Of such a bound: why all of it is closed. */
  #closed: Denial | undefined;
  /** What `judgeWithin` said last of a place's building: a walk asks of many names in one. `''`: nothing yet. */
  #lastBuilding = '';
  #lastDenial: Denial | undefined;

  /** Copies the table, so that no two walls share one. O(entries). */
  constructor(table: BoundTable) {
    this.#reader = table.reader;
    this.#entries = new Map(Array.from(table.entries, ([building, verdict]) => [building, { ...verdict }]));
    this.#deny = [...(table.deny ?? [])];
    this.#denying = compileDeny(this.#deny);
  }

  /** A bound that opens everything, reserved places too: to take one wall down in a test, and for nothing else. */
  static openUnchecked(): Bound {
    const bound = new Bound({ reader: null, entries: new Map() });
    bound.#unchecked = true;
    return bound;
  }

  /**
   * The bound of what was judged as one thing and is handed over as a tree of its own (a package, the block store, a git
   * directory): everything below its root is open, reserved names too, but for what a deny pattern covers, asked of the
   * address there, of the one it has in the city, below `place`, and of how it was `asked` for, if by another path.
   */
  static ofPlace(place: string, deny: readonly string[] = [], asked = ''): Bound {
    const bound = new Bound({ reader: null, entries: new Map(), deny });
    bound.#place = place;
    if (isDenied(bound.#denying, asked)) bound.#closed = { kind: 'pattern' };
    return bound;
  }

  /** A bound that closes everything but its root, and says why: of a thing whose origin may not be read. */
  static closed(denial: Denial): Bound {
    const bound = Bound.ofPlace('');
    bound.#closed = denial;
    return bound;
  }

  /** Whether `judge` knows this building: it is the reader's own, or the policy answered. */
  has(building: string): boolean {
    return this.#unchecked || this.#place !== undefined || building === this.#reader || this.#entries.has(building);
  }

  /** The same bound with one more verdict; an earlier one of the same building is replaced. O(entries). */
  with(building: string, verdict: Verdict): Bound {
    const bound = new Bound({ ...this.#asTable(), entries: new Map(this.#entries).set(building, verdict) });
    bound.#unchecked = this.#unchecked;
    bound.#place = this.#place;
    bound.#closed = this.#closed;
    return bound;
  }

  /**
   * A copy as data. @throws Error for `openUnchecked` and `ofPlace`, which no table can spell.
   */
  table(): BoundTable {
    if (this.#unchecked || this.#place !== undefined) throw new Error('this bound has no table');
    return this.#asTable();
  }

  #asTable(): BoundTable {
    return { reader: this.#reader, entries: new Map(this.#entries), deny: this.#deny };
  }

  /**
   * Why the place `address` is not read, or undefined if it is. Reserved first, then deny patterns, then the verdict of
   * its building; the reader's own building is open without an entry, the city itself (`''`) is open, an unknown
   * building is `unasked`. Asks nothing of a disk. Linear in the address.
   */
  judge(address: string): Denial | undefined {
    if (this.#unchecked || address === '') return undefined;
    if (this.#place !== undefined) return this.#judgeInPlace(this.#place, address);
    if (isReserved(address)) return { kind: 'reserved' };
    if (isDenied(this.#denying, address)) return { kind: 'pattern' };
    return this.#judgeBuilding(buildingOf(address));
  }

  /**
   * What `judge` says of `name` in `place`, which `judge` let pass: so no segment of it is reserved and, where nothing
   * is denied by pattern, only the name is new. For walks, which ask it of every name. Linear in the name, or as `judge`.
   */
  judgeWithin(place: string, name: string): Denial | undefined {
    if (this.#unchecked) return undefined;
    if (place === '') return this.judge(name);
    if (this.#place !== undefined) return this.judge(`${place}/${name}`);
    if (this.#denying === null || this.#denying.length > 0) return this.judge(`${place}/${name}`);
    if (isReservedSegment(name)) return { kind: 'reserved' };
    if (!isInBuilding(place, this.#lastBuilding)) {
      this.#lastBuilding = buildingOf(place);
      this.#lastDenial = this.#judgeBuilding(this.#lastBuilding);
    }
    return this.#lastDenial;
  }

  /** Whether a listing of `place` may have names that are left out: the city's own, and any where patterns deny. O(1). */
  hidesIn(place: string): boolean {
    if (this.#unchecked) return false;
    const isTopOfPlace = this.#place !== undefined && this.#closed === undefined;
    return this.#deny.length > 0 || (place === '' && !isTopOfPlace);
  }

  /**
   * Whether a listing of `place`, which `judge` let pass, leaves `name` out: what a pattern covers is not met, nor, at the
   * top, a building that is closed. Reserved places are met and counted, buildings whose rules do not read are met and told,
   * and so is a name that is no address: none of them opens. Linear in the address.
   */
  hides(place: string, name: string): boolean {
    if (!this.hidesIn(place)) return false;
    const denial = this.judge(joined(place, name));
    if (denial === undefined || denial.kind === 'pattern') return denial !== undefined;
    const isClosed = denial.kind === 'confidential' || denial.kind === 'unasked';
    return isClosed && place === '' && segmentRule(name) === undefined;
  }

  #judgeInPlace(place: string, address: string): Denial | undefined {
    if (this.#closed !== undefined) return this.#closed;
    const isCovered = isDenied(this.#denying, address) || isDenied(this.#denying, joined(place, address));
    return isCovered ? { kind: 'pattern' } : undefined;
  }

  #judgeBuilding(building: string): Denial | undefined {
    if (building === this.#reader) return undefined;
    const verdict = this.#entries.get(building) ?? ({ kind: 'unasked', building } as const);
    return verdict.kind === 'open' ? undefined : verdict;
  }
}

const SLASH = 0x2f;
const isInBuilding = (place: string, building: string): boolean =>
  place.startsWith(building) && (place.length === building.length || place.charCodeAt(building.length) === SLASH);

/**
 * Whether `reader` may read `building`. At home `rules` is not called, so nothing touches the disk there; elsewhere
 * rules that do not read close the building, because they may say confidential.
 */
export function mayRead(reader: string | null, building: string, rules: () => RulesRead): Verdict {
  if (building === reader) return { kind: 'open' };
  const read = rules();
  if (read.kind === 'broken') return { kind: 'rules-unreadable', subject: read.subject };
  return { kind: read.kind === 'rules' && read.rules.confidential ? 'confidential' : 'open' };
}
