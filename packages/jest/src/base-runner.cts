import type { Config } from '@jest/types'
import { custodyGlobals } from './custody-globals.cjs'
import { inRoot } from './in-root.cjs'
import { resolveFromJest } from './resolve-from-jest.cjs'

/** The project's own test runner, or Jest's. */
export function baseRunnerOf<T>(config: Config.ProjectConfig): T {
  const configured = custodyGlobals(config).testRunner ?? 'jest-circus/runner'
  const name = configured === 'circus' || configured === 'jest-circus' ? 'jest-circus/runner' : configured
  const path = resolveFromJest(inRoot(name, config.rootDir), config.rootDir)
  const loaded = require(path) as { default?: T }
  return loaded.default ?? (loaded as T)
}
