import { defineConfig } from 'vitest/config'

export default defineConfig({
  // The references of tsconfig.json need not be built, nor even be there, for the tests of one package.
  oxc: { tsconfig: false },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
  },
})
