/** Makes tool calls as whoever runs it, and prints their outcomes. Arguments: the tree, the city, the calls as JSON. */

import { openRunner } from '../../dist/index.js';

const [tree, root, calls] = process.argv.slice(2);
const runner = await openRunner({ mode: 'inline' });
const entered = await runner.enter(root, tree === 'portable' ? { tree } : {});
if (!entered.ok) throw new Error(JSON.stringify(entered.error));
const outcomes = [];
for (const [tool, args] of JSON.parse(calls)) outcomes.push(await entered.value.call(tool, args));
console.log(JSON.stringify(outcomes));
await entered.value.leave();
await runner.close();
