/**
 * What a search of a city answers, the slow and obvious way: the things of a world as a tree in memory, links expanded
 * by their text, and what each name is told to the naive walk of test/guest/naive.ts. Knows nothing of the host.
 * It is itself compared with answers written by hand in search.laws.test.ts.
 */

import type { MemoryThing } from '../../dist/tree/memory.js';
import { naiveSearch } from '../guest/naive.js';
import { CODE, type Code, type Directory, type Place, QUERY, refused } from '../guest/world.js';
import type { Things } from '../tree/worlds.js';

type Node =
  | { readonly is: 'directory'; readonly names: Map<string, { readonly raw: boolean; readonly node: Node }> }
  | { readonly is: 'file'; readonly bytes: Uint8Array }
  | { readonly is: 'link'; readonly text: string }
  | { readonly is: 'other' };

export interface NaiveValue {
  readonly matches: readonly { readonly path: string; readonly line: number; readonly text: string }[];
  readonly truncated: boolean;
  readonly unread: readonly string[];
  readonly unreadable: number;
  readonly counts: Readonly<Record<string, number>>;
}

/** What the host calls each code. */
const CAUSE: Readonly<Partial<Record<Code, string>>> = {
  'file-too-large': 'too_large',
  'illegal-byte-sequence': 'name',
  unsupported: 'not_regular',
  'not-recoverable': 'rules',
  loop: 'link',
};

const encoder = new TextEncoder();
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder('utf-8', { ignoreBOM: true });

function nodeOf(thing: MemoryThing): Node {
  if (typeof thing === 'string') return { is: 'file', bytes: encoder.encode(thing) };
  if (thing instanceof Uint8Array) return { is: 'file', bytes: thing };
  if ('file' in thing) return nodeOf(thing.file);
  if ('link' in thing)
    return { is: 'link', text: typeof thing.link === 'string' ? thing.link : lossy.decode(thing.link) };
  return 'directory' in thing ? { is: 'directory', names: new Map() } : { is: 'other' };
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function treeOf(things: Things): Node {
  const root: Node = { is: 'directory', names: new Map() };
  for (const [path, thing] of things) {
    let at: Node = root;
    const names = typeof path === 'string' ? path.split('/') : [...path];
    for (const [index, name] of names.entries()) {
      if (at.is !== 'directory') throw new Error('a file has no children');
      const raw = typeof name !== 'string' && !isUtf8(name);
      const key = typeof name === 'string' ? name : lossy.decode(name);
      const isLast = index === names.length - 1;
      const node: Node =
        (isLast ? undefined : at.names.get(key)?.node) ?? (isLast ? nodeOf(thing) : nodeOf({ directory: true }));
      at.names.set(key, { raw, node });
      at = node;
    }
  }
  return root;
}

export type Says = (building: string) => 'open' | 'confidential' | 'rules-unreadable';

class City {
  readonly #root: Node;
  readonly #says: Says;
  constructor(things: Things, says: Says) {
    this.#root = treeOf(things);
    this.#says = says;
  }

  at(names: readonly string[]): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of names) {
      const entry: { raw: boolean; node: Node } | undefined =
        node?.is === 'directory' ? node.names.get(name) : undefined;
      node = entry?.raw === false ? entry.node : undefined;
    }
    return node;
  }

  /** A place is closed if it is reserved, or its building is not one that the root lists and the policy opens. */
  isClosed(names: readonly string[]): boolean {
    if (names.some((name) => /^\.(git|sprawling)$/i.test(name))) return true;
    const [building] = names;
    return building !== undefined && (this.at([building]) === undefined || this.#says(building) !== 'open');
  }

  /** Where a link in the directory `from` leads: a node, or the code of why not. */
  follow(from: readonly string[], text: string): Node | Code {
    let names = [...from];
    let steps = text.split('/');
    let isBeyond = false;
    for (let hops = 1; ; ) {
      const step = steps.shift();
      if (step === undefined) break;
      if (step === '' || step === '.') continue;
      if (step === '..') {
        if (names.length === 0) return 'not-permitted';
        names.pop();
        continue;
      }
      if (/[\\:\p{Cc}]/u.test(step) || /[.\p{White_Space}]$/u.test(step)) return 'loop';
      names.push(step);
      if (this.isClosed(names)) return 'not-permitted';
      const node = isBeyond ? undefined : this.at(names);
      if (isBeyond) continue;
      if (node === undefined) isBeyond = true;
      else if (node.is === 'link') {
        if (++hops > 40) return 'loop';
        names.pop();
        if (node.text.startsWith('/')) return 'not-permitted';
        steps = [...node.text.split('/'), ...steps];
      } else if (node.is !== 'directory') {
        if (steps.length === 0) return node;
        isBeyond = true;
      }
    }
    names = isBeyond ? [] : names;
    return isBeyond ? 'loop' : (this.at(names) ?? 'loop');
  }

  /** The directory as the naive walk takes it. */
  directory(names: readonly string[]): Directory {
    const node = this.at(names);
    if (node?.is !== 'directory') throw new Error('no directory');
    const entries = [...node.names].flatMap(([name, { raw, node: child }]): [string, Place][] => {
      const isTop = names.length === 0;
      if (raw) return [[`\0${name}`, refused('illegal-byte-sequence')]];
      if (isTop && this.#says(name) === 'confidential' && !/^\.(git|sprawling)$/i.test(name)) return [];
      if (isTop && this.#says(name) === 'rules-unreadable') return [[name, refused('not-recoverable')]];
      return [[name, this.#place(names, name, child)]];
    });
    return { is: 'directory', names: entries };
  }

  #place(names: readonly string[], name: string, node: Node): Place {
    switch (node.is) {
      case 'file':
        return { kind: 'regular-file', file: { is: 'file', bytes: node.bytes }, directory: 'not-directory' };
      case 'directory':
        return { kind: 'directory', file: 'is-directory', directory: this.directory([...names, name]) };
      case 'other':
        return refused('unsupported', 'fifo');
      case 'link': {
        if (node.text.startsWith('/')) return refused('not-permitted', 'symbolic-link');
        const end = this.follow(names, node.text);
        if (typeof end === 'string') return refused(end, 'symbolic-link');
        if (end.is === 'file')
          return { kind: 'symbolic-link', file: { is: 'file', bytes: end.bytes }, directory: 'loop' };
        return refused(end.is === 'directory' ? 'is-directory' : 'unsupported', 'symbolic-link');
      }
    }
  }
}

/** What `search` answers over these things, from the city's root or from a directory below it that is no link. */
export function naiveCitySearch(
  things: Things,
  says: Says,
  { text, context = 0, path = '' }: { readonly text: string; readonly context?: number; readonly path?: string },
): NaiveValue {
  const city = new City(things, says);
  const root = city.directory(path === '' ? [] : path.split('/'));
  const { hits, unread, coverage, ending } = naiveSearch(root, path, { ...QUERY, text, context: Math.min(context, 4) });
  const names = new Map<number, string>(
    Object.entries(CODE).map(([code, number]) => [number, CAUSE[code as Code] ?? code]),
  ); // keys of CODE
  const causes = coverage.causes.flatMap((count, number) =>
    count > 0 ? [[names.get(number) ?? number, count] as const] : [],
  );
  const { looked, directories, links, reserved, notText } = coverage;
  const counts: Record<string, number> = {
    looked,
    directories,
    links,
    reserved,
    not_text: notText,
    ...Object.fromEntries(causes),
  };
  return {
    matches: hits,
    truncated: ending !== 'complete',
    unread: unread.map((each) => each.path),
    unreadable: coverage.causes.reduce((sum, count) => sum + count, 0),
    counts: Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
  };
}
