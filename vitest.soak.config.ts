/**
 * The soak: races and fuzzers that run for minutes, some for more than ten. Not part of `npm test`; `npm run soak` runs
 * them one by one, and prints at its end what they met: opens, escapes, traps, leaks, the fairness ratio, the seeds.
 */

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    fileParallelism: false,
    globalSetup: ['test/soak/summary.ts'],
    // As it ships: loaded by Node, not by vite, which would answer for a package that is not installed.
    server: { deps: { external: [/\/dist\//] } },
    testTimeout: 10 * 60_000,
    hookTimeout: 60_000,
  },
});
