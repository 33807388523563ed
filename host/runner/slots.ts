/**
 * Who is served next. A runner has as many slots as threads; a call waits here until it has one. Tenants take turns,
 * so that one that floods waits behind itself and not before others, and no tenant holds every slot while another
 * waits. Nothing is shared between tenants but the turn.
 */

/** Why a call got no slot. */
export type NoSlot =
  /** Too many calls wait, of all tenants or of this one. */
  | 'full'
  /** It waited too long. */
  | 'late'
  | 'cancelled';

/** A slot, until it is given back; twice is once. */
export interface Slot {
  release(): void;
}

/** How many may wait, and how long. */
export interface SlotLimits {
  /** Calls that may wait. */
  readonly queue: number;
  /** Calls of one tenant that may wait. */
  readonly tenantQueue: number;
  /** Milliseconds a call may wait. */
  readonly queueTimeMs: number;
}

interface Waiting {
  settle(given: Slot | NoSlot): void;
}

/** One tenant's calls. */
interface Tenant {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * The turns at a number of threads: round by tenant, first in first out within one. A step costs the number of tenants
 * at most.
 */
export class Slots {
  readonly #count: number;
  readonly #limits: SlotLimits;
  /** In the order of their turns. A tenant with nothing under way is forgotten. */
  readonly #tenants = new Map<string, Tenant>();
  /** Of the running: lent ones, each by what calls it back. */
  readonly #lent = new Set<() => void>();
  #running = 0;
  #waiting = 0;

  constructor(count: number, limits: SlotLimits) {
    this.#count = count;
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** A slot now or in turn, or why not. O(tenants) a turn. */
  take(name: string, signal?: AbortSignal): Promise<Slot | NoSlot> {
    if (signal?.aborted === true) return Promise.resolve('cancelled');
    const tenant = this.#tenant(name);
    // A slot that is kept for another tenant is not free for this one: its calls wait, and what waits is bounded.
    const free = this.#running - this.#lent.size < this.#count && tenant.running < this.#most();
    if (!free && (this.#waiting >= this.#limits.queue || tenant.waiting.size >= this.#limits.tenantQueue)) {
      this.#forgetIdle(name, tenant);
      return Promise.resolve('full');
    }
    return new Promise((resolve) => {
      const waiting = this.#wait(name, tenant, resolve, signal);
      tenant.waiting.add(waiting);
      this.#waiting++;
      this.#next();
    });
  }

  /**
   * A free slot for work that can be left at any moment, if nobody waits; it counts for no tenant. `recall` is called once
   * a call could have it: it is to be given back at once. O(tenants).
   */
  lend(recall: () => void): Slot | undefined {
    if (this.#running >= this.#count || this.#waiting > 0) return undefined;
    this.#running++;
    this.#lent.add(recall);
    return {
      release: () => {
        if (!this.#lent.delete(recall)) return;
        this.#running--;
        this.#next();
      },
    };
  }

  #wait(name: string, tenant: Tenant, resolve: (given: Slot | NoSlot) => void, signal?: AbortSignal): Waiting {
    const waiting: Waiting = {
      settle: (given) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        tenant.waiting.delete(waiting);
        this.#waiting--;
        if (typeof given === 'string') this.#forgetIdle(name, tenant);
        resolve(given);
      },
    };
    const onAbort = (): void => waiting.settle('cancelled');
    const timer = setTimeout(() => waiting.settle('late'), this.#limits.queueTimeMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    return waiting;
  }

  /** Fills free slots, each from the next tenant whose turn it is; if a turn is left over, calls the lent ones back. */
  #next(): void {
    while (this.#running < this.#count) {
      const turn = this.#turn();
      if (turn === undefined) return;
      const [name, tenant, first] = turn;
      tenant.running++;
      this.#running++;
      // Its turn is over: it goes behind the others.
      this.#tenants.delete(name);
      this.#tenants.set(name, tenant);
      first.settle(this.#slot(name, tenant));
    }
    if (this.#lent.size > 0 && this.#turn() !== undefined) for (const recall of this.#lent) recall();
  }

  #turn(): [name: string, tenant: Tenant, first: Waiting] | undefined {
    for (const [name, tenant] of this.#tenants) {
      const [first] = tenant.waiting;
      if (first !== undefined && tenant.running < this.#most()) return [name, tenant, first];
    }
    return undefined;
  }

  /** Slots one tenant may hold: one is left for whoever comes, unless there is only one. */
  #most(): number {
    return Math.max(1, this.#count - 1);
  }

  #slot(name: string, tenant: Tenant): Slot {
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        tenant.running--;
        this.#running--;
        this.#forgetIdle(name, tenant);
        this.#next();
      },
    };
  }

  #tenant(name: string): Tenant {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    const tenant: Tenant = { running: 0, waiting: new Set() };
    this.#tenants.set(name, tenant);
    return tenant;
  }

  #forgetIdle(name: string, tenant: Tenant): void {
    if (tenant.running === 0 && tenant.waiting.size === 0 && this.#tenants.get(name) === tenant)
      this.#tenants.delete(name);
  }
}
