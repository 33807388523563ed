/**
 * Lays out the sample city in build/sample/city: the committed files of sample/city, and what git does not
 * keep or would not keep well: links of every kind, a file over the size that search scans, a file in GBK, blocks, a repository.
 * Run by setup.mjs when a file in sample/ has changed. The links make it a small test of the bound as well.
 */

import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRunner } from '../dist/index.js';
import { BLOCKS } from './blocks.mjs';
import { makeRepository } from './repository.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
const SAMPLE = join(HERE, '..', 'build', 'sample');
const CITY = join(SAMPLE, 'city');

/** Each: where it stands in the city, where it points, and what the bound makes of it. */
const LINKS = [
  ['lab/links/levelling.md', '../room1/levelling.md'], // inside, a file: read where it lands
  ['lab/links/council', '../../hall/minutes'], // inside, a directory: passed over by a walk, reached by its address
  ['lab/links/claims', '../../vault/claims'], // into the confidential vault: refused
  ['lab/links/diary.md', '../../../beyond.md'], // out of the city: refused
  ['lab/links/chart.md', '../room3/chart.md'], // inside, to nothing: a person has to mend it
];

/** 你好，验潮站。七号 as a Chinese mail program of 1998 wrote it; Node encodes no GBK, so these are its bytes. */
const GBK = Buffer.from('c4e3bac3a3acd1e9b3b1d5bea1a3c6dfbac5', 'hex');

/** A year of readings, one a minute, in centimetres: two tides a day, and springs and neaps. Over 1 MiB. */
function yearOfReadings() {
  const rows = ['minute,gauge,cm'];
  for (let minute = 0; minute < 525_600; minute += 4) {
    const tide = 150 * Math.sin((minute / 745) * 2 * Math.PI) * (1 + 0.3 * Math.sin((minute / 21_262) * 2 * Math.PI));
    rows.push(`${minute},7,${Math.round(200 + tide)}`);
  }
  return `${rows.join('\n')}\n`;
}

rmSync(SAMPLE, { recursive: true, force: true });
mkdirSync(SAMPLE, { recursive: true });
cpSync(join(HERE, 'city'), CITY, { recursive: true });
writeFileSync(join(CITY, 'lab/letters/harbour-office.gbk.txt'), GBK);
writeFileSync(join(CITY, 'lab/room2/year.csv'), yearOfReadings());
writeFileSync(
  join(SAMPLE, 'beyond.md'),
  'What stands here is outside the city. If you read it through a tool, that is a bug.\n',
);
mkdirSync(join(CITY, 'lab/links'));
for (const [at, target] of LINKS) link(at, target);
makeRepository(CITY, SAMPLE);

/** Windows lets only some people make links; the city is whole enough without them, but says so. */
function link(at, target) {
  try {
    symlinkSync(target, join(CITY, at));
  } catch (error) {
    if (error.code !== 'EPERM') throw error;
    console.error(`sample city: this system makes no links for you, so ${at} is missing`);
  }
}

await storeBlocks();

/** As an embedder stores them. Each must come to stand under the Locator that the tour reads. */
async function storeBlocks() {
  const runner = await openRunner({ mode: 'inline', telemetry: false });
  const city = await runner.enter(CITY, process.platform === 'linux' ? {} : { tree: 'portable' });
  if (!city.ok) throw new Error(`sample city: ${city.error.subject}`);
  for (const { text, locator, ...origin } of Object.values(BLOCKS)) {
    const put = await city.value.blocks.put(new TextEncoder().encode(text), origin);
    if (!put.ok || put.value !== locator) throw new Error(`sample city: a block is not ${locator}`);
  }
  await city.value.leave();
  await runner.close();
}
