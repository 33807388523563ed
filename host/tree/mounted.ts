/** What a city stands on, for the capability page: the type of its file system and where that is mounted. */

import { readFileSync } from 'node:fs';
import { realpathSync, statfsSync } from './system.js';

/** Where a directory is mounted, as far as this system says; null where it says nothing. */
export function describeCity(directory: string): { readonly fileSystem: string; readonly mount: string } | null {
  try {
    const real = realpathSync.native(directory);
    return { fileSystem: statfsSync(real).type.toString(16), mount: mountPointOf(real) };
  } catch {
    // Says nothing: the page shows that it does.
    return null;
  }
}

/** The longest mount point that holds the path. Mount points are the fifth field, with octal escapes. */
function mountPointOf(real: string): string {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) =>
      (line.split(' ')[4] ?? '').replace(/\\(\d{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
    );
  const holding = points.filter(
    (point) => point === '/' || real === point || (point !== '' && real.startsWith(`${point}/`)),
  );
  return holding.sort((a, b) => b.length - a.length)[0] ?? '/';
}
