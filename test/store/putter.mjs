/**
 * Stores blocks in a city until it is killed: the process that crash tests end. Says each Locator once it was told that
 * the block is kept, as one line. Words: the city, the tree, the run, how many
 * (0: for ever), and what every text begins with (the run).
 */

import { Blocks } from '../../dist/store/blocks.js';
import { enterDisk, openTree } from '../../dist/tree/spec.js';
import { textOf } from './texts.mjs';

const [root, tree, run, count, prefix = run] = process.argv.slice(2);
const entered = enterDisk(root, { tree });
const city = openTree(entered.spec);
const blocks = new Blocks(city);
for (let number = 0; count === '0' || number < Number(count); number++) {
  const put = await blocks.putFor(new TextEncoder().encode(textOf(prefix, number)), { run, place: 'lab' });
  if (typeof put === 'string') throw new Error(`not stored: ${put}`);
  process.stdout.write(`${put.hash}\n`);
}
