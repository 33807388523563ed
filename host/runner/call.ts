/**
 * One call as a tool sees it, inside the worker: the tree, the two copies of the bound, the meter, the guest.
 * Everything in it lives as long as the call and is given back at its end, also after a trap.
 */

import { createBLAKE3, type IHasher } from 'hash-wasm';
import { isBroken, isReservedSegment, parseAddress } from '../judge/address.js';
import { Bound, type Denial, type Verdict } from '../judge/bound.js';
import type { CatalogRead } from '../judge/catalog.js';
import type { Scene } from '../judge/locate.js';
import { defaultVerdict } from '../judge/rules.js';
import { GUEST_MEMORY_MAX_PAGES, POLICY_BATCH } from '../limits.js';
import { granted, listedWithin } from '../tree/granted.js';
import type { TreeRefusal } from '../tree/opening.js';
import { openTree, type TreeSpec } from '../tree/spec.js';
import type { Dir, Entry, Tree } from '../tree/tree.js';
import { Filesystem, type FilesystemOptions } from '../wasi/filesystem.js';
import type { Guest } from '../wasi/guest.js';
import type { Preopen } from '../wasi/handles.js';
import { Meter } from '../wasi/meter.js';
import { instantiate } from '../wasi/world.js';
import type { Budgets } from './budget.js';
import type { Account, HistoryPolicy } from './job.js';
import type { Company } from './shared-walk.js';

/** How far a call has come: names listed or commits taken up, and hits. */
export interface Progress {
  readonly entries: number;
  readonly matches: number;
}

/** How a call reaches its surroundings: the thread it runs in, and the embedder behind it. */
export interface Surroundings {
  readonly module: WebAssembly.Module;
  /** Verdicts of the embedder's policy, in the order of the names; null: the rules files decide. */
  readonly ask: ((buildings: readonly string[]) => Promise<readonly Verdict[]>) | null;
  /**
   * Makes what the call would answer if it ended now, if somebody is to be told; kept in case it has to be ended from outside. News is what may not be
   * lost; the rest may be told less often. `progress` is asked after it.
   */
  readonly partial: (make: () => unknown, isNews: boolean, progress: () => Progress) => void;
  /** Between two pages: lets the caller's signal be seen. Whether to go on. */
  readonly goOn: () => Promise<boolean>;
  /** The threads that may join a large walk; absent where a call has only its own. */
  readonly company?: Company;
}

/** Reachable by tests alone: which wall is taken down, and whether the generated glue carries the guest. */
export interface Unchecked {
  readonly openUnchecked?: 'judge' | 'filesystem';
  readonly guest?: (filesystem: Filesystem) => Guest;
  /** Runs between the judge and the open: where a neighbour would swap what was judged. */
  readonly betweenWalls?: () => void;
}

/** What a guest is made over. */
export interface GuestOptions extends Omit<FilesystemOptions, 'tree' | 'bound' | 'meter'> {
  /** The tree it opens from, if not the city: one thing that was judged, from `below`, or bytes in memory. */
  readonly tree?: Tree;
  /** The address of that tree's root in the city: then everything below it is open but for deny patterns. */
  readonly place?: string;
  /**
   * The address in the city that the place is judged by, if not by itself: where a block came from. Each wall asks its
   * own bound of the city about it, and what may not be read is closed.
   */
  readonly under?: string;
  /** How it was asked for, where that is no address of the city: deny patterns are asked of it too. */
  readonly asked?: string;
  /** What the account says was handed over, if not the preopen as it is; null if it was nothing of the city's or beside it. */
  readonly handed?: Account['handed'];
}

const handedOf = ({ kind, path, landed = path }: Preopen): Account['handed'] => ({ kind, landed });

/** One call, from its open tree to its answer: both walls’ bounds, its meter, and the guests it opens. */
export class Call {
  readonly action: string;
  readonly tree: Tree;
  readonly reader: string | null;
  /** The embedder's patterns. */
  readonly deny: readonly string[];
  /** What may be opened by name. */
  readonly catalog: CatalogRead;
  readonly budgets: Budgets;
  readonly meter: Meter;
  /** What was named of history, for this reader. */
  readonly history: HistoryPolicy;
  readonly #around: Surroundings;
  readonly #unchecked: Unchecked;
  readonly #verdicts = new Map<string, Verdict>();
  #judged: Scene<Dir> | undefined;
  #second: Bound | undefined;
  #denying: readonly Bound[] | undefined;
  readonly #filesystems: Filesystem[] = [];
  #guest: Guest | undefined;
  #handed: Account['handed'] = null;
  readonly #storeSpec: TreeSpec | undefined;
  #store: Tree | undefined;

  constructor(at: {
    action: string;
    tree: Tree;
    store?: TreeSpec | undefined;
    reader: string | null;
    deny: readonly string[];
    catalog: CatalogRead;
    budgets: Budgets;
    timeMs: number;
    history: HistoryPolicy;
    around: Surroundings;
    unchecked?: Unchecked;
  }) {
    this.action = at.action;
    this.tree = at.tree;
    this.#storeSpec = at.store;
    this.reader = at.reader;
    this.deny = at.deny;
    this.catalog = at.catalog;
    this.budgets = at.budgets;
    this.history = at.history;
    this.meter = new Meter(at.budgets, at.timeMs);
    this.#around = at.around;
    this.#unchecked = at.unchecked ?? {};
  }

  // ---- the bound: asked once a building, then data ----

  /** Asks the policy about every name of a listing of the root that could be a building. */
  async askAll(listing: readonly Entry[]): Promise<void> {
    const names = listing.filter(({ nameable }) => nameable).map(({ name }) => name);
    await this.askFor(names);
  }

  /** Asks the policy about these buildings, if it was not asked before. */
  async askFor(buildings: readonly string[]): Promise<void> {
    const unknown = buildings.filter((name) => isBuilding(name) && name !== this.reader && !this.#verdicts.has(name));
    for (let start = 0; start < unknown.length; start += POLICY_BATCH) {
      const batch = unknown.slice(start, start + POLICY_BATCH);
      // A policy that was late for one batch is not waited for again: what has no answer is closed.
      const isLate = start > 0 && this.#around.ask !== null && this.meter.late();
      const verdicts = isLate ? [] : await this.#ask(batch);
      for (const [index, name] of batch.entries()) this.#verdicts.set(name, verdicts[index] ?? NO_ANSWER);
    }
    if (unknown.length === 0) return;
    this.#judged = undefined;
    this.#second = undefined;
  }

  /** What was decided, for a thread that joins: no building is asked about twice. O(buildings). */
  verdicts(): readonly (readonly [building: string, verdict: Verdict])[] {
    return [...this.#verdicts];
  }

  /** Takes what the call's own thread was told. */
  know(verdicts: readonly (readonly [building: string, verdict: Verdict])[]): void {
    for (const [building, verdict] of verdicts) this.#verdicts.set(building, verdict);
    this.#judged = undefined;
    this.#second = undefined;
  }

  async #ask(buildings: readonly string[]): Promise<readonly Verdict[]> {
    const { ask } = this.#around;
    if (ask !== null) return ask(buildings);
    return buildings.map((building) => defaultVerdict(this.tree.root, this.reader, building));
  }

  /** Wall 1's view of the city, with its own copy of the bound. */
  judged(): Scene<Dir> {
    this.#judged ??= { root: this.tree.root, spellings: this.tree.spellings, bound: this.#copyFor('judge') };
    return this.#judged;
  }

  /**
   * Whether both walls would let an address be told. Asked of names that the host lists by itself (`nearby`): they pass
   * no guest, so wall 2 would never see them. O(buildings asked about) the first time.
   */
  mayTell(address: string): boolean {
    this.#second ??= this.#copyFor('filesystem');
    return this.judged().bound.judge(address) === undefined && this.#second.judge(address) === undefined;
  }

  /** Whether the embedder denies anything by pattern. */
  get denies(): boolean {
    return this.deny.length > 0;
  }

  /**
   * Whether a deny pattern covers an address, of today or of a commit, whatever its building's verdict: asked of both
   * walls' copies.
   */
  isDenied(address: string): boolean {
    this.#denying ??= [this.#copyOfPlace('judge', ''), this.#copyOfPlace('filesystem', '')];
    return this.#denying.some((bound) => bound.judge(address) !== undefined);
  }

  #copyFor(wall: 'judge' | 'filesystem'): Bound {
    if (this.#unchecked.openUnchecked === wall) return Bound.openUnchecked();
    return new Bound({ reader: this.reader, entries: this.#verdicts, deny: this.deny });
  }

  /**
   * Wall 1's view of a tree that is handed over as one thing; `place` is its address in the city, `asked` how it was
   * asked for, where that is no address of the city.
   */
  judgedIn(tree: Tree, place: string, asked?: string): Scene<Dir> {
    return { root: tree.root, spellings: tree.spellings, bound: this.#copyOfPlace('judge', place, asked) };
  }

  /** What `mayTell` is for names below `place`. */
  tellerIn(place: string): (address: string) => boolean {
    const bounds = [this.#copyOfPlace('judge', place), this.#copyOfPlace('filesystem', place)];
    return (address) => bounds.every((bound) => bound.judge(address) === undefined);
  }

  /**
   * Why one of the two walls would not let a thing be told that is handed out without a guest: its place, or the address
   * it is judged by. Undefined: both would.
   */
  denialOf(under: string, place: string, name: string): Denial | undefined {
    this.#second ??= this.#copyFor('filesystem');
    return (
      this.judged().bound.judge(under) ??
      this.#second.judge(under) ??
      this.#copyOfPlace('judge', place).judge(name) ??
      this.#copyOfPlace('filesystem', place).judge(name)
    );
  }

  #copyOfPlace(wall: 'judge' | 'filesystem', place: string, asked?: string): Bound {
    return this.#unchecked.openUnchecked === wall ? Bound.openUnchecked() : Bound.ofPlace(place, this.deny, asked);
  }

  /** A wall's own copy of the bound of what a guest is made over: the city's, or a place's, judged by `under`. */
  #boundOf(wall: 'judge' | 'filesystem', { place, under, asked }: GuestOptions): Bound {
    if (place === undefined) return wall === 'judge' ? this.judged().bound : this.#copyFor(wall);
    const denial = under === undefined ? undefined : this.#copyFor(wall).judge(under);
    return denial === undefined ? this.#copyOfPlace(wall, place, asked) : Bound.closed(denial);
  }

  // ---- the block store ----

  /** The tree whose block store this call reads: the city's own, or the one it was entered with. */
  store(): Tree | TreeRefusal {
    if (this.#storeSpec === undefined) return this.tree;
    if (this.#store === undefined) {
      const opened = openTree(this.#storeSpec);
      if (typeof opened === 'string') return opened;
      this.#store = opened;
    }
    return this.#store;
  }

  // ---- the guest ----

  /**
   * Wall 2 for one guest of this call: one preopened directory, with its own copy of the bound, over what wall 1 grants of
   * the tree by its copy. A call that needs several guests has them one after another, each over its own tree and all on
   * one meter; the account tells the first that was handed anything of the city.
   */
  open(options: GuestOptions): { guest: Guest; filesystem: Filesystem } {
    const { tree = this.tree, place, under, asked, handed = handedOf(options.preopen), rootListing, ...rest } = options;
    const granting = this.#boundOf('judge', options);
    const filesystem = new Filesystem({
      ...rest,
      ...(rootListing && { rootListing: listedWithin(granting, '', rootListing) }),
      tree: granted(tree, granting),
      bound: this.#boundOf('filesystem', options),
      meter: this.meter,
      isOneThing: place !== undefined,
    });
    this.#filesystems.push(filesystem);
    this.#handed ??= handed;
    this.#unchecked.betweenWalls?.();
    const make = this.#unchecked.guest ?? ((over) => instantiate(this.#around.module, over));
    this.#guest = make(filesystem);
    return { guest: this.#guest, filesystem };
  }

  /** Whether the guest has taken all the memory it may have: why a trap of it may be no fault. */
  guestMemoryIsFull(): boolean {
    return (this.#guest?.memoryBytes() ?? 0) >= GUEST_MEMORY_MAX_PAGES * 65_536;
  }

  /** What the call was handed and what it has used. */
  account(): Account {
    return { handed: this.#handed, ...this.meter.used };
  }

  partial(make: () => unknown, isNews: boolean, progress: () => Progress): void {
    this.#around.partial(make, isNews, progress);
  }

  /** See `Surroundings`. */
  get company(): Company | undefined {
    return this.#around.company;
  }

  goOn(): Promise<boolean> {
    return this.#around.goOn();
  }

  /** Gives everything back. */
  close(): void {
    for (const filesystem of this.#filesystems) filesystem.close();
    this.#store?.close();
    this.tree.close();
  }
}

const NO_ANSWER: Verdict = { kind: 'rules-unreadable', subject: 'the policy did not answer' };

const isBuilding = (name: string): boolean =>
  !isReservedSegment(name) && !name.includes('/') && !isBroken(parseAddress(name));

/** Hashers of this thread that no call uses: making one is an instance of its own, a quarter of a small `read`. */
const idleHashers: IHasher[] = [];
const IDLE_HASHERS_MAX = 4;

/** A BLAKE3 state at its beginning, the caller's alone until it is given back; one that is not is only made anew. */
export const hasher = async (): Promise<IHasher> => idleHashers.pop()?.init() ?? createBLAKE3();

/** Gives a hasher back whose digest was taken. */
export function giveBack(hash: IHasher): void {
  if (idleHashers.length < IDLE_HASHERS_MAX) idleHashers.push(hash);
}
