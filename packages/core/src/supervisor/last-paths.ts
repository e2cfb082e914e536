import { join } from 'node:path'
import { readText, writeText } from '@custody/runtime/internals'

const FILE = 'last-paths.json'

/** Has the supervisor remove these when it has ended the run: for a runner that has no time to wait for it. */
export function writeLastPaths(runDirectory: string, paths: readonly string[]): void {
  writeText(join(runDirectory, FILE), JSON.stringify(paths))
}

/** Empty when there are none, as of a runner that was killed: then the next run tells what was ended, and removes all. */
export function readLastPaths(runDirectory: string): readonly string[] {
  try {
    return JSON.parse(readText(join(runDirectory, FILE))) as string[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
