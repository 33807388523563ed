/**
 * The default policy: `<building>/.sprawling/RULES.toml` says whether outsiders may read a building. Read in the
 * worker, when the bound is asked about a building it does not know; an embedder's function may take its place.
 *
 * Whatever is wrong closes the building, and is told by rule, known key and line number, never by text of the file:
 * the file may be a confidential building's own.
 */

import { parse, TomlError } from 'smol-toml';
import { RULES_MAX_BYTES } from '../limits.js';
import { isBroken, isWithin, parseAddress } from './address.js';
import { mayRead, type Verdict } from './bound.js';
import { FAILURE_SENTENCES } from './locate.js';
import { type Failure, failed, type OpenFile, type Place } from './place.js';
import { readSmall } from './small-file.js';

/** A rules file, every key with its value or default. A text where a list is meant is a list of one. */
export interface Rules {
  readonly does: readonly string[];
  readonly conventions: readonly string[];
  /** Only residents read the building. No default. */
  readonly confidential: boolean;
  /** What may be written; `documents` is Markdown only. No default. */
  readonly write: 'everything' | 'documents';
  /** Addresses in the building to which writing is limited; none = not limited. */
  readonly prefixes: readonly string[];
  readonly review: boolean;
  readonly browser: boolean;
  readonly desktop: boolean;
  /** Whether the user's browser is used, or a `ws://` address of it. */
  readonly usersbrowser: boolean | string;
  readonly egress: readonly string[];
  /** Catalog names the building's runs may read. */
  readonly reading_room: readonly string[];
  /** Positive. */
  readonly harness_minutes: number;
}

/** What reading a building's rules gave. */
export type RulesRead =
  /** There are none: an ordinary building, open to all. */
  | { readonly kind: 'none' }
  | { readonly kind: 'rules'; readonly rules: Rules }
  /** They are there and do not read; `subject` says which file, where and what, without its text. */
  | { readonly kind: 'broken'; readonly subject: string };

const RESERVED_ROOM = '.sprawling';
const RULES_FILE = 'RULES.toml';

/**
 * A parsed TOML table, whose prototype is null.
 */
type Table = Readonly<Record<string, unknown>>;

/** What one key wants: reads a value, or gives undefined if it is of the wrong type. */
interface Key<T> {
  readonly wants: string;
  read(value: unknown): T | undefined;
  /** Absent for a key that must be there. */
  readonly otherwise?: T;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const asTexts = (value: unknown): readonly string[] | undefined => {
  if (isText(value)) return [value];
  return Array.isArray(value) && value.every(isText) ? value : undefined;
};
const asFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);

const TEXTS: Key<readonly string[]> = { wants: 'must be a text or a list of texts', read: asTexts, otherwise: [] };
const FLAG: Key<boolean> = { wants: 'must be true or false', read: asFlag, otherwise: false };

/** Every key there is. A key added to `Rules` does not compile without its line here. */
const KEYS: { readonly [K in keyof Rules]: Key<Rules[K]> } = {
  does: TEXTS,
  conventions: TEXTS,
  confidential: { wants: FLAG.wants, read: asFlag },
  write: {
    wants: 'must be "everything" or "documents"',
    read: (value) => (value === 'everything' || value === 'documents' ? value : undefined),
  },
  prefixes: TEXTS,
  review: FLAG,
  browser: FLAG,
  desktop: FLAG,
  usersbrowser: {
    wants: 'must be true, false or a ws:// address',
    read: (value) => (isText(value) && value.startsWith('ws://') ? value : asFlag(value)),
    otherwise: false,
  },
  egress: TEXTS,
  reading_room: TEXTS,
  harness_minutes: {
    wants: 'must be a positive number',
    read: (value) => (typeof value === 'number' && value > 0 && Number.isFinite(value) ? value : undefined),
    otherwise: 60,
  },
};
const KNOWN: ReadonlySet<string> = new Set(Object.keys(KEYS));

/** A fault of a rules file; thrown and caught in this file only. */
class Fault extends Error {
  readonly lineNumber: number | undefined;
  constructor(rule: string, lineNumber?: number) {
    super(rule);
    this.lineNumber = lineNumber;
  }
}

const rulesAddress = (building: string): string => `${building}/${RESERVED_ROOM}/${RULES_FILE}`;

function broken(building: string, fact: string, lineNumber?: number): RulesRead {
  const where = lineNumber === undefined ? '' : `line ${lineNumber}: `;
  return { kind: 'broken', subject: `${rulesAddress(building)}: ${where}${fact}` };
}

const closed = (building: string, fact: string): RulesRead => ({ kind: 'broken', subject: `${building}: ${fact}` });

/**
 * The rules `text` spells, or what is wrong with it. `''` is broken: `confidential` and `write` must be there.
 * Linear in `text`, which the caller has bounded.
 */
export function parseRules(text: string, building: string): RulesRead {
  try {
    return { kind: 'rules', rules: check(toTable(text), text, building) };
  } catch (error) {
    if (error instanceof Fault) return broken(building, error.message, error.lineNumber);
    throw error;
  }
}

function toTable(text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    // The parser's own message quotes the file. Whatever it throws, the text is no rules file.
    throw new Fault('it is not TOML', error instanceof TomlError ? error.line : undefined);
  }
}

function check(table: Table, text: string, building: string): Rules {
  if (Object.keys(table).some((key) => !KNOWN.has(key))) {
    throw new Fault(
      'an unknown key',
      lineOf(text, (key) => !KNOWN.has(key)),
    );
  }
  const take = <T>(name: keyof Rules, key: Key<T>): T => {
    const value = table[name];
    if (value === undefined && key.otherwise !== undefined) return key.otherwise;
    if (value === undefined) throw new Fault(`\`${name}\` is missing`);
    const read = key.read(value);
    if (read === undefined)
      throw new Fault(
        `\`${name}\` ${key.wants}`,
        lineOf(text, (found) => found === name),
      );
    return read;
  };
  const rules: Rules = {
    does: take('does', KEYS.does),
    conventions: take('conventions', KEYS.conventions),
    confidential: take('confidential', KEYS.confidential),
    write: take('write', KEYS.write),
    prefixes: take('prefixes', KEYS.prefixes),
    review: take('review', KEYS.review),
    browser: take('browser', KEYS.browser),
    desktop: take('desktop', KEYS.desktop),
    usersbrowser: take('usersbrowser', KEYS.usersbrowser),
    egress: take('egress', KEYS.egress),
    reading_room: take('reading_room', KEYS.reading_room),
    harness_minutes: take('harness_minutes', KEYS.harness_minutes),
  };
  const clash = contradiction(rules, building);
  if (clash !== undefined)
    throw new Fault(
      clash.fact,
      lineOf(text, (found) => found === clash.key),
    );
  return rules;
}

/** What no building can be at once. */
function contradiction(
  rules: Rules,
  building: string,
): { readonly key: keyof Rules; readonly fact: string } | undefined {
  const outlets = {
    egress: rules.egress.length > 0,
    browser: rules.browser,
    usersbrowser: rules.usersbrowser !== false,
    desktop: rules.desktop,
  } as const;
  for (const key of ['egress', 'browser', 'usersbrowser', 'desktop'] as const) {
    if (rules.confidential && outlets[key])
      return { key, fact: `\`confidential\` does not go together with \`${key}\`` };
  }
  if (rules.prefixes.every((prefix) => liesIn(prefix, building))) return undefined;
  return { key: 'prefixes', fact: '`prefixes` must be addresses inside the building' };
}

function liesIn(prefix: string, building: string): boolean {
  const [inner, outer] = [parseAddress(prefix), parseAddress(building)];
  return !isBroken(inner) && !isBroken(outer) && isWithin(inner, outer);
}

/** How a line that sets a key begins; the key bare or quoted. A dotted key counts as its first part. */
const KEY_LINE = /^[ \t]*(?:([A-Za-z0-9_-]+)|"([^"\\]*)"|'([^']*)')[ \t]*[=.]/;

/**
 * The number of the first line that sets a key of this kind, where that is certain: what stands before the line must
 * parse by itself, so the line is not inside a text or list, and open no table. The parser tells no positions.
 */
function lineOf(text: string, isIt: (key: string) => boolean): number | undefined {
  const lines = text.split('\n');
  const index = lines.findIndex((line) => {
    const [, bare, double, single] = KEY_LINE.exec(line) ?? [];
    const key = bare ?? double ?? single;
    return key !== undefined && isIt(key);
  });
  const before = lines.slice(0, index);
  if (index < 0 || before.some((line) => /^[ \t]*\[/.test(line))) return undefined;
  try {
    parse(before.join('\n'));
    return index + 1;
  } catch {
    // The line is inside something else: no number is better than a wrong one.
    return undefined;
  }
}

/** Failures that mean there is no such directory to hold rules: the building is missing, a file, or a link (judged where it lands). */
const NO_BUILDING: ReadonlySet<Failure> = new Set(['no-entry', 'bad-name', 'not-directory', 'is-link']);

/**
 * The rules of `building`, opened from `root` segment by segment without following a link. A building that is no
 * directory, or holds no rules file, has none; anything else that keeps the file from being read is `broken`.
 * Reads at most RULES_MAX_BYTES + 1 bytes, whatever the file says its size is. Four opens at most; all closed again.
 */
export function readRules<D extends Place<D>>(root: D, building: string): RulesRead {
  const home = root.directory(building);
  // It is the building that does not open: nobody came as far as its rules.
  if (failed(home)) return NO_BUILDING.has(home) ? { kind: 'none' } : closed(building, FAILURE_SENTENCES[home]);
  try {
    // Most buildings have none, and a look costs a third of an open that fails.
    const there = home.look(RESERVED_ROOM);
    if (there === 'no-entry') return { kind: 'none' };
    // A directory whose names may not be looked at can be held all the same; what does not open is still the building.
    if (there === 'access') return closed(building, FAILURE_SENTENCES.access);
    const room = home.directory(RESERVED_ROOM);
    if (failed(room)) return without(building, room, 'its directory is no plain directory');
    try {
      const file = room.file(RULES_FILE, { placed: true });
      return failed(file) ? without(building, file, 'it is no plain file') : readFile(file, building);
    } finally {
      room.close();
    }
  } finally {
    home.close();
  }
}

/** What a failed open on the way to the file means: only a missing name means there are no rules. */
function without(building: string, failure: Failure, unfit: string): RulesRead {
  if (failure === 'no-entry') return { kind: 'none' };
  const isUnfit = ['is-link', 'not-directory', 'is-directory', 'not-regular'].includes(failure);
  return broken(building, isUnfit ? unfit : FAILURE_SENTENCES[failure]);
}

/** Reads and closes the file. */
function readFile(file: OpenFile, building: string): RulesRead {
  const bytes = readSmall(file, RULES_MAX_BYTES);
  if (bytes === 'too-large') return broken(building, `it is larger than ${RULES_MAX_BYTES} bytes`);
  return failed(bytes) ? broken(building, FAILURE_SENTENCES[bytes]) : rulesFrom(bytes, building);
}

/** What the bytes of a rules file spell. Linear in them; the caller has bounded them. */
export function rulesFrom(bytes: Uint8Array, building: string): RulesRead {
  const text = decode(bytes);
  return text === undefined ? broken(building, 'it is not UTF-8') : parseRules(text, building);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The default policy's verdict on `building` for `reader`: `mayRead` by the rules file, which is not opened at home. */
export const defaultVerdict = <D extends Place<D>>(root: D, reader: string | null, building: string): Verdict =>
  mayRead(reader, building, () => readRules(root, building));
