/**
 * The two walls, attack by attack: each row of host/audit/attacks.ts against the product with both walls up, with one
 * wall's bound open, against each wall alone as a hostile guest asks it, and against a naive program that falls for it.
 * Whatever is answered or told, no byte of the bait, no name that must not be told and no path of the host is in it.
 *
 * Both walls share the grammar, the resolver and the tree; what is taken down here is one wall's bound: its verdicts and
 * its reserved rule. Containment is the resolver's and the tree's, and is shown by either alone and against `naive`.
 */

import { afterAll, describe, expect, it } from 'vitest';
import { ATTACKS, type Attack, BAIT, BAIT_NEEDLE, CANARY, type End } from '../../dist/audit/attacks.js';
import { isBroken, parseAddress } from '../../dist/judge/address.js';
import { Bound, type Verdict } from '../../dist/judge/bound.js';
import { defaultVerdict } from '../../dist/judge/rules.js';
import { granted } from '../../dist/tree/granted.js';
import { failed, type Tree } from '../../dist/tree/tree.js';
import { Filesystem } from '../../dist/wasi/filesystem.js';
import { type Handle, isCode, type OpenAt } from '../../dist/wasi/handles.js';
import { ALLOWANCE, Meter } from '../../dist/wasi/meter.js';
import { BINDINGS, type CallOptions, type Setting, TestCity, TREES } from '../support/cities.js';
import { type Ground, ground, isExpressible } from './ground.js';
import { naiveAnswer } from './naive.js';

const isRoot = process.getuid?.() === 0;
const rows = (tree: Setting['tree']): readonly Attack[] => ATTACKS.filter((attack) => isExpressible(attack, tree));
/** A row of the table as a test, or one that is skipped by name. */
const test = (attack: Attack) => (attack.needsRoot && !isRoot ? it.skip : it);
const title = (attack: Attack): string => (attack.needsRoot ? `${attack.name} (needs root)` : attack.name);

type Wall = 'judge' | 'filesystem';
type Where = 'in its path' | 'in lab' | 'from the top';

/** Runs a claim on fresh ground, the row's `before` done. */
async function on(
  attack: Attack,
  tree: Setting['tree'],
  claim: (ground: Ground) => Promise<void> | void,
): Promise<void> {
  const made = ground(attack, tree);
  try {
    made.swap(attack.before ?? []);
    await claim(made);
  } finally {
    made.world.end();
  }
}

const byName = (building: string): Verdict => ({
  kind: building === 'vault' || building === 'broken' ? 'confidential' : 'open',
});

function optionsOf(attack: Attack, ground: Ground, open?: Wall): CallOptions {
  const { between = [], reader = null, policy, deny = [] } = attack;
  let swapped = false;
  const betweenWalls = (): void => {
    if (!swapped) ground.swap(between);
    swapped = true;
  };
  return {
    reader,
    deny,
    ...(policy === 'by-name' && { policy: byName }),
    unchecked: { betweenWalls, ...(open && { openUnchecked: open }) },
  };
}

/** No output tells anything, but what the caller wrote itself. */
function expectSilent(output: unknown, asked: string, { hostPath, root }: Ground): void {
  const told = JSON.stringify(output).replaceAll(JSON.stringify(asked).slice(1, -1), '<asked>');
  expect(told).not.toContain(CANARY);
  if (hostPath !== undefined) expect(told).not.toContain(hostPath);
  if (!asked.includes(root)) expect(told).not.toContain(root === '/city' ? '"/city' : root);
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

describe('the table', () => {
  it('has rows enough, each with a name of its own and a reason', () => {
    expect(ATTACKS.length).toBeGreaterThan(60);
    expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
    for (const { why } of ATTACKS) expect(why).not.toBe('');
  });

  describe('each row succeeds against a naive program', () => {
    for (const attack of ATTACKS) {
      test(attack)(`${title(attack)}: ${attack.naive}`, () =>
        on(attack, isExpressible(attack, 'linux') ? 'linux' : 'memory', (made) => {
          made.swap(attack.between ?? []);
          const answer = naiveAnswer(attack.naive, made, made.fill(attack.path));
          switch (attack.naive) {
            case 'hangs':
              return expect(answer).toContain('ETIMEDOUT');
            case 'tells':
              return expect(answer).toContain(made.hostPath ?? made.root);
            case 'timid':
              return expect(answer).toBe('refused');
            default:
              return expect(answer).toContain(attack.naiveGets ?? CANARY);
          }
        }),
      );
    }
  });
});

const ALONE = [
  ['wall 2', 'filesystem'],
  ['what wall 1 grants', 'judge'],
] as const;

// Each row on its ground, in each tree: walls up, one down, the other down, each alone.
describe.each(TREES)('%s', (tree) => {
  for (const attack of rows(tree)) {
    describe(title(attack), () => {
      const shared = new Shared(attack, tree);
      afterAll(() => shared.end());

      test(attack)('both walls', async () => {
        for (const binding of BINDINGS) {
          const read = await shared.on((made) => readOn(made, attack, binding));
          const search = await shared.on((made) => searchOn(made, attack, binding, 'LANDED'));
          expect([read, search], binding).toEqual([attack.read, attack.search ?? attack.read]);
          await shared.on((made) => searchOn(made, { ...attack, between: [] }, binding, BAIT_NEEDLE));
          const fromTop = await shared.on((made) => searchOn(made, attack, binding, BAIT_NEEDLE, 'from the top'));
          expect(fromTop, binding).toEqual(endFromTop(attack));
        }
      });

      test(attack)('the bound of the judge open', async () => {
        const read = await shared.on((made) => readOn(made, attack, 'fixed', 'judge'));
        expect(read).toEqual(attack.withoutJudge ?? attack.read);
        await searchesOn(shared, attack, 'judge');
      });

      test(attack)('the bound of the file system open', async () => {
        const read = await shared.on((made) => readOn(made, attack, 'fixed', 'filesystem'));
        expect(read).toEqual(attack.read);
        await searchesOn(shared, attack, 'filesystem');
      });

      // Where no tree opens, no guest asks.
      if (attack.before === undefined) {
        for (const [name, wall] of ALONE) {
          test(attack)(`${name} alone, asked as a hostile guest asks`, async () => {
            for (const follow of [true, false]) {
              for (const directory of [true, false]) {
                await shared.on((made) => askRaw(attack, made, wall, { follow, directory }));
              }
            }
          });
        }
      }
    });
  }
});

/** The ground of a row: one for all its claims, or a fresh one each time where a neighbour changes it. */
class Shared {
  readonly #attack: Attack;
  readonly #tree: Setting['tree'];
  #ground: Ground | undefined;
  constructor(attack: Attack, tree: Setting['tree']) {
    this.#attack = attack;
    this.#tree = tree;
  }

  async on<T>(claim: (made: Ground) => Promise<T> | T): Promise<T> {
    if (this.#attack.between === undefined) return claim(this.#made());
    this.end();
    return claim(this.#made());
  }

  #made(): Ground {
    if (this.#ground === undefined) {
      this.#ground = ground(this.#attack, this.#tree);
      this.#ground.swap(this.#attack.before ?? []);
    }
    return this.#ground;
  }

  end(): void {
    this.#ground?.world.end();
    this.#ground = undefined;
  }
}

async function readOn(made: Ground, attack: Attack, binding: Setting['binding'], open?: Wall): Promise<End> {
  const path = made.fill(attack.path);
  const outcome = await new TestCity(made.world, binding).read({ path }, optionsOf(attack, made, open));
  expectSilent(outcome, path, made);
  return outcome.ok ? { lands: firstLine(outcome.value.text) } : { refused: outcome.error.code };
}

async function searchOn(
  made: Ground,
  attack: Attack,
  binding: Setting['binding'],
  text: string,
  where: Where = 'in its path',
  open?: Wall,
): Promise<End> {
  const path = where === 'in lab' ? 'lab' : made.fill(attack.path);
  const args = where === 'from the top' ? { text } : { text, path };
  const outcome = await new TestCity(made.world, binding).search(args, optionsOf(attack, made, open));
  expectSilent(outcome, where === 'from the top' ? '\0' : path, made);
  if (!outcome.ok) return { refused: outcome.error.code };
  const hit = outcome.value.matches[0];
  if (text === BAIT_NEEDLE) expect(hit).toBeUndefined();
  return hit === undefined ? 'nothing' : { lands: hit.text };
}

/** With one wall's bound open: for what may be found and for the bait, at the path, beside it, and from the top. */
async function searchesOn(shared: Shared, attack: Attack, open: Wall): Promise<void> {
  const baited: End[] = [];
  for (const where of ['in its path', 'in lab', 'from the top'] as const) {
    await shared.on((made) => searchOn(made, attack, 'fixed', 'LANDED', where, open));
    baited.push(await shared.on((made) => searchOn(made, attack, 'fixed', BAIT_NEEDLE, where, open)));
  }
  expect(baited.at(-1)).toEqual(endFromTop(attack));
}

/** A walk of the whole city finds no bait, or finds that the city is another one: whichever wall is down. */
function endFromTop({ before = [], between = [] }: Attack): End {
  if (before.some((swap) => 'replaceRoot' in swap)) return { refused: 'E_STORAGE_FATAL' };
  if (between.some((swap) => 'replaceRoot' in swap)) return { refused: 'E_GATE_DENIED' };
  return 'nothing';
}

function askRaw(attack: Attack, made: Ground, alone: Wall, flags: Pick<OpenAt, 'follow' | 'directory'>): void {
  const tree = made.world.open();
  const path = made.fill(attack.path);
  const bound = boundFor(attack, tree, path);
  const filesystem = new Filesystem({
    tree: alone === 'judge' ? granted(tree, bound) : tree,
    bound: alone === 'judge' ? Bound.openUnchecked() : bound,
    meter: new Meter(ALLOWANCE, 10_000),
    preopen: { kind: 'directory', shown: '', path: '' },
  });
  try {
    const preopened = filesystem.preopened();
    if (isCode(preopened)) throw new Error(`the city did not open: ${preopened}`);
    made.swap(attack.between ?? []);
    const opened = filesystem.openAt(preopened.handle, { ...flags, path, mutates: false });
    const told = isCode(opened) ? opened : everythingOf(filesystem, opened);
    expectSilent(told, path, made);
    if (flags.follow && !flags.directory) {
      const guest = isCode(opened) ? opened : { lands: firstLine(String(told)) };
      expect(guest).toEqual((alone === 'judge' && attack.granted) || attack.guest);
    }
    if (flags.follow && flags.directory) expectSilent(everythingOf(filesystem, preopened.handle), '\0', made);
  } finally {
    filesystem.close();
    tree.close();
    expect(tree.openCount()).toBe(0);
  }
}

/** The verdicts a call would have by then: of every name at the top, and of the building that is asked. */
function boundFor({ reader: own, policy, deny = [] }: Attack, tree: Tree, path: string): Bound {
  const reader = own ?? null;
  const listing = tree.root.list();
  if (failed(listing)) throw new Error(listing);
  const asked = parseAddress(path);
  const names = listing.filter(({ nameable }) => nameable).map(({ name }) => name);
  if (!isBroken(asked)) names.push(asked.split('/')[0] ?? '');
  const buildings = names.filter((name) => !isBroken(parseAddress(name)));
  const verdict = policy === 'by-name' ? byName : (name: string) => defaultVerdict(tree.root, reader, name);
  return new Bound({ reader, deny, entries: new Map(buildings.map((name) => [name, verdict(name)])) });
}

/** What a guest can learn from a handle: its bytes, or its names and the bytes of the files below, two levels deep. */
function everythingOf(filesystem: Filesystem, handle: Handle, levels = 2): readonly string[] {
  if (handle.kind === 'file') return [textOf(filesystem, handle)];
  const stream = filesystem.readDirectory(handle);
  if (isCode(stream)) return [stream];
  const told: string[] = [];
  for (;;) {
    const entry = filesystem.readEntry(stream);
    if (entry === undefined || isCode(entry)) break;
    told.push(entry.name);
    if (levels > 0) told.push(...openedBelow(filesystem, handle, entry.name, levels));
  }
  filesystem.drop(stream);
  return told;
}

function openedBelow(filesystem: Filesystem, handle: Handle, name: string, levels: number): readonly string[] {
  return [true, false].flatMap((directory) => {
    const opened = filesystem.openAt(handle, { follow: true, path: name, directory, mutates: false });
    if (isCode(opened)) return [opened];
    const told = everythingOf(filesystem, opened, levels - 1);
    filesystem.drop(opened);
    return told;
  });
}

function textOf(filesystem: Filesystem, handle: Handle): string {
  const into = new Uint8Array(256);
  const got = filesystem.read(handle, into, 0);
  return isCode(got) ? got : new TextDecoder().decode(into.subarray(0, got.bytes));
}

it('the bait would be found if it were read', () => {
  expect(BAIT).toContain(BAIT_NEEDLE);
  expect(BAIT).toContain(CANARY);
  expect(BAIT_NEEDLE).not.toContain(CANARY);
});
