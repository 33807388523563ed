/**
 * A path that leads to no file: how that is told, and what stands near it, under a floor. The floor of a city's path is
 * its first segment where that really is, the floor in a package is its directory; nothing above it is listed, so no
 * miss names a building or a neighbour on a shelf, and nothing a link leads out to is named either.
 * Spec: read, "A miss".
 */

import { type Asked, type AxError, invalidArgs } from '../error.js';
import { type Address, isReserved, joined, segmentRule, segmentsOf } from '../judge/address.js';
import { release, resolve, type Scene } from '../judge/locate.js';
import { NEARBY_CAP } from '../limits.js';
import type { Call } from '../runner/call.js';
import { type Dir, failed, type Tree } from '../tree/tree.js';
import { byBytes } from '../wasi/stretch.js';

/** There is no file at the path; `nearby` are paths that would do, `find` what finds others, if not `search`. */
export const missing = (at: Asked, nearby: readonly string[], find?: string): AxError => {
  const recovery =
    nearby.length > 0
      ? `read one of nearby, or ${find ?? 'find the file with `search`'}`
      : (find ?? 'find it with `search`');
  return invalidArgs(at, 'there is no such file', recovery, nearby);
};

/** The path leads to a directory; `nearby` are some of its entries, `find` what finds others. */
export const isDirectory = (at: Asked, nearby: readonly string[], find = '`search` there'): AxError => {
  const some = nearby.length > 0 ? ' (nearby names some of what it holds)' : '';
  return invalidArgs(at, 'it is a directory', `read a file in it${some}, or ${find}`, nearby);
};

/** Where a miss was met, and what may be told of the names there. */
export interface Vicinity {
  readonly scene: Scene<Dir>;
  /** How the caller reaches a landed directory, if the floor is it or lies above it. */
  spelled(landed: Address | ''): string | undefined;
  /** Whether both walls would let a landed address be told. */
  mayTell(landed: string): boolean;
}

/** Around a path of the city. */
export const inCity = (call: Call, asked: Address): Vicinity => ({
  scene: call.judged(),
  spelled: (landed) => spelledFrom(call, asked, landed),
  mayTell: (landed) => call.mayTell(landed),
});

/** Around a path in a package: `tree` is its directory, `place` where that is in the city, `name` how it is asked for. */
export function inPackage(call: Call, tree: Tree, place: Address, name: string): Vicinity {
  const mayTellThere = call.tellerIn(place);
  return {
    scene: call.judgedIn(tree, place),
    spelled: (landed) => (landed === '' ? name : joined(name, landed)),
    mayTell: (landed) => mayTellThere(landed) && !call.isDenied(joined(name, landed)),
  };
}

/** Entries of the directory itself, by path. For a path that is a directory. */
export const nearbyWithin = (vicinity: Vicinity, landed: Address | ''): readonly string[] =>
  candidates(vicinity, landed).sort(byBytes).slice(0, NEARBY_CAP);

/** Entries of the deepest existing directory above a missing place, nearest first. */
export function nearbyMissing(vicinity: Vicinity, absent: Address, deepest: Address | ''): readonly string[] {
  const depth = deepest === '' ? 0 : deepest.split('/').length;
  const name = segmentsOf(absent)[depth] ?? '';
  const ranked = candidates(vicinity, deepest).map((path) => {
    const own = path.slice(path.lastIndexOf('/') + 1);
    return { path, same: folded(own) === folded(name), common: commonPrefix(asciiLower(own), asciiLower(name)) };
  });
  ranked.sort((a, b) => Number(b.same) - Number(a.same) || b.common - a.common || byBytes(a.path, b.path));
  return ranked.slice(0, NEARBY_CAP).map(({ path }) => path);
}

/** The names of a directory as the caller reaches them, or none if it lies above the floor or does not list. */
function candidates({ scene, spelled, mayTell }: Vicinity, landed: Address | ''): string[] {
  const prefix = spelled(landed);
  if (prefix === undefined) return [];
  const landing = resolve(scene, { base: [], path: landed });
  if (landing.kind !== 'directory') {
    release(landing);
    return [];
  }
  const entries = landing.dir.list();
  release(landing);
  if (failed(entries)) return [];
  // What is reserved is asked of the spelling: a package lies in a reserved place itself.
  return entries
    .filter(({ name, nameable }) => nameable && segmentRule(name) === undefined && !isReserved(`${prefix}/${name}`))
    .filter(({ name }) => mayTell(joined(landed, name)))
    .map(({ name }) => `${prefix}/${name}`);
}

/** How the caller spells a landed directory, if the floor is it or lies above it. */
function spelledFrom(call: Call, asked: Address, landed: Address | ''): string | undefined {
  const first = segmentsOf(asked)[0] ?? '';
  const landing = resolve(call.judged(), { base: [], path: first });
  release(landing);
  if (landing.kind !== 'directory' || landing.address === '') return undefined;
  const floor = landing.address;
  if (landed === floor) return first;
  return landed.startsWith(`${floor}/`) ? first + landed.slice(floor.length) : undefined;
}

/**
 * Equal for names that people take for one another: white space, quotes, dashes and Unicode form folded. Forms come
 * last: NFKC takes an acute accent and a double prime apart, and then they are no quotes any more.
 */
export const folded = (name: string): string =>
  name
    .replace(/\s/gu, ' ')
    .replace(/[\u2018\u2019\u201a\u201b\u2032\u00b4`]/gu, "'")
    .replace(/[\u201c\u201d\u201e\u201f\u2033]/gu, '"')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .normalize('NFKC');

const asciiLower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function commonPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}
