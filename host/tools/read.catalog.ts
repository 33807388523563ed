/**
 * `read` by name: what the catalog of the run opens, asked before the city is. A name leads to one document, to the
 * SKILL.md of a package or to text that the catalog carries; `<name>/<rest>` leads into a package. The whole package
 * was admitted, by the person who wrote the reading room: so neither verdicts nor the reserved rule are asked of its
 * files, but deny patterns are, and each is judged by where it lands.
 *
 * The guest holds one file, from a tree that begins at the package or at the document's section: nothing above it can
 * be reached, whichever bound is open. Stands between read.ts, which asks first here, and interval.ts, which cuts.
 * Spec: locators-and-catalog, "Catalog"; read, "Resolution order".
 */

import { type Asked, type AxError, gateDenied, invalidArgs, type Outcome, refused } from '../error.js';
import { type Address, isBroken, joined, parseAddress, RULE_SENTENCES } from '../judge/address.js';
import { denied } from '../judge/admit.js';
import { type CatalogEntry, type ClosedName, named, notConsulted } from '../judge/catalog.js';
import { failureError, type Landing, landingError, release, resolve, stillJudged } from '../judge/locate.js';
import type { Call } from '../runner/call.js';
import { below } from '../tree/below.js';
import { memoryCity, openMemoryTree } from '../tree/memory.js';
import { type Dir, type Failure, failed, type Tree } from '../tree/tree.js';
import { cutInterval, type Interval, type IntervalValue, type Source } from './interval.js';
import { isElsewhere, type LandedFile, notRegular } from './locating.js';
import { inPackage, isDirectory, missing, nearbyMissing, nearbyWithin } from './miss.js';

type Answer = Promise<Outcome<IntervalValue>>;

/** The answer to a path that the catalog knows, or undefined: then it is the city's. */
export async function readNamed(call: Call, at: Asked, asked: Interval): Promise<Outcome<IntervalValue> | undefined> {
  if (call.catalog.kind === 'unreadable') return refused(notConsulted(at, call.catalog));
  const found = named(call.catalog, asked.path);
  switch (found?.kind) {
    case undefined:
      return undefined;
    case 'closed':
      return refused(closedError(at, found.closed));
    case 'inside':
      return readInside(call, at, asked, found);
    case 'whole':
      return readWhole(call, at, asked, found.entry);
  }
}

function readWhole(call: Call, at: Asked, asked: Interval, { name, expansion, package: place }: CatalogEntry): Answer {
  if (expansion.kind === 'text') return readCarried(call, at, asked, name, expansion.text);
  const { address } = expansion;
  const above = place ?? parsed(address.slice(0, address.lastIndexOf('/')));
  const rest = parsed(address.slice(above.length + 1));
  const form = place === undefined ? 'document' : 'package';
  return readShelved(call, at, asked, { form, name, place: above, rest });
}

/** Judged, not normalised: what is no plain path inside the package is refused before anything is looked at. */
async function readInside(
  call: Call,
  at: Asked,
  asked: Interval,
  { name, package: place, rest }: { readonly name: string; readonly package: Address; readonly rest: string },
): Answer {
  const whole = parseAddress(asked.path);
  if (isBroken(whole)) return refused(noPathInside(at, RULE_SENTENCES[whole.broken]));
  return readShelved(call, at, asked, { form: 'package', name, place, rest: parsed(rest) });
}

// ---- what stands on a shelf of the city ----

/** One file on a shelf. */
interface Shelved {
  readonly form: ClosedName['form'];
  readonly name: string;
  /** The package, or the section a document stands in: the root of the tree that the guest is given one file of. */
  readonly place: Address;
  /** The file, from there. */
  readonly rest: Address;
}

async function readShelved(call: Call, at: Asked, asked: Interval, shelved: Shelved): Answer {
  const tree = below(call.tree, shelved.place.split('/'));
  if (failed(tree)) return refused(placeGone(at, shelved, tree));
  const landing = resolve(call.judgedIn(tree, shelved.place, asked.path), { base: [], path: shelved.rest });
  release(landing);
  try {
    if (landing.kind !== 'entry' || landing.look.kind !== 'file' || isBehindLink(shelved, landing)) {
      return refused(notAFile(call, at, tree, shelved, landing));
    }
    if (isDeniedByName(call, shelved, landing)) return refused(denied(at, { kind: 'pattern' }));
    return await cutInterval(call, at, asked, sourceOf(call, asked.path, tree, shelved, landing));
  } finally {
    tree.close();
  }
}

/** A package was admitted whole, so links inside it are followed there; a document must land on its own address. */
const isBehindLink = ({ form }: Shelved, landing: Landing<Dir>): boolean =>
  landing.kind === 'outside' ||
  ('linked' in landing && landing.linked && (form === 'document' || landing.kind === 'denied'));

/**
 * A file of a package has a third address, the one it is asked for by: `pack` opens `pack/SKILL.md`, and a link in a
 * package what another name of it would. Asked of both walls' copies, which are not told of it otherwise.
 */
const isDeniedByName = (call: Call, { form, name, rest }: Shelved, { address }: LandedFile): boolean =>
  form === 'package' && [rest, address].some((path) => call.isDenied(joined(name, path)));

function sourceOf(call: Call, asked: string, tree: Tree, { form, place, rest }: Shelved, file: LandedFile): Source {
  const slash = rest.lastIndexOf('/');
  const landed = parsed(joined(place, file.address));
  // From the top of the city again: the package itself may have been moved, or a link put in its place.
  const scene = () => call.judgedIn(call.tree, '', asked);
  return {
    guest: {
      tree,
      place,
      asked,
      handed: { kind: form, landed },
      preopen: {
        kind: 'single',
        shown: rest.slice(0, Math.max(0, slash)),
        name: rest.slice(slash + 1),
        path: rest,
        landed: file.address,
      },
      stillJudged: (identity) => stillJudged(scene(), landed, identity),
    },
    sizeBytes: file.look.sizeBytes,
    versioned: false,
    isElsewhere: () => isElsewhere(scene(), landed, { address: landed, look: file.look }),
  };
}

/** Why a place on a shelf is not read as a file. */
function notAFile(call: Call, at: Asked, tree: Tree, shelved: Shelved, landing: Landing<Dir>): AxError {
  if (isBehindLink(shelved, landing)) return behindLink(at, shelved.form);
  const { form, place, name } = shelved;
  const around = form === 'package' ? inPackage(call, tree, place, name) : undefined;
  const find = form === 'package' ? `read ${name}, which says what the package holds: ${OTHERWISE}` : OTHERWISE;
  switch (landing.kind) {
    case 'absent':
      return missing(at, around ? nearbyMissing(around, landing.address, landing.deepest) : [], find);
    case 'directory':
      return isDirectory(at, around ? nearbyWithin(around, landing.address) : [], find);
    case 'entry':
      return notRegular(at);
    case 'unresolved':
      return form === 'document' ? behindLink(at, form) : landingError(at, landing);
    default:
      return landingError(at, landing);
  }
}

/** Why the package or the section is not there to be opened, as it was at the scan. */
function placeGone(at: Asked, { form }: Shelved, failure: Failure): AxError {
  if (failure === 'is-link') return behindLink(at, form);
  return failure === 'no-entry' || failure === 'not-directory' ? missing(at, [], OTHERWISE) : failureError(at, failure);
}

/** Each is an address, or the segments at its front or its end. */
function parsed(text: string): Address {
  const address = parseAddress(text);
  if (isBroken(address)) throw new Error(`a place of a shelf is no address: ${address.broken}`);
  return address;
}

// ---- what the catalog carries ----

/** The bytes of the scan, whatever the file they came from holds by now: a city of one file, with nothing around it. */
async function readCarried(call: Call, at: Asked, asked: Interval, name: string, text: string): Answer {
  const tree = openMemoryTree(memoryCity([[[name], text]]));
  try {
    const denial = call.judgedIn(tree, '', asked.path).bound.judge(name);
    if (denial !== undefined) return refused(denied(at, denial));
    const landing = tree.root.look(name);
    if (failed(landing)) return refused(failureError(at, landing));
    return await cutInterval(call, at, asked, {
      guest: {
        tree,
        place: '',
        asked: asked.path,
        handed: null,
        preopen: { kind: 'single', shown: '', name, path: name },
      },
      sizeBytes: landing.sizeBytes,
      versioned: false,
      isElsewhere: () => false,
    });
  } finally {
    tree.close();
  }
}

// ---- refusals of its own ----

const OTHERWISE = '`search` finds files of the city, not of a shelf';

function closedError(at: Asked, { form, why }: ClosedName): AxError {
  return why === 'pattern' ? denied(at, { kind: 'pattern' }) : behindLink(at, form);
}

const behindLink = (at: Asked, form: ClosedName['form']): AxError =>
  form === 'document'
    ? gateDenied(at, 'what the shelf has is a link', 'ask a person to put the document itself on the shelf')
    : gateDenied(
        at,
        'it leads out of its package through a link',
        'name the file in the package itself, not what stands behind a link',
      );

const noPathInside = (at: Asked, rule: string): AxError =>
  invalidArgs(at, 'it is no path inside the package', `${rule}: pass a path inside the package, plain segments only`);
