/**
 * Git repositories made by the real git from a seed, and what the real git says of them: the ground that the guest's
 * reader is held to. Made by `git fast-import`, hundreds of commits in tens of milliseconds.
 *
 * A seed gives the same commits whatever the storage is. Branches are agents' (`agents/…`) and others; commits add,
 * change, delete, rename, replay and merge entries below messages/ and summary/, and files elsewhere; many in one second,
 * some before their parents.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** How objects lie on the disk. */
export const STORAGES = ['loose', 'packed', 'packs', 'ref-deltas', 'aggressive', 'mixed'] as const;
export type Storage = (typeof STORAGES)[number];
export const FORMATS = ['sha1', 'sha256'] as const;
export type Format = (typeof FORMATS)[number];

/** Which commit-graph git wrote: of all, of the older half, or layer upon layer; with filters of changed paths or without. */
export const GRAPHS = ['whole', 'older', 'chain', 'whole-paths', 'chain-paths'] as const;
export type GraphKind = (typeof GRAPHS)[number];

export interface RepositoryOptions {
  readonly seed: number;
  readonly storage?: Storage;
  readonly format?: Format;
  /** About how many. */
  readonly commits?: number;
  readonly branches?: number;
  /** None by itself, but where `git gc` writes one. */
  readonly graph?: GraphKind;
}

/** A hit as git tells it: what `history-page` holds. */
export interface GitHit {
  readonly commit: string;
  readonly path: Buffer;
  readonly blob: string;
}

/** A bare repository in a directory of its own. `end` it. */
export class Repository {
  /** The repository's directory. */
  readonly dir: string;
  readonly format: Format;
  constructor(format: Format = 'sha1') {
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-git-'));
    this.format = format;
    this.git(['init', '-q', '--bare', `--object-format=${format}`, '.']);
  }

  get oidBytes(): number {
    return this.format === 'sha1' ? 20 : 32;
  }

  /** What git prints. No configuration but the repository's own is read. */
  git(args: readonly string[], input: string | Buffer = ''): Buffer {
    return execFileSync('git', args, {
      cwd: this.dir,
      input,
      maxBuffer: 1 << 30,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: this.dir,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_NO_REPLACE_OBJECTS: '1',
        GIT_DIR: this.dir,
        LC_ALL: 'C',
      },
    });
  }

  /** The same as one line of text. */
  say(args: readonly string[], input: string | Buffer = ''): string {
    return this.git(args, input).toString().trim();
  }

  /** Takes a fast-import stream; its objects stay loose or become one pack. */
  import(stream: Buffer, stay: 'loose' | 'pack'): void {
    const limit = stay === 'loose' ? 1_000_000 : 1;
    const marks = path.join(this.dir, 'marks');
    const known = fs.existsSync(marks) ? [`--import-marks=${marks}`] : [];
    this.git(
      [
        '-c',
        `fastimport.unpackLimit=${limit}`,
        'fast-import',
        '--quiet',
        '--force',
        ...known,
        `--export-marks=${marks}`,
      ],
      stream,
    );
  }

  /** Has git write a commit-graph of what its refs reach; of a chain the next layer. */
  writeGraph(kind: GraphKind): void {
    const split = kind.startsWith('chain') ? ['--split=no-merge'] : [];
    const paths = kind.endsWith('paths') ? ['--changed-paths'] : [];
    this.git(['commit-graph', 'write', '--reachable', '--no-progress', ...split, ...paths]);
  }

  /** Every entry that a commit added and that holds the pattern, newest first, as git finds them: one hit a commit. */
  log(pattern: string, branches = 'agents/*', directories: readonly string[] = ['messages', 'summary']): GitHit[] {
    const args = ['log', '--full-history', `--branches=${branches}`, '--no-renames', '--no-textconv', '--no-abbrev'];
    const asked = ['--diff-filter=A', `-S${pattern}`, '--raw', '-z', '--format=%x01%H', '--', ...directories];
    return parseLog(this.git([...args, ...asked]));
  }

  end(): void {
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
}

/** `\1<commit>` and then, for each file, `:modes oids A` and its path; NUL between all. */
function parseLog(printed: Buffer): GitHit[] {
  const hits: GitHit[] = [];
  const fields = split(printed);
  let commit = '';
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]?.toString('latin1') ?? '';
    const at = field.indexOf('\x01');
    if (at >= 0) {
      commit = field.slice(at + 1).trim();
      continue;
    }
    const raw = /^\n?:\d{6} \d{6} [0-9a-f]+ ([0-9a-f]+) A$/.exec(field);
    if (raw === null) continue;
    hits.push({ commit, path: fields[++i] ?? Buffer.alloc(0), blob: raw[1] ?? '' });
  }
  return hits;
}

function split(printed: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let from = 0; from < printed.length; ) {
    const end = printed.indexOf(0, from);
    const stop = end < 0 ? printed.length : end;
    fields.push(printed.subarray(from, stop));
    from = stop + 1;
  }
  return fields;
}

/** One entry, one hit: of equal path and blob the newest address. */
export function once(hits: readonly GitHit[]): GitHit[] {
  const seen = new Set<string>();
  return hits.filter(({ path: at, blob }) => {
    const key = `${blob} ${at.toString('latin1')}`;
    return !seen.has(key) && seen.add(key);
  });
}

// ---- generating ----

/** Words that entries are made of: patterns to look for. */
export const WORDS: readonly string[] = [
  'sluice',
  'follows',
  'lantern',
  'Ärger',
  '中文',
  'two\nlines',
  '"quoted"',
  'tab\there',
  'Subproject',
  'a/b',
];

/** Odd names, each legal in git. */
const NAMES: readonly string[] = [
  '001-user.json',
  '002-assistant.json',
  '010.md',
  'with space.md',
  'qu"ote.md',
  "it's.md",
  'new\nline.md',
  'tab\t.md',
  'back\\slash.md',
  'ümlaut.md',
  '日本.json',
  '\x01control',
  '-option',
  ':(glob)star*',
  '[id].md',
  'a',
  'a.b',
  'a-b',
  'A',
];
const LATIN1_NAME = Buffer.from('latin-\xe9.md', 'latin1');

/** Numbers from a seed: mulberry32. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  /** In [0, 1). */
  roll(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(count: number): number {
    return Math.floor(this.roll() * count);
  }
  pick<T>(of: readonly T[]): T {
    const picked = of[this.below(of.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }
  /** True with this chance. */
  may(chance: number): boolean {
    return this.roll() < chance;
  }
}

interface File {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  readonly bytes: Buffer;
}
/** Path, as latin1 so that any bytes are a key, to file. */
type Files = Map<string, File>;
interface Branch {
  readonly name: string;
  files: Files;
  /** Mark of its newest commit. */
  tip: number;
}

const key = (name: string | Buffer): string => (typeof name === 'string' ? Buffer.from(name) : name).toString('latin1');

/** A repository of about `commits` commits, made from a seed. */
export function makeRepository(options: RepositoryOptions): Repository {
  const { seed, storage = 'packed', format = 'sha1', commits = 40, branches = 5, graph } = options;
  const repository = new Repository(format);
  const parts = new Story(new Dice(seed), format, branches).tell(commits, storage === 'packs' ? 4 : 2);
  const stays: Readonly<Record<Storage, 'loose' | 'pack'>> = {
    loose: 'loose',
    packed: 'pack',
    packs: 'pack',
    'ref-deltas': 'pack',
    aggressive: 'pack',
    mixed: 'pack',
  };
  parts.forEach((part, index) => {
    repository.import(part, storage === 'mixed' && index > 0 ? 'loose' : stays[storage]);
    if (graph?.startsWith('chain') || (graph === 'older' && index === 0)) repository.writeGraph(graph);
  });
  if (storage === 'packed') repository.git(['repack', '-adfq', '--depth=50']);
  if (storage === 'ref-deltas') repository.git(['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']);
  if (storage === 'aggressive') repository.git(['gc', '--aggressive', '--quiet', '--prune=now']);
  if (storage === 'mixed') repository.git(['pack-refs', '--all']);
  if (graph?.startsWith('whole')) repository.writeGraph(graph);
  return repository;
}

/** Commits in the words of fast-import. */
class Story {
  readonly #dice: Dice;
  readonly #branches: Branch[] = [];
  readonly #format: Format;
  readonly #names: readonly string[];
  #mark = 0;
  #now = 1_700_000_000;
  #out: Buffer[] = [];

  constructor(dice: Dice, format: Format, branches: number) {
    this.#dice = dice;
    this.#format = format;
    this.#names = [
      'main',
      'agents/a',
      'agents/a-compactor',
      'agents/deep/er',
      'agents/b',
      'agentsx',
      'agents/ümlaut',
    ].slice(0, Math.max(2, branches + 1));
  }

  /** The whole, in `parts` streams that build on one another. */
  tell(commits: number, parts: number): Buffer[] {
    return Array.from({ length: parts }, (_, part) => {
      this.#out = [];
      const upTo = Math.ceil((commits * (part + 1)) / parts);
      while (this.#mark < upTo) this.#commit();
      return Buffer.concat(this.#out);
    });
  }

  #say(text: string | Buffer): void {
    this.#out.push(typeof text === 'string' ? Buffer.from(text) : text);
  }

  #data(bytes: Buffer): void {
    this.#say(`data ${bytes.length}\n`);
    this.#say(bytes);
    this.#say('\n');
  }

  #commit(): void {
    const dice = this.#dice;
    const branch = this.#turn();
    const others = this.#branches.filter((other) => other !== branch && other.tip !== branch.tip);
    const merged = branch.tip > 0 && others.length > 0 && dice.may(0.15) ? [dice.pick(others)] : [];
    if (merged.length > 0 && others.length > 1 && dice.may(0.2)) {
      const third = dice.pick(others);
      if (!merged.includes(third)) merged.push(third);
    }
    // Many commits in one second; now and then a clock that is behind.
    this.#now += dice.may(0.5) ? 0 : dice.below(100);
    const date = this.#now - (dice.may(0.05) ? dice.below(1_000) : 0);
    const mark = ++this.#mark;
    this.#say(`commit refs/heads/${branch.name}\nmark :${mark}\n`);
    this.#say(`author A <a@x> ${date - dice.below(50)} +0000\ncommitter C <c@x> ${date} +0${dice.below(10)}00\n`);
    this.#data(Buffer.from(dice.may(0.1) ? '' : `commit ${mark}\n`));
    if (branch.tip > 0) this.#say(`from :${branch.tip}\n`);
    for (const other of merged) this.#say(`merge :${other.tip}\n`);
    const files: Files = new Map(branch.files);
    for (const other of merged) for (const [at, file] of other.files) if (dice.may(0.7)) files.set(at, file);
    for (let changes = dice.below(4); changes > 0; changes--) this.#change(files);
    this.#tellFiles(files);
    branch.files = files;
    branch.tip = mark;
  }

  /** The branch that is committed to: a new one now and then, from nothing or from another's tip. */
  #turn(): Branch {
    const dice = this.#dice;
    const name = this.#names[this.#branches.length];
    if (name === undefined || (this.#branches.length > 0 && dice.may(0.8))) return dice.pick(this.#branches);
    const from = this.#branches.length > 0 && dice.may(0.6) ? dice.pick(this.#branches) : undefined;
    const branch: Branch = { name, files: new Map(from?.files), tip: from?.tip ?? 0 };
    this.#branches.push(branch);
    return branch;
  }

  #change(files: Files): void {
    const dice = this.#dice;
    const known = [...files.keys()];
    switch (dice.below(known.length === 0 ? 2 : 9)) {
      case 0:
      case 1:
      case 2:
        return put(files, this.#path(), this.#file());
      case 3:
        return put(files, dice.pick(known), this.#file());
      case 4:
        files.delete(dice.pick(known));
        return;
      case 5: {
        const from = dice.pick(known);
        const file = files.get(from);
        files.delete(from);
        if (file !== undefined) put(files, this.#path(), file);
        return;
      }
      case 6:
      case 7: {
        // a replay: what another branch has, under the same path
        const other = dice.pick(this.#branches).files;
        if (other.size === 0) return;
        const at = dice.pick([...other.keys()]);
        const file = other.get(at);
        if (file !== undefined) put(files, at, file);
        return;
      }
      default: {
        const at = dice.pick(known);
        const file = files.get(at);
        if (file !== undefined && file.mode !== '160000')
          files.set(at, { ...file, mode: dice.pick(['100644', '100755', '120000']) });
      }
    }
  }

  #path(): string {
    const dice = this.#dice;
    const top = dice.pick(['messages', 'messages', 'summary', 'src', 'messages.old', 'messages-x']);
    const deeper = dice.may(0.2) ? `${dice.pick(['deep', 'a', '001-user.json'])}/` : '';
    const name = dice.may(0.04) ? key(LATIN1_NAME) : dice.may(0.4) ? `${dice.below(30)}.json` : key(dice.pick(NAMES));
    return `${top}/${deeper}${name}`;
  }

  #file(): File {
    const dice = this.#dice;
    const mode = dice.may(0.08) ? dice.pick(['100755', '120000', '160000'] as const) : '100644';
    if (dice.may(0.06)) return { mode: mode === '160000' ? '100644' : mode, bytes: Buffer.alloc(0) };
    const words = Array.from({ length: 1 + dice.below(12) }, () => dice.pick(WORDS));
    const large = dice.may(0.03) ? `\n${words.join('-').repeat(dice.below(3_000))}\n` : '';
    return { mode, bytes: Buffer.from(`${words.join(' ')}${large}${words.join('')}${dice.below(40)}`) };
  }

  #tellFiles(files: Files): void {
    this.#say('deleteall\n');
    for (const [at, { mode, bytes }] of files) {
      const quoted = `"${Array.from(at, quote).join('')}"`;
      if (mode === '160000') {
        const digits = this.#format === 'sha1' ? 40 : 64;
        this.#say(`M 160000 ${bytes.toString('hex').padEnd(digits, '7').slice(0, digits)} ${quoted}\n`);
        continue;
      }
      this.#say(`M ${mode} inline ${quoted}\n`);
      this.#data(mode === '120000' && bytes.length === 0 ? Buffer.from('to') : bytes);
    }
    this.#say('\n');
  }
}

/** Puts a file where it may stand: what is a file becomes a directory, what is a directory a file. */
function put(files: Files, at: string, file: File): void {
  for (const known of [...files.keys()]) {
    if (known.startsWith(`${at}/`) || at.startsWith(`${known}/`)) files.delete(known);
  }
  files.set(at, file);
}

/** A byte as fast-import reads it between quotes. */
function quote(byte: string): string {
  const code = byte.charCodeAt(0);
  const plain = code >= 0x20 && code < 0x7f && byte !== '"' && byte !== '\\';
  return plain ? byte : `\\${code.toString(8).padStart(3, '0')}`;
}

/** A repository of many short commits in many branches, in one pack: for what is measured. Packing anew costs minutes. */
export function makeLargeRepository(
  branches: number,
  each: number,
  packing: 'imported' | 'packed' | 'aggressive',
): Repository {
  const repository = new Repository();
  const dice = new Dice(1);
  const out: Buffer[] = [];
  const say = (text: string) => out.push(Buffer.from(text));
  const data = (text: string) => say(`data ${Buffer.byteLength(text)}\n${text}\n`);
  for (let number = 0; number < each; number++) {
    for (let branch = 0; branch < branches; branch++) {
      const date = 1_700_000_000 + number * 60 + branch;
      say(`commit refs/heads/agents/a${branch}\nauthor A <a@x> ${date} +0000\ncommitter A <a@x> ${date} +0000\n`);
      data(`turn ${number}\n`);
      const words = Array.from({ length: 60 + dice.below(200) }, () => WORDY[dice.below(WORDY.length)]).join(' ');
      say(`M 100644 inline messages/${String(number).padStart(4, '0')}-${branch % 2 === 0 ? 'user' : 'tool'}.json\n`);
      data(JSON.stringify({ role: 'assistant', number, branch, text: words }));
      if (number % 20 === 19) {
        say(`M 100644 inline summary/${String(number).padStart(4, '0')}.md\n`);
        data(`# summary ${number}\n${words}\n`);
      }
    }
  }
  repository.import(Buffer.concat(out), 'pack');
  if (packing === 'aggressive') repository.git(['gc', '--aggressive', '--quiet', '--prune=now']);
  if (packing === 'packed') repository.git(['repack', '-adfq', '--depth=50']);
  return repository;
}

/** A long history in one branch, `main`, of which one commit in `every` adds an entry; in one pack. Takes a minute a million. */
export function makeLongRepository(commits: number, every: number): Repository {
  const repository = new Repository();
  const out: string[] = [];
  for (let number = 0; number < commits; number++) {
    const date = 1_600_000_000 + number;
    out.push(`commit refs/heads/main\nmark :${number + 1}\ncommitter A <a@x> ${date} +0000\ndata 1\nx\n`);
    if (number > 0) out.push(`from :${number}\n`);
    const text = `needle ${number}`;
    if (number % every === 0) out.push(`M 100644 inline messages/${number}\ndata ${text.length}\n${text}\n\n`);
    else out.push(`M 100644 inline src/f${number % 50}\ndata 8\n${String(number).padStart(8, '0')}\n\n`);
  }
  repository.import(Buffer.from(out.join('')), 'pack');
  return repository;
}

const WORDY: readonly string[] = Array.from({ length: 3_000 }, (_, index) => {
  const dice = new Dice(index + 7);
  return Array.from({ length: 2 + dice.below(9) }, () => String.fromCharCode(97 + dice.below(26))).join('');
});
