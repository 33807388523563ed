/**
 * Locating: where a path really is. The one resolver of the project: wall 1 lands with it on what was asked and
 * on every path of an answer, wall 2 expands links with it at every open, each with a bound of its own.
 *
 * It walks a stack of open directories, one segment at a time; `..` pops the stack and never reaches the disk.
 * Links are expanded here, from their text. Every place passed is judged before it is looked at, whether or not
 * it exists, so a refusal says the same of what is there and of what is not. No I/O but through a `Place`.
 */

import {
  type Asked,
  type AxError,
  changedAfterJudged,
  gateDenied,
  invalidArgs,
  limitReached,
  storageFatal,
} from '../error.js';
import { DIR_ENTRIES_MAX, LINK_HOPS_MAX, PATH_STEPS_MAX } from '../limits.js';
import {
  type Address,
  type AddressRule,
  isBroken,
  isWithin,
  joined,
  parseAddress,
  RULE_SENTENCES,
  segmentRule,
} from './address.js';
import { denied, isTooLong, notAddress, tooLong } from './admit.js';
import type { Bound, Denial } from './bound.js';
import {
  type Failure,
  failed,
  type Identity,
  type Look,
  type Place,
  type RootSpellings,
  sameIdentity,
} from './place.js';

// ---- absolute paths, by text ----

/** Where a written path points, by its text alone. */
export type Within =
  /** The platform does not call it absolute. */
  | { readonly kind: 'relative' }
  /** Below the root; `rest` in its own spelling, still to be admitted. */
  | { readonly kind: 'inside'; readonly rest: string }
  /** The root itself. */
  | { readonly kind: 'city' }
  | { readonly kind: 'outside' };

const SEPARATORS = { posix: /\//g, win32: /[\\/]/g } as const;
const ABSOLUTE = { posix: /^\//, win32: /^(?:[\\/]|[A-Za-z]:[\\/])/ } as const;

/**
 * What an absolute path means in a city: compared by text and whole segments with the root as it was entered and as
 * it really lies. Nothing is looked at, so the answer cannot tell what is outside. Linear.
 * A `rest` with doubled or trailing slashes stays so and is refused by the grammar; `<root>/` alone is the city.
 */
export function withinCity(raw: string, spellings: RootSpellings): Within {
  const { entered, real, style } = spellings;
  if (!ABSOLUTE[style].test(raw)) return { kind: 'relative' };
  for (const root of [entered, real]) {
    const within = below(raw, root, SEPARATORS[style]);
    if (within !== undefined) return within;
  }
  return { kind: 'outside' };
}

function below(raw: string, root: string, separators: RegExp): Within | undefined {
  // Separators are one character each, so offsets in the compared text are offsets in `raw`.
  const text = raw.replace(separators, '/');
  const base = root.replace(separators, '/').replace(/\/$/, '');
  if (text === base || text === `${base}/`) return { kind: 'city' };
  return text.startsWith(`${base}/`) ? { kind: 'inside', rest: raw.slice(base.length + 1) } : undefined;
}

// ---- the resolver ----

/** In what a path is resolved: the root (never closed here), its spellings, and the bound of the wall that asks. */
export interface Scene<D extends Place<D>> {
  readonly root: D;
  readonly spellings: RootSpellings;
  readonly bound: Bound;
}

/** What is resolved. */
export interface Route {
  /** Where to start: segments of a directory known to hold no link, [] for the root. */
  readonly base: readonly string[];
  /**
   * What to walk from there; '/'-separated, may hold '.', '..', empty segments, a trailing '/', as link text does.
   * `''` is the base itself. Its own `..` may not lead to a directory above the base.
   */
  readonly path: string;
}

/** Where a route ends. `linked` says whether a link was followed before that. */
export type Landing<D> =
  /** `dir` is the caller's to close if `owned`; it is not if it is the scene's root. */
  | {
      readonly kind: 'directory';
      readonly address: Address | '';
      readonly dir: D;
      readonly owned: boolean;
      readonly linked: boolean;
    }
  /** A file, or what is neither file nor directory nor link, and the directory it stands in (see `owned` above). */
  | {
      readonly kind: 'entry';
      readonly address: Address;
      readonly parent: D;
      readonly owned: boolean;
      readonly name: string;
      readonly look: Look;
      readonly linked: boolean;
    }
  /** No such place, judged like a present one; `deepest` is the last directory on the way that exists. */
  | { readonly kind: 'absent'; readonly address: Address; readonly deepest: Address | ''; readonly linked: boolean }
  | FailedLanding;

/** The landings that are refusals; `landingError` words them. */
export type FailedLanding =
  /** The bound says no at a place passed or landed in. */
  | { readonly kind: 'denied'; readonly denial: Denial; readonly linked: boolean }
  /** Above the base by the path's own `..`, above the root by a link's, or absolute and not under the root. */
  | { readonly kind: 'outside'; readonly linked: boolean }
  /** A segment that came from no listing does not stand byte for byte in its parent's. */
  | { readonly kind: 'alias' }
  /** A link that stays inside and leads nowhere, to itself, or over too many others. */
  | { readonly kind: 'unresolved' }
  /** A path through a file, or with a `/` behind one. */
  | { readonly kind: 'through-file'; readonly linked: boolean }
  /** A segment, of the path or (`linked`) of a link's text, that is none of an address. */
  | { readonly kind: 'not-address'; readonly rule: AddressRule; readonly linked: boolean }
  /** The tree failed; after a look that gave something else, it changed meanwhile. */
  | { readonly kind: 'failed'; readonly failure: Failure };

/**
 * Where `route` leads in `scene`, every link on the way followed inside the city and every place judged.
 * Whatever it opens and does not return is closed, also when a `Place` throws.
 * At most PATH_STEPS_MAX segments, LINK_HOPS_MAX links; for each segment at most one look, one question for its
 * spelling and one open. Spec: address-and-bound, "land".
 */
export function resolve<D extends Place<D>>(scene: Scene<D>, route: Route): Landing<D> {
  const walk = new Walk(scene, route.base);
  try {
    return walk.run(route.path);
  } finally {
    walk.close();
  }
}

/** One segment still to walk. */
interface Step {
  readonly name: string;
  /** It is of a link's text, not of the path asked. */
  readonly linked: boolean;
}

/** Set once the way has left what exists: the rest is judged by text alone, since nothing there can be a link. */
interface Beyond {
  readonly cause: 'no-entry' | 'bad-name' | 'through-file';
  /** The segment at fault is of a link's text. */
  readonly linked: boolean;
  /** The place that is missing, or the file walked through. */
  readonly place: Address;
  readonly deepest: Address | '';
}

/** The state of one resolution. */
class Walk<D extends Place<D>> {
  readonly #scene: Scene<D>;
  readonly #base: readonly string[];
  /** Directories below the root that are open, outermost first: one for each of `#names`, until the way is beyond. */
  readonly #opened: D[] = [];
  /** Where the walk is, and the same as one text. */
  readonly #names: string[] = [];
  #address = '';
  /** Steps to go, the next one last. */
  readonly #pending: Step[] = [];
  #beyond: Beyond | undefined;
  #linked = false;
  #hops = 0;
  #steps = 0;

  constructor(scene: Scene<D>, base: readonly string[]) {
    this.#scene = scene;
    this.#base = base;
  }

  run(path: string): Landing<D> {
    if (path.startsWith('/')) return { kind: 'outside', linked: false };
    if (isTooLong(path) || !this.#push(path, false)) return { kind: 'failed', failure: 'bad-name' };
    const entered = this.#enter();
    if (entered !== undefined) return entered;
    for (let step = this.#pending.pop(); step !== undefined; step = this.#pending.pop()) {
      const landing = this.#take(step);
      if (landing !== undefined) return landing;
    }
    return this.#arrive();
  }

  close(): void {
    for (const dir of this.#opened) dir.close();
  }

  /** Opens the base, judging each level. A link in it was none when the caller learned of it: that is a failure. */
  #enter(): Landing<D> | undefined {
    for (const name of this.#base) {
      const refusal = this.#name({ name, linked: false }) ?? this.#open(name);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** Queues the segments of a path or link text; false if that is more than may be walked. */
  #push(text: string, linked: boolean): boolean {
    const names = text.split('/');
    if (this.#steps + this.#pending.length + names.length > PATH_STEPS_MAX) return false;
    for (const name of names.reverse()) this.#pending.push({ name, linked });
    return true;
  }

  #take(step: Step): Landing<D> | undefined {
    this.#steps++;
    if (step.name === '' || step.name === '.') return undefined;
    if (step.name === '..') return this.#climb(step);
    const refusal = this.#name(step);
    if (refusal !== undefined || this.#beyond !== undefined) return refusal;
    return this.#meet(step);
  }

  #climb(step: Step): Landing<D> | undefined {
    const above = this.#names.slice(0, -1);
    const leaves = this.#names.length === 0 || (!step.linked && isAbove(above, this.#base));
    if (leaves) return { kind: 'outside', linked: this.#linked };
    this.#stepOut();
    // Beyond what exists this closes too much, and nothing is asked of these any more.
    this.#opened.pop()?.close();
    return undefined;
  }

  /** Steps into a name by text: grammar and bound, before anything is looked at. */
  #name(step: Step): Landing<D> | undefined {
    const rule = segmentRule(step.name);
    if (rule !== undefined) return { kind: 'not-address', rule, linked: step.linked };
    const place = this.#address;
    this.#names.push(step.name);
    this.#address = joined(place, step.name);
    // `place` was judged when the walk stepped into it.
    const denial = this.#scene.bound.judgeWithin(place, step.name);
    return denial === undefined ? undefined : { kind: 'denied', denial, linked: this.#linked };
  }

  #stepOut(): void {
    const name = this.#names.pop() ?? '';
    this.#address = this.#address.slice(0, -name.length - 1);
  }

  /** Looks at the judged name the walk has stepped into, and goes on by what it is. */
  #meet(step: Step): Landing<D> | undefined {
    const { name } = step;
    const look = this.#here().look(name);
    if (look === 'no-entry' || look === 'bad-name') return this.#leave(look, step.linked);
    if (failed(look)) return { kind: 'failed', failure: look };
    const stands = this.#here().stands(name, look);
    if (failed(stands)) return { kind: 'failed', failure: stands };
    // A name that vanished between the two questions does not stand either; that is absence, no alias.
    if (!stands)
      return this.#here().look(name) === 'no-entry' ? this.#leave('no-entry', step.linked) : { kind: 'alias' };
    switch (look.kind) {
      case 'directory':
        return this.#open(name);
      case 'link':
        return this.#expand(name);
      case 'file':
      case 'other':
        return this.#meetFile(name, look);
    }
  }

  #open(name: string): Landing<D> | undefined {
    const dir = this.#here().directory(name);
    if (failed(dir)) return { kind: 'failed', failure: dir };
    this.#opened.push(dir);
    return undefined;
  }

  #expand(name: string): Landing<D> | undefined {
    this.#linked = true;
    if (++this.#hops > LINK_HOPS_MAX) return { kind: 'unresolved' };
    const link = this.#here().linkText(name);
    if (link === 'bad-name') return { kind: 'not-address', rule: 'not-unicode', linked: true };
    return failed(link) ? { kind: 'failed', failure: link } : this.#follow(link.text);
  }

  #follow(text: string): Landing<D> | undefined {
    this.#stepOut();
    const within = withinCity(text, this.#scene.spellings);
    if (within.kind === 'outside') return { kind: 'outside', linked: true };
    if (within.kind !== 'relative') this.#returnToRoot();
    const rest = within.kind === 'inside' ? within.rest : within.kind === 'city' ? '.' : text;
    // An empty text leads nowhere (POSIX: ENOENT), not to the directory it stands in.
    if (rest === '' || isTooLong(rest) || !this.#push(rest, true)) return { kind: 'unresolved' };
    return undefined;
  }

  #returnToRoot(): void {
    for (const dir of this.#opened.splice(0)) dir.close();
    this.#names.length = 0;
    this.#address = '';
  }

  #meetFile(name: string, look: Look): Landing<D> | undefined {
    const next = this.#pending.at(-1);
    if (next !== undefined) return this.#leave('through-file', next.linked);
    const { parent, owned } = this.#handOver();
    return { kind: 'entry', address: addressOf(this.#address), parent, owned, name, look, linked: this.#linked };
  }

  #leave(cause: Beyond['cause'], linked: boolean): undefined {
    const deepest = this.#opened.length === 0 ? '' : addressOf(this.#names.slice(0, this.#opened.length).join('/'));
    this.#beyond = { cause, linked, place: addressOf(this.#address), deepest };
  }

  /** The end of the path, at a directory or beyond what exists. */
  #arrive(): Landing<D> {
    const beyond = this.#beyond;
    if (beyond !== undefined) return this.#miss(beyond);
    const address = this.#address === '' ? '' : addressOf(this.#address);
    const { parent: dir, owned } = this.#handOver();
    return { kind: 'directory', address, dir, owned, linked: this.#linked };
  }

  #miss({ cause, linked, place, deepest }: Beyond): Landing<D> {
    if (linked) return { kind: 'unresolved' };
    if (cause === 'through-file') return { kind: 'through-file', linked: this.#linked };
    if (cause === 'bad-name') return { kind: 'failed', failure: 'bad-name' };
    // `missing/..` ends at what exists, but the system would not get there: the missing place is what is absent.
    const end = this.#address === '' ? place : addressOf(this.#address);
    return { kind: 'absent', address: isWithin(end, place) ? end : place, deepest, linked: this.#linked };
  }

  #here(): D {
    return this.#opened.at(-1) ?? this.#scene.root;
  }

  /** Gives the directory the walk is in to the caller. */
  #handOver(): { readonly parent: D; readonly owned: boolean } {
    const parent = this.#opened.pop();
    return parent === undefined ? { parent: this.#scene.root, owned: false } : { parent, owned: true };
  }
}

/** Whether `place` is a strict ancestor of `base`. */
const isAbove = (place: readonly string[], base: readonly string[]): boolean =>
  place.length < base.length && place.every((name, index) => name === base[index]);

/** The address of judged segments. @throws Error if it is none: each was asked `segmentRule`. */
function addressOf(place: string): Address {
  const address = parseAddress(place);
  if (isBroken(address)) throw new Error(`a place that was judged is no address: ${address.broken}`);
  return address;
}

/** Closes what a landing holds; safe for every kind, and twice. */
export function release<D extends Place<D>>(landing: Landing<D>): void {
  if (landing.kind === 'directory' && landing.owned) landing.dir.close();
  if (landing.kind === 'entry' && landing.owned) landing.parent.close();
}

/**
 * Whether `address` still resolves to itself, with no link on the way, and what is there is the thing `identity` names.
 * Asked after the open of what was judged: a link swapped in that stayed shows in the first, one that was taken back in
 * the second. One resolution.
 */
export function stillJudged<D extends Place<D>>(scene: Scene<D>, address: Address, identity: Identity): boolean {
  const landing = resolve(scene, { base: [], path: address });
  try {
    if (landing.kind !== 'directory' && landing.kind !== 'entry') return false;
    const now = landing.kind === 'directory' ? landing.dir.identity : landing.look.identity;
    // An address holds no `..`: without a link on the way the landing is spelled like it.
    return !landing.linked && sameIdentity(now, identity);
  } finally {
    release(landing);
  }
}

// ---- refusals ----

/** The tree's failures in our words, as half a sentence: for `unread[].why` and after "it ". */
export const FAILURE_SENTENCES: Readonly<Record<Failure, string>> = {
  'no-entry': 'vanished since it was listed',
  access: 'the system does not permit opening it',
  'not-directory': 'became something else while it was looked at',
  'is-directory': 'it is a directory',
  'is-link': 'became a link while it was looked at',
  'not-regular': 'not a regular file',
  'other-mount': 'on another file system',
  'hard-link': 'more than one name leads to it',
  moved: 'moved while it was looked at',
  'too-many-entries': `a directory of more than ${DIR_ENTRIES_MAX} names`,
  'bad-name': 'its name is longer than the file system takes',
  'not-granted': 'closed to this run',
  exhausted: 'the process has no more descriptors or memory',
  io: 'the disk did not answer',
};

/**
 * The refusal of a place that was judged and would not open. What a first look had seen and is not so any more is
 * "changed after it was judged".
 */
export function failureError(at: Asked, failure: Failure): AxError {
  const fact = FAILURE_SENTENCES[failure];
  switch (failure) {
    case 'no-entry':
    case 'not-directory':
    case 'is-directory':
    case 'is-link':
    case 'moved':
      return changedAfterJudged(at);
    case 'bad-name':
      return tooLong(at);
    case 'not-regular':
      return invalidArgs(at, 'it is not a regular file', 'name a regular file: nothing else is opened');
    case 'other-mount':
    case 'hard-link':
      return gateDenied(at, fact, 'name another path, or have a person allow this in the runner’s configuration');
    case 'not-granted':
      return gateDenied(at, `it is ${fact}`, 'name another path: what was judged does not hold this one');
    case 'too-many-entries':
      return limitReached(at, fact, 'a person has to split the directory; name a place outside it');
    case 'access':
      return storageFatal(at, fact, 'a person has to give the runner permission to read it');
    case 'exhausted':
    case 'io':
      return storageFatal(at, fact, 'ask again; if it stays so, a person has to look at the disk', 'unknown');
  }
}

const leadsOut = (at: Asked): AxError =>
  gateDenied(at, 'it leads out of what may be read through a link', 'name a path whose every link stays inside');

/** The refusal of a path outside the city, also of `withinCity`. */
export const outsideCity = (at: Asked): AxError =>
  gateDenied(
    at,
    'it is outside the city',
    'these tools reach only inside the city: pass a city-relative path, like lab/notes.md',
  );

/**
 * What the caller is told of a landing that is a refusal. It says nothing of where a link leads, nor whether anything
 * is there. Spec: address-and-bound, "land".
 */
export function landingError(at: Asked, landing: FailedLanding): AxError {
  switch (landing.kind) {
    case 'denied':
      return landing.linked ? leadsOut(at) : denied(at, landing.denial);
    case 'outside':
      return landing.linked ? leadsOut(at) : outsideCity(at);
    case 'alias':
      return gateDenied(
        at,
        'a name in it is not spelled as its directory lists it',
        'spell every name exactly as a listing or a hit gives it',
      );
    case 'unresolved':
      return storageFatal(at, 'its real location did not resolve', 'a person has to repair the path or link');
    case 'through-file':
      return invalidArgs(
        at,
        'it leads through a file',
        'nothing is below a file: name the file itself, without what follows',
      );
    case 'not-address':
      return landing.linked ? linkToNoAddress(at, landing.rule) : notAddress(at, landing.rule);
    case 'failed':
      return failureError(at, landing.failure);
  }
}

const linkToNoAddress = (at: Asked, rule: AddressRule): AxError =>
  invalidArgs(
    at,
    `a link leads to a name that is no address: ${RULE_SENTENCES[rule]}`,
    'name another path: what has no address is not read',
  );
