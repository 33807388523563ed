/**
 * One city in each kind of tree and under each binding, so that a claim about a tool is made once and shown six times:
 * linux, portable and memory trees; the fixed world (what ships) and the generated reference.
 * Calls run in this thread through the same `execute` that a worker runs.
 */

import { readFileSync } from 'node:fs';
import { type Outcome, refused, toolUnknown } from '../../dist/error.js';
import type { Verdict } from '../../dist/judge/bound.js';
import type { CatalogRead } from '../../dist/judge/catalog.js';
import { type Budgets, lowered } from '../../dist/runner/budget.js';
import type { Call, Unchecked } from '../../dist/runner/call.js';
import { admitComponent } from '../../dist/runner/component.js';
import { type Executed, execute, type HistoryPolicy, type Job, NO_ACCOUNT } from '../../dist/runner/job.js';
import type { Company } from '../../dist/runner/shared-walk.js';
import { CATALOG_JOB, scanWork } from '../../dist/store/catalog.js';
import type { ReadArgs, ReadValue } from '../../dist/tools/read.js';
import { TOOLS } from '../../dist/tools/registry.js';
import type { SearchArgs, SearchValue } from '../../dist/tools/search.js';
import { parseArgs } from '../../dist/tools/tool.js';
import { workFor } from '../../dist/tools/worker.js';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import type { Guest } from '../../dist/wasi/guest.js';
import { type Instantiate, referenceGuest, referenceImports } from '../../dist/wasi/reference.js';
import { instantiate as instantiateFixed } from '../../dist/wasi/world.js';
import { diskWorld, memoryWorld, type Things, type World } from '../tree/worlds.js';
import { asValue } from './outcomes.js';

export const TREES = ['linux', 'portable', 'memory'] as const;
export const BINDINGS = ['fixed', 'reference'] as const;
export interface Setting {
  readonly tree: (typeof TREES)[number];
  readonly binding: (typeof BINDINGS)[number];
}
/** Every pair; `describe.each(SETTINGS)('$tree, $binding', …)`. */
export const SETTINGS: readonly Setting[] = TREES.flatMap((tree) => BINDINGS.map((binding) => ({ tree, binding })));

const component = await admitComponent(readFileSync('dist/portcullis.wasm'));
const generated = new URL('../../build/reference/', import.meta.url);
const { instantiate } = (await import(new URL('guest.js', generated).href)) as { instantiate: Instantiate };
const compiled = new Map<string, WebAssembly.Module>();
function generatedCore(name: string): WebAssembly.Module {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const made = new WebAssembly.Module(readFileSync(new URL(name, generated)));
  compiled.set(name, made);
  return made;
}

/** The guest through jco's generated glue. */
export const reference = (filesystem: Filesystem): Guest =>
  referenceGuest(instantiate(generatedCore, referenceImports(filesystem)));

/** The guest in the fixed world. */
export const fixed = (filesystem: Filesystem): Guest => instantiateFixed(component.module, filesystem);

/** A guest that is asked nothing: what a test's own guest does not answer. */
export const ANSWERS_NOTHING: Guest = {
  search: notAsked,
  more: notAsked,
  read: notAsked,
  next: notAsked,
  history: notAsked,
  older: notAsked,
  trail: notAsked,
  further: notAsked,
  memoryBytes: () => 0,
};

function notAsked(): never {
  throw new Error('not asked');
}

/** How each binding makes a guest: for tests that stand between it and the host. */
export const GUESTS = { fixed, reference } as const;

export interface CallOptions {
  /** Default: an outsider. */
  readonly reader?: string | null;
  /** Default: the rules files. */
  readonly policy?: (building: string) => Verdict;
  readonly deny?: readonly string[];
  /** What the run may open by name, from `scan`. Default: nothing. */
  readonly catalog?: CatalogRead;
  readonly budgets?: Partial<Budgets>;
  readonly timeMs?: number;
  readonly unchecked?: Unchecked;
  readonly history?: HistoryPolicy;
  readonly onPartial?: (value: unknown) => void;
  readonly goOn?: () => Promise<boolean>;
  /** Who joins a large walk; default: nobody. */
  readonly company?: Company;
  /** In place of the component that ships: a hostile guest for the fixed world. */
  readonly module?: WebAssembly.Module;
  /** In place of the tool's own work: the same with other caps. */
  readonly work?: (call: Call) => Promise<Outcome<unknown>>;
}

/** A city that a test may change (`world`), and calls on it. `end` it. */
export class TestCity {
  readonly world: World;
  readonly binding: Setting['binding'];
  constructor(world: World, binding: Setting['binding']) {
    this.world = world;
    this.binding = binding;
  }

  search(args: SearchArgs, options?: CallOptions): Promise<Outcome<SearchValue>> {
    return this.call('search', args, options) as Promise<Outcome<SearchValue>>;
  }

  read(args: ReadArgs, options?: CallOptions): Promise<Outcome<ReadValue>> {
    return this.call('read', args, options) as Promise<Outcome<ReadValue>>;
  }

  /** As a caller would: arguments of any shape. */
  async call(name: string, args: unknown, options: CallOptions = {}): Promise<Outcome<unknown>> {
    return (await this.execute(name, args, options)).outcome;
  }

  /** The same, with its account. */
  async execute(name: string, args: unknown, options: CallOptions = {}): Promise<Executed> {
    const tool = TOOLS.get(name);
    if (tool === undefined) return { outcome: refused(toolUnknown(name, [...TOOLS.keys()])), account: NO_ACCOUNT };
    const parsed = parseArgs(tool, args);
    if (!parsed.ok) return { outcome: parsed, account: NO_ACCOUNT };
    const { policy, unchecked = {} } = options;
    const job: Job = {
      tool: name,
      args: parsed.value,
      asked: tool.asked(args),
      tenant: 'test',
      tree: this.world.spec,
      reader: options.reader ?? null,
      deny: options.deny ?? [],
      asksPolicy: policy !== undefined,
      ...(options.catalog && { catalog: options.catalog }),
      budgets: lowered(options.budgets),
      timeMs: options.timeMs ?? tool.timeMs,
      ...(options.history && { history: options.history }),
    };
    return execute(
      job,
      options.work ?? workFor(job),
      {
        module: options.module ?? component.module,
        ask: policy === undefined ? null : async (buildings) => buildings.map(policy),
        partial: (make) => options.onPartial?.(make()),
        goOn: options.goOn ?? (async () => true),
        ...(options.company && { company: options.company }),
      },
      this.binding === 'reference' ? { guest: reference, ...unchecked } : unchecked,
    );
  }

  /** The catalog of a run of `reader`, over these shelves outside, farthest first. */
  async scan(
    reader: string | null,
    shelves: readonly World[] = [],
    deny: readonly string[] = [],
  ): Promise<CatalogRead> {
    const work = scanWork({ shelves: shelves.map(({ spec }) => spec) });
    const outcome = await this.call('read', { path: CATALOG_JOB }, { reader, deny, work });
    return asValue(outcome as Outcome<CatalogRead>);
  }

  end(): void {
    this.world.end();
  }
}

/** A city of these things. Paths are addresses; see `MemoryThing` for what can be put there. */
export function city({ tree, binding }: Setting, things: Things): TestCity {
  return new TestCity(tree === 'memory' ? memoryWorld(things) : diskWorld(tree)(things), binding);
}

/** Runs `claim` over a city in every setting, and ends it. */
export async function inEverySetting(things: Things, claim: (city: TestCity, setting: Setting) => Promise<void>) {
  for (const setting of SETTINGS) {
    const place = city(setting, things);
    try {
      await claim(place, setting);
    } finally {
      place.end();
    }
  }
}
