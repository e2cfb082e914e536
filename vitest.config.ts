import { defineConfig } from 'vitest/config'

/** Whole runs that are killed or last, and whole trees that are stopped, each with its own seconds: `.ci/run` runs them by themselves. */
const slow = [
  ...['killed', 'lasting', 'levels', 'soak', 'trees'].map((name) => `test/contract/${name}.test.ts`),
  ...['clock', 'full-disk', 'killed-at-each-step', 'paused', 'refused'].map((name) => `test/faults/${name}.test.ts`),
]
/** With redis, nginx and PostgreSQL, which `scripts/install-services.mjs` installs. */
const services = ['test/services/*.test.ts']

const isSlowRun = process.env.CUSTODY_TEST_SLOW === '1'
const isServicesRun = process.env.CUSTODY_TEST === 'services'
const chosen = isSlowRun ? slow : isServicesRun ? services : null

export default defineConfig({
  test: {
    globalSetup: ['test/witness/look-alikes.ts'],
    include: chosen ?? ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', ...(chosen ? [] : [...slow, ...services])],
    // A hang is what they are for: a busy machine takes its time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // The tests wait more than they work.
    maxWorkers: '100%',
  },
})
