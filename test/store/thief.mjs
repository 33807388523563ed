/** Takes away the first unfinished blocks it sees, and says so. Words: the directory, and how many. Ends by itself. */

import fs from 'node:fs';
import path from 'node:path';

const [directory, count] = process.argv.slice(2);
const end = Date.now() + 60_000;
process.stdout.write('ready\n');
for (let taken = 0; taken < Number(count) && Date.now() < end; ) {
  for (const name of fs.existsSync(directory) ? fs.readdirSync(directory) : []) {
    fs.rmSync(path.join(directory, name), { force: true });
    taken++;
  }
}
