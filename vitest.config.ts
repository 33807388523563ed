/**
 * The suite: everything under test/ but the soak. Run against the compiled `dist/`, which is what ships
 * (and Node 20 starts no worker from TypeScript).
 *
 * PORTCULLIS_FORBID_SKIPS=1 turns every test that did not run into a failure: what a machine cannot do is
 * skipped by name at home, and must not be missing unnoticed where everything was installed to do it.
 * PORTCULLIS_REPORT=<file> also writes vitest's JSON report there. Both by environment, because a reporter named on
 * the command line would replace these.
 */

import { configDefaults, defineConfig } from 'vitest/config';
import type { Reporter, TestModule } from 'vitest/node';

class ForbidsSkips implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    for (const test of skipped) console.error(`skipped, and skips are forbidden: ${test.fullName}`);
    if (skipped.length > 0) process.exitCode = 1;
  }
}

const forbidsSkips = process.env['PORTCULLIS_FORBID_SKIPS'] === '1';
const report = process.env['PORTCULLIS_REPORT'];

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/soak/**'],
    reporters: ['default', ...(forbidsSkips ? [new ForbidsSkips()] : []), ...(report ? ['json'] : [])],
    ...(report ? { outputFile: { json: report } } : {}),
    testTimeout: 60_000,
    // What ends by itself ends late on a busy machine: threads, descriptors.
    expect: { poll: { timeout: 15_000 } },
    // As it ships: loaded by Node, not by vite, which would answer for a package that is not installed.
    server: { deps: { external: [/\/dist\//] } },
  },
});
