/**
 * The door for Node: reads the component that ships, opens a runner, enters cities, takes calls. Everything an
 * embedder needs is here in a few names; index.ts hands them out.
 *
 * The first step of a call's path: door → tool (schema) → worker → judge → guest → judge → answer.
 */

import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { type Decision, type Desk, NO_DESK, type ReceiptOptions, Receipts } from '../audit/receipts.js';
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
import { admitComponent } from '../runner/component.js';
import type { Where } from '../runner/entering.js';
import { type Executed, type Job, NO_ACCOUNT } from '../runner/job.js';
import { inlineKeeper, type Keeper, type Kept, ThreadKeeper } from '../runner/keeper.js';
import { askPolicy, type Policy } from '../runner/policy.js';
import { type Company, inlinePool, type Pool, ThreadPool } from '../runner/pool.js';
import { Stuck } from '../runner/stuck.js';
import { CATALOG_JOB } from '../store/catalog.js';
import type { ReadArgs, ReadValue } from '../tools/read.js';
import { TOOLS } from '../tools/registry.js';
import type { SearchArgs, SearchValue } from '../tools/search.js';
import { type AnyTool, parseArgs } from '../tools/tool.js';
import { workFor } from '../tools/worker.js';
import type { MemoryCity } from '../tree/memory.js';
import type { HardLinks, Tree } from '../tree/tree.js';
import { type Catalog, RunCatalog } from './catalog.js';

/** How calls are run: all of it may be left out. */
export interface RunnerOptions {
  /**
   * `workers` (default): calls run in threads that can be ended. `inline`: on the caller's own thread, for programs
   * that make one call; a guest that loops for ever cannot be ended there.
   */
  readonly mode?: 'workers' | 'inline';
  /** Threads; default: one a processor. */
  readonly workers?: number;
  /** Budgets, each lowered from its default; nothing can be raised. */
  readonly limits?: Partial<Budgets>;
  /** Puts each decision on record before its answer leaves. Default: no receipts. See `audit/receipts.ts`. */
  readonly receipts?: ReceiptOptions;
  /** `@opentelemetry/api`, for a span a call; false: no spans. Default: the package, if it is installed. */
  readonly telemetry?: OpenTelemetry | false;
}

/** Who reads a city, and what of it: all of it may be left out. */
export interface CityOptions {
  /** The building whose run this is; null (default): an outsider everywhere. */
  readonly reader?: string | null;
  /** Decides per building; default: each building's `.sprawling/RULES.toml`. */
  readonly policy?: Policy;
  /** `portable`: for systems without openat semantics, and only where nobody untrusted writes during calls. */
  readonly tree?: 'portable';
  /** `reopen`: take up a replaced root at each call instead of refusing it. Default `pinned`. */
  readonly root?: 'pinned' | 'reopen';
  /** Patterns of what nobody reads here; they win over every verdict, at home too. See `judge/deny.ts`. */
  readonly deny?: readonly string[];
  /** Addresses on other file systems that belong to the city. */
  readonly mounts?: readonly string[];
  /** Files with more than one name. Default `same-owner`. */
  readonly hardLinks?: HardLinks;
  /**
   * Directories of skills outside the city, farthest first: `<shelf>/<name>/SKILL.md`. Of those that the reader's
   * reading room admits, `read NAME` gives the text as it was at the scan, and nothing else of the shelf.
   */
  readonly shelves?: readonly (string | MemoryCity)[];
  /** Whose calls these are: tenants take turns. Default: each entered city is a tenant of its own. */
  readonly tenant?: string;
  /** The run these calls belong to: for receipts alone. */
  readonly run?: string;
}

/** How far a call has come: reported between pages. */
export interface Progress {
  readonly entries: number;
  readonly matches: number;
}

/** How one call is ended and followed. */
export interface CallOptions {
  /** Ends the call: `E_CANCELLED`. */
  readonly signal?: AbortSignal;
  /** Told between pages. What it throws, the call throws. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Arguments and values by tool: what makes `call` typed. */
export interface ToolTypes {
  readonly search: { readonly args: SearchArgs; readonly value: SearchValue };
  readonly read: { readonly args: ReadArgs; readonly value: ReadValue };
}

/** Any text; spelled so that an editor still offers the names there are. */
type AnyName = string & {};
/**
 * What a tool of this name takes and gives. One signature, not two overloads: the wrong arguments of a known tool would
 * fall through to the one of any name, and compile.
 */
export type ArgsOf<Name extends string> = Name extends keyof ToolTypes ? ToolTypes[Name]['args'] : unknown;
/** The other half: what it gives. */
export type ValueOf<Name extends string> = Name extends keyof ToolTypes ? ToolTypes[Name]['value'] : unknown;

/** A city, entered as one reader. */
export interface City {
  readonly tree: Tree['kind'];
  readonly reader: string | null;
  /**
   * One tool call. Never throws for what a caller, a guest or a disk does. Typed by the tool's name where that is known
   * when compiling; any other name takes and gives `unknown`, and what is no argument of the tool is `E_INVALID_ARGS`.
   */
  call<Name extends keyof ToolTypes | AnyName>(
    tool: Name,
    args: ArgsOf<Name>,
    options?: CallOptions,
  ): Promise<Outcome<ValueOf<Name>>>;
  /**
   * What this run may open by name, and the pins for its record. The shelves are looked at once, when this or the
   * first `read` asks; an outsider's is empty. A refusal says what a person has to mend: `read` refuses until then,
   * `search` is not concerned.
   */
  catalog(): Promise<Outcome<Catalog>>;
  /** Takes no more calls, waits for those under way, gives the root back. */
  leave(): Promise<void>;
}

/** A component, admitted, and what its calls share: threads, budgets, receipts. Enters any number of cities. */
export interface Runner {
  /** BLAKE3 of the component that runs, 64 hex digits. */
  readonly componentHash: string;
  /**
   * Threads that wait in a system call that does not end, left behind: 0 but for mounts that hang. A process with such
   * threads does not end by itself, nor by `process.exit`: only by a signal (SIGKILL).
   */
  readonly stuckWorkers: number;
  /** Enters a directory by its path, or a city in memory. */
  enter(where: string | MemoryCity, options?: CityOptions): Promise<Outcome<City>>;
  /** Ends everything that can be ended; what cannot is in `stuckWorkers` then. */
  close(): Promise<void>;
}

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
    const kept = await this.#keeper.enter(placeOf(where), options.reader ?? null, {
      ...(options.tree && { tree: options.tree }),
      ...(options.hardLinks && { hardLinks: options.hardLinks }),
      ...(options.mounts && { mounts: options.mounts }),
      reopen: options.root === 'reopen',
    });
    if (!kept.ok) return kept;
    const shelves = await this.#enterShelves(options);
    if (shelves.ok) return ok(new NodeCity(kept.value, shelves.value, this.#house, options));
    kept.value.leave();
    return shelves;
  }

  /** All of them, or none: a city without one of its shelves would read another one's skill, or a file, in its place. */
  async #enterShelves({ shelves = [], tree, hardLinks }: CityOptions): Promise<Outcome<readonly Kept[]>> {
    if (shelves.length > SHELVES_MAX) return refused(tooManyShelves(shelves.length));
    const entered: Kept[] = [];
    for (const shelf of shelves) {
      const kept = await this.#keeper.enter(placeOf(shelf), null, {
        ...(tree && { tree }),
        ...(hardLinks && { hardLinks }),
      });
      if (!kept.ok) {
        for (const one of entered) one.leave();
        return kept;
      }
      entered.push(kept.value);
    }
    return ok(entered);
  }

  async close(): Promise<void> {
    this.#house.isClosed = true;
    await this.#house.pool.close();
    await this.#keeper.close();
    await this.#stuck.settled();
  }
}

class NodeCity implements City {
  static #entered = 0;
  readonly #kept: Kept;
  readonly #shelves: readonly Kept[];
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

  constructor(kept: Kept, shelves: readonly Kept[], house: House, options: CityOptions) {
    const { receipts, telemetry } = house.told;
    this.#kept = kept;
    this.#shelves = shelves;
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
    const { outcome, account } = await this.#lease(this.#onRecord(tool, at, args, options));
    endSpan(outcome, account);
    return outcome;
  }

  /** Decides, and has the decision on record before it leaves. */
  async #onRecord(tool: AnyTool | undefined, at: Asked, args: unknown, options: CallOptions): Promise<Decided> {
    const closed = this.#desk.closed(at);
    if (closed !== undefined) return { outcome: refused(closed), args: undefined, account: NO_ACCOUNT };
    const [timeMs, begunMs] = [Date.now(), performance.now()];
    const put = (decided: Omit<Decision, 'tool' | 'at' | 'timeMs' | 'ms'>): Promise<AxError | undefined> =>
      this.#desk.put({ ...decided, tool: tool?.name ?? null, at, timeMs, ms: performance.now() - begunMs });
    try {
      const decided = await this.#decide(tool, at, args, options);
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
    if (this.#house.isClosed) return { ...untouched, outcome: refused(wasClosed(at)) };
    if (this.#left !== undefined) return { ...untouched, outcome: refused(hasLeft(at)) };
    const catalog = tool.opensByName === true ? await this.#catalog.read(at, options.signal) : ok(EMPTY_CATALOG);
    if (!catalog.ok) return { ...untouched, args: parsed.value, outcome: catalog };
    const progress = new Progressing(options.onProgress);
    const company = this.#company(tool, options.signal, progress);
    const job = this.#job(tool.name, parsed.value, at.asked, this.#timeMs(tool));
    const run = await this.#house.pool.run({ ...job, catalog: catalog.value }, company);
    progress.rethrow();
    return { ...run, args: parsed.value };
  }

  async catalog(): Promise<Outcome<Catalog>> {
    const at: Asked = { action: CATALOG_JOB, asked: '' };
    if (this.#house.isClosed) return refused(wasClosed(at));
    if (this.#left !== undefined) return refused(hasLeft(at));
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
      for (const kept of [this.#kept, ...this.#shelves]) kept.leave();
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
      reader: this.reader,
      deny: this.#options.deny ?? [],
      asksPolicy: this.#options.policy !== undefined,
      budgets: this.#house.budgets,
      timeMs,
    };
  }

  #timeMs(tool: AnyTool): number {
    return Math.min(tool.timeMs, tool.name === 'read' ? this.#house.budgets.readTimeMs : this.#house.budgets.timeMs);
  }

  #company(tool: AnyTool, signal: AbortSignal | undefined, progress: Progressing): Company {
    const { policy } = this.#options;
    return {
      signal,
      policy: policy && ((names: readonly string[]) => askPolicy(policy, this.reader, names, this.#timeMs(tool))),
      onPartial: (partial: unknown) => progress.tell(() => tool.progress(partial)),
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

  tell(progress: () => Progress): void {
    if (this.#listener === undefined || this.#thrown !== undefined) return;
    try {
      this.#listener(progress());
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

const nameOf = (where: string | MemoryCity): string => (typeof where === 'string' ? where : 'a city in memory');

const wasClosed = (at: Asked): AxError =>
  invalidArgs(at, 'the runner was closed', 'open another one, and enter the city there');

const hasLeft = (at: Asked): AxError => invalidArgs(at, 'the city was left', 'enter it again');

/** What a call came to. */
interface Decided extends Executed {
  /** As the schema gave them; undefined if it did not. */
  readonly args: unknown;
  /** See `Decision`. */
  readonly rule?: string;
}
