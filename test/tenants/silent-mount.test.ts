/**
 * A31: one city lies on a mount that does not answer. Its callers are answered at their deadline, the others are
 * served, the threads it keeps are counted and replaced up to a limit, and a process that has such threads still ends.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type City, openRunner, type Runner } from '../../dist/index.js';
import { hasFuse, type SilentMount, silentMount } from '../support/native.js';
import { asError, asValue } from '../support/outcomes.js';

const TIME_MS = 800;
/** What a thread that is still starting needs too. */
const ENTER_MS = 3_000;
/** An answer at the deadline, on a machine that is busy with other tests. */
const SOON_MS = 5_000;
const BIN = fileURLToPath(new URL('../../bin/portcullis.js', import.meta.url));

describe.skipIf(!hasFuse)('a city on a mount that does not answer (needs gcc, root and /dev/fuse)', () => {
  let mount: SilentMount;
  let healthyRoot: string;
  let runner: Runner;
  let silent: City;
  let healthy: City;

  beforeAll(async () => {
    healthyRoot = fs.mkdtempSync(path.join(os.tmpdir(), 'portcullis-healthy-'));
    fs.mkdirSync(path.join(healthyRoot, 'lab'));
    fs.writeFileSync(path.join(healthyRoot, 'lab/a'), 'a needle\n');
    runner = await openRunner({ workers: 3, limits: { timeMs: TIME_MS, readTimeMs: TIME_MS, enterTimeMs: ENTER_MS } });
    healthy = asValue(await runner.enter(healthyRoot));
    // Threads that are still starting would be taken for slow ones.
    await Promise.all([1, 2, 3].map(() => healthy.call('read', { path: 'lab/a' })));
  });
  afterAll(async () => {
    await runner.close();
    fs.rmSync(healthyRoot, { recursive: true });
  });

  beforeEach(async () => {
    mount = await silentMount('file');
    silent = asValue(await runner.enter(mount.at));
  });
  afterEach(async () => {
    await mount.end();
    // What waited is answered with an error now, so that the next test finds the runner whole.
    await untilStuck(0);
  });

  const served = async (): Promise<void> => {
    expect(asValue(await healthy.call('read', { path: 'lab/a' })).text).toBe('a needle\n');
  };
  const hangs = () => silent.call('read', { path: 'lab/silent' });
  /** Until a thread counts as stuck, or does not any more. */
  const untilStuck = (count: number) => expect.poll(() => runner.stuckWorkers, { timeout: 10_000 }).toBe(count);

  it('serves what it does answer', async () => {
    expect(asValue(await silent.call('read', { path: 'lab/good' })).text).toBe('a needle that is served\n');
    expect(runner.stuckWorkers).toBe(0);
  });

  it('answers its caller at the deadline, and the callers of other cities meanwhile', async () => {
    const began = performance.now();
    const call = hangs();
    await mount.asked(1);
    await served();
    expect(asError(await call)).toMatchObject({ code: 'E_LIMIT', retry: 'unknown' });
    expect(performance.now() - began).toBeLessThan(SOON_MS);
    await served();
  });

  it('answers a search that meets it with what its pages gave, truncated', async () => {
    const found = asValue(await silent.call('search', { text: 'needle' }));
    expect(found).toMatchObject({ truncated: true });
    expect(found.stopped).toContain(`${TIME_MS} ms`);
  });

  it('is refused at once when it has left CITY_STUCK_WORKERS_MAX threads behind, and nobody else is', async () => {
    asError(await hangs());
    asError(await hangs());
    await untilStuck(2);
    const began = performance.now();
    const refused = asError(await silent.call('read', { path: 'lab/good' }));
    expect(performance.now() - began).toBeLessThan(TIME_MS);
    expect(refused).toMatchObject({ code: 'E_STORAGE_FATAL', retry: 'unknown' });
    expect(refused.subject).toBe('lab/good: the city’s disk does not answer');
    await Promise.all(Array.from({ length: 20 }, served));
  });

  it('gives its threads back when it answers after all', async () => {
    asError(await hangs());
    await untilStuck(1);
    await mount.end();
    await untilStuck(0);
    await served();
    mount = await silentMount('file');
  });

  it('is not entered where its root hangs, and holds up no other root', async () => {
    const mute = await silentMount('all');
    const entering = runner.enter(mute.at);
    const other = asValue(await runner.enter(healthyRoot));
    expect(asError(await entering)).toMatchObject({ code: 'E_STORAGE_FATAL', retry: 'unknown' });
    expect(runner.stuckWorkers).toBe(1);
    asValue(await other.call('read', { path: 'lab/a' }));
    await mute.end();
    await untilStuck(0);
  });

  it('does not keep a runner from closing', async () => {
    const closing = await openRunner({ workers: 1 });
    const city = asValue(await closing.enter(mount.at));
    const call = city.call('read', { path: 'lab/silent' });
    await mount.asked(1);
    await closing.close();
    expect(asError(await call)).toMatchObject({ code: 'E_CANCELLED' });
    expect(closing.stuckWorkers).toBe(1);
  });

  it('does not keep the command from ending', async () => {
    const child = spawn(process.execPath, [BIN, 'call', 'read', '{"path":"lab/silent"}', '--city', mount.at]);
    const ended = once(child, 'exit');
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    await mount.asked(1);
    child.kill('SIGINT');
    // Its thread ends by no other signal.
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(JSON.parse(said)).toMatchObject({ code: 'E_CANCELLED' });
  });
});
