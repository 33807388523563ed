/**
 * Small C programs that tests need: compiled with gcc at test time, into build/native/. Whoever uses one skips by name
 * where there is no gcc, or where the system does not have what the program asks for.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
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
