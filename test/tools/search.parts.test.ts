/**
 * A search that several threads walk is the search of one: the answer, the account and the ending, whoever walked what,
 * under any caps and budgets. Here the threads are calls of this thread, so that who takes which part is a law's choice;
 * with real threads see runner/shared-walk.test.ts.
 */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budgets } from '../../dist/runner/budget.js';
import type { Executed } from '../../dist/runner/job.js';
import type { Company, Joined } from '../../dist/runner/shared-walk.js';
import type { SearchCaps } from '../../dist/tools/answer.js';
import { type SearchArgs, searchWith } from '../../dist/tools/search.js';
import { joinSearch } from '../../dist/tools/search.parts.js';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import type { Query } from '../../dist/wasi/guest.js';
import { type CallOptions, city, GUESTS, type Setting, type TestCity } from '../support/cities.js';
import { asValue } from '../support/outcomes.js';
import type { Things } from '../tree/worlds.js';
import { begin, hitsOf } from './cities.js';
import { policy, question, things } from './random-cities.js';

const RUNS = Number(process.env['PORTCULLIS_RUNS'] ?? 24);
const TIME_MS = 180_000;

/** Who walks a part: the call's own thread (0), one that joined, or one that joined and left in the middle of it. */
type Walker = 0 | 1 | 2 | 3 | 'lost';

/** Threads of a search, each a call of this one. `walkers` says who takes the part of that number, and again. */
class Played implements Company {
  readonly #join: (joined: Joined) => Promise<unknown>;
  readonly #walkers: readonly Walker[];
  readonly #values = new Map<number, { readonly value: unknown }>();
  readonly #underWay: Promise<unknown>[] = [];
  #parts = 0;
  #isOver = false;
  /** Parts that were cut, and of them those that another thread gave. */
  readonly seen = { parts: 0, given: 0 };

  constructor(walkers: readonly Walker[], comeAfter: number, join: (joined: Joined) => Promise<unknown>) {
    this.#walkers = walkers;
    this.#comeAfter = comeAfter;
    this.#join = join;
  }

  /** They come after so many pages. */
  #comeAfter: number;
  get present(): number {
    return this.#comeAfter-- > 0 ? 0 : 1;
  }

  invite(): void {}

  begin(plan: unknown, parts: number): void {
    this.#parts = parts;
    this.seen.parts = parts;
    for (const walker of [1, 2, 3] as const) {
      const mine = this.#of(walker);
      const joined: Joined = {
        plan: async () => structuredClone(plan),
        take: () => mine.shift(),
        goOn: () => !this.#isOver,
        give: (part, value) => {
          this.#values.set(part, { value: structuredClone(value) });
          if (value !== undefined) this.seen.given++;
        },
      };
      this.#underWay.push(this.#join(joined));
    }
  }

  #of(walker: Walker): number[] {
    return Array.from({ length: this.#parts }, (_, part) => part).filter((part) => this.#walker(part) === walker);
  }

  #walker(part: number): Walker {
    return this.#walkers[part % this.#walkers.length] ?? 0;
  }

  readonly #taken = new Set<number>();
  take(): number | undefined {
    const part = this.#of(0).find((each) => !this.#taken.has(each));
    if (part !== undefined) this.#taken.add(part);
    return part;
  }

  result(part: number): { readonly value: unknown } | 'coming' | 'lost' {
    if (this.#walker(part) === 'lost') return 'lost';
    const came = this.#values.get(part);
    if (came === undefined) return 'coming';
    return came.value === undefined ? 'lost' : came;
  }

  async hear(): Promise<void> {}

  async news(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  end(): void {
    this.#isOver = true;
  }

  async ended(): Promise<void> {
    this.end();
    await Promise.all(this.#underWay);
  }
}

/** Pages of so few entries that a walk pauses wherever it can. */
const paging = (setting: Setting, pageEntries: number) => ({
  guest: (filesystem: Filesystem) => {
    const guest = GUESTS[setting.binding](filesystem);
    return Object.assign(Object.create(guest), {
      search: (query: Query) => guest.search({ ...query, pageEntries }),
      more: () => guest.more(),
      memoryBytes: () => guest.memoryBytes(),
    });
  },
});

interface Asked {
  readonly args: SearchArgs;
  readonly caps: SearchCaps;
  readonly budgets: Partial<Budgets>;
  readonly pageEntries: number;
}

const CAPS: SearchCaps = { matchCap: 64, textCap: 65_536, fileCap: 1_048_576 };

async function alone(place: TestCity, setting: Setting, asked: Asked): Promise<Executed> {
  return place.execute('search', asked.args, optionsOf(setting, asked));
}

async function shared(
  place: TestCity,
  setting: Setting,
  asked: Asked,
  walkers: readonly Walker[],
  comeAfter: number = 0,
) {
  const options = optionsOf(setting, asked);
  const company = new Played(walkers, comeAfter, (joined) =>
    place.execute('search', asked.args, {
      ...options,
      // Nobody is asked twice: what the own thread was told comes with the plan.
      policy: () => {
        throw new Error('a thread that joined asked the policy');
      },
      work: async (call) => {
        await joinSearch(call, joined);
        return { ok: true, value: null };
      },
    }),
  );
  const executed = await place.execute('search', asked.args, { ...options, company });
  await company.ended();
  return { executed, seen: company.seen };
}

const optionsOf = (setting: Setting, { args, caps, budgets, pageEntries }: Asked): CallOptions => ({
  policy,
  budgets,
  unchecked: paging(setting, pageEntries),
  work: (call) => searchWith(call, args, caps),
});

const walker = fc.constantFrom<Walker>(0, 1, 2, 3, 'lost');
const small = fc.integer({ min: 1, max: 24 });
const budgets = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Partial<Budgets>>({}) },
  ...(['opens', 'entries', 'bytes', 'handles', 'buildingOpens', 'buildingEntries', 'buildingBytes'] as const).map(
    (budget) => ({ weight: 1, arbitrary: small.map((value): Partial<Budgets> => ({ [budget]: value })) }),
  ),
);
const caps = fc.record({
  matchCap: fc.constantFrom(1, 2, 3, 5, 8, 64),
  textCap: fc.constantFrom(1, 3, 10, 40, 200, 65_536),
  fileCap: fc.constantFrom(4, 64, 1_048_576),
});

describe.each<Setting>([
  { tree: 'memory', binding: 'fixed' },
  { tree: 'memory', binding: 'reference' },
  { tree: 'linux', binding: 'fixed' },
])('a search in parts, $tree, $binding', { timeout: TIME_MS }, (setting) => {
  it('is the search of one thread, and costs the same, whoever walks what, under any caps and budgets', async () => {
    let given = 0;
    await fc.assert(
      fc.asyncProperty(
        things,
        question,
        caps,
        budgets,
        fc.integer({ min: 1, max: 4 }),
        fc.array(walker, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(undefined, 'a', 'b'),
        fc.constantFrom(0, 0, 0, 1, 2, 4),
        async (these, args, someCaps, some, pageEntries, walkers, path, comeAfter) => {
          const place = city(setting, these);
          try {
            const asked = { args: { ...args, ...(path && { path }) }, caps: someCaps, budgets: some, pageEntries };
            const { executed, seen } = await shared(place, setting, asked, walkers, comeAfter);
            given += seen.given;
            expect(executed).toEqual(await alone(place, setting, asked));
          } finally {
            place.end();
          }
        },
      ),
      { numRuns: setting.tree === 'memory' ? RUNS * 10 : RUNS * 2 },
    );
    // The law would hold of a search that nobody ever joins.
    expect(given).toBeGreaterThan(0);
  });
});

describe.each<Setting>([
  { tree: 'memory', binding: 'fixed' },
  { tree: 'linux', binding: 'fixed' },
])('a search in parts, $tree', { timeout: TIME_MS }, (setting) => {
  const same = async (place: TestCity, asked: Asked, walkers: readonly Walker[], comeAfter = 0) => {
    const { executed, seen } = await shared(place, setting, asked, walkers, comeAfter);
    expect(executed, JSON.stringify({ ...asked, walkers, comeAfter })).toEqual(await alone(place, setting, asked));
    return seen;
  };
  const ASKED: Asked = { args: { text: 'n' }, caps: CAPS, budgets: {}, pageEntries: 1 };

  // Four rooms in each of two buildings, three files in a room: each border falls somewhere in a part.
  const HOUSES: Things = ['a', 'b'].flatMap((building) =>
    ['r', 's', 't', 'u'].flatMap(
      (room): Things => [
        [`${building}/${room}/1`, 'n'],
        [`${building}/${room}/2`, 'nn\nx'],
        [`${building}/${room}/3`, 'nnn\nn'],
      ],
    ),
  );

  it.each([
    ['textCap', 70],
    ['matchCap', 34],
    ['opens', 36],
    ['entries', 36],
    ['bytes', 90],
    ['buildingOpens', 18],
    ['buildingEntries', 18],
    ['buildingBytes', 46],
  ] as const)('ends where one thread would, at every value of %s', async (bound, most) => {
    const place = begin(setting, HOUSES);
    let given = 0;
    for (let value = 1; value <= most; value++) {
      const asked: Asked =
        bound === 'textCap' || bound === 'matchCap'
          ? { ...ASKED, caps: { ...CAPS, [bound]: value } }
          : { ...ASKED, budgets: { [bound]: value } };
      // Cut between the buildings, and inside the first one.
      for (const comeAfter of [0, 2, 4]) given += (await same(place, asked, [1, 2, 0, 1], comeAfter)).given;
    }
    expect(given).toBeGreaterThan(most);
  });

  it('leaves a building that is over its share, whoever met its bomb', async () => {
    const bomb = Array.from({ length: 12 }, (_, file): Things[number] => [`a/s/${10 + file}`, 'n']);
    const place = begin(setting, [...HOUSES.filter(([path]) => !String(path).startsWith('a/s/')), ...bomb]);
    for (const budgets of [{ buildingEntries: 11 }, { buildingOpens: 10 }, { buildingBytes: 8 }]) {
      for (let comeAfter = 0; comeAfter < 6; comeAfter++) await same(place, { ...ASKED, budgets }, [1, 2], comeAfter);
    }
  });

  it('cuts nothing where a walk may have passed a name that it does not open', async () => {
    const raw = Uint8Array.of(0x61, 0xff);
    const place = begin(setting, [
      ['a/a\ufffd', 'n'],
      [['a', raw], 'n'],
      ['a/b', 'n'],
      ['a/.git/x', 'n'],
      ['a/c', 'n'],
      ['a/.gitx', 'n'],
      ['b/.git/x', 'n'],
      ['b/x', 'n'],
      [['c', raw], 'n'],
      ['d', 'n'],
    ]);
    for (let comeAfter = 0; comeAfter < 12; comeAfter++) await same(place, ASKED, [1, 0], comeAfter);
  });

  it('costs what one thread costs where a walk is so deep that directories are opened again', async () => {
    const deep = Array.from({ length: 80 }, () => 'x').join('/');
    const place = begin(setting, [
      ['a/1', 'n'],
      ['a/2/3', 'n'],
      [`a/5/${deep}/n`, 'n'],
      ['a/6/1', 'n'],
      ['a/7', 'n'],
      ['b/1', 'n'],
    ]);
    for (let comeAfter = 0; comeAfter < 6; comeAfter++) await same(place, ASKED, [1, 2, 0], comeAfter);
  });

  it('cuts a walk deep inside: 300 files, 17 rooms, hits and unread entries in each', async () => {
    const rooms = Array.from({ length: 17 }, (_, room) => `lab/r${10 + room}`);
    const these: Things = [
      ...rooms.flatMap(
        (room): Things =>
          Array.from({ length: 18 }, (_, file): Things[number] => [`${room}/f${100 + file}`, `n ${file}\n`]),
      ),
      ...rooms.map((room): Things[number] => [`${room}/.git/x`, 'n']),
      ...rooms.map((room): Things[number] => [`${room}/to`, { link: 'nowhere' }]),
      ['zoo/x', 'n'],
    ];
    const place = begin(setting, these);
    for (const matchCap of [1, 18, 19, 100, 306, 307, 1_000]) {
      const asked = { args: { text: 'n' }, caps: { ...CAPS, matchCap }, budgets: {}, pageEntries: 7 };
      const { executed, seen } = await shared(place, setting, asked, [1, 0, 2, 'lost', 3]);
      expect(executed).toEqual(await alone(place, setting, asked));
      if (matchCap === 1_000) {
        expect(seen.parts).toBeGreaterThan(8);
        expect(hitsOf(asValue(executed.outcome as never))).toHaveLength(307);
      }
    }
  });
});
