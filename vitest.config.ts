import { defineConfig } from 'vitest/config'

/** Whole runs that are killed or last, and whole trees that are stopped, each with its own seconds: `.ci/run` runs them by themselves. */
const slow = ['killed', 'lasting', 'trees'].map((name) => `test/contract/${name}.test.ts`)
const isSlowRun = process.env.CUSTODY_TEST_SLOW === '1'

export default defineConfig({
  test: {
    include: isSlowRun ? slow : ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(isSlowRun ? [] : slow)],
    testTimeout: 60_000,
    // The tests wait more than they work.
    maxWorkers: '100%',
  },
})
