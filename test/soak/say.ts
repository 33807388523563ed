/** What the soak says: one line a fact, printed at the end of the run (summary.ts); and its seeds. */

import fs from 'node:fs';

/** Where the lines of a run are kept until its end. */
export const SAID = 'build/soak.txt';

/** One fact, on a line of its own that a script can find. */
export const say = (what: string, value: string | number): void => fs.appendFileSync(SAID, `soak: ${what}: ${value}\n`);

/** The seed of a law: the same each time, or SOAK_SEED. Said, so that a failure can be run again. */
export function seedOf(law: string): number {
  const seed = Number(process.env['SOAK_SEED'] ?? 20_260_731);
  say(`seed of ${law}`, seed);
  return seed;
}
