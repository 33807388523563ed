/**
 * A git configuration file, as git's own parser takes it apart (config.c, git-config(1) "Syntax"), and the one question
 * that is asked of it: in which format is this repository, and does it need anything we do not know? Nothing else of it
 * has any effect: what it includes is not read, what it would run is text. Pure; repository.ts, the next, opens the file.
 */

/** One setting. The name is `section.key` or `section.subsection.key`; all but the subsection in lower case. */
export interface Setting {
  readonly name: string;
  /** Undefined for a key without `=`, which means true. */
  readonly value: string | undefined;
}

/** A file that git would not take, by the number of the line at fault. */
export interface BrokenConfig {
  readonly brokenAtLine: number;
}

/**
 * The settings of a file in its order, or where it breaks. Bytes are taken as Latin-1, one character each: names of
 * interest are ASCII. `''` has none. Linear in `bytes`, which the caller has bounded.
 */
export function parseGitConfig(bytes: Uint8Array): readonly Setting[] | BrokenConfig {
  const source = new Source(new TextDecoder('latin1').decode(bytes));
  try {
    return settingsOf(source);
  } catch (thrown) {
    if (!(thrown instanceof Broken)) throw thrown;
    return { brokenAtLine: source.lineNumber };
  }
}

/** Thrown and caught in this file only. */
class Broken extends Error {}

/** What the parser reads: characters with CR LF as LF, and a LF at the end whether or not there is one. */
class Source {
  readonly #text: string;
  #at: number;
  #line = 1;
  #sinceNewline = false;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  }

  get isAtEnd(): boolean {
    return this.#at > this.#text.length;
  }

  /** Of the character read last, from 1. */
  get lineNumber(): number {
    return this.#line;
  }

  next(): string {
    if (this.#sinceNewline) this.#line++;
    if (this.#text.startsWith('\r\n', this.#at)) this.#at++;
    const character = this.#text[this.#at++] ?? '\n';
    // A NUL ends a text for git and stands in one for others: no file has one that means well.
    if (character === '\0') throw new Broken();
    this.#sinceNewline = character === '\n';
    return character;
  }
}
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

const isSpace = (character: string): boolean => character === ' ' || '\t\n\r'.includes(character);
const isLetter = (character: string): boolean => /[A-Za-z]/.test(character);
const isKeyCharacter = (character: string): boolean => /[A-Za-z0-9-]/.test(character);
const opensComment = (character: string): boolean => character === '#' || character === ';';

function settingsOf(source: Source): Setting[] {
  const settings: Setting[] = [];
  let section = '';
  for (let character = source.next(); !source.isAtEnd; character = source.next()) {
    if (isSpace(character)) continue;
    if (opensComment(character)) passLine(source);
    else if (character === '[') section = `${sectionOf(source)}.`;
    else if (isLetter(character)) settings.push(settingOf(source, section, character));
    else throw new Broken();
  }
  return settings;
}

function passLine(source: Source): void {
  while (source.next() !== '\n');
}

/** `[section]`, `[section.subsection]` (an old form, folded) or `[section "subsection"]`, after the bracket. */
function sectionOf(source: Source): string {
  let name = '';
  for (;;) {
    const character = source.next();
    if (source.isAtEnd) throw new Broken();
    // `[]` names no section, and git refuses it.
    if (character === ']' && name === '') throw new Broken();
    if (character === ']') return name;
    if (isSpace(character)) return `${name}.${subsectionOf(source, character)}`;
    if (!isKeyCharacter(character) && character !== '.') throw new Broken();
    name += character.toLowerCase();
  }
}

function subsectionOf(source: Source, space: string): string {
  let character = space;
  while (isSpace(character)) {
    if (character === '\n') throw new Broken();
    character = source.next();
  }
  if (character !== '"') throw new Broken();
  let name = '';
  for (character = source.next(); character !== '"'; character = source.next()) {
    if (character === '\\') character = source.next();
    if (character === '\n') throw new Broken();
    name += character;
  }
  if (source.next() !== ']') throw new Broken();
  return name;
}

function settingOf(source: Source, section: string, first: string): Setting {
  let key = first;
  let character = source.next();
  for (; isKeyCharacter(character); character = source.next()) key += character;
  while (character === ' ' || character === '\t') character = source.next();
  const name = section + key.toLowerCase();
  if (character === '\n') return { name, value: undefined };
  if (character !== '=') throw new Broken();
  return { name, value: textAfter(source) };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', ''],
  ['t', '\t'],
  ['b', '\b'],
  ['n', '\n'],
  ['\\', '\\'],
  ['"', '"'],
]);

/** What stands after `=`: white space around it left out, but for what is quoted. */
function textAfter(source: Source): string {
  let value = '';
  /** How much of it stays if only white space and a comment follow. */
  let kept = 0;
  let isQuoted = false;
  for (let character = source.next(); ; character = source.next()) {
    if (character === '\n') {
      if (isQuoted) throw new Broken();
      return value.slice(0, kept);
    }
    if (!isQuoted && opensComment(character)) {
      passLine(source);
      return value.slice(0, kept);
    }
    if (isSpace(character) && !isQuoted) {
      if (value !== '') value += character;
      continue;
    }
    if (character === '"') isQuoted = !isQuoted;
    else value += character === '\\' ? escaped(source) : character;
    kept = value.length;
  }
}

function escaped(source: Source): string {
  const meant = ESCAPES.get(source.next());
  if (meant === undefined) throw new Broken();
  return meant;
}

// ---- the format ----

/** Bytes of an object's name: SHA-1's or SHA-256's. */
export type OidBytes = 20 | 32;

/** How a repository is to be read, or half a sentence that says why it is not. */
export type Format = { readonly oidBytes: OidBytes } | { readonly unfit: string };

/** Extensions that change nothing for who only reads, by the least format that may have them. */
const HARMLESS: ReadonlyMap<string, 0 | 1> = new Map([
  ['noop', 0],
  ['noop-v1', 1],
  ['preciousobjects', 0],
  ['worktreeconfig', 0],
  ['relativeworktrees', 1],
]);

/**
 * The format that `settings` tell: `core.repositoryFormatVersion` 0 or 1, and each `extensions.*` known. What is not
 * known is refused by its name, also where git itself would pass over it (format 0): a shorter answer would be worse.
 * Source: git's repository-version document. Linear.
 */
export function formatOf(settings: readonly Setting[]): Format {
  const version = settings.findLast(({ name }) => name === 'core.repositoryformatversion')?.value ?? '0';
  if (version !== '0' && version !== '1') return { unfit: 'its core.repositoryFormatVersion is neither 0 nor 1' };
  let oidBytes: OidBytes = 20;
  for (const { name, value } of settings) {
    if (!name.startsWith(EXTENSIONS)) continue;
    const extension = name.slice(EXTENSIONS.length);
    const oid = extension === 'objectformat' ? OBJECT_FORMATS.get(value) : undefined;
    if (oid !== undefined) oidBytes = oid;
    else if (!isHarmless(extension, value)) return { unfit: `it needs ${nameOf(extension)}, which is not supported` };
    const least = oid === undefined ? HARMLESS.get(extension) : 1;
    if (least === 1 && version === '0') return { unfit: `it is of format 0 and has ${nameOf(extension)}, of format 1` };
  }
  return { oidBytes };
}
const EXTENSIONS = 'extensions.';
const OBJECT_FORMATS: ReadonlyMap<string | undefined, OidBytes> = new Map([
  ['sha1', 20],
  ['sha256', 32],
]);

const isHarmless = (extension: string, value: string | undefined): boolean =>
  HARMLESS.has(extension) || (extension === 'refstorage' && value === 'files');

/** A name of the file is told only if it can be nothing else. */
const nameOf = (extension: string): string =>
  /^[a-z0-9-]{1,40}$/.test(extension) ? `the extension ${extension}` : 'an extension of no plain name';
