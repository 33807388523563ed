/**
 * What an embedder meets, as types: the options, a runner, a city and what its calls take and give. node.ts makes them,
 * index.ts hands them out, and the command line is an embedder like any other.
 */

import type { ReceiptOptions } from '../audit/receipts.js';
import type { OpenTelemetry } from '../audit/spans.js';
import type { Outcome } from '../error.js';
import type { Budgets } from '../runner/budget.js';
import type { Progress } from '../runner/call.js';
import type { Policy } from '../runner/policy.js';
import type { ReadArgs, ReadValue } from '../tools/read.js';
import type { SearchArgs, SearchValue } from '../tools/search.js';
import type { SearchHistoryArgs, SearchHistoryValue } from '../tools/search-history.js';
import type { MemoryCity } from '../tree/memory.js';
import type { HardLinks, Tree } from '../tree/tree.js';
import type { Catalog } from './catalog.js';

export type { Progress } from '../runner/call.js';

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
  /** Whose history the reader is given. Default: of `agents/*`, and only where nothing in the city is closed to it. */
  readonly history?: HistoryOptions;
  /** Whose calls these are: tenants take turns. Default: each entered city is a tenant of its own. */
  readonly tenant?: string;
  /**
   * Another city, whose block store is read and written in place of this one's: of a work tree the city it was made from.
   * Who may read a block is still this city's affair.
   */
  readonly store?: string | MemoryCity;
  /** The run these calls belong to: for receipts alone. */
  readonly run?: string;
}

/** What `search_history` reads. A model never chooses it. */
export interface HistoryOptions {
  /**
   * Branches, as names below refs/heads/ with `*` for anything, `/` too. With them the tool is offered to this reader
   * whatever is closed to it, and shows what they reach; none: it is not offered.
   */
  readonly branches?: readonly string[];
  /** Where the repository is, if not in the city: entered like a city of its own. */
  readonly repository?: string | MemoryCity;
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
  readonly search_history: { readonly args: SearchHistoryArgs; readonly value: SearchHistoryValue };
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

/** For whom a block is stored: all of it may be left out. */
export interface PutOptions extends Pick<CallOptions, 'signal'> {
  /**
   * The building, or the room, it is stored for: who may read that may read the block by its Locator. Left out: nobody
   * reads it so.
   */
  readonly for?: string;
  /** The run that stores it: text without white space, kept beside the place. Default: none. */
  readonly run?: string;
}

/** What stands under a city's `.sprawling/cas`, or under that of the city named as its `store`. */
export interface CityBlocks {
  /** Stores the bytes, and gives their Locator: what `read` takes. A crash at any moment leaves a whole block or none. */
  put(bytes: Uint8Array, options?: PutOptions): Promise<Outcome<string>>;
  /** The bytes of a block, or exactly of the range in its Locator, if this city's reader may read them. */
  get(locator: string, options?: Pick<CallOptions, 'signal'>): Promise<Outcome<Uint8Array>>;
}

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
  /** The city's block store: for the embedder. No tool writes to it. */
  readonly blocks: CityBlocks;
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
