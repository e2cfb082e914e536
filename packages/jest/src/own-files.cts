import { dirname, sep } from 'node:path'
import type { Config } from '@jest/types'

/** Patterns for the files of these packages, installed or linked to a workspace. */
const OWN = ['/@custody/', ...[__dirname, dirname(require.resolve('@custody/core/package.json'))].map(escapeRegExp)]

/** What Jest does not compile where nothing is said. */
const DEFAULT = ['/node_modules/', '\\.pnp\\.[^\\/]+$']

type Project = Pick<Config.InitialProjectOptions, 'transformIgnorePatterns' | 'unmockedModulePathPatterns'>

/** Has Jest take the files of these packages as they are. */
export function leaveOwnFiles({ transformIgnorePatterns, unmockedModulePathPatterns = [] }: Project): Project {
  const isLinked = !__dirname.includes(`${sep}node_modules${sep}`)
  const ignored = transformIgnorePatterns ?? (isLinked ? DEFAULT : null)
  return {
    // Automatic mocks would replace the `custody` object by one that does nothing.
    unmockedModulePathPatterns: [...new Set([...unmockedModulePathPatterns, ...OWN])],
    // Compiled to CommonJS once more, ES modules cannot be loaded.
    ...(ignored && { transformIgnorePatterns: [...new Set([...ignored, ...OWN])] }),
  }
}

function escapeRegExp(path: string): string {
  return path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
