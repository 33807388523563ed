/**
 * The door for Node: reads the component that ships, opens a runner, enters cities, takes calls. What an embedder sees of
 * it is in api.ts; index.ts hands it out.
 *
 * The first step of a call's path: door → tool (schema) → worker → judge → guest → judge → answer.
 */

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { type Decision, type Desk, NO_DESK, Receipts } from '../audit/receipts.js';
import { beginSpan, findOpenTelemetry, type OpenTelemetry } from '../audit/spans.js';
import {
  type Asked,
  type AxError,
  configInvalid,
  invalidArgs,
  type Outcome,
  ok,
  refused,
  toolUnknown,
} from '../error.js';
import { type CatalogRead, EMPTY_CATALOG } from '../judge/catalog.js';
import { isEvaluable } from '../judge/deny.js';
import { SHELVES_MAX } from '../limits.js';
import { type Budgets, lowered } from '../runner/budget.js';
import type { Progress } from '../runner/call.js';
import { admitComponent } from '../runner/component.js';
import type { Where } from '../runner/entering.js';
import { type Executed, type Job, NO_ACCOUNT } from '../runner/job.js';
import { inlineKeeper, type Keeper, type Kept, ThreadKeeper } from '../runner/keeper.js';
import { askPolicy } from '../runner/policy.js';
import { type Company, inlinePool, type Pool, ThreadPool } from '../runner/pool.js';
import { Stuck } from '../runner/stuck.js';
import { CATALOG_JOB } from '../store/catalog.js';
import { getBlock, putBlock } from '../tools/blocks.js';
import { TOOLS } from '../tools/registry.js';
import { type AnyTool, type Errand, parseArgs } from '../tools/tool.js';
import { workFor } from '../tools/worker.js';
import type { MemoryCity } from '../tree/memory.js';
import type { EnterOptions } from '../tree/spec.js';
import type { Tree } from '../tree/tree.js';
import type { CallOptions, City, CityBlocks, CityOptions, Runner, RunnerOptions } from './api.js';
import { type Catalog, RunCatalog } from './catalog.js';

/**
 * Opens a runner over the component that ships. Costs a compilation (a few ms) and, with workers, their threads. Throws
 * for receipts whose log cannot go on.
 */
export async function openRunner(options: RunnerOptions = {}): Promise<Runner> {
  const budgets = lowered(options.limits);
  const { workers = availableParallelism() } = options;
  if (!Number.isInteger(workers) || workers < 1) throw new RangeError('workers must be a whole number of 1 or more');
  const component = await admitComponent(await installedComponent());
  const receipts = options.receipts && (await Receipts.open(options.receipts, component.hash));
  const telemetry = options.telemetry === false ? undefined : (options.telemetry ?? (await findOpenTelemetry()));
  const inline = options.mode === 'inline';
  const stuck = new Stuck(budgets);
  const pool = inline
    ? inlinePool(component.module, workFor)
    : new ThreadPool(WORKER, component.module, workers, budgets, stuck);
  const keeper = inline ? inlineKeeper() : new ThreadKeeper(stuck, budgets.enterTimeMs);
  return new NodeRunner(component.hash, pool, keeper, budgets, stuck, { receipts, telemetry });
}

/** The bytes of the component that ships. */
export const installedComponent = (): Promise<Uint8Array> => readFile(new URL('../portcullis.wasm', import.meta.url));

/** The bytes of a file of the process's own, for the command line. Rejects as the system does. */
export const readOwnFile = (path: string): Promise<Uint8Array> => readFile(path);

/** What was pinned of it with this source, as JSON: see `wit/component.json`. */
export const pinnedComponent = async (): Promise<unknown> =>
  JSON.parse(await readFile(new URL('../../wit/component.json', import.meta.url), 'utf8'));

/** Who is told of each call. */
interface Told {
  readonly receipts: Receipts | undefined;
  readonly telemetry: OpenTelemetry | undefined;
}

const WORKER = new URL('../tools/worker.js', import.meta.url);

/** What a runner's cities share with it. */
interface House {
  readonly pool: Pool;
  readonly budgets: Budgets;
  readonly told: Told;
  isClosed: boolean;
}

class NodeRunner implements Runner {
  readonly componentHash: string;
  readonly #house: House;
  readonly #keeper: Keeper;
  readonly #stuck: Stuck;

  constructor(componentHash: string, pool: Pool, keeper: Keeper, budgets: Budgets, stuck: Stuck, told: Told) {
    this.componentHash = componentHash;
    this.#house = { pool, budgets, told, isClosed: false };
    this.#keeper = keeper;
    this.#stuck = stuck;
  }

  get stuckWorkers(): number {
    return this.#stuck.count;
  }

  async enter(where: string | MemoryCity, options: CityOptions = {}): Promise<Outcome<City>> {
    if (this.#house.isClosed) return refused(wasClosed({ action: 'enter', asked: nameOf(where) }));
    const unclear = options.deny?.find((pattern) => !isEvaluable(pattern));
    if (unclear !== undefined) return refused(badPattern(unclear));
    const unnamed = options.history?.branches?.find((branch) => branch === '' || !branch.isWellFormed());
    if (unnamed !== undefined) return refused(badBranch(unnamed));
    const held: Kept[] = [];
    const roots = await this.#enterRoots(where, options, held);
    if (roots.ok) return ok(new NodeCity(roots.value, this.#house, options));
    for (const one of held) one.leave();
    return roots;
  }

  /**
   * All of them, or none: a city without one of its shelves would read another one's skill, or a file, in its place.
   * What was entered is in `held`, also where a later one is not.
   */
  async #enterRoots(where: string | MemoryCity, options: CityOptions, held: Kept[]): Promise<Outcome<Roots>> {
    const { tree, hardLinks, mounts, root, shelves = [], store, history } = options;
    if (shelves.length > SHELVES_MAX) return refused(tooManyShelves(shelves.length));
    const how = { ...(tree && { tree }), ...(hardLinks && { hardLinks }) };
    const reopen = root === 'reopen';
    const enter = async (
      at: string | MemoryCity,
      reader: string | null,
      also: EnterOptions,
    ): Promise<Outcome<Kept>> => {
      const kept = await this.#keeper.enter(placeOf(at), reader, { ...how, ...also });
      if (kept.ok) held.push(kept.value);
      return kept;
    };
    const city = await enter(where, options.reader ?? null, { reopen, ...(mounts && { mounts }) });
    if (!city.ok) return city;
    const entered: Kept[] = [];
    for (const shelf of shelves) {
      const kept = await enter(shelf, null, {});
      if (!kept.ok) return kept;
      entered.push(kept.value);
    }
    const stored = store === undefined ? ok(undefined) : await enter(store, null, { reopen });
    if (!stored.ok) return stored;
    const named = history?.repository;
    const repository = named === undefined ? ok(undefined) : await enter(named, null, { reopen });
    if (!repository.ok) return repository;
    return ok({ city: city.value, shelves: entered, store: stored.value, repository: repository.value });
  }

  async close(): Promise<void> {
    this.#house.isClosed = true;
    await this.#house.pool.close();
    await this.#keeper.close();
    await this.#stuck.settled();
  }
}

/** What a city holds. */
interface Roots {
  readonly city: Kept;
  readonly shelves: readonly Kept[];
  readonly store: Kept | undefined;
  readonly repository: Kept | undefined;
}

class NodeCity implements City {
  static #entered = 0;
  readonly blocks: CityBlocks = {
    put: async (bytes, { signal, ...origin } = {}) => {
      // Made bytes of, a text would be none, and nobody would be told.
      if (!(bytes instanceof Uint8Array)) throw new TypeError('a block is bytes: a Uint8Array');
      // A copy: nobody changes it while it is hashed and written, and no other memory crosses with it.
      return this.#errand(putBlock, { ...origin, bytes: new Uint8Array(bytes) }, signal);
    },
    get: (locator, { signal } = {}) => this.#errand(getBlock, { locator }, signal),
  };
  readonly #kept: Kept;
  readonly #shelves: readonly Kept[];
  /** The city whose block store it is, if another. */
  readonly #store: Kept | undefined;
  /** Where history is read, if elsewhere. */
  readonly #repository: Kept | undefined;
  readonly #house: House;
  readonly #options: CityOptions;
  readonly #catalog = new RunCatalog(() => this.#scan());
  /** The tenant of a city that named none. A NUL is in no name an embedder would choose. */
  readonly #ownName: string;
  /** Calls that lease the root. */
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #desk: Desk;
  readonly #telemetry: OpenTelemetry | undefined;
  #left: Promise<void> | undefined;

  constructor({ city, shelves, store, repository }: Roots, house: House, options: CityOptions) {
    const { receipts, telemetry } = house.told;
    this.#kept = city;
    this.#shelves = shelves;
    this.#store = store;
    this.#repository = repository;
    this.#house = house;
    this.#options = options;
    this.#ownName = `\0${++NodeCity.#entered}`;
    this.#desk = receipts?.desk(options.tenant ?? null, options.run ?? null) ?? NO_DESK;
    this.#telemetry = telemetry;
  }

  get tree(): Tree['kind'] {
    return this.#kept.spec.kind;
  }

  get reader(): string | null {
    return this.#options.reader ?? null;
  }

  // City narrows this by the tool's name; the registry's schemas make it true.
  // biome-ignore lint/suspicious/noExplicitAny: one implementation behind a signature typed by name
  async call(name: string, args: unknown, options: CallOptions = {}): Promise<Outcome<any>> {
    const tool = TOOLS.get(name);
    const at = tool === undefined ? { action: 'call', asked: name } : { action: tool.name, asked: tool.asked(args) };
    const endSpan = beginSpan(this.#telemetry, tool?.name ?? null);
    const deciding = this.#onRecord(tool?.name ?? null, at, () => this.#decide(tool, at, args, options));
    const { outcome, account } = await this.#lease(deciding);
    endSpan(outcome, account);
    return outcome;
  }

  /** What this door itself asks for: like a call, and on record like one. */
  async #errand<Args, Value>(errand: Errand<Args, Value>, args: Args, signal?: AbortSignal): Promise<Outcome<Value>> {
    const at = { action: errand.name, asked: errand.asked(args) };
    const endSpan = beginSpan(this.#telemetry, errand.name);
    const deciding = this.#onRecord(errand.name, at, () => this.#carry(errand, at, args, signal));
    const { outcome, account } = await this.#lease(deciding);
    endSpan(outcome, account);
    // The errand's own value: it came from its `run`, in whatever thread.
    return outcome as Outcome<Value>;
  }

  async #carry<Args, Value>(
    errand: Errand<Args, Value>,
    at: Asked,
    args: Args,
    signal: AbortSignal | undefined,
  ): Promise<Decided> {
    const told = errand.told(args);
    const gone = this.#gone(at);
    if (gone !== undefined) return { args: told, account: NO_ACCOUNT, outcome: refused(gone) };
    const company = this.#company(errand, signal, () => {});
    const { outcome, account } = await this.#house.pool.run(
      this.#job(errand.name, args, at.asked, this.#timeMs(errand)),
      company,
    );
    // As above.
    const bytesOut = outcome.ok ? errand.sizeOf(outcome.value as Value) : undefined;
    return { args: told, account, outcome, ...(bytesOut !== undefined && { bytesOut }) };
  }

  #gone(at: Asked): AxError | undefined {
    if (this.#house.isClosed) return wasClosed(at);
    return this.#left === undefined ? undefined : hasLeft(at);
  }

  /** Decides, and has the decision on record before it leaves. */
  async #onRecord(tool: string | null, at: Asked, decide: () => Promise<Decided>): Promise<Decided> {
    const closed = this.#desk.closed(at);
    if (closed !== undefined) return { outcome: refused(closed), args: undefined, account: NO_ACCOUNT };
    const [timeMs, begunMs] = [Date.now(), performance.now()];
    const put = (decided: Omit<Decision, 'tool' | 'at' | 'timeMs' | 'ms'>): Promise<AxError | undefined> =>
      this.#desk.put({ ...decided, tool, at, timeMs, ms: performance.now() - begunMs });
    try {
      const decided = await decide();
      const withheld = await put(decided);
      return withheld === undefined ? decided : { ...decided, outcome: refused(withheld) };
    } catch (bug) {
      await put({ args: undefined, outcome: null, rule: 'a bug of the host', account: null });
      throw bug;
    }
  }

  async #decide(tool: AnyTool | undefined, at: Asked, args: unknown, options: CallOptions): Promise<Decided> {
    const untouched = { args: undefined, account: NO_ACCOUNT };
    if (tool === undefined) return { ...untouched, outcome: refused(toolUnknown(at.asked, [...TOOLS.keys()])) };
    const parsed = parseArgs(tool, args);
    // What is wrong with arguments may quote them: the record says only that something is.
    if (!parsed.ok) return { ...untouched, outcome: parsed, rule: 'its arguments do not fit the schema' };
    const gone = this.#gone(at);
    if (gone !== undefined) return { ...untouched, outcome: refused(gone) };
    const catalog = tool.opensByName === true ? await this.#catalog.read(at, options.signal) : ok(EMPTY_CATALOG);
    if (!catalog.ok) return { ...untouched, args: parsed.value, outcome: catalog };
    const progress = new Progressing(options.onProgress);
    const onPartial = (_: unknown, far: Progress): void => progress.tell(far);
    const company = this.#company(tool, options.signal, onPartial);
    const job = this.#job(tool.name, parsed.value, at.asked, this.#timeMs(tool));
    const run = await this.#house.pool.run({ ...job, catalog: catalog.value }, company);
    progress.rethrow();
    return { ...run, args: parsed.value };
  }

  async catalog(): Promise<Outcome<Catalog>> {
    const at: Asked = { action: CATALOG_JOB, asked: '' };
    const gone = this.#gone(at);
    if (gone !== undefined) return refused(gone);
    return this.#lease(this.#catalog.shown(at));
  }

  /** Of an outsider without a look at anything: there is no reading room to admit a name. */
  async #scan(): Promise<Outcome<CatalogRead>> {
    if (this.reader === null) return ok(EMPTY_CATALOG);
    const shelves = this.#shelves.map(({ spec }) => spec);
    const job = this.#job(CATALOG_JOB, { shelves }, '', this.#house.budgets.timeMs);
    const { outcome } = await this.#house.pool.run({ ...job, asksPolicy: false }, {});
    return outcome as Outcome<CatalogRead>; // what the work of this job gives
  }

  leave(): Promise<void> {
    this.#left ??= Promise.allSettled(this.#underWay).then(() => {
      for (const kept of [this.#kept, ...this.#shelves, this.#store, this.#repository]) kept?.leave();
    });
    return this.#left;
  }

  #job(tool: string, args: unknown, asked: string, timeMs: number): Job {
    return {
      tool,
      args,
      asked,
      tenant: this.#options.tenant ?? this.#ownName,
      tree: this.#kept.spec,
      store: this.#store?.spec,
      reader: this.reader,
      deny: this.#options.deny ?? [],
      asksPolicy: this.#options.policy !== undefined,
      budgets: this.#house.budgets,
      timeMs,
      history: { branches: this.#options.history?.branches ?? null, repository: this.#repository?.spec ?? null },
    };
  }

  #timeMs(tool: Timed): number {
    return Math.min(tool.timeMs, tool.name === 'read' ? this.#house.budgets.readTimeMs : this.#house.budgets.timeMs);
  }

  #company(tool: Timed, signal: AbortSignal | undefined, onPartial: Company['onPartial']): Company {
    const { policy } = this.#options;
    return {
      signal,
      policy: policy && ((names: readonly string[]) => askPolicy(policy, this.reader, names, this.#timeMs(tool))),
      onPartial,
    };
  }

  async #lease<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
    }
  }
}

/**
 * The embedder's listener. It is called where nothing of the embedder's could catch what it throws, which would end the
 * process and the calls of everybody else: its first error ends the call that it belongs to, once that is over.
 */
class Progressing {
  readonly #listener: CallOptions['onProgress'];
  #thrown: { readonly error: unknown } | undefined;

  constructor(listener: CallOptions['onProgress']) {
    this.#listener = listener;
  }

  tell(progress: Progress): void {
    if (this.#listener === undefined || this.#thrown !== undefined) return;
    try {
      this.#listener(progress);
    } catch (error) {
      // Kept: `rethrow` throws it.
      this.#thrown = { error };
    }
  }

  rethrow(): void {
    if (this.#thrown !== undefined) throw this.#thrown.error;
  }
}

const badPattern = (pattern: string): AxError =>
  configInvalid(
    { action: 'enter', asked: pattern },
    'a deny pattern that is not evaluated',
    'write it with segments, `*`, `?` and `**` only, like **/*.pem',
  );

const tooManyShelves = (count: number): AxError =>
  configInvalid(
    { action: 'enter', asked: '' },
    `${count} external shelves, and ${SHELVES_MAX} are the most`,
    'put packages of several shelves on one',
  );

const placeOf = (where: string | MemoryCity): Where =>
  typeof where === 'string' ? { path: where } : { spec: { kind: 'memory', city: where } };

const badBranch = (pattern: string): AxError =>
  configInvalid(
    { action: 'enter', asked: pattern },
    'a pattern of branches that names none',
    'name branches as they stand below refs/heads/, with `*` for anything, like agents/*',
  );

const nameOf = (where: string | MemoryCity): string => (typeof where === 'string' ? where : 'a city in memory');

const wasClosed = (at: Asked): AxError =>
  invalidArgs(at, 'the runner was closed', 'open another one, and enter the city there');

const hasLeft = (at: Asked): AxError => invalidArgs(at, 'the city was left', 'enter it again');

/** What the time of a call is told by: a tool or an errand. */
type Timed = Pick<AnyTool, 'name' | 'timeMs'>;

/** What a call came to. */
interface Decided extends Executed {
  /** As the schema gave them; undefined if it did not. */
  readonly args: unknown;
  /** See `Decision`. */
  readonly rule?: string;
  readonly bytesOut?: number;
}
