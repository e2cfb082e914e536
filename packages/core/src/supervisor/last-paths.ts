import { dirname, join, resolve } from 'node:path'
import { parseJson, readText, writeText } from '@custody/runtime/internals'
import type { RunRecord } from './run-record.js'

const FILE = 'last-paths.json'

/** Has the supervisor remove these when it has ended the run: for a runner that has no time to wait for it. */
export function writeLastPaths(runDirectory: string, paths: readonly string[]): void {
  writeText(join(runDirectory, FILE), JSON.stringify(paths))
}

/**
 * Those of them that are the run's own. Empty when there are none, as of a runner that was killed: then the next run tells what was ended,
 * and removes all.
 */
export function readLastPaths(runDirectory: string, { storage }: Pick<RunRecord, 'storage'>): readonly string[] {
  const isOwn = (path: unknown) =>
    typeof path === 'string' && resolve(path) === path && (path === storage || [path, dirname(path)].includes(runDirectory))
  try {
    const paths = parseJson(readText(join(runDirectory, FILE)))
    return Array.isArray(paths) ? paths.filter(isOwn) : []
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
