import { custodyPlugin } from '@custody/vitest/plugin'
import { defineConfig } from 'vitest/config'
import { options } from './options.js'

export default defineConfig({
  plugins: [custodyPlugin(options)],
  test: { include: ['**/*.vitest.test.js'], testTimeout: 30_000 },
})
