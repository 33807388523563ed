/** The limits: their values where the specification names them, and each relation between them, which can fail. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as limits from '../dist/limits.js';

const SPECIFIED: readonly (readonly [name: keyof typeof limits, value: number])[] = [
  ['MATCH_CAP', 64],
  ['LINE_CAP_BYTES', 512],
  ['CONTEXT_CAP_LINES', 4],
  ['FILE_CAP_BYTES', 1_048_576],
  ['UNREAD_SHOWN', 16],
  ['INTERVAL_CAP_BYTES', 65_536],
  ['READ_CAP_LINES', 512],
  ['LINE_MAX_BYTES', 1_048_576],
  ['READ_WHOLE_MAX_BYTES', 8_589_934_592],
  ['GROWTH_SLACK_BYTES', 1_048_576],
  ['NEARBY_CAP', 16],
  ['ECHO_CAP_BYTES', 512],
  ['LINK_HOPS_MAX', 40],
  ['DEPTH_MAX', 1_024],
  ['RULES_MAX_BYTES', 65_536],
  ['TOP_ENTRIES_MAX', 10_000],
  ['POLICY_BATCH', 256],
  ['DIR_ENTRIES_MAX', 200_000],
  ['CALL_TIME_MS', 30_000],
  ['READ_TIME_MS', 120_000],
  ['HISTORY_SHOWN', 5],
  ['ENTRY_END_BYTES', 4_096],
];

/** For each relation a limit that breaks it. */
const BREAKING: readonly (readonly [claim: string, name: string, value: string])[] = [
  ['one answer stays under 35 % of the window', 'INTERVAL_CAP_BYTES', '128 * KiB'],
  ['nor does an answer of history take more, its longest addresses framed', 'ENTRY_END_BYTES', '16 * KiB'],
  ['a hit with all its context fits one answer', 'LINE_CAP_BYTES', '8 * KiB'],
  ['a scanned file, and the byte that proves it too large, come in one read', 'GUEST_READ_MAX_BYTES', '1 * MiB'],
  ['one directory at most fits its building’s share', 'DIR_ENTRIES_MAX', '500_001'],
  ['a building’s names fit the guest’s memory', 'GUEST_MEMORY_MAX_PAGES', '1_024'],
  ['a walk at full depth has its handles', 'HANDLES_MAX', 'DEPTH_MAX'],
  ['the largest file read whole fits the call', 'CALL_BYTES_MAX', 'READ_WHOLE_MAX_BYTES'],
  [
    'a directory of DIR_SMALL_BYTES holds at most DIR_ENTRIES_MAX names of 12 bytes',
    'DIR_SMALL_BYTES',
    '12 * DIR_ENTRIES_MAX + 12',
  ],
  ['a block that is put whole can be read whole', 'BLOCK_MAX_BYTES', '9 * GiB'],
  ['one origin of the longest place fits its block’s origins', 'ORIGINS_MAX_BYTES', 'PATH_MAX_BYTES'],
  ['one tenant does not fill the queue', 'TENANT_QUEUE_MAX', 'QUEUE_MAX'],
  ['one city does not leave all stuck workers behind', 'CITY_STUCK_WORKERS_MAX', 'STUCK_WORKERS_MAX'],
  ['the root’s names fit one directory', 'TOP_ENTRIES_MAX', '200_001'],
  ['a receipt with eight texts, each character of them escaped, fits its line', 'RECEIPT_TEXT_MAX_BYTES', '2 * KiB'],
  ['every waiting call of every tenant can have its receipt', 'RECEIPT_QUEUE_MAX', '1_000'],
];

const source = readFileSync('dist/limits.js', 'utf8');

/** limits.js with one limit changed, loaded anew: it imports nothing. */
function loadWith(name: string, value: string): Promise<unknown> {
  const declaration = new RegExp(`(export const ${name} = )[^;]+;`);
  expect(source).toMatch(declaration);
  return import(`data:text/javascript,${encodeURIComponent(source.replace(declaration, `$1${value};`))}`);
}

describe('the limits', () => {
  it.each(SPECIFIED)('%s is %i', (name, value) => {
    expect(new Map(Object.entries(limits)).get(name)).toBe(value);
  });

  it.each(limits.RELATIONS)('%s', (_, holds) => {
    expect(holds).toBe(true);
  });

  it.each(BREAKING)('are refused at load where it is not so that %s (%s = %s)', async (claim, name, value) => {
    await expect(loadWith(name, value)).rejects.toThrow(`not true: ${claim}`);
  });

  it('have a breaking row for every relation', () => {
    const claims = limits.RELATIONS.map(([claim]) => claim).sort();
    expect(BREAKING.map(([claim]) => claim).sort()).toEqual(claims);
  });

  it('are positive whole numbers', () => {
    for (const [name, value] of Object.entries(limits)) {
      if (name === 'RELATIONS') continue;
      expect(Number.isSafeInteger(value) && Number(value) > 0, name).toBe(true);
    }
  });
});
