/** The end of the soak: what its tests said, on one line each, when all of them have run. */

import fs from 'node:fs';
import { SAID } from './say.js';

export function setup(): void {
  fs.mkdirSync('build', { recursive: true });
  fs.writeFileSync(SAID, '');
}

export function teardown(): void {
  process.stdout.write(`\n${fs.readFileSync(SAID, 'utf8')}`);
}
