/**
 * A stretch of a walk: what comes, in walk order, from one place on and before another. A guest that walks a stretch is
 * not told so: the listings on the way to its borders leave out what lies outside. So a walk can be cut anywhere, and its
 * parts be walked by guests that know nothing of one another; wall 2 keeps the borders.
 *
 * Places are names below the start of the walk; their order is the walk's: depth first, names by UTF-8 bytes. A place
 * need not exist. A directory belongs to the stretch that its name lies in, whoever walks what it holds.
 */

import type { Entry } from '../tree/tree.js';

/** Both borders by their names below a directory; no names: no border. */
export interface Stretch {
  /** The first place that belongs to it. */
  readonly from: readonly string[];
  /** The first place behind it. */
  readonly until: readonly string[];
}

/** By UTF-8 bytes: below zero if `a` comes first, zero if they are equal. O(their length). */
export function byBytes(a: string, b: string): number {
  const common = Math.min(a.length, b.length);
  for (let i = 0; i < common; i++) {
    const [one, other] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (one !== other) return rank(one) - rank(other);
  }
  return a.length - b.length;
}

/** Surrogates, which stand for what is above all others, behind what has one unit. */
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** Whether a walk of the stretch meets a name of the directory whose part of it this is. */
export function meets({ from, until }: Stretch, name: string): boolean {
  if (from[0] !== undefined && byBytes(name, from[0]) < 0) return false;
  if (until[0] === undefined) return true;
  const order = byBytes(name, until[0]);
  return order < 0 || (order === 0 && until.length > 1);
}

/** What of the stretch lies below a name of its directory; undefined: everything there. */
export function below(stretch: Stretch | undefined, name: string): Stretch | undefined {
  if (stretch === undefined) return undefined;
  const from = name === stretch.from[0] ? stretch.from.slice(1) : [];
  const until = name === stretch.until[0] ? stretch.until.slice(1) : [];
  return from.length === 0 && until.length === 0 ? undefined : { from, until };
}

/** Whether the directory only leads to the first place of its stretch: it was taken up by who walked before. */
export const isOnTheWay = (stretch: Stretch | undefined): boolean => stretch !== undefined && stretch.from.length > 0;

/** What a walk knows of a directory it is in: what it was given, and the name that it opened last. */
export interface Standing {
  readonly names: readonly Entry[];
  readonly last: string | undefined;
}

/** Whether a walk opens it when it takes it up: of other names nobody but the walk knows that it has passed them. */
export type Opens = (entry: Entry) => boolean;

/**
 * Of the places that a walk, standing between two entries, has yet to take up: the first, and others in its order that
 * cut the rest as evenly as can be told, at most `most` in all. `levels` are the directories it is in, from its start on,
 * and `names` what the second and those below it are called. Undefined if it cannot be told how far the walk is.
 * O(n log n) of the names of those directories.
 */
export function placesAhead(
  levels: readonly Standing[],
  names: readonly string[],
  opens: Opens,
  most: number,
): readonly (readonly string[])[] | undefined {
  const places: Place[] = [];
  for (const [index, level] of [...levels.entries()].reverse()) {
    const way = names.slice(0, index);
    const isDeepest = index === levels.length - 1;
    const inside = isDeepest ? undefined : names[index];
    if (!isDeepest && level.last !== inside) return undefined;
    const ahead = level.names.filter(({ name }) => level.last === undefined || byBytes(name, level.last) > 0);
    ahead.sort((a, b) => byBytes(a.name, b.name));
    // A name that is not opened may have been passed already: it must not come first, nor be spelled like the last.
    const first = isDeepest ? ahead[0] : undefined;
    if (first !== undefined && !opens(first)) return undefined;
    if (level.names.some((entry) => entry.name === level.last && !opens(entry))) return undefined;
    for (const { name, kind } of ahead)
      places.push({ way, name, weight: kind === 'directory' ? FILES_A_DIRECTORY : 1 });
  }
  return evenly(places, most).map(({ way, name }) => [...way, name]);
}

interface Place {
  readonly way: readonly string[];
  readonly name: string;
  readonly weight: number;
}

/** What is below a directory is not known before it is listed. */
const FILES_A_DIRECTORY = 16;

/** The first, and each at which another part of the whole weight begins: as many as there are parts, or fewer. */
function evenly(all: readonly Place[], parts: number): readonly Place[] {
  const each = all.reduce((sum, { weight }) => sum + weight, 0) / parts;
  let before = 0;
  let last = -1;
  return all.filter(({ weight }) => {
    const part = Math.floor(before / each);
    before += weight;
    const isBorder = part > last && last < parts - 1;
    if (isBorder) last = part;
    return isBorder;
  });
}
