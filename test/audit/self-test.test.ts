/** The capability page: it says what is so, runs the table that the suite runs, and fails when something does not hold. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ATTACKS, type Attack, BAIT } from '../../dist/audit/attacks.js';
import { selfTest } from '../../dist/audit/self-test.js';
import { capabilityPage, showPage } from '../../dist/door/audit.js';
import { palette } from '../../dist/door/terminal.js';
import { Bound } from '../../dist/judge/bound.js';
import type { Call } from '../../dist/runner/call.js';
import { admitComponent } from '../../dist/runner/component.js';
import { workFor } from '../../dist/tools/worker.js';

const { module } = await admitComponent(readFileSync('dist/portcullis.wasm'));
const SUBJECT = { module, workFor, tree: 'linux' } as const;

/** A temporary directory of this file's own: others run the self-test at the same time. */
process.env['TMPDIR'] = mkdtempSync(path.join(os.tmpdir(), 'portcullis-test-'));
afterAll(() => rmSync(os.tmpdir(), { recursive: true, force: true }));
const leftBehind = (): string[] => readdirSync(os.tmpdir()).filter((name) => name.startsWith('portcullis-audit-'));

describe('the self-test', () => {
  it('fails the row whose end is another one, and says how it ended', async () => {
    const [attack] = ATTACKS.filter(({ read }) => typeof read === 'object' && 'refused' in read);
    if (attack === undefined) throw new Error('the table refuses nothing');
    const [row] = await selfTest(SUBJECT, [{ ...attack, read: { lands: 'elsewhere' } }]);
    expect(row).toMatchObject({ result: 'failed' });
    expect(row?.fact).toMatch(/^read: ended \{"refused":"E_/);
  });

  it('fails when a wall gives the bait away, and does not repeat it', async () => {
    const attack = ATTACKS.find(({ name }) => name === 'a file of a closed building') as Attack; // in the table above
    const leaky = {
      ...SUBJECT,
      // A tool that asks nobody: what a build with a broken wall would be.
      workFor: () => async (_call: Call) => ({ ok: true as const, value: { text: BAIT } }),
    };
    const [row] = await selfTest(leaky, [attack]);
    expect(row).toMatchObject({ result: 'failed', fact: 'read: the answer holds what must not be told' });
    expect(Bound.openUnchecked().judge('vault/secret')).toBeUndefined();
  });
});

describe('portcullis audit', () => {
  it('says what the component is, what is in force, what the tree promises, and runs every attack once', {
    timeout: 60_000,
  }, async () => {
    const before = leftBehind();
    const page = await capabilityPage('.', 'linux');
    expect(page.selfTest.map(({ name }) => name)).toEqual(ATTACKS.map(({ name }) => name));
    expect(page.selfTest.filter(({ result }) => result === 'failed')).toEqual([]);
    expect(page.selfTest.filter(({ tree }) => tree === 'linux').length).toBeGreaterThan(100);
    expect(leftBehind()).toEqual(before);
    const pin = JSON.parse(readFileSync('wit/component.json', 'utf8'));
    expect(page.component).toEqual({
      hash: pin.hash,
      pinned: pin.hash,
      matches: true,
      imports: pin.imports,
      memoryMaxPages: pin.memoryMaxPages,
    });
    expect(page.tree).toMatchObject({ kind: 'linux', city: { mount: expect.any(String) } });
    expect(page.passed).toBe(true);
    const shown = showPage({ ...page, component: { ...page.component, matches: false } }, palette(false));
    expect(shown).toContain('(ANOTHER)');
    expect(showPage({ ...page, passed: false }, palette(false))).toContain('not what it should be');
    for (const name of pin.imports) expect(shown).toContain(name);
  });

  it('is one line of JSON with --json, exit status 0, and names no path of the host', { timeout: 60_000 }, () => {
    const { status, stdout } = spawnSync(process.execPath, ['bin/portcullis.js', 'audit', '--json'], {
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    const page = JSON.parse(stdout);
    expect(page.selfTest).toHaveLength(ATTACKS.length);
    expect(stdout).not.toContain(`${os.tmpdir()}/portcullis`);
  });

  it('describes the portable tree where the system has no other, and a city that is not there as none', {
    timeout: 60_000,
  }, async () => {
    const page = await capabilityPage('/nowhere-at-all', 'darwin', ATTACKS.slice(0, 12));
    expect(page.tree).toMatchObject({ kind: 'portable', city: null });
    expect(page.selfTest.filter(({ result }) => result === 'failed')).toEqual([]);
  });
});
