/**
 * Scanning the shelves: from the reading room of a building to the catalog of its run. Done once a run, in a worker,
 * on the held tree of the city and those of the external shelves; what it gives is data (judge/catalog.ts), and what a
 * `read` of a name opens is judged again at that read.
 *
 * No link is followed, but of a SKILL.md that stays inside its own package. What cannot be looked at makes the whole
 * catalog unreadable: a farther shelf, or a file of the city, would take the place of what stands there.
 * Spec: locators-and-catalog, "Catalog".
 */

import { echo, type Outcome, ok } from '../error.js';
import { type Address, isBroken, joined, parseAddress, segmentRule } from '../judge/address.js';
import { Bound } from '../judge/bound.js';
import {
  type CatalogEntry,
  type CatalogRead,
  type ClosedName,
  type Diagnostic,
  disclosureOf,
  EMPTY_CATALOG,
  entryFault,
  nameFault,
  type UnreadableCatalog,
} from '../judge/catalog.js';
import { FAILURE_SENTENCES, type Landing, release, resolve } from '../judge/locate.js';
import { readRules } from '../judge/rules.js';
import * as limits from '../limits.js';
import { type Call, giveBack, hasher } from '../runner/call.js';
import { below } from '../tree/below.js';
import { openTree, type TreeSpec } from '../tree/spec.js';
import { type Dir, type Entry, type Failure, failed, type OpenFile, type Tree } from '../tree/tree.js';

/** What a scan looks at. Nothing of it is closed here. */
export interface Scan {
  readonly city: Tree;
  /** Whose reading room it is; null: an outsider, whose catalog is empty and touches nothing. */
  readonly reader: string | null;
  /** Shelves outside, farthest first. */
  readonly external: readonly Tree[];
  /** The embedder's patterns: they cover files of the city's shelves too. */
  readonly deny: readonly string[];
  /** Whether the time is over: asked once a directory and once a document. */
  readonly late: () => boolean;
}

/** What makes a directory of a shelf a package, and is read by the package's name. */
export const SKILL_FILE = 'SKILL.md';
const DOCUMENT_END = '.md';
const LIBRARY = ['.sprawling', 'library'];
const SKILLS = ['.sprawling', 'skills'];

/**
 * The catalog of a run. Shelves are looked at from the nearest, and a name that was found is not looked for again: so a
 * nearer shelf replaces by name, and what is replaced is not even opened. A name found nowhere is a diagnostic.
 * Cost: a listing a section, and one reading of each admitted document, at most CATALOG_DOCUMENT_MAX_BYTES of it.
 */
export async function scanCatalog(scan: Scan): Promise<CatalogRead> {
  if (scan.reader === null) return EMPTY_CATALOG;
  try {
    const room = readingRoom(scan.city, scan.reader);
    const found = new Found(room);
    for (const shelf of shelvesOf(scan, scan.reader)) {
      if (found.missing().length > 0) found.take(await new Shelving(scan, shelf, found).run());
    }
    return found.catalog();
  } catch (thrown) {
    if (thrown instanceof Unreadable) return thrown.why;
    throw thrown;
  }
}

/** How a scan is called where calls go: a job like any other, so that it has a thread, a turn and a deadline. */
export const CATALOG_JOB = 'catalog';

/** A scan as the work of a job, over the shelves that were entered with the city, farthest first. */
export const scanWork =
  ({ shelves }: { readonly shelves: readonly TreeSpec[] }) =>
  async ({ tree: city, reader, deny, meter }: Call): Promise<Outcome<CatalogRead>> => {
    const external: Tree[] = [];
    try {
      for (const spec of shelves) {
        const tree = openTree(spec);
        if (typeof tree === 'string') return ok(NO_SHELF);
        external.push(tree);
      }
      return ok(await scanCatalog({ city, reader, external, deny, late: () => meter.late() }));
    } finally {
      for (const tree of external) tree.close();
    }
  };

const NO_SHELF: UnreadableCatalog = {
  kind: 'unreadable',
  because: 'shelf',
  fact: 'an external shelf does not open, or is not the directory that was entered',
};

/** Ends a scan; thrown and caught in this file only. */
class Unreadable extends Error {
  readonly why: UnreadableCatalog;
  constructor(because: UnreadableCatalog['because'], fact: string) {
    super(fact);
    this.why = { kind: 'unreadable', because, fact };
  }
}

/** The names that are admitted, in their order. */
function readingRoom(city: Tree, reader: string): ReadonlySet<string> {
  const read = readRules(city.root, reader);
  if (read.kind === 'broken') throw new Unreadable('rules', read.subject);
  const room = new Set<string>();
  for (const name of read.kind === 'none' ? [] : read.rules.reading_room) {
    const fault = nameFault(name, room);
    if (fault !== undefined) throw new Unreadable('entries', fault);
    room.add(name);
  }
  if (room.size <= limits.CATALOG_ENTRIES_MAX) return room;
  throw new Unreadable('limit', `its reading room has more than ${limits.CATALOG_ENTRIES_MAX} names`);
}

/** One shelf. */
interface Shelf {
  readonly tree: Tree;
  /** In the city; undefined for one outside, which has packages only, and none of whose paths is told. */
  readonly place: readonly string[] | undefined;
}

/** Nearest first. */
const shelvesOf = ({ city, external }: Scan, reader: string): readonly Shelf[] => [
  { tree: city, place: [reader, ...SKILLS] },
  { tree: city, place: LIBRARY },
  ...external.map((tree) => ({ tree, place: undefined })).reverse(),
];

/** What one shelf has of one name. */
type Shelved = { readonly entry: CatalogEntry } | { readonly closed: ClosedName };

/** What was found so far, by name. */
class Found {
  readonly #room: ReadonlySet<string>;
  readonly #shelved = new Map<string, Shelved>();
  /** A shelf or a section is a link: what is missing may stand behind it, and was not admitted there. */
  passedOver = false;
  /** Bytes of the texts that are carried. */
  carriedBytes = 0;

  constructor(room: ReadonlySet<string>) {
    this.#room = room;
  }

  /** Admitted names that no shelf had yet. */
  missing(): readonly string[] {
    return [...this.#room].filter((name) => !this.#shelved.has(name));
  }

  take(shelved: ReadonlyMap<string, Shelved>): void {
    for (const [name, one] of shelved) this.#shelved.set(name, one);
  }

  catalog(): CatalogRead {
    const entries: CatalogEntry[] = [];
    const closed: ClosedName[] = [];
    const diagnostics: Diagnostic[] = [];
    const close = (one: ClosedName): void => {
      closed.push(one);
      diagnostics.push({ name: one.name, why: CLOSED_SENTENCES[one.why] });
    };
    for (const name of this.#room) {
      const one = this.#shelved.get(name);
      if (one === undefined && !this.passedOver) diagnostics.push({ name, why: 'no shelf has it' });
      else if (one === undefined) close({ name, form: 'package', why: 'link' });
      else if ('closed' in one) close(one.closed);
      else entries.push(one.entry);
    }
    return { kind: 'catalog', entries, closed, diagnostics };
  }
}

const CLOSED_SENTENCES: Readonly<Record<ClosedName['why'], string>> = {
  link: 'it stands behind a link, or may: only what is on the shelf itself is admitted',
  pattern: 'a deny pattern covers it',
};

/** A name of a listing that the reading room admits, in one of the two forms. */
interface Candidate {
  readonly name: string;
  readonly form: ClosedName['form'];
  readonly listed: Entry;
}

/** What a document holds: its text and its hash, of the same bytes. */
interface Text {
  readonly text: string;
  readonly hash: string;
  readonly bytes: number;
}

/** One shelf, looked at once. Places are addresses in the city; of a shelf outside, from its own top. */
class Shelving {
  readonly #scan: Scan;
  readonly #shelf: Shelf;
  readonly #found: Found;
  readonly #wanted: ReadonlySet<string>;
  readonly #shelved = new Map<string, Shelved>();
  #names = 0;

  constructor(scan: Scan, shelf: Shelf, found: Found) {
    this.#scan = scan;
    this.#shelf = shelf;
    this.#found = found;
    this.#wanted = new Set(found.missing());
  }

  async run(): Promise<ReadonlyMap<string, Shelved>> {
    const { tree, place } = this.#shelf;
    if (place === undefined) await this.#section(tree, '');
    else await this.#inside(tree, place, '', (shelf, at) => this.#sections(shelf, at));
    return this.#shelved;
  }

  async #sections(shelf: Tree, place: string): Promise<void> {
    for (const { name, kind } of this.#list(shelf.root, place)) {
      if (kind === 'file' || kind === 'other') continue;
      await this.#inside(shelf, [name], place, (section, at) => this.#section(section, at));
    }
  }

  /** One directory of documents and packages; of a shelf outside, of packages alone. */
  async #section(section: Tree, place: string): Promise<void> {
    for (const listed of this.#list(section.root, place)) {
      for (const candidate of this.#candidates(listed)) await this.#shelve(section, place, candidate);
    }
  }

  #candidates(listed: Entry): readonly Candidate[] {
    const { name } = listed;
    const candidates: Candidate[] = [];
    if (this.#wanted.has(name)) candidates.push({ name, form: 'package', listed });
    if (!name.endsWith(DOCUMENT_END) || this.#shelf.place === undefined) return candidates;
    const stem = name.slice(0, -DOCUMENT_END.length);
    if (this.#wanted.has(stem)) candidates.push({ name: stem, form: 'document', listed });
    return candidates;
  }

  async #shelve(section: Tree, place: string, { name, form, listed }: Candidate): Promise<void> {
    const kind = listed.kind === 'unknown' ? this.#kindOf(section.root, place, listed.name) : listed.kind;
    if (kind === 'link') return this.#close(name, form, 'link');
    if (form === 'document' && kind === 'file') return this.#document(section, place, listed.name, name);
    if (form !== 'package' || kind !== 'directory') return;
    await this.#inside(section, [listed.name], place, (directory, at) => this.#package(directory, at, name));
  }

  async #document(section: Tree, place: string, file: string, name: string): Promise<void> {
    if (this.#bound(place).judge(file) !== undefined) return this.#close(name, 'document', 'pattern');
    const read = await this.#text(section.root, file, joined(place, file));
    this.#add(name, { entry: entryOf(name, read, { expansion: addressOf(joined(place, file)) }) });
  }

  /** A directory is a package if it holds SKILL.md; one whose SKILL.md leads out of it is none that was admitted. */
  async #package({ root, spellings }: Tree, place: string, name: string): Promise<void> {
    const landing = resolve({ root, spellings, bound: this.#bound(place) }, { base: [], path: SKILL_FILE });
    try {
      switch (landing.kind) {
        case 'entry':
        case 'directory':
        case 'absent':
          if (isFile(landing)) return await this.#skill(landing.parent, landing.name, place, landing.address, name);
          return landing.linked ? this.#close(name, 'package', 'link') : undefined;
        case 'alias':
          return;
        case 'denied':
          return this.#close(name, 'package', 'pattern');
        case 'failed':
          throw this.#unreadable(joined(place, SKILL_FILE), landing.failure);
        case 'outside':
        case 'unresolved':
        case 'not-address':
        case 'through-file':
          return this.#close(name, 'package', 'link');
      }
    } finally {
      release(landing);
    }
  }

  /** `file` in `parent` is what SKILL.md of the package at `place` leads to. */
  async #skill(parent: Dir, file: string, place: string, landed: string, name: string): Promise<void> {
    const read = await this.#text(parent, file, joined(place, landed));
    if (this.#shelf.place !== undefined) {
      const expansion = addressOf(joined(place, SKILL_FILE));
      return this.#add(name, { entry: entryOf(name, read, { expansion, package: parsed(place) }) });
    }
    this.#found.carriedBytes += read.bytes;
    if (this.#found.carriedBytes > limits.CATALOG_CARRIED_MAX_BYTES) {
      throw new Unreadable('limit', `external shelves carry more than ${limits.CATALOG_CARRIED_MAX_BYTES} bytes`);
    }
    this.#add(name, { entry: entryOf(name, read, { expansion: { kind: 'text', text: read.text } }) });
  }

  #close(name: string, form: ClosedName['form'], why: ClosedName['why']): void {
    this.#add(name, { closed: { name, form, why } });
  }

  /** One name once: a document and a package of one name, or one name in two sections, are two entries. */
  #add(name: string, shelved: Shelved): void {
    const fault = 'entry' in shelved ? entryFault(shelved.entry, this.#shelved) : nameFault(name, this.#shelved);
    if (fault !== undefined) throw new Unreadable('entries', fault);
    this.#shelved.set(name, shelved);
  }

  // ---- looking ----

  /** Runs `look` in the directory that `segments` of `tree`, whose place is `above`, lead to, if there is one. */
  async #inside(
    tree: Tree,
    segments: readonly string[],
    above: string,
    look: (directory: Tree, place: string) => Promise<void>,
  ): Promise<void> {
    this.#mindTime();
    const place = joined(above, segments.join('/'));
    const directory = below(tree, segments);
    if (directory === 'is-link') this.#found.passedOver = true;
    if (directory === 'is-link' || directory === 'no-entry' || directory === 'not-directory') return;
    if (failed(directory)) throw this.#unreadable(place, directory);
    try {
      await look(directory, place);
    } finally {
      directory.close();
    }
  }

  /** Names that have an address, in the order of their characters: so a scan says the same twice. */
  #list(dir: Dir, place: string): readonly Entry[] {
    const entries = dir.list();
    if (failed(entries)) throw this.#unreadable(place, entries);
    this.#names += entries.length;
    if (this.#names > limits.SHELF_NAMES_MAX) {
      throw new Unreadable('limit', `${this.#told('')} has more than ${limits.SHELF_NAMES_MAX} names`);
    }
    return entries
      .filter(({ name, nameable }) => nameable && segmentRule(name) === undefined)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #kindOf(dir: Dir, place: string, name: string): Entry['kind'] {
    const look = dir.look(name);
    if (failed(look)) throw this.#unreadable(joined(place, name), look);
    return look.kind;
  }

  async #text(dir: Dir, name: string, place: string): Promise<Text> {
    this.#mindTime();
    const file = dir.file(name, { placed: true });
    if (failed(file)) throw this.#unreadable(place, file);
    try {
      const bytes = this.#bytes(file, place);
      const text = decoded(bytes);
      if (text === undefined) throw new Unreadable('entries', `${this.#told(place)} is not UTF-8`);
      return { text, hash: await hashOf(bytes), bytes: bytes.length };
    } finally {
      file.close();
    }
  }

  /** To its end, whatever size it says it has. */
  #bytes(file: OpenFile, place: string): Uint8Array {
    const most = limits.CATALOG_DOCUMENT_MAX_BYTES;
    let bytes = new Uint8Array(Math.min(most, file.sizeBytes) + 1);
    for (let filled = 0; ; ) {
      const got = file.read(bytes.subarray(filled), filled);
      if (failed(got)) throw this.#unreadable(place, got);
      if (got === 0) return bytes.subarray(0, filled);
      filled += got;
      if (filled > most) throw new Unreadable('limit', `${this.#told(place)} is larger than ${most} bytes`);
      if (filled === bytes.length) bytes = grown(bytes, most + 1);
    }
  }

  #mindTime(): void {
    if (this.#scan.late()) throw new Unreadable('limit', 'the time of its scan is over');
  }

  /** What deny patterns say below a place; a shelf outside is not of the city they speak of. */
  #bound(place: string): Bound {
    return Bound.ofPlace(place, this.#shelf.place === undefined ? [] : this.#scan.deny);
  }

  // ---- telling ----

  #unreadable(place: string, failure: Failure): Unreadable {
    return new Unreadable('shelf', `${this.#told(place)}: ${FAILURE_SENTENCES[failure]}`);
  }

  /** A place of the city by its address; of one outside nothing but what the reading room says itself. */
  #told(place: string): string {
    if (this.#shelf.place !== undefined) return place === '' ? this.#shelf.place.join('/') : place;
    return place === '' ? 'an external shelf' : `${place} of an external shelf`;
  }
}

/** Whether a landing is a regular file. */
const isFile = (landing: Landing<Dir>): landing is Extract<Landing<Dir>, { kind: 'entry' }> =>
  landing.kind === 'entry' && landing.look.kind === 'file';

function entryOf(name: string, { text, hash }: Text, where: Pick<CatalogEntry, 'expansion' | 'package'>): CatalogEntry {
  return { name, disclosure: echo(disclosureOf(text), limits.DISCLOSURE_CAP_BYTES), ...where, hash };
}

const addressOf = (place: string): CatalogEntry['expansion'] => ({ kind: 'address', address: parsed(place) });

/** Each segment is the reader's, one of ours, or stood in a listing that was asked `segmentRule`. */
function parsed(place: string): Address {
  const address = parseAddress(place);
  if (isBroken(address)) throw new Error(`a place of a shelf is no address: ${address.broken}`);
  return address;
}

/** Spelled as `version` is. */
async function hashOf(bytes: Uint8Array): Promise<string> {
  const hash = await hasher();
  hash.update(bytes);
  const digest = hash.digest('hex');
  giveBack(hash);
  return `cas:b3-${digest}`;
}

/** With a BOM as it is: what is carried is handed out byte for byte. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not text: the caller says so.
    return undefined;
  }
}

function grown(bytes: Uint8Array, mostBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(mostBytes, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}
