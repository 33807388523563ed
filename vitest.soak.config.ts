/** The soak: races and fuzzers that run for minutes. Not part of `npm test`; `npm run soak` runs them one by one. */

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 60 * 60_000,
  },
});
