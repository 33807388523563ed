/**
 * Calls with a hostile guest in place of ours, through the same `execute` that a worker runs; and what is claimed after
 * every one of them, whatever it did: all it held is given back, no output tells anything, the next call is right.
 */

import { expect } from 'vitest';
import { CANARY } from '../../dist/audit/attacks.js';
import type { Outcome } from '../../dist/error.js';
import type { Call } from '../../dist/runner/call.js';
import { TOOLS } from '../../dist/tools/registry.js';
import type { AnyTool } from '../../dist/tools/tool.js';
import type { Filesystem } from '../../dist/wasi/filesystem.js';
import { type CallOptions, city, type Setting, type TestCity } from '../support/cities.js';
import { descriptorCount, type Things } from '../tree/worlds.js';
import { compileGuest } from './build.js';

const modules = new Map<string, WebAssembly.Module>();

/** Guests that were compiled for a call. */
export const ranGuests = (): readonly string[] => [...modules.keys()].sort();

/** A guest of guests/, ready to run. */
export async function hostile(name: string): Promise<WebAssembly.Module> {
  const known = modules.get(name);
  if (known !== undefined) return known;
  const made = new WebAssembly.Module(new Uint8Array(await compileGuest(name)));
  modules.set(name, made);
  return made;
}

export const NOTES = 'LANDED notes\nsecond\nthird\n';
/** A city with a file to read, a place that is closed, and one that is broken. */
export const THINGS: Things = [
  ['lab/notes.md', NOTES],
  ['lab/room/memo.md', 'LANDED memo\n'],
  ['hall/minutes.md', 'LANDED minutes\n'],
  ['lab/.sprawling/ledger', CANARY],
  ['.git/config', CANARY],
  ['vault/.sprawling/RULES.toml', 'confidential = true\nwrite = "documents"\n'],
  ['vault/secret', CANARY],
  ['broken/.sprawling/RULES.toml', 'confidential = '],
  ['broken/secret', CANARY],
];

export interface Hostile extends CallOptions {
  readonly tool?: 'search' | 'read';
  readonly tree?: Setting['tree'];
  readonly things?: Things;
}

/** Calls a tool whose guest is the one named; `told` is the text searched for, or the name read in lab/. */
export async function call(guest: string | WebAssembly.Module, told: string, options: Hostile = {}) {
  const { tool = 'search', tree = 'memory', things = THINGS, ...rest } = options;
  const module = typeof guest === 'string' ? await hostile(guest) : guest;
  const before = descriptorCount();
  const asked: Things = tool === 'read' ? [[`lab/${told}`, NOTES]] : [];
  const place = city({ tree, binding: 'fixed' }, [...things, ...asked]);
  try {
    const args = tool === 'read' ? { path: `lab/${told}` } : { text: told };
    return await callIn(place, tool, args, { ...rest, module });
  } finally {
    place.end();
    expect(descriptorCount(), 'descriptors left open').toBe(before);
  }
}

/** The same in a city that is there. */
export async function callIn(
  place: TestCity,
  tool: 'search' | 'read',
  args: object,
  options: CallOptions & { readonly module: WebAssembly.Module },
): Promise<Outcome<unknown>> {
  let ran: Call | undefined;
  let held: Filesystem | undefined;
  const work = (under: Call): Promise<Outcome<unknown>> => {
    ran = under;
    const open = under.open.bind(under);
    under.open = (asked) => {
      const made = open(asked);
      held = made.filesystem;
      return made;
    };
    return toolNamed(tool).run(under, args);
  };
  const outcome = await place.call(tool, args, { ...options, work });
  expect(held?.liveCount ?? 0, 'handles of the guest left open').toBe(0);
  expect(ran?.tree.openCount(), 'handles of the tree left open').toBe(0);
  expectSilent(outcome);
  const next = await place.search({ text: 'LANDED' });
  expect(next).toMatchObject({ ok: true, value: { truncated: false } });
  return outcome;
}

function toolNamed(name: string): AnyTool {
  const tool = TOOLS.get(name);
  if (tool === undefined) throw new Error('no such tool');
  return tool;
}

/** No output holds the bait, a place of this host, or a line of a stack. */
export function expectSilent(outcome: unknown): void {
  const told = JSON.stringify(outcome);
  expect(told).not.toContain(CANARY);
  expect(told).not.toMatch(/portcullis-tree-|\/tmp\/|file:\/\/|\bat .*:\d+:\d+|wasm-function|node_modules/);
}
