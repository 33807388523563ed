/**
 * One walk in several threads. A call has its own thread, and walks there; once the walk has gone on for a while, threads
 * that nobody waits for join it. The rest is cut into parts, in walk order: each thread takes the next one that nobody
 * took, and what the others found goes to the call's own thread, which alone puts the answer together. The plan and what
 * a part gave are the tool's; nothing here looks into them.
 *
 * A joined thread can be called back at any moment, and can be lost: the call's own thread walks what is missing.
 * Between the pool and the worker: the first half is the embedder's side, the second the threads'.
 */

import type { MessagePort, Worker } from 'node:worker_threads';
import { LEAVE_GRACE_MS, SHARE_AFTER_MS, SHARED_PARTS_MAX, WALK_THREADS_MAX } from '../limits.js';
import { heard } from './port.js';
import type { Slot } from './slots.js';

/** What threads of one walk see at once: numbers in shared memory. */
const CELL = { parts: 0, present: 1, over: 2, leave: 3, taker: 3 + WALK_THREADS_MAX } as const;
const CELLS = CELL.taker + SHARED_PARTS_MAX;

/** Nobody; the call's own thread; from 2 on those that joined, by their seat. */
const NOBODY = 0;
const OWN = 1;

/** What a thread that joins is told: the walk's numbers, and which of its threads it is. */
export interface Seat {
  readonly cells: SharedArrayBuffer;
  /** From 0 on. */
  readonly seat: number;
}

/** What the threads of one walk tell the embedder's side. */
export type FromWalker =
  | { readonly kind: 'invite'; readonly cells: SharedArrayBuffer }
  | { readonly kind: 'plan'; readonly plan: unknown }
  | { readonly kind: 'part'; readonly part: number; readonly value: unknown }
  /** The last word of a thread that joined. */
  | { readonly kind: 'left' };

/** What they are told, with the number of the call it is for. */
export type ToWalker =
  | { readonly kind: 'plan'; readonly plan: unknown }
  | { readonly kind: 'leave' }
  | { readonly kind: 'part'; readonly part: number; readonly value: unknown }
  | { readonly kind: 'gone'; readonly seat: number };

// ---- the embedder's side ----

/** What a pool does for a thread that is to join. */
export interface Host {
  /** A free slot, or none. */
  lend(recall: () => void): Slot | undefined;
  /**
   * Runs the helper in a thread until it leaves. `end` ends the thread if it does not. Never rejects; resolves once the
   * slot may be given back.
   */
  run(helper: Helper, seat: Seat): Promise<void>;
}

/** The threads that joined one call's walk. */
export class Helpers {
  readonly #host: Host;
  readonly #joined = new Set<Helper>();
  #tell: ((message: ToWalker) => void) | undefined;
  #cells: Int32Array | undefined;
  #plan: unknown;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Hears the call's own thread, which `tell` answers. */
  hear(message: FromWalker, tell: (message: ToWalker) => void): void {
    if (message.kind === 'invite' && this.#cells === undefined) {
      this.#cells = new Int32Array(message.cells);
      this.#tell = tell;
      this.#invite(message.cells);
    }
    if (message.kind !== 'plan') return;
    this.#plan = message.plan;
    for (const helper of this.#joined) helper.learn(message.plan);
  }

  #invite(cells: SharedArrayBuffer): void {
    for (let seat = 0; seat < WALK_THREADS_MAX - 1; seat++) {
      const helper: Helper = new Helper(seat, new Int32Array(cells), (message) => this.#tell?.(message));
      const slot = this.#host.lend(() => helper.leave());
      if (slot === undefined) return;
      this.#joined.add(helper);
      if (this.#plan !== undefined) helper.learn(this.#plan);
      void this.#host.run(helper, { cells, seat }).then(() => {
        this.#joined.delete(helper);
        slot.release();
      });
    }
  }

  /** The call is over: nothing that is still under way is wanted. */
  end(): void {
    this.#tell = undefined;
    if (this.#cells !== undefined) Atomics.store(this.#cells, CELL.over, 1);
    for (const helper of this.#joined) helper.leave();
  }
}

/** One thread that joined, seen from the embedder's side. */
export class Helper {
  readonly #seat: number;
  readonly #cells: Int32Array;
  readonly #tellOwn: (message: ToWalker) => void;
  #tell: ((message: ToWalker) => void) | undefined;
  #plan: unknown;
  #end: (() => Worker | undefined) | undefined;
  #thread: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #leave: () => void = () => {};
  /** Resolves with its last word. What it says before that comes before. */
  readonly hasLeft = new Promise<void>((resolve) => {
    this.#leave = resolve;
  });

  constructor(seat: number, cells: Int32Array, tellOwn: (message: ToWalker) => void) {
    this.#seat = seat;
    this.#cells = cells;
    this.#tellOwn = tellOwn;
  }

  /** The thread that had to be ended for it, if one had. */
  get thread(): Worker | undefined {
    return this.#thread;
  }

  /** It runs: how it is told something, and how its thread is ended. */
  runs(end: () => Worker | undefined): void {
    this.#end = end;
  }

  /** Hears its thread. */
  hear(message: { readonly kind: string }, tell: (message: ToWalker) => void): void {
    this.#tell = tell;
    if (isPart(message)) this.#tellOwn({ kind: 'part', part: message.part, value: message.value });
    else if (message.kind === 'left') this.#leave();
    else if (this.#isToLeave()) tell({ kind: 'leave' });
    else if (this.#plan !== undefined) tell({ kind: 'plan', plan: this.#plan });
  }

  learn(plan: unknown): void {
    this.#plan = plan;
    this.#tell?.({ kind: 'plan', plan });
  }

  /** Calls it back: it leaves between two pages, or its thread is ended. */
  leave(): void {
    if (this.#isToLeave()) return;
    Atomics.store(this.#cells, CELL.leave + this.#seat, 1);
    this.#tell?.({ kind: 'leave' });
    this.#timer = setTimeout(() => {
      this.#thread = this.#end?.();
    }, LEAVE_GRACE_MS);
  }

  /** It is no more: it has left, or its thread was ended. */
  gone(): void {
    clearTimeout(this.#timer);
    this.#tellOwn({ kind: 'gone', seat: this.#seat });
  }

  #isToLeave(): boolean {
    return Atomics.load(this.#cells, CELL.leave + this.#seat) === 1;
  }
}

const isPart = (message: { readonly kind: string }): message is Extract<FromWalker, { kind: 'part' }> =>
  message.kind === 'part';

// ---- the threads' side ----

/** A walk that others may join, for the tool in the call's own thread. */
export interface Company {
  /** Asks free threads to join, once the call has gone on for SHARE_AFTER_MS; they come while the walk goes on. */
  invite(): void;
  /** How many have joined and are ready. */
  readonly present: number;
  /** Cuts what is left into so many parts: from now on they are taken. */
  begin(plan: unknown, parts: number): void;
  /** The next part that nobody has taken, or undefined. */
  take(): number | undefined;
  /** What another thread's part gave; 'coming', or 'lost' if that thread left. Who took it does not matter to the answer. */
  result(part: number): { readonly value: unknown } | 'coming' | 'lost';
  /** Lets what others said come in. */
  hear(): Promise<void>;
  /** Until another part came, or a thread left, but no longer than so many milliseconds. */
  news(mostMs: number): Promise<void>;
  /** No further part is to be walked. */
  end(): void;
}

/** The same walk for the tool in a thread that joined. */
export interface Joined {
  /** What the walk was cut into; undefined if it is over before, or the thread was called back. */
  plan(): Promise<unknown>;
  take(): number | undefined;
  /** Between two pages. */
  goOn(): boolean;
  /** What a part gave. */
  give(part: number, value: unknown): void;
}

/** In one step: a thread can be ended between two, and a part that is nobody's and not to be had would be waited for. */
function take(cells: Int32Array, who: number): number | undefined {
  if (Atomics.load(cells, CELL.over) === 1) return undefined;
  const parts = Atomics.load(cells, CELL.parts);
  for (let part = 0; part < parts; part++) {
    if (Atomics.compareExchange(cells, CELL.taker + part, NOBODY, who) === NOBODY) return part;
  }
  return undefined;
}

/** What a thread says and hears on its line, of one call. */
export interface Line {
  say(message: FromWalker): void;
  /** Every message for this call, until what comes back is called. */
  listen(hear: (message: ToWalker) => void): () => void;
}

/** The call's own thread. `close` it with the call. */
export class OwnCompany implements Company {
  readonly #line: Line;
  readonly #begunAtMs = performance.now();
  readonly #buffer = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
  readonly #cells = new Int32Array(this.#buffer);
  readonly #values = new Map<number, { readonly value: unknown }>();
  readonly #gone = new Set<number>();
  #stop: (() => void) | undefined;
  #wake: (() => void) | undefined;

  constructor(line: Line) {
    this.#line = line;
  }

  invite(): void {
    if (this.#stop !== undefined || performance.now() - this.#begunAtMs < SHARE_AFTER_MS) return;
    this.#stop = this.#line.listen((message) => this.#hear(message));
    this.#line.say({ kind: 'invite', cells: this.#buffer });
  }

  get present(): number {
    return Atomics.load(this.#cells, CELL.present);
  }

  begin(plan: unknown, parts: number): void {
    if (parts > SHARED_PARTS_MAX) throw new Error('shared walk: more parts than there is room for');
    Atomics.store(this.#cells, CELL.parts, parts);
    this.#line.say({ kind: 'plan', plan });
  }

  take(): number | undefined {
    return take(this.#cells, OWN);
  }

  result(part: number): { readonly value: unknown } | 'coming' | 'lost' {
    const came = this.#values.get(part);
    if (came !== undefined) return came.value === undefined ? 'lost' : came;
    const taker = Atomics.load(this.#cells, CELL.taker + part);
    return this.#gone.has(taker - 2) ? 'lost' : 'coming';
  }

  async hear(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  async news(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, mostMs);
    });
    clearTimeout(timer);
  }

  end(): void {
    Atomics.store(this.#cells, CELL.over, 1);
  }

  close(): void {
    this.end();
    this.#stop?.();
  }

  #hear(message: ToWalker): void {
    if (message.kind === 'part') this.#values.set(message.part, { value: message.value });
    if (message.kind === 'gone') this.#gone.add(message.seat);
    this.#wake?.();
  }
}

/** A thread that joined. `close` it at the end. */
export class OtherCompany implements Joined {
  readonly #line: Line;
  readonly #cells: Int32Array;
  readonly #seat: number;
  readonly #plan: Promise<unknown>;
  readonly #stop: () => void;
  #isPresent = false;

  constructor(line: Line, { cells, seat }: Seat) {
    this.#line = line;
    this.#cells = new Int32Array(cells);
    this.#seat = seat;
    let learn: (plan: unknown) => void = () => {};
    this.#plan = new Promise((resolve) => {
      learn = resolve;
    });
    this.#stop = line.listen((message) => learn(message.kind === 'plan' ? message.plan : undefined));
  }

  plan(): Promise<unknown> {
    Atomics.add(this.#cells, CELL.present, 1);
    this.#isPresent = true;
    return this.#plan;
  }

  take(): number | undefined {
    return this.goOn() ? take(this.#cells, this.#seat + 2) : undefined;
  }

  goOn(): boolean {
    return Atomics.load(this.#cells, CELL.leave + this.#seat) === NOBODY && Atomics.load(this.#cells, CELL.over) === 0;
  }

  give(part: number, value: unknown): void {
    this.#line.say({ kind: 'part', part, value });
  }

  close(): void {
    if (this.#isPresent) Atomics.sub(this.#cells, CELL.present, 1);
    this.#stop();
    this.#line.say({ kind: 'left' });
  }
}

/** A thread's line, as one call uses it: what is for another call is not heard. */
export function lineOf(port: MessagePort, call: number): Line {
  return {
    say: (message) => port.postMessage({ call, ...message }),
    listen: (hear) =>
      heard<ToWalker & { readonly call: number }>(port, (message) => {
        if (message.call === call) hear(message);
      }),
  };
}
