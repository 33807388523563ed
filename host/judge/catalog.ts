/**
 * The catalog of a run: what it can open by name, as data, and the rules about its entries. It is scanned once a run
 * (store/catalog.ts), crosses to the worker with each call, and is asked by `read` before the city is.
 * Spec: locators-and-catalog, "Catalog". Imports no I/O.
 */

import { type Asked, type AxError, configInvalid, echo, invalidArgs, limitReached, storageFatal } from '../error.js';
import type { Address } from './address.js';

/** What a name opens: a place in the city, or text that the catalog carries itself, read once, at the scan. */
export type Expansion =
  | { readonly kind: 'address'; readonly address: Address }
  | { readonly kind: 'text'; readonly text: string };

/** One thing that the reading room admits. */
export interface CatalogEntry {
  /** One plain segment; no two entries have the same. */
  readonly name: string;
  /** One line that says what it is; never blank. */
  readonly disclosure: string;
  readonly expansion: Expansion;
  /** `cas:b3-<64 hex>` of the document's bytes at the scan; of a package, of its SKILL.md. */
  readonly hash?: string;
  /** The directory that was admitted with the name, whole. From the scan, never from how a file is called. */
  readonly package?: Address;
}

/** A name that the reading room admits and the shelf holds, but not as something that was admitted. */
export interface ClosedName {
  readonly name: string;
  readonly form: 'document' | 'package';
  /** `link`: it, or its SKILL.md, stands behind a link. `pattern`: a deny pattern covers it. */
  readonly why: 'link' | 'pattern';
}

/** What a person should know about a name of the reading room; nothing is wrong enough to stop a run. */
export interface Diagnostic {
  readonly name: string;
  readonly why: string;
}

/** A catalog that was scanned. Structured-clonable. */
export interface CatalogData {
  readonly kind: 'catalog';
  /** In the order of the reading room. */
  readonly entries: readonly CatalogEntry[];
  readonly closed: readonly ClosedName[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A catalog that cannot be consulted: then nobody knows what is a name. `fact` holds no text of a file. */
export interface UnreadableCatalog {
  readonly kind: 'unreadable';
  /** `rules`: the reader's own do not read. `entries`: a name or a disclosure. `shelf`: the disk. `limit`: too much. */
  readonly because: 'rules' | 'entries' | 'shelf' | 'limit';
  readonly fact: string;
}

/** What a scan gives. */
export type CatalogRead = CatalogData | UnreadableCatalog;

/** The catalog of an outsider, and of a building whose reading room is empty. */
export const EMPTY_CATALOG: CatalogData = { kind: 'catalog', entries: [], closed: [], diagnostics: [] };

/** What a path means to a catalog. */
export type Named =
  /** It is a name. */
  | { readonly kind: 'whole'; readonly entry: CatalogEntry }
  /** It leads below a package; `rest` is as it was written, judged by nobody yet. */
  | { readonly kind: 'inside'; readonly name: string; readonly package: Address; readonly rest: string }
  | { readonly kind: 'closed'; readonly closed: ClosedName };

/** What `path` means by name, or undefined if it is the city's. By its text alone. O(entries). */
export function named({ entries, closed }: CatalogData, path: string): Named | undefined {
  const slash = path.indexOf('/');
  const name = slash < 0 ? path : path.slice(0, slash);
  const entry = entries.find((one) => one.name === name);
  if (entry !== undefined) return slash < 0 ? { kind: 'whole', entry } : inside(entry, path.slice(slash + 1));
  const shut = closed.find((one) => one.name === name);
  return shut === undefined || (slash >= 0 && shut.form === 'document') ? undefined : { kind: 'closed', closed: shut };
}

const inside = ({ name, package: place }: CatalogEntry, rest: string): Named | undefined =>
  place === undefined ? undefined : { kind: 'inside', name, package: place, rest };

/**
 * What is wrong with a name, if `taken` are those there are already: half a sentence, the same through whichever door
 * it comes, the reading room or a shelf.
 */
export function nameFault(name: string, taken: { has(name: string): boolean }): string | undefined {
  if (name.trim() === '') return 'the catalog has a blank name';
  return taken.has(name) ? `the catalog has more than one entry of the name ${JSON.stringify(name)}` : undefined;
}

/** The same of a whole entry. */
export function entryFault({ name, disclosure }: CatalogEntry, taken: { has(name: string): boolean }) {
  const fault = nameFault(name, taken);
  if (fault !== undefined) return fault;
  return disclosure.trim() === '' ? `the catalog has a blank disclosure, of ${JSON.stringify(name)}` : undefined;
}

/** The first line of a document that is not empty, without `#` and white space at its front; `''` if it has none. */
export function disclosureOf(text: string): string {
  const first = text.split('\n').find((line) => line.trim() !== '') ?? '';
  return first.replace(/^[#\s]+/u, '').trimEnd();
}

/** Why there is no catalog, told to whoever asks for it. */
export function unreadableError(at: Asked, { because, fact }: UnreadableCatalog): AxError {
  switch (because) {
    case 'rules':
      return rulesError(at, fact);
    case 'entries':
      return invalidArgs(at, fact, 'a person has to mend the shelf or the reading room; then enter the city again');
    case 'shelf':
      return storageFatal(at, fact, 'a person has to mend the shelf; then enter the city again');
    case 'limit':
      return limitReached(at, fact, 'a person has to make the shelf or the reading room smaller');
  }
}

/**
 * The same, told to whoever asks for a path: since nobody knows whether it is a name, nothing is opened in its place.
 * Names and places of the shelf stand in the recovery alone: what a refusal calls its fact goes on record.
 * Spec: read, "Resolution order".
 */
export function notConsulted(at: Asked, { because, fact }: UnreadableCatalog): AxError {
  if (because === 'rules') return rulesError(at, fact);
  return storageFatal(
    at,
    'the catalog cannot be consulted',
    `end this run and start it again, once a person has mended that: ${echo(fact)}`,
  );
}

const rulesError = (at: Asked, fact: string): AxError =>
  configInvalid(
    at,
    'what this run may open by name is not known',
    `a person has to mend the rules of this run’s own building (${echo(fact)}); then start the run again`,
  );
