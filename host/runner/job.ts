/**
 * One call, whole, in whatever thread it runs: opens the tree, runs the tool, gives everything back, and turns what
 * a broken or hostile guest throws into `E_GUEST_TRAP`. Data in, data out: both cross between threads.
 */

import { type Asked, guestTrap, limitReached, type Outcome, refused, storageFatal } from '../error.js';
import { type CatalogRead, EMPTY_CATALOG } from '../judge/catalog.js';
import { GUEST_MEMORY_MAX_PAGES } from '../limits.js';
import type { TreeRefusal } from '../tree/opening.js';
import { openTree, type TreeSpec } from '../tree/spec.js';
import { GuestFault } from '../wasi/guest.js';
import type { Budgets } from './budget.js';
import { Call, type Surroundings, type Unchecked } from './call.js';

/** What crosses to a worker. */
export interface Job {
  readonly tool: string;
  /** As the schema gave them. */
  readonly args: unknown;
  /** What a refusal quotes. */
  readonly asked: string;
  /** Whose call it is: what the turns of a queue are kept by. */
  readonly tenant: string;
  readonly tree: TreeSpec;
  /** The city whose block store is read and written; undefined: the same. */
  readonly store?: TreeSpec | undefined;
  readonly reader: string | null;
  /** The embedder's deny patterns. */
  readonly deny: readonly string[];
  /** Whether the embedder's own policy is asked; else the rules files decide. */
  readonly asksPolicy: boolean;
  /** What the run may open by name; none by default, and for tools that open nothing by name. */
  readonly catalog?: CatalogRead;
  readonly budgets: Budgets;
  readonly timeMs: number;
  /** Left out: nothing was named, and the repository is the city's own. */
  readonly history?: HistoryPolicy;
}

/** Whose history a reader is given: named by the embedder, never by a model. */
export interface HistoryPolicy {
  /** Names below refs/heads/, `*` for anything; null: none were named. */
  readonly branches: readonly string[] | null;
  /** Where the repository is looked for; null: in the city. */
  readonly repository: TreeSpec | null;
}

/** The tool's work, bound to its arguments. */
export type Work = (call: Call) => Promise<Outcome<unknown>>;

/**
 * The kind of a capability: a directory, one file, or what stands under a reserved name and was judged as one thing (a
 * block, a document or a package of a shelf, a git directory).
 */
export type HandedKind = 'directory' | 'single' | 'block' | 'document' | 'package' | 'repository';

/** What a call was handed and what it used: for its receipt. */
export interface Account {
  /**
   * The one directory the guest held, by the address where it really is, null for one beside the city that the embedder
   * named; null if it held nothing of either.
   */
  readonly handed: { readonly kind: HandedKind; readonly landed: string | null } | null;
  readonly opens: number;
  readonly entries: number;
  readonly bytes: number;
}

/** An answer, and what it took. */
export interface Executed {
  readonly outcome: Outcome<unknown>;
  /** Null where nothing is known of it, since the call was ended from outside. */
  readonly account: Account | null;
}

/** The account of a call that touched nothing. */
export const NO_ACCOUNT: Account = { handed: null, opens: 0, entries: 0, bytes: 0 };

const NOTHING_NAMED: HistoryPolicy = { branches: null, repository: null };

/** Runs a job. Never throws for anything the guest or the disk does; what it throws is a bug of the host. */
export async function execute(
  job: Job,
  work: Work,
  around: Surroundings,
  unchecked: Unchecked = {},
): Promise<Executed> {
  const at: Asked = { action: job.tool, asked: job.asked };
  const tree = openTree(job.tree);
  if (typeof tree === 'string') return { outcome: refused(treeError(at, tree)), account: NO_ACCOUNT };
  const { tool: action, store, reader, deny, budgets, timeMs } = job;
  const { catalog = EMPTY_CATALOG, history = NOTHING_NAMED } = job;
  const given = { store, catalog, history };
  const call = new Call({ action, tree, ...given, reader, deny, budgets, timeMs, around, unchecked });
  try {
    return { outcome: await work(call), account: call.account() };
  } catch (thrown) {
    if (!isGuests(thrown)) throw thrown;
    const error = call.guestMemoryIsFull() ? memoryError(at) : guestTrap(at, 'the sandboxed component trapped');
    return { outcome: refused(error), account: call.account() };
  } finally {
    call.close();
  }
}

/**
 * Whether the guest is to blame: a fault it was caught in, a trap, an exception of its own, or a stack it used up. (A stack overflow of the
 * host itself would look the same; the instance is discarded either way.)
 */
const isGuests = (thrown: unknown): boolean =>
  thrown instanceof GuestFault ||
  thrown instanceof WebAssembly.RuntimeError ||
  thrown instanceof WebAssembly.Exception ||
  thrown instanceof RangeError;

const memoryError = (at: Asked) =>
  limitReached(
    at,
    `the guest’s memory is full (GUEST_MEMORY_MAX_PAGES, ${GUEST_MEMORY_MAX_PAGES} of 64 KiB)`,
    'ask for less: a narrower `path`',
  );

/** The refusal of a tree that does not open. */
export function treeError(at: Asked, refusal: TreeRefusal) {
  switch (refusal) {
    case 'replaced':
      return storageFatal(
        at,
        'the city was replaced',
        'enter the city again: its root is not the directory that was entered',
      );
    case 'access':
      return storageFatal(at, 'the city’s root does not open', 'a person has to give the runner permission to read it');
    case 'exhausted':
    case 'io':
      return storageFatal(
        at,
        'the city’s root does not open',
        'ask again; if it stays so, a person has to look at the disk',
        'unknown',
      );
  }
}
