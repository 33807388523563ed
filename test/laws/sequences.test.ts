/**
 * Law: any sequence of a guest's operations (open, list, read, drop, by names, `..`, absolute paths and through links),
 * with a neighbour's changes between them, gives what a naive model of texts and maps gives; on the memory tree and on a
 * disk the same, code for code. Nothing outside or closed is read, listed or named, and no descriptor is left.
 *
 * The neighbour makes, moves and removes what the model can also say simply: never over what is there, never what is
 * full. Races are test/race; every change here happens between two operations.
 */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Bound } from '../../dist/judge/bound.js';
import type { Tree } from '../../dist/tree/tree.js';
import { Filesystem } from '../../dist/wasi/filesystem.js';
import { DirHandle, FileHandle, type Handle, isCode } from '../../dist/wasi/handles.js';
import { ALLOWANCE, Meter } from '../../dist/wasi/meter.js';
import { diskWorld, memoryWorld, type Things, type World } from '../tree/worlds.js';

// ---- what happens ----

type Operation =
  | { readonly op: 'open'; readonly handle: number; readonly path: string; readonly directory: boolean }
  | { readonly op: 'list' | 'read' | 'drop'; readonly handle: number }
  | { readonly op: 'put'; readonly at: string; readonly thing: 'file' | 'directory' | { readonly link: string } }
  | { readonly op: 'move'; readonly from: string; readonly to: string }
  | { readonly op: 'remove'; readonly at: string };

const token = fc.constantFrom('a', 'a', 'a', 'b', 'b', 'l', '..', '.', '', 'closed', '.git', 'x');
const path = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join('/'));
/** `@` is the root as it was entered. */
const linkText = fc.oneof(
  // Linux makes no link that says nothing.
  { weight: 6, arbitrary: path.map((text) => text || '.') },
  { weight: 2, arbitrary: path.map((rest) => `@/${rest}`) },
  { weight: 1, arbitrary: fc.constantFrom('@', '@x', '/', '../outside/secret', '../../outside', '/proc/self/root') },
);
/** Where the neighbour writes: never in what is closed. */
const place = fc.array(fc.constantFrom('a', 'b', 'l'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const handle = fc.nat(5);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('open' as const), handle, path, directory: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constantFrom('list' as const, 'read' as const, 'drop' as const), handle }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('put' as const),
      at: place,
      thing: fc.oneof(
        fc.constantFrom('file' as const, 'directory' as const),
        linkText.map((link) => ({ link })),
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('move' as const), from: place, to: place }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('remove' as const), at: place }) },
);

// ---- the naive model ----

interface Model {
  readonly kind: 'directory' | 'file' | 'link';
  /** Of a file its text, of a link what it says. */
  readonly text: string;
  readonly names: Map<string, Model>;
}
const model = (kind: Model['kind'], text = ''): Model => ({ kind, text, names: new Map() });

/** A handle of the model: a thing, and of a directory where it was when it was opened. */
interface Held {
  readonly thing: Model;
  readonly at: readonly string[];
}

class Refused extends Error {}

const isClosed = (names: readonly string[]): boolean => names[0] === 'closed' || names.includes('.git');

class City {
  readonly root = model('directory');

  at(names: readonly string[]): Model | undefined {
    return names.reduce<Model | undefined>((thing, name) => thing?.names.get(name), this.root);
  }

  /** Whether a held directory is still where it was opened. */
  stands({ thing, at }: Held): boolean {
    return this.at(at) === thing;
  }

  open(from: Held, asked: string, directory: boolean): Held {
    const plain = asked !== '' && asked !== '.' && asked !== '..' && !asked.includes('/');
    const found = plain ? this.#openName(from, asked) : this.#openRoute(from, asked);
    if ((found.thing.kind === 'directory') !== directory) throw new Refused('kind');
    return found;
  }

  /** One name of a held directory, wherever that is by now; a directory in it must stand where it is looked for. */
  #openName(from: Held, name: string): Held {
    const at = [...from.at, name];
    if (isClosed(at)) throw new Refused('closed');
    const thing = from.thing.names.get(name);
    if (thing === undefined) throw new Refused('absent');
    if (thing.kind === 'link') return this.#openRoute(from, name);
    if (thing.kind === 'directory' && !this.stands({ thing, at })) throw new Refused('moved');
    return { thing, at };
  }

  /** Any other path, and every link: walked anew from the root, over texts. */
  #openRoute(from: Held, asked: string): Held {
    if (asked.startsWith('/')) throw new Refused('outside');
    // On the way to the directory that is held there was no link when it was opened.
    const way = from.at.map((_, index) => from.at.slice(0, index + 1));
    for (const names of way) if (this.at(names)?.kind !== 'directory') throw new Refused('moved');
    const names = this.#walk([...from.at], asked, from.at.length, { hops: 0 });
    const thing = this.at(names);
    if (thing === undefined) throw new Refused('absent');
    return { thing, at: names };
  }

  /** `floor`: how many names the path's own `..` may not take away. Gives the names of what is there. */
  #walk(start: string[], text: string, floor: number, count: { hops: number }): string[] {
    let names = start;
    for (const name of text.split('/')) {
      const here = this.at(names);
      if (name === '' || name === '.') {
        if (here?.kind !== 'directory') throw new Refused('through a file');
      } else if (name === '..') {
        if (names.length === 0 || (names.length <= floor && isPrefix(names, start))) throw new Refused('above');
        if (here?.kind !== 'directory') throw new Refused('through a file');
        names = names.slice(0, -1);
      } else {
        const next = [...names, name];
        if (isClosed(next)) throw new Refused('closed');
        const thing = here?.names.get(name);
        if (thing === undefined) throw new Refused('absent');
        names = thing.kind === 'link' ? this.#follow(names, thing.text, count) : next;
      }
    }
    return names;
  }

  #follow(names: string[], text: string, count: { hops: number }): string[] {
    if (++count.hops > 40 || text === '') throw new Refused('loop');
    if (text === '@') return [];
    if (text.startsWith('@/')) return this.#walk([], text.slice(2), 0, count);
    if (text.startsWith('/') || text.startsWith('@x')) throw new Refused('outside');
    return this.#walk([...names], text, 0, count);
  }
}

const isPrefix = (names: readonly string[], of: readonly string[]): boolean =>
  names.every((name, index) => of[index] === name);

// ---- ours, told as the model tells it ----

class Ours {
  readonly tree: Tree;
  readonly filesystem: Filesystem;
  readonly handles: Handle[] = [];
  readonly world: World;
  readonly root: string;

  constructor(world: World, root: string) {
    this.world = world;
    this.root = root;
    this.tree = world.open();
    this.filesystem = new Filesystem({
      tree: this.tree,
      bound: BOUND,
      meter: new Meter(ALLOWANCE, 600_000),
      preopen: { kind: 'directory', shown: '', path: '' },
    });
    const preopened = this.filesystem.preopened();
    if (isCode(preopened)) throw new Error(preopened);
    this.handles.push(preopened.handle);
  }

  open(from: number, asked: string, directory: boolean): string {
    const opened = this.filesystem.openAt(this.#at(from), { follow: true, path: asked, directory, mutates: false });
    if (isCode(opened)) return `refused ${opened}`;
    this.handles.push(opened);
    return opened instanceof DirHandle ? `directory ${opened.landed}` : `file ${this.#textOf(opened)}`;
  }

  list(from: number): string {
    const stream = this.filesystem.readDirectory(this.#at(from));
    if (isCode(stream)) return `refused ${stream}`;
    const names = stream.entries.map((entry) => entry.name).sort();
    this.filesystem.drop(stream);
    return `names ${names.join(' ')}`;
  }

  read(from: number): string {
    const held = this.#at(from);
    return held instanceof FileHandle
      ? `file ${this.#textOf(held)}`
      : `refused ${this.filesystem.read(held, BUFFER, 0)}`;
  }

  drop(at: number): void {
    this.filesystem.drop(this.#at(at));
    this.handles.splice(at, 1);
  }

  #at(index: number): Handle {
    const held = this.handles[index];
    if (held === undefined) throw new Error('no such handle');
    return held;
  }

  #textOf(file: FileHandle): string {
    const came = this.filesystem.read(file, BUFFER, 0);
    return isCode(came) ? came : new TextDecoder().decode(BUFFER.subarray(0, came.bytes));
  }

  /** What is left open when everything was given back. */
  end(): number {
    this.filesystem.close();
    const left = this.tree.openCount() - 1;
    this.tree.close();
    return left + this.tree.openCount();
  }
}

const BUFFER = new Uint8Array(64);
const BOUND = new Bound({
  reader: null,
  entries: new Map([
    ['a', { kind: 'open' }],
    ['b', { kind: 'open' }],
    ['l', { kind: 'open' }],
    ['x', { kind: 'open' }],
    ['closed', { kind: 'confidential' }],
  ]),
});
const START: Things = [
  ['a/a', 'first'],
  ['b', { directory: true }],
  ['closed/a', 'CANARY'],
  ['a/.git/a', 'CANARY'],
];

// ---- one run ----

/** Runs the operations over the model and each of ours, in step; the kinds of answers that were met. */
function run(operations: readonly Operation[], ours: readonly Ours[], met: Set<string>): void {
  const city = new City();
  grow(city, 'a/a', model('file', 'first'));
  grow(city, 'a/.git', model('directory'));
  grow(city, 'b', model('directory'));
  grow(city, 'closed/a', model('file', 'CANARY'));
  const held: Held[] = [{ thing: city.root, at: [] }];
  for (const [step, operation] of operations.entries()) {
    if (operation.op === 'put' || operation.op === 'move' || operation.op === 'remove') {
      change(city, ours, operation, `text ${step}`);
      continue;
    }
    const index = operation.handle % held.length;
    if (operation.op === 'drop') {
      // The preopened directory is kept: everything starts from it.
      if (index === 0) continue;
      held.splice(index, 1);
      for (const each of ours) each.drop(index);
      continue;
    }
    const expected = expectedOf(city, held, operation, index);
    const answers = ours.map((each) => answerOf(each, operation, index));
    met.add(expected.split(' ')[0] ?? '');
    for (const answer of answers) {
      expect(answer).not.toMatch(/CANARY|SECRET|only-outside/);
      // The model knows that it is refused; the two trees agree on the code.
      if (expected !== 'unsaid') expect(answer.startsWith('refused') ? 'refused' : answer).toBe(expected);
    }
    if (expected !== 'unsaid') expect(new Set(answers).size, answers.join(' / ')).toBe(1);
  }
}

function expectedOf(city: City, held: Held[], operation: Operation, index: number): string {
  const from = held[index];
  if (from === undefined) throw new Error('no handle');
  if (operation.op === 'list') {
    if (from.thing.kind !== 'directory') return 'refused';
    // An empty directory that is elsewhere or gone: only a disk knows which.
    if (from.thing.names.size === 0 && !city.stands(from)) return 'unsaid';
    const names = [...from.thing.names.keys()].filter((name) => from.at.length > 0 || name !== 'closed');
    return `names ${names.sort().join(' ')}`;
  }
  if (operation.op === 'read') return from.thing.kind === 'file' ? `file ${from.thing.text}` : 'refused';
  if (operation.op !== 'open' || from.thing.kind !== 'directory') return 'refused';
  try {
    const found = city.open(from, operation.path, operation.directory);
    held.push(found);
    return found.thing.kind === 'directory' ? `directory ${found.at.join('/')}` : `file ${found.thing.text}`;
  } catch (thrown) {
    if (thrown instanceof Refused) return 'refused';
    throw thrown;
  }
}

function answerOf(ours: Ours, operation: Operation, index: number): string {
  if (operation.op === 'open') return ours.open(index, operation.path, operation.directory);
  return operation.op === 'list' ? ours.list(index) : ours.read(index);
}

/** What the neighbour does, if the model can say what it is: into what is there, never over it, nothing full removed. */
function change(city: City, ours: readonly Ours[], operation: Operation, text: string): void {
  if (operation.op === 'put') {
    const made = makes(operation.thing, text);
    if (!grow(city, operation.at, made, false)) return;
    for (const { world, root } of ours) world.put(operation.at, thingOf(operation.thing, text, root));
  } else if (operation.op === 'remove') {
    const names = operation.at.split('/');
    const [thing, parent] = [city.at(names), city.at(names.slice(0, -1))];
    if (thing === undefined || thing.names.size > 0) return;
    parent?.names.delete(names.at(-1) ?? '');
    for (const { world } of ours) world.remove(operation.at);
  } else if (operation.op === 'move') {
    const thing = city.at(operation.from.split('/'));
    if (thing === undefined || `${operation.to}/`.startsWith(`${operation.from}/`)) return;
    if (!grow(city, operation.to, thing, false)) return;
    const names = operation.from.split('/');
    city.at(names.slice(0, -1))?.names.delete(names.at(-1) ?? '');
    for (const { world } of ours) world.move(operation.from, operation.to);
  }
}

type Put = Extract<Operation, { op: 'put' }>['thing'];

const makes = (thing: Put, text: string): Model =>
  typeof thing === 'object' ? model('link', thing.link) : thing === 'file' ? model('file', text) : model('directory');

function thingOf(thing: Put, text: string, root: string) {
  if (typeof thing === 'object') return { link: thing.link.replace(/^@/, root) };
  return thing === 'file' ? text : ({ directory: true } as const);
}

/** Puts a thing where nothing is; `makesParents` of what is missing above it. Whether it was put. */
function grow(city: City, at: string, thing: Model, makesParents = true): boolean {
  const names = at.split('/');
  const last = names.pop() ?? '';
  let parent: Model | undefined = city.root;
  for (const name of names) {
    if (makesParents && parent?.names.get(name) === undefined) parent?.names.set(name, model('directory'));
    parent = parent?.names.get(name);
  }
  if (parent?.kind !== 'directory' || parent.names.has(last)) return false;
  parent.names.set(last, thing);
  return true;
}

const SEED = Number(process.env['SOAK_SEED'] ?? 20_260_731);

it.skipIf(process.platform !== 'linux')(
  `operations with changes between them answer as a naive model does, in memory and on a disk (seed ${SEED})`,
  () => {
    const met = new Set<string>();
    fc.assert(
      fc.property(fc.array(operation, { minLength: 5, maxLength: 30 }), (operations) => {
        const memory = memoryWorld(START);
        const disk = diskWorld('linux')(START);
        const ours = [new Ours(memory, '/city'), new Ours(disk, disk.root)];
        try {
          run(operations, ours, met);
          expect(ours.map((each) => each.end())).toEqual([0, 0]);
        } finally {
          memory.end();
          disk.end();
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
    // The law would be empty if all were refused.
    for (const kind of ['directory', 'file', 'names', 'refused']) expect(met).toContain(kind);
  },
  60_000,
);
