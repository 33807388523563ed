/**
 * What is mounted where, as Linux tells it. Two questions: is a directory on its parent's mount, asked at each directory
 * a walk enters; and where does a city stand, for the capability page.
 */

import { closeQuietly, FILE_FLAGS, openSync, readFileSync, readSync, realpathSync, statfsSync } from './system.js';

const MOUNT_LINE = /^mnt_id:\s*(\d+)$/m;
/** `pos`, `flags` and `mnt_id` are its first three lines. */
const mountAnswer = Buffer.alloc(128);

/** The number of the mount that `fd` is on. Three system calls. */
export function mountOf(fd: number): number {
  const info = openSync(`/proc/self/fdinfo/${fd}`, FILE_FLAGS);
  try {
    const lengthBytes = readSync(info, mountAnswer, 0, mountAnswer.length, 0);
    const mount = MOUNT_LINE.exec(mountAnswer.toString('latin1', 0, lengthBytes));
    if (mount?.[1] === undefined) throw new Error('/proc/self/fdinfo tells no mount');
    return Number(mount[1]);
  } finally {
    closeQuietly(info);
  }
}

/** The paths where something is mounted. They are the fifth field of each line, with octal escapes. */
export function mountPoints(): readonly string[] {
  return readFileSync('/proc/self/mountinfo', 'latin1')
    .split('\n')
    .map((line) => unescaped(line.split(' ')[4] ?? ''))
    .filter((point) => point !== '');
}

/** Octal escapes are bytes; the whole is UTF-8, read as Latin-1 until here. */
const unescaped = (field: string): string =>
  Buffer.from(
    field.replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
    'latin1',
  ).toString();

/** Where a directory stands in the city, and which one it is on its device. */
export interface Standing {
  readonly address: string;
  readonly inode: bigint;
}

/** What one was told to be on, entered from where. */
interface Answer {
  readonly mount: number;
  readonly parentMount: number;
  readonly inode: bigint;
}

/** Directories entered before the table of mounts is worth its price. */
const SINGLE_QUESTIONS = 6;

/**
 * The mounts below one root, for one call. A file system of its own shows by its device. What shares its parent's device
 * can only be a bind mount, which nobody makes in this mount namespace without CAP_SYS_ADMIN: whether there is any below
 * the root is asked once a call, and while there is none no directory is asked for its mount.
 */
export class Mounts {
  readonly #root: string;
  /** What was asked of single directories, by their addresses: a small call enters the same few again and again. */
  readonly #answers = new Map<string, Answer>();
  #asked = 0;
  #someBelow: boolean | undefined;

  /** `root`: the text of the root's place. */
  constructor(root: string) {
    this.#root = root;
  }

  /**
   * The mount of the directory open as `fd`, entered from one on `parentMount`. The same directory at the same address is
   * not asked again: what is mounted over it since is another one, or the same with the same names.
   */
  of(fd: number, parentMount: number, hasParentsDevice: boolean, at: Standing): number {
    if (!hasParentsDevice) return mountOf(fd);
    const known = this.#answers.get(at.address);
    if (known !== undefined && known.inode === at.inode && known.parentMount === parentMount) return known.mount;
    if (this.#asked >= SINGLE_QUESTIONS && !this.#areSomeBelow()) return parentMount;
    const mount = mountOf(fd);
    if (this.#asked++ < SINGLE_QUESTIONS) this.#answers.set(at.address, { mount, parentMount, inode: at.inode });
    return mount;
  }

  #areSomeBelow(): boolean {
    const inside = this.#root === '/' ? '/' : `${this.#root}/`;
    this.#someBelow ??= mountPoints().some((point) => point.startsWith(inside) && point !== inside);
    return this.#someBelow;
  }
}

/** Where a directory stands: its file system's type (statfs, hexadecimal) and mount point; null where nothing says. */
export function describeCity(directory: string): { readonly fileSystem: string; readonly mount: string } | null {
  try {
    const real = realpathSync.native(directory);
    const holding = mountPoints().filter((point) => point === '/' || real === point || real.startsWith(`${point}/`));
    const [mount = '/'] = [...holding].sort((a, b) => b.length - a.length);
    return { fileSystem: statfsSync(real).type.toString(16), mount };
  } catch {
    // Says nothing: the page shows that it does.
    return null;
  }
}
