/**
 * A path that leads to no file: what stands near it, under a floor. The floor is the first segment where it really
 * is; nothing above it is listed, so no miss names a building, and nothing a link leads out to is named either.
 * Spec: read, "A miss".
 */

import { type Address, segmentRule, segmentsOf } from '../judge/address.js';
import { release, resolve } from '../judge/locate.js';
import { NEARBY_CAP } from '../limits.js';
import type { Call } from '../runner/call.js';
import { failed } from '../tree/tree.js';

/** Entries of the directory itself, by path. For a path that is a directory. */
export const nearbyWithin = (call: Call, asked: Address, landed: Address | ''): readonly string[] =>
  candidates(call, asked, landed).sort(byBytes).slice(0, NEARBY_CAP);

/** Entries of the deepest existing directory above a missing place, nearest first. */
export function nearbyMissing(call: Call, asked: Address, missing: Address, deepest: Address | ''): readonly string[] {
  const depth = deepest === '' ? 0 : deepest.split('/').length;
  const name = segmentsOf(missing)[depth] ?? '';
  const ranked = candidates(call, asked, deepest).map((path) => {
    const own = path.slice(path.lastIndexOf('/') + 1);
    return { path, same: folded(own) === folded(name), common: commonPrefix(asciiLower(own), asciiLower(name)) };
  });
  ranked.sort((a, b) => Number(b.same) - Number(a.same) || b.common - a.common || byBytes(a.path, b.path));
  return ranked.slice(0, NEARBY_CAP).map(({ path }) => path);
}

/** The names of a directory as the caller reaches them, or none if it lies above the floor or does not list. */
function candidates(call: Call, asked: Address, landed: Address | ''): string[] {
  const prefix = spelledFrom(call, asked, landed);
  if (prefix === undefined) return [];
  const landing = resolve(call.judged(), { base: [], path: landed });
  if (landing.kind !== 'directory') {
    release(landing);
    return [];
  }
  const entries = landing.dir.list();
  release(landing);
  if (failed(entries)) return [];
  return entries
    .filter(({ name, nameable }) => nameable && segmentRule(name) === undefined)
    .filter(({ name }) => call.mayTell(`${landed}/${name}`))
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

const encoder = new TextEncoder();
/** The order of UTF-8 bytes, which is not that of JavaScript's strings. */
function byBytes(a: string, b: string): number {
  const [left, right] = [encoder.encode(a), encoder.encode(b)];
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
