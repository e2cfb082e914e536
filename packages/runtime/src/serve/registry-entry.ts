import { join, resolve } from 'node:path'
import { isNamespaceId, type Locator } from '../locator/locator.js'
import { findExposure } from '../locator/private-directory.js'
import { putLocator } from '../locator/publication.js'
import { removeIfAllowed } from '../locator/remove-if-allowed.js'

/** The namespace that a process was born in: its id, and the directory of the run. */
export interface Birthplace {
  namespace: string
  runDirectory: string
}

export const NAMESPACE_VARIABLE = 'CUSTODY_NAMESPACE'

/**
 * Reads `CUSTODY_NAMESPACE=<id>:<absolute run directory>`. A value that is not one, or a run that has ended, is no reason for a
 * daemon not to start: it is then outside of every namespace.
 */
export function readBirthplace(env: NodeJS.ProcessEnv): Birthplace | null {
  const value = env[NAMESPACE_VARIABLE] ?? ''
  const colon = value.indexOf(':')
  const [namespace, runDirectory] = [value.slice(0, colon), value.slice(colon + 1)]
  if (!isNamespaceId(namespace)) return null
  // Only what is absolute is resolved already. A trailing slash would have a symbolic link followed.
  if (resolve(runDirectory) !== runDirectory || findExposure(runDirectory) !== null) return null
  // What a run leaves for people to look at has no registry any more.
  if (findExposure(registryOf(runDirectory)) !== null) return null
  return { namespace, runDirectory }
}

function registryOf(runDirectory: string): string {
  return join(runDirectory, 'registry')
}

/** The path of a runtime's entry in its run's registry. */
export function registryEntryPath({ namespace, runDirectory }: Birthplace, instance: string): string {
  return join(registryOf(runDirectory), `${namespace}--${instance}.json`)
}

/**
 * Leaves a full copy of the locator with the run. Its test can find it there even when the locator itself was moved or deleted.
 * @throws CUSTODY_PUBLICATION_FAILED when it cannot be written
 */
export function registerLocator(path: string, locator: Locator): void {
  // A name with a leading dot is half-made, and readers leave it alone.
  putLocator(path, locator, `.${locator.instance}`)
}

/** Takes the copy away again. The run may have done so before. */
export function unregisterLocator(path: string): void {
  removeIfAllowed(path)
}
