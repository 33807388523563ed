/**
 * Small C programs that tests need: compiled with gcc at test time, into build/native/. Whoever uses one skips by name
 * where there is no gcc, or where the system does not have what the program asks for.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('.', import.meta.url));
const BUILT = fileURLToPath(new URL('../../build/native/', import.meta.url));

export const hasGcc = process.platform === 'linux' && spawnSync('gcc', ['--version']).status === 0;

/** The program of `test/support/<name>.c`: compiled if it is missing or older than its source. @throws with gcc's words. */
export function compiled(name: string): string {
  const source = path.join(SOURCES, `${name}.c`);
  const program = path.join(BUILT, name);
  const built = fs.statSync(program, { throwIfNoEntry: false });
  if (built !== undefined && built.mtimeMs > fs.statSync(source).mtimeMs) return program;
  fs.mkdirSync(BUILT, { recursive: true });
  // Two test files may compile at once: each into a file of its own, and the last one stays.
  const made = `${program}.${process.pid}`;
  execFileSync('gcc', ['-O2', '-Wall', '-Wextra', '-Werror', '-o', made, source], { stdio: 'pipe' });
  fs.renameSync(made, program);
  return program;
}

/** What the kernel answers for a path: what it opens, or its errno. */
export type KernelAnswer =
  | { readonly device: bigint; readonly inode: bigint; readonly kind: 'd' | 'f' | 'o' }
  | { readonly errno: number };

/** Asks openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS) for each path below `root`. One process for all. */
export function askKernel(root: string, paths: readonly string[]): KernelAnswer[] {
  const input = paths.map((asked) => `${asked}\0`).join('');
  const said = execFileSync(compiled('openat2'), [root], { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const lines = said.split('\n').slice(0, -1);
  if (lines.length !== paths.length) throw new Error(`${lines.length} answers to ${paths.length} paths`);
  return lines.map(parseAnswer);
}

function parseAnswer(line: string): KernelAnswer {
  if (line.startsWith('E')) return { errno: Number(line.slice(1)) };
  const [device, inode, kind] = line.split(' ');
  if (device === undefined || inode === undefined) throw new Error(`no answer: ${line}`);
  if (kind !== 'd' && kind !== 'f' && kind !== 'o') throw new Error(`no kind: ${line}`);
  return { device: BigInt(device), inode: BigInt(inode), kind };
}

/** Whether the kernel has openat2 here, and lets us. */
export const hasOpenat2 = hasGcc && spawnSync(compiled('openat2'), [os.tmpdir()], { input: '' }).status === 0;

/** Whether a mount of silent-fuse.c can stand here. */
export const hasFuse = hasGcc && process.getuid?.() === 0 && fs.existsSync('/dev/fuse');

/** A mount that does not answer, until it ends. */
export interface SilentMount {
  /** Where it is: a directory of its own. */
  readonly at: string;
  /** Waits until an open was left unanswered so many times in all. */
  asked(times: number): Promise<void>;
  /** Takes it away: whatever waits on it is answered with an error. */
  end(): Promise<void>;
}

/** Mounts it: of `file` one file's open is never answered, of `all` nothing. */
export async function silentMount(what: 'file' | 'all'): Promise<SilentMount> {
  const at = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-silent-'));
  const server = spawn(compiled('silent-fuse'), [at, what], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: string[] = [];
  const heard = new EventEmitter();
  createInterface(server.stdout).on('line', (word) => {
    said.push(word);
    heard.emit('word');
  });
  const until = async (word: string, times: number): Promise<void> => {
    while (said.filter((each) => each === word).length < times) await once(heard, 'word');
  };
  await Promise.race([until('ready', 1), once(server, 'exit').then(() => Promise.reject(new Error('no mount')))]);
  return {
    at,
    asked: (times) => until('asked', times),
    async end() {
      const ended = once(server, 'exit');
      server.stdin.end();
      await ended;
      fs.rmdirSync(at);
    },
  };
}
