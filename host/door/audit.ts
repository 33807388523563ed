/**
 * `portcullis audit`: the capability page of this installation. What the component is and may do, which limits are in
 * force, which tree this system gets and what that promises, and the table of attacks run live. For an auditor, who
 * believes what was run.
 */

import { z } from 'zod';
import { ATTACKS, type Attack } from '../audit/attacks.js';
import { type Row, selfTest } from '../audit/self-test.js';
import { BUDGETS, type Budgets } from '../runner/budget.js';
import { admitComponent } from '../runner/component.js';
import { workFor } from '../tools/worker.js';
import { describeCity } from '../tree/mounts.js';
import { installedComponent, pinnedComponent } from './node.js';
import { type Palette, palette, visible, wantsColour } from './terminal.js';

/** What `wit/component.json` pins. */
const pinSchema = z.object({
  hash: z.string(),
  imports: z.array(z.string()),
  memoryMaxPages: z.number(),
  bytes: z.number(),
});

/** What this installation is and may do, as `audit --json` prints it. */
export interface CapabilityPage {
  readonly component: {
    /** BLAKE3 of what is installed, and of what was pinned with this source. */
    readonly hash: string;
    readonly pinned: string;
    readonly matches: boolean;
    readonly imports: readonly string[];
    readonly memoryMaxPages: number;
  };
  readonly limits: Budgets;
  readonly tree: {
    readonly kind: 'linux' | 'portable';
    readonly promise: string;
    /** Of the city that was named: its file system's type (statfs, hexadecimal) and mount. */
    readonly city: { readonly fileSystem: string; readonly mount: string } | null;
  };
  readonly selfTest: readonly Row[];
  readonly passed: boolean;
}

const PROMISES = {
  linux: 'contained by construction: every segment is opened from a held directory, no link is followed by the system',
  portable: 'contained only while nobody untrusted writes in the city during a call; not race-free',
} as const;

/** Makes the page. Takes seconds: it runs the whole table. Throws if the component is not ours: a broken installation. */
export async function capabilityPage(
  city: string,
  platform: string,
  attacks: readonly Attack[] = ATTACKS,
): Promise<CapabilityPage> {
  const component = await admitComponent(await installedComponent());
  const pin = pinSchema.parse(await pinnedComponent());
  const kind = platform === 'linux' ? 'linux' : 'portable';
  const rows = await selfTest({ module: component.module, workFor, tree: kind }, attacks);
  const matches = component.hash === pin.hash && component.imports.join() === pin.imports.join();
  const { hash, imports, memoryMaxPages } = component;
  return {
    component: { hash, pinned: pin.hash, matches, imports, memoryMaxPages },
    limits: BUDGETS,
    tree: { kind, promise: PROMISES[kind], city: describeCity(city) },
    selfTest: rows,
    passed: matches && rows.every(({ result }) => result !== 'failed'),
  };
}

/** The words behind `audit`. */
export interface AuditOptions {
  readonly json?: true;
}

/** Shows the page of this installation; 0 if everything holds, else 1. */
export async function audit(options: AuditOptions, around: Audited): Promise<number> {
  const page = await capabilityPage(around.directory, around.platform);
  const colours = palette(wantsColour(around.out.isTerminal, true, around.environment));
  await around.out.write(options.json ? `${JSON.stringify(page)}\n` : showPage(page, colours));
  return page.passed ? 0 : 1;
}

interface Audited {
  readonly directory: string;
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: { readonly isTerminal: boolean; write(words: string): Promise<void> };
}

/** The page for people. */
export function showPage(page: CapabilityPage, { path: heading, aside, line: good, refusal: bad }: Palette): string {
  const { component, limits, tree } = page;
  const mark = (isGood: boolean, word: string): string => (isGood ? good(word) : bad(word));
  const lines = [
    heading('Component'),
    `  BLAKE3   ${component.hash}`,
    `  pinned   ${component.pinned} ${mark(component.matches, component.matches ? '(the same)' : '(ANOTHER)')}`,
    `  memory   at most ${component.memoryMaxPages} pages of 64 KiB`,
    '  imports  these functions and no others; none of them changes anything:',
    ...component.imports.map((name) => `           ${name}`),
    heading('Limits of a call'),
    ...Object.entries(limits).map(([name, value]) => `  ${name.padEnd(17)} ${value}`),
    heading('Tree'),
    `  ${tree.kind}: ${tree.promise}`,
    tree.city === null
      ? aside('  this directory is no city that can be described')
      : `  this directory: file system 0x${tree.city.fileSystem}, mounted at ${visible(tree.city.mount, 'name')}`,
    heading(`Self-test: ${page.selfTest.length} attacks`),
    ...page.selfTest.map((row) => showRow(row, mark)),
    '',
    tally(page),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function showRow({ name, tree, result, fact }: Row, mark: (good: boolean, word: string) => string): string {
  const where = tree === null ? '' : ` (${tree})`;
  const what = result === 'not made here' ? 'not made here' : mark(result === 'passed', result);
  return `  ${what}  ${visible(name, 'name')}${where}${fact === undefined ? '' : `: ${visible(fact, 'name')}`}`;
}

function tally({ selfTest: rows, passed }: CapabilityPage): string {
  const count = (result: Row['result']): number => rows.filter((row) => row.result === result).length;
  const summary = `${count('passed')} passed, ${count('failed')} failed, ${count('not made here')} not made here`;
  return passed ? summary : `${summary}: this installation is not what it should be`;
}
