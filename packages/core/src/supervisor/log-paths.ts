import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { NamespaceId } from '../namespace/namespace-id.js'
import { type FileId, isSameFile } from '../tree/file-id.js'

/** Where the output of all goes, in the directory of the run. */
export function logDirectoryOf(runDirectory: string): string {
  return join(runDirectory, 'log')
}

/** Where a runtime's output goes: all of it to the first, unless what it says to its standard error is to be apart. */
export function logPathsOf(id: NamespaceId, logDirectory: string): { readonly out: string; readonly err: string } {
  return { out: join(logDirectory, `${id}.log`), err: join(logDirectory, `${id}.err.log`) }
}

/** Whether a file is still what it was: when the name of one has been removed, its number may be that of a stranger's. */
export function isStillLogOf(id: NamespaceId, file: FileId, runDirectory: string): boolean {
  return Object.values(logPathsOf(id, logDirectoryOf(runDirectory))).some((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false })
    return found?.isFile() === true && isSameFile(found, file)
  })
}
