/**
 * Which tree a city has, as data: `enterDisk` pins a city once, `openTree` opens its tree for each call, in the
 * thread that makes the call. What crosses between the two is a `TreeSpec`, structured-clonable.
 *
 * A check that fails never selects another tree.
 */

import { resolve, sep } from 'node:path';

import { type LinuxSpec, openLinuxTree, pinLinuxRoot } from './disk-linux.js';
import { findPortableRoot, openPortableTree, type PortableSpec } from './disk-portable.js';
import { type MemoryCity, openMemoryTree } from './memory.js';
import { strictText } from './names.js';
import { type EnterRefusal, enterRefusalOf, type TreeOptions, type TreeRefusal } from './opening.js';
import { closeQuietly, failureOf, realpathSync } from './system.js';
import type { HardLinks, Tree } from './tree.js';

export type { EnterRefusal, TreeOptions, TreeRefusal } from './opening.js';

/** A city in memory, as data. */
export interface MemorySpec {
  readonly kind: 'memory';
  readonly city: MemoryCity;
}

/** How a city that was entered is opened again in any thread: plain data, as messages carry it. */
export type TreeSpec = LinuxSpec | PortableSpec | MemorySpec;

/**
 * Opens the tree for one call; whoever opens it closes it, in the same thread. Expected failures are values.
 * @returns `replaced` where the city is not what was entered any more. Costs a few system calls, no memory.
 */
export function openTree(spec: TreeSpec, options?: TreeOptions): Tree | TreeRefusal {
  switch (spec.kind) {
    case 'linux':
      return openLinuxTree(spec, options);
    case 'portable':
      return openPortableTree(spec, options);
    case 'memory':
      return openMemoryTree(spec.city, options);
  }
}

/** How a city on a disk is entered. */
export interface EnterOptions {
  /**
   * `linux` by default, on every system: elsewhere, entering then fails with `no-procfs`. `portable` where nobody
   * untrusted writes in the city during a call.
   */
  readonly tree?: 'linux' | 'portable';
  /** Default `same-owner`. */
  readonly hardLinks?: HardLinks;
  /** Take up a replaced root at each call instead of refusing it. Default false. */
  readonly reopen?: boolean;
  /** Addresses on other mounts that belong to the city. Default none; the portable tree opens none of them. */
  readonly mounts?: readonly string[];
}

/** An entered city: its spec, and what keeps its root pinned. */
export interface EnteredDisk {
  readonly spec: TreeSpec;
  /** Gives the root up, once no call uses the spec; in the thread that entered. Twice is once. */
  close(): void;
}

/**
 * Enters the city at `path`: absolute or from the working directory, links followed (they are the embedder's). Once
 * a city, in the thread that will close it, and never in one that a hung mount may not stop.
 */
export function enterDisk(path: string, options: EnterOptions = {}): EnteredDisk | EnterRefusal {
  const entered = enteredSpelling(path);
  if (typeof entered !== 'string') return entered.refused;
  return options.tree === 'portable' ? enterPortable(entered, options) : enterLinux(entered, options);
}

function enterLinux(entered: string, options: EnterOptions): EnteredDisk | EnterRefusal {
  const { hardLinks = 'same-owner', reopen = false, mounts = [] } = options;
  const root = process.platform === 'linux' ? pinLinuxRoot(entered) : 'no-procfs';
  if (typeof root === 'string') return root;
  const { fd: rootFd, ...pinned } = root;
  let open = true;
  return {
    spec: { kind: 'linux', rootFd, entered, ...pinned, mounts: [...mounts], hardLinks, reopen },
    close() {
      if (!open) return;
      open = false;
      closeQuietly(rootFd);
    },
  };
}

function enterPortable(entered: string, options: EnterOptions): EnteredDisk | EnterRefusal {
  const { hardLinks = 'same-owner', reopen = false } = options;
  const root = findPortableRoot(entered);
  if (typeof root === 'string') return root;
  return {
    spec: { kind: 'portable', entered, ...root, hardLinks, reopen },
    close() {}, // a path pins nothing
  };
}

/** As entered, absolute, without a trailing separator (but for the root of the system). */
function enteredSpelling(path: string): string | { readonly refused: EnterRefusal } {
  if (path === '') return { refused: 'missing' };
  if (path.includes('\0') || strictText(new TextEncoder().encode(path)) !== path) return { refused: 'bad-name' };
  // Taking `link/..` away as text would name another directory than the system does.
  if (!path.split(sep).includes('..')) return resolve(path);
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    return { refused: enterRefusalOf(failureOf(thrown)) };
  }
}
