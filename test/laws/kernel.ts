/**
 * The kernel as oracle: on random trees of directories, files and links, what `resolve` and `Filesystem.openAt` open
 * over the Linux tree is what openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS) opens, by device and inode, or both
 * refuse. Where they may differ is a closed list, each case proved and counted. Shared by the suite and the soak.
 */

import fs from 'node:fs';
import fc from 'fast-check';
import { Bound } from '../../dist/judge/bound.js';
import { type Landing, release, resolve } from '../../dist/judge/locate.js';
import type { Dir, Identity, Tree } from '../../dist/tree/tree.js';
import { Filesystem } from '../../dist/wasi/filesystem.js';
import { isCode } from '../../dist/wasi/handles.js';
import { ALLOWANCE, Meter } from '../../dist/wasi/meter.js';
import { askKernel, type KernelAnswer } from '../support/native.js';
import { type DiskWorld, diskWorld, type Things } from '../tree/worlds.js';

const EXDEV = 18;

/** Why an answer of ours may differ from the kernel's. Anything else is a failure. */
export interface Allowed {
  /** An absolute link to a place under the root: we expand it, RESOLVE_BENEATH refuses every absolute link. */
  absoluteInside: number;
  /** A name that is no address (`a:b`, `a.`): the kernel opens it, we have no word for it. */
  notAddress: number;
  /** Neither file nor directory: `openAt` never opens it; the kernel opens it as a mere place. */
  notRegular: number;
}

export interface Tally {
  lookups: number;
  /** Both opened the same thing. */
  opened: number;
  /** Both refused. */
  refused: number;
  readonly allowed: Allowed;
  readonly differences: string[];
}

// ---- random trees over a tiny alphabet, so that links meet what they name ----

const name = fc.constantFrom('a', 'b', 'c', 'd');
const PLAIN = ['a', 'a', 'b', 'b', 'c', 'd', '..', '..', '.', '', 'x', 'abs', 'pipe'];
/** Names that are no address, on disk: the kernel opens them. */
const NO_ADDRESSES = ['a:b', 'dot.'];

type Shape = { readonly [name: string]: Shape | { readonly link: string } | 'file' | 'fifo' };

/** Trees, and paths to ask in them. `@` stands for the root's own path, which is known when the tree is made. */
function worldOf(segments: readonly string[]) {
  const segment = fc.constantFrom(...segments);
  const relative = fc.array(segment, { minLength: 1, maxLength: 6 }).map((names) => names.join('/') || '.');
  const linkText = fc.oneof(
    { weight: 8, arbitrary: relative },
    { weight: 1, arbitrary: relative.map((rest) => `@/${rest}`) },
    { weight: 1, arbitrary: fc.constantFrom('@', '@x', '/', '/etc/passwd', '/proc/self/root', '/proc/self/cwd') },
    { weight: 1, arbitrary: relative.map((rest) => `../city/${rest}`) },
  );
  const { shape } = fc.letrec<{ shape: Shape; node: Shape[string] }>((tie) => ({
    shape: fc.dictionary(name, tie('node'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
    node: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Shape[string]>('file', 'file', 'file', 'fifo'),
      linkText.map((link) => ({ link })),
      linkText.map((link) => ({ link })),
      tie('shape'),
      tie('shape'),
    ),
  }));
  const path = fc.oneof({ weight: 9, arbitrary: relative }, { weight: 1, arbitrary: linkText });
  return { shape, path };
}

/** Every other tree knows names that are no address, so that in the rest they can excuse nothing. */
const WORLDS = [worldOf(PLAIN), worldOf([...PLAIN, ...NO_ADDRESSES])] as const;

/** A chain `hop1 → hop2 → … → a`: as long as it takes to meet the limit of both. */
const CHAIN: Things = [
  ...Array.from({ length: 45 }, (_, n) => [`hop${n + 1}`, { link: n === 0 ? 'target' : `hop${n}` }] as const),
  ['target', 'found'],
  ['a:b', 'x'],
  ['dot.', { directory: true }],
];

function plant(world: DiskWorld, above: string, shape: Shape): void {
  for (const [key, node] of Object.entries(shape)) {
    const at = above === '' ? key : `${above}/${key}`;
    if (node === 'file') world.put(at, 'x');
    else if (node === 'fifo') world.put(at, { other: true });
    else if (isLink(node)) world.put(at, { link: node.link.replaceAll('@', world.root) });
    else {
      world.put(at, { directory: true });
      plant(world, at, node);
    }
  }
}

const isLink = (node: Exclude<Shape[string], string>): node is { readonly link: string } =>
  typeof node['link'] === 'string';

// ---- the two answers, in one form ----

/** What was opened (`device:inode`), or why not. */
type Answer = { readonly is: string; readonly kind: string } | { readonly refused: string };

const idOf = ({ device, inode }: Identity): string => `${device}:${inode}`;

const kernels = (answer: KernelAnswer): Answer =>
  'errno' in answer ? { refused: `E${answer.errno}` } : { is: idOf(answer), kind: answer.kind };

function resolved(landing: Landing<Dir>): Answer {
  release(landing);
  switch (landing.kind) {
    case 'directory':
      return { is: idOf(landing.dir.identity), kind: 'd' };
    case 'entry':
      return { is: idOf(landing.look.identity), kind: landing.look.kind === 'file' ? 'f' : 'o' };
    default:
      return { refused: landing.kind };
  }
}

/** openAt as a guest asks it: as a file first, and as a directory where it is told that it is one. */
function openedAt(filesystem: Filesystem, asked: string): Answer {
  const preopened = filesystem.preopened();
  if (isCode(preopened)) throw new Error(`no preopen: ${preopened}`);
  const open = (directory: boolean) =>
    filesystem.openAt(preopened.handle, { follow: true, path: asked, directory, mutates: false });
  const first = open(false);
  const opened = first === 'is-directory' ? open(true) : first;
  filesystem.drop(preopened.handle);
  if (isCode(opened)) return { refused: opened };
  const answer =
    opened.kind === 'file' ? { is: idOf(opened.file.identity()), kind: 'f' } : { is: idOf(opened.identity), kind: 'd' };
  filesystem.drop(opened);
  return answer;
}

/** What was asked, and what the three say. */
interface Case {
  readonly root: string;
  readonly asked: string;
  readonly kernel: Answer;
  readonly resolve: Answer;
  readonly openAt: Answer;
}

/** Counts an answer of ours beside the kernel's: the same, a stated difference, or a finding. */
function compare(tally: Tally, at: Case, who: 'resolve' | 'openAt'): void {
  const { kernel, [who]: ours } = at;
  tally.lookups++;
  if ('is' in kernel && 'is' in ours && kernel.is === ours.is && kernel.kind === ours.kind) tally.opened++;
  else if ('refused' in kernel && 'refused' in ours) tally.refused++;
  else {
    const why = allowedWhy(at, ours);
    if (why !== undefined) tally.allowed[why]++;
    else tally.differences.push(JSON.stringify({ who, asked: at.asked, kernel, ours }));
  }
}

function allowedWhy({ root, asked, kernel, resolve }: Case, ours: Answer): keyof Allowed | undefined {
  if ('is' in ours) {
    const refused = 'refused' in kernel && kernel.refused === `E${EXDEV}`;
    return refused && leadsThere(root, asked, ours.is) ? 'absoluteInside' : undefined;
  }
  // To the guest, what a link to such a name leads to "does not resolve": the resolver's own word is asked.
  if ('refused' in resolve && resolve.refused === 'not-address') return 'notAddress';
  return 'is' in kernel && kernel.kind === 'o' && ours.refused === 'unsupported' ? 'notRegular' : undefined;
}

/** Nothing moves here: the plain system call says where the path leads, and its real path that it lies inside. */
function leadsThere(root: string, asked: string, is: string): boolean {
  const place = `${root}/${asked}`;
  const found = fs.statSync(place, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || idOf({ device: found.dev, inode: found.ino }) !== is) return false;
  const real = fs.realpathSync.native(place);
  return real === root || real.startsWith(`${root}/`);
}

// ---- one tree ----

function compareTree(tally: Tally, shape: Shape, asks: readonly string[]): void {
  const world = diskWorld('linux')(CHAIN);
  const paths = asks.map((asked) => asked.replaceAll('@', world.root));
  try {
    world.put('abs', { link: world.root });
    world.put('pipe', { other: true });
    plant(world, '', shape);
    const tree = world.open();
    const answers = askKernel(world.root, paths).map(kernels);
    const filesystem = new Filesystem({
      tree,
      bound: Bound.openUnchecked(),
      meter: new Meter(ALLOWANCE, 600_000),
      preopen: { kind: 'directory', shown: '', path: '' },
    });
    for (const [index, asked] of paths.entries()) {
      const kernel = answers[index] ?? { refused: 'not asked' };
      const ours = { resolve: resolvedIn(tree, asked), openAt: openedAt(filesystem, asked) };
      const at: Case = { root: world.root, asked, kernel, ...ours };
      compare(tally, at, 'resolve');
      compare(tally, at, 'openAt');
    }
    filesystem.close();
    if (tree.openCount() !== 1) tally.differences.push(`${tree.openCount()} descriptors left`);
  } finally {
    world.end();
  }
}

const resolvedIn = (tree: Tree, path: string): Answer =>
  resolved(resolve({ root: tree.root, spellings: tree.spellings, bound: Bound.openUnchecked() }, { base: [], path }));

/** Compares `trees` random trees, each for `paths` random paths: two lookups of ours a path. Deterministic in `seed`. */
export function compareWithKernel(seed: number, trees: number, paths: number): Tally {
  const allowed: Allowed = { absoluteInside: 0, notAddress: 0, notRegular: 0 };
  const tally: Tally = { lookups: 0, opened: 0, refused: 0, allowed, differences: [] };
  const hops = Array.from({ length: 45 }, (_, n) => `hop${n + 1}`);
  for (let index = 0; index < trees; index++) {
    const world = WORLDS[index % 2] ?? WORLDS[0];
    const [shape] = fc.sample(world.shape, { seed: seed + index, numRuns: 1 });
    const asked = fc.sample(world.path, { seed: seed - index, numRuns: paths });
    const before = tally.allowed.notAddress;
    if (shape !== undefined) compareTree(tally, shape, [...hops, ...asked]);
    if (index % 2 === 0 && tally.allowed.notAddress !== before)
      tally.differences.push('a name excused that was not there');
  }
  return tally;
}
