/**
 * Programs that fall for the attacks: each opens what it is asked, with one habit that is common in the field. A row of
 * the table is worth something only if one of these gets the bait.
 */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { NaiveKind } from '../../dist/audit/attacks.js';
import type { MemoryCity } from '../../dist/tree/memory.js';
import type { Ground } from './ground.js';

/** What a naive program answers: the text, or its error's message as it came. */
export function naiveAnswer(kind: NaiveKind, ground: Ground, asked: string): string {
  try {
    return NAIVE[kind](ground.memory === undefined ? onDisk(ground.root) : inMemory(ground.memory), asked, ground);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Opens by joined path, following whatever is there. */
type Open = (joined: string) => string;
type Program = (open: Open, asked: string, ground: Ground) => string;

const NAIVE: Readonly<Record<NaiveKind, Program>> = {
  follow: (open, asked) => open(asked),
  /** Says its own error, with the path it made. */
  tells: (open, asked) => open(asked),
  /** Absolute paths must begin with the root. */
  prefix: (open, asked, { root }) => (asked.startsWith(root) ? open(asked) : 'refused'),
  decode: (open, asked) => open(decodeURIComponent(asked)),
  backslash: (open, asked) => open(asked.replaceAll('\\', '/')),
  drive: (open, asked) => open(asked.replace(/^[A-Za-z]:\/?/, '')),
  stream: (open, asked) => open(asked.replace(/:.*$/, '')),
  trim: (open, asked) => open(asked.replace(/[ .]+(?=\/|$)/g, '')),
  'c-string': (open, asked) => open(asked.slice(0, asked.indexOf('\0'))),
  lexical: (open, asked) => open(path.posix.normalize(asked)),
  unlimited: (_, asked, { root }) => fs.readFileSync(followed(path.join(root, asked)), 'utf8'),
  /** Shows broken names with U+FFFD, and takes what is shown for the name. */
  lossy: (_, asked, { root }) => {
    const [at, name] = [path.join(root, path.dirname(asked)), path.basename(asked)];
    const found = fs.readdirSync(at, { encoding: 'buffer' }).find((bytes) => bytes.toString() === name);
    return fs.readFileSync(Buffer.concat([Buffer.from(`${at}/`), found ?? Buffer.from(name)]), 'utf8');
  },
  folding: (open, asked) => open(asked),
  /** Waits for a writer that never comes; asked of another process, which is ended. */
  hangs: (_, asked, { root, memory }) => {
    if (memory !== undefined) return 'ETIMEDOUT';
    return execFileSync('cat', [path.join(root, asked)], { timeout: 250, encoding: 'utf8', stdio: 'pipe' });
  },
  /** Refuses whatever looks odd: no program falls for a row that lands, but this one fails it. */
  timid: (open, asked, { root, memory }) => {
    const odd = !/^[a-z0-9/.]{1,100}$/.test(asked) || /git|vault|constructor/.test(asked);
    if (odd || (memory === undefined && isOddOnDisk(path.join(root, asked)))) return 'refused';
    return memory === undefined ? open(asked) : 'refused';
  },
};

/** A link, more than one name, or a name that was put there lately. */
function isOddOnDisk(at: string): boolean {
  const stats = fs.lstatSync(at);
  return stats.isSymbolicLink() || stats.nlink > 1 || !fs.readFileSync(at, 'utf8').startsWith('LANDED notes');
}

function followed(at: string): string {
  let here = at;
  while (fs.lstatSync(here).isSymbolicLink()) here = path.resolve(path.dirname(here), fs.readlinkSync(here));
  return here;
}

// ---- opening by joined path ----

const onDisk =
  (root: string): Open =>
  (asked) => {
    const at = asked.startsWith('/') ? asked : `${root}/${asked}`;
    const stats = fs.statSync(at);
    if (stats.isDirectory()) return fs.readdirSync(at).join('\n');
    return stats.isCharacterDevice() ? head(at) : fs.readFileSync(at, 'utf8');
  };

function head(at: string): string {
  const fd = fs.openSync(at, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return bytes.toString('utf8', 0, fs.readSync(fd, bytes));
  } finally {
    fs.closeSync(fd);
  }
}

type Node = MemoryCity['root'];
const decoder = new TextDecoder();
const fold = (name: string): string => name.normalize('NFKC').replaceAll('\u200c', '').toLowerCase();

/** The same over a city in memory, whose insides it knows. */
const inMemory =
  (city: MemoryCity): Open =>
  (asked) => {
    const node = walk(city, asked, [], 0);
    return node.kind === 'directory' ? [...node.children.keys()].join('\n') : decoder.decode(node.bytes);
  };

function walk(city: MemoryCity, asked: string, from: readonly string[], hops: number): Node {
  const names = asked.startsWith('/city') ? [] : [...from];
  const steps = asked.replace(/^\/city/, '').split('/');
  for (const [index, step] of steps.entries()) {
    if (step === '' || step === '.') continue;
    if (step === '..') names.pop();
    else names.push(step);
    const node = at(city, names);
    if (node.kind !== 'link' || hops > 100) continue;
    names.pop();
    return walk(city, [decoder.decode(node.bytes), ...steps.slice(index + 1)].join('/'), names, hops + 1);
  }
  return at(city, names);
}

function at(city: MemoryCity, names: readonly string[]): Node {
  let node: Node = city.root;
  for (const name of names) {
    const key = city.foldsNames ? [...node.children.keys()].find((found) => fold(found) === fold(name)) : name;
    const child = key === undefined ? undefined : node.children.get(key);
    if (child === undefined) throw new Error(`ENOENT: no such file, open '/city/${names.join('/')}'`);
    node = child.node;
  }
  return node;
}
