import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Config } from '@jest/types'

/** What `withCustody` leaves in `globals`, the only channel of a project's configuration that both Jests accept. */
export interface CustodyGlobals {
  readonly options: unknown
  /** What the user had configured for the project, or null. */
  readonly testRunner: string | null
  /** The root's, the same for each project: Jest calls ours with the configuration of any. It calls a project's own itself. */
  readonly rootGlobalSetup: string | null
  readonly rootGlobalTeardown: string | null
}

export function custodyGlobals(config: Pick<Config.ProjectConfig, 'globals'>): Partial<CustodyGlobals> {
  return (config.globals['@custody/jest'] ?? {}) as Partial<CustodyGlobals>
}

/** The project's own test runner, or Jest's. */
export function baseRunnerOf<T>(config: Config.ProjectConfig): T {
  const configured = custodyGlobals(config).testRunner ?? 'jest-circus/runner'
  const name = configured === 'circus' || configured === 'jest-circus' ? 'jest-circus/runner' : configured
  const path = requireFromJest(config.rootDir).resolve(inRoot(name, config.rootDir))
  const loaded = require(path) as { default?: T }
  return loaded.default ?? (loaded as T)
}

export function inRoot(path: string, rootDir: string): string {
  // A function: in a text a `$` of the directory would have a meaning.
  return path.replace(/^<rootDir>/, () => rootDir)
}

/**
 * Resolves like the project, and where that does not see Jest's own packages, as under pnpm, like Jest itself.
 * @param rootDir where the project is
 */
export function requireFromJest(rootDir: string): { resolve(name: string): string } {
  const project = createRequire(join(rootDir, 'package.json'))
  return {
    resolve(name) {
      try {
        return project.resolve(name)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
        return requireOfJestConfig(rootDir).resolve(name)
      }
    },
  }
}

/** What Jest's own package for configurations sees, which most others of Jest are dependencies of. */
export function requireOfJestConfig(rootDir: string): NodeJS.Require {
  return requireThrough(['jest', '@jest/core', 'jest-config'], rootDir)
}

/** What the last of these packages sees, each of which is a dependency of the one before. */
export function requireThrough(links: readonly string[], rootDir: string): NodeJS.Require {
  return links.reduce(
    (from, link) => createRequire(from.resolve(`${link}/package.json`)),
    createRequire(join(rootDir, 'package.json')),
  )
}
