import { basename, relative } from 'node:path'
import type { Config } from '@jest/types'

/**
 * How a project is called, or where it is.
 * @param root the root of the run
 */
export function nameOfProject(
  { displayName, rootDir }: Pick<Config.ProjectConfig, 'displayName' | 'rootDir'>,
  root: string,
): string {
  return displayName?.name ?? (relative(root, rootDir) || basename(rootDir))
}
