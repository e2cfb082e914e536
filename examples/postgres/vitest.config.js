import { custodyPlugin } from '@custody/vitest/plugin'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  plugins: [custodyPlugin({ report: { json: 'custody-report.json' } })],
  test: {
    include: ['**/*.vitest.test.js'],
    globalSetup: ['test/global-setup.js'],
    maxWorkers: 2,
    testTimeout: 30_000,
  },
})
