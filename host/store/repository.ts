/**
 * The repository that keeps a city's history: found, held by its git directory, and refused where it is not whole by
 * itself. What comes out is a tree rooted at that directory, for wall 2 to open below and for nothing else.
 *
 * No link is followed on the way or in it; what `.git` or `commondir` point to is followed inside the tree only, by text
 * and segment by segment. Of its configuration nothing counts but its format (git-config.ts). No hook, no filter, no
 * process: there is nothing here that could start one.
 * Spec: history.
 */

import { withinCity } from '../judge/locate.js';
import { readSmall } from '../judge/small-file.js';
import { PATH_MAX_BYTES, REPOSITORY_CONFIG_MAX_BYTES } from '../limits.js';
import { below } from '../tree/below.js';
import { strictText } from '../tree/names.js';
import { type Dir, type Failure, failed, type Tree } from '../tree/tree.js';
import { formatOf, type OidBytes, parseGitConfig } from './git-config.js';

/** An opened repository. */
export interface Repository {
  /** Rooted at the git directory that holds refs and objects; whoever opened it closes it, before the tree it is of. */
  readonly tree: Tree;
  /** The address of that directory below the tree it was looked for in; '' for its root. */
  readonly place: string;
  readonly oidBytes: OidBytes;
}

/** Why there is none to read: half a sentence about "the repository", and whether asking again can help. */
export interface NoRepository {
  readonly unfit: string;
  readonly isMissing: boolean;
  readonly retry: 'no' | 'unknown';
}

/** Which places of a tree are looked at: `<root>/.git` alone, or the root too when it is a bare repository. */
export type Whose = 'of a work tree' | 'any';

/** Tells a refusal from a repository. */
export const isUnfit = (opened: Repository | NoRepository): opened is NoRepository => 'unfit' in opened;

/**
 * Opens the repository of `tree`. Refusals are values: none there, one that leads out, a format or an extension that is
 * not known, reftable, a shallow or partial one, alternates of any kind. A dozen opens, and a file of at most
 * REPOSITORY_CONFIG_MAX_BYTES.
 */
export function openRepository(tree: Tree, whose: Whose): Repository | NoRepository {
  try {
    return opened(tree, whose);
  } catch (thrown) {
    if (!(thrown instanceof Unfit)) throw thrown;
    return { unfit: thrown.message, isMissing: thrown.isMissing, retry: thrown.retry };
  }
}

/** Thrown and caught in this file only. */
class Unfit extends Error {
  readonly isMissing: boolean;
  readonly retry: 'no' | 'unknown';
  constructor(fact: string, more: { readonly isMissing?: boolean; readonly retry?: 'unknown' } = {}) {
    super(fact);
    this.isMissing = more.isMissing ?? false;
    this.retry = more.retry ?? 'no';
  }
}

type Segments = readonly string[];

function opened(tree: Tree, whose: Whose): Repository {
  const own = gitDirectory(tree, whose);
  const shared = sharedBy(tree, own);
  const git = enter(tree, shared);
  try {
    return { tree: git, place: shared.join('/'), oidBytes: checked(git.root) };
  } catch (thrown) {
    git.close();
    throw thrown;
  }
}

// ---- where it is ----

function gitDirectory(tree: Tree, whose: Whose): Segments {
  const look = tree.root.look(GIT);
  if (look === 'no-entry') {
    if (whose === 'any' && isBare(tree.root)) return [];
    throw new Unfit('there is none', { isMissing: true });
  }
  if (failed(look)) throw disk('its directory', look);
  switch (look.kind) {
    case 'directory':
      return [GIT];
    case 'file':
      return pointed(tree, [], GIT, textOf(tree.root, GIT), /^gitdir: ([^\0]+)$/);
    case 'link':
    case 'other':
      throw new Unfit(`its \`.git\` is ${look.kind === 'link' ? 'a link' : 'neither a file nor a directory'}`);
  }
}
const GIT = '.git';

/** What git takes for a repository: a HEAD, and a directory each for objects and refs. */
const isBare = (root: Dir): boolean =>
  kindOf(root, 'HEAD') === 'file' && kindOf(root, 'objects') === 'directory' && kindOf(root, 'refs') === 'directory';

function kindOf(dir: Dir, name: string): string {
  const look = dir.look(name);
  return failed(look) ? look : look.kind;
}

/** The directory that a linked work tree shares with others: there its branches and objects are. */
function sharedBy(tree: Tree, own: Segments): Segments {
  const git = enter(tree, own);
  try {
    if (git.root.look(COMMON) === 'no-entry') return own;
    return pointed(tree, own, COMMON, textOf(git.root, COMMON), /^([^\0]+)$/);
  } finally {
    git.close();
  }
}
const COMMON = 'commondir';

/** The segments that the one path in a file means, counted from `base`; only inside the tree, and only by text. */
function pointed(tree: Tree, base: Segments, name: string, text: string, form: RegExp): Segments {
  const path = form.exec(text.replace(/[\r\n]+$/, ''))?.[1];
  if (path === undefined) throw new Unfit(`its \`${name}\` file names no directory`);
  const within = withinCity(path, tree.spellings);
  if (within.kind === 'outside') throw leadsOut(name);
  const segments = within.kind === 'relative' ? [...base] : [];
  for (const segment of (within.kind === 'inside' ? within.rest : within.kind === 'city' ? '' : path).split('/')) {
    if (segment === '..' && segments.pop() === undefined) throw leadsOut(name);
    if (segment !== '' && segment !== '.' && segment !== '..') segments.push(segment);
  }
  return segments;
}

const leadsOut = (name: string): Unfit => new Unfit(`its \`${name}\` file leads out of the city`);

function enter(tree: Tree, segments: Segments): Tree {
  const entered = below(tree, segments);
  if (!failed(entered)) return entered;
  if (entered === 'no-entry' || entered === 'not-directory' || entered === 'bad-name') {
    throw new Unfit('its directory is not there');
  }
  if (entered === 'is-link') throw new Unfit('a link is on the way to its directory, and none is followed');
  throw disk('its directory', entered);
}

// ---- whether it is whole by itself ----

function checked(git: Dir): OidBytes {
  const bytes = bytesOf(git, 'config', REPOSITORY_CONFIG_MAX_BYTES);
  const settings = parseGitConfig(bytes ?? new Uint8Array(0));
  if ('brokenAtLine' in settings) throw new Unfit(`its configuration does not parse, at line ${settings.brokenAtLine}`);
  const format = formatOf(settings);
  if ('unfit' in format) throw new Unfit(format.unfit);
  if (kindOf(git, 'reftable') !== 'no-entry')
    throw new Unfit('its refs are kept as a reftable, which is not supported');
  if (kindOf(git, 'shallow') !== 'no-entry') throw new Unfit('it is shallow: what came before is not in it');
  if (kindOf(git, 'refs') !== 'directory') throw new Unfit('its refs are no directory');
  withoutAlternates(git);
  return format.oidBytes;
}

/** Objects of elsewhere are refused, also where the file that would name them is empty or no file. */
function withoutAlternates(git: Dir): void {
  const objects = git.directory('objects');
  if (failed(objects)) throw new Unfit('its objects are no directory of its own');
  try {
    const info = objects.directory('info');
    if (info === 'no-entry') return;
    if (failed(info)) throw new Unfit('its `objects/info` is no directory');
    try {
      for (const name of ['alternates', 'http-alternates']) {
        if (info.look(name) !== 'no-entry') throw new Unfit(`it has objects elsewhere (\`objects/info/${name}\`)`);
      }
    } finally {
      info.close();
    }
  } finally {
    objects.close();
  }
}

// ---- small files of it ----

function textOf(dir: Dir, name: string): string {
  const text = strictText(bytesOf(dir, name, PATH_MAX_BYTES) ?? new Uint8Array(0));
  if (text === undefined) throw new Unfit(`its \`${name}\` file is not UTF-8`);
  return text;
}

/** Undefined if there is no such file. */
function bytesOf(dir: Dir, name: string, maxBytes: number): Uint8Array | undefined {
  const file = dir.file(name, { placed: true });
  if (file === 'no-entry') return undefined;
  if (failed(file)) {
    const isUnplain = file === 'is-link' || file === 'is-directory' || file === 'not-regular';
    throw isUnplain ? new Unfit(`its \`${name}\` is no plain file`) : disk(`its \`${name}\` file`, file);
  }
  const bytes = readSmall(file, maxBytes);
  if (bytes === 'too-large') throw new Unfit(`its \`${name}\` file is larger than ${maxBytes} bytes`);
  if (failed(bytes)) throw disk(`its \`${name}\` file`, bytes);
  return bytes;
}

const disk = (what: string, failure: Failure): Unfit =>
  failure === 'access'
    ? new Unfit(`the system does not permit opening ${what}`)
    : new Unfit(`${what} did not open`, { retry: 'unknown' });
