import { createRequire } from 'node:module'
import { join } from 'node:path'

/**
 * Resolves a name like the project, and where that does not see Jest's own packages, as under pnpm, like Jest itself.
 * @param rootDir where the project is
 */
export function resolveFromJest(name: string, rootDir: string): string {
  try {
    return createRequire(join(rootDir, 'package.json')).resolve(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    return requireOfJestConfig(rootDir).resolve(name)
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
