/** Bombs on a disk: what a tenant may put in its own building. */

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** So many directories, one in the other; longer than any path the system takes. */
export function levels(at: string, count: number): void {
  const home = process.cwd();
  process.chdir(at);
  try {
    for (let level = 0; level < count; level++) {
      fs.mkdirSync('d');
      process.chdir('d');
    }
  } finally {
    process.chdir(home);
  }
}

/** So many names in one directory: links that lead nowhere, which cost one system call each. */
export function names(at: string, count: number): void {
  for (let name = 0; name < count; name++) fs.symlinkSync('x', path.join(at, `n${name}`));
}

/** A file of this size that takes no room. */
export function sparse(at: string, sizeBytes: number): void {
  const file = path.join(at, 'sparse');
  fs.writeFileSync(file, '');
  fs.truncateSync(file, sizeBytes);
}

/** Takes all of it away: Node's own `rm` fails below the longest path. */
export function clear(at: string): void {
  execFileSync('rm', ['-rf', at]);
}
