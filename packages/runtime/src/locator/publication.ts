import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CustodyError, hasCode } from '../errors.js'
import { LOCATOR_BYTES, type Locator } from './locator.js'
import { putFile } from './put-file.js'
import { readLocator } from './read-locator.js'
import { removeIfAllowed } from './remove-if-allowed.js'
import { withClaim } from './with-claim.js'

/** A locator that this process has put at a path, and may take away again. */
export interface Publication {
  /** The canonical path, as it was at the moment of publication. */
  readonly path: string
  /** Removes the locator if it is still this one. Tells whether it did. */
  withdraw(): boolean
}

/**
 * The one canonical name of a path whose file may not exist yet: its parent is resolved, its last part stays.
 * @throws CUSTODY_PUBLICATION_FAILED when the parent directory is missing or has a name that is not UTF-8
 */
export function canonicalPath(path: string): string {
  let canonical: string
  try {
    canonical = join(realpathSync.native(dirname(path)), basename(path))
  } catch (cause) {
    throw failed(
      path,
      `its directory cannot be reached (${(cause as NodeJS.ErrnoException).code})`,
      'create the directory first.',
      cause,
    )
  }
  if (canonical.includes('\ufffd')) throw failed(path, 'its path is not UTF-8', 'choose a path that is.')
  return canonical
}

/**
 * Puts a locator at a canonical path, whole or not at all, and never over anything that is there: of many that try at once, one wins.
 * The locator of a runtime that is gone is moved out of the way first.
 *
 * @param isGone whether the runtime of a locator found at the path is proven to have ended
 * @throws CUSTODY_PUBLICATION_FAILED without any effect, and without the token
 */
export async function publishLocator(
  path: string,
  locator: Locator,
  isGone: (found: Locator) => Promise<boolean>,
): Promise<Publication> {
  try {
    await removeStale(path, isGone)
  } catch (cause) {
    throw hasCode(cause, 'CUSTODY_PUBLICATION_FAILED') ? cause : notWritten(path, cause)
  }
  putLocator(path, locator, `.${basename(path)}.${locator.instance}`)
  return { path, withdraw: () => readOwnLocator(path)?.instance === locator.instance && removeIfAllowed(path) }
}

/**
 * Writes a locator to a path, whole or not at all, and never over anything that is there.
 *
 * @param draftName where it is written first, in the same directory
 * @throws CUSTODY_PUBLICATION_FAILED without any effect, and without the token
 */
export function putLocator(path: string, locator: Locator, draftName: string): void {
  const json = JSON.stringify(locator)
  const bytes = Buffer.byteLength(json)
  // Nobody could read it, and so nobody could account for it or take it away again.
  if (bytes > LOCATOR_BYTES)
    throw failed(path, `it would have ${bytes} bytes, and a locator may have ${LOCATOR_BYTES}`, 'choose a shorter path.')
  try {
    putFile(path, json, join(dirname(path), draftName))
  } catch (cause) {
    throw hasCode(cause, 'EEXIST')
      ? failed(path, 'another runtime has published there first', 'use that one, or stop it.', cause)
      : notWritten(path, cause)
  }
}

async function removeStale(path: string, isGone: (found: Locator) => Promise<boolean>): Promise<void> {
  const found = readInTheWay(path)
  if (found === null) return
  if (!(await isGone(found))) {
    throw failed(
      path,
      `the runtime "${found.name}" (pid ${found.pid}) that published there may still run`,
      'use that one, or stop it.',
    )
  }
  const claim = join(dirname(path), `.${basename(path)}.${found.instance}.stale`)
  const isStale = () => readOwnLocator(path)?.instance === found.instance
  const isDone = withClaim(claim, () => {
    // Whoever holds the claim looks once more: a new runtime's locator, put here since, is never touched.
    if (isStale()) removeIfAllowed(path)
  })
  if (!isDone && isStale()) {
    throw failed(path, 'another runtime is publishing there at this moment', `use that one; if there is none, remove ${claim}.`)
  }
}

/** The locator that is there already, or null when nothing is. */
function readInTheWay(path: string): Locator | null {
  try {
    return readLocator(path)
  } catch (error) {
    if (hasCode(error, 'CUSTODY_LOCATOR_MISSING')) return null
    if (!hasCode(error, 'CUSTODY_LOCATOR_INVALID')) throw error
    throw failed(path, 'something that is no locator of yours is there', 'move it away, or choose another path.', error)
  }
}

function readOwnLocator(path: string): Locator | null {
  try {
    return readLocator(path)
  } catch (error) {
    if (hasCode(error, 'CUSTODY_LOCATOR_INVALID') || hasCode(error, 'CUSTODY_LOCATOR_MISSING')) return null
    throw error
  }
}

function notWritten(path: string, cause: unknown): CustodyError {
  const { code } = cause as NodeJS.ErrnoException
  return failed(path, `the file cannot be written (${code})`, 'make the directory writable, with room on its disk.', cause)
}

function failed(path: string, reason: string, hint: string, cause?: unknown): CustodyError {
  return new CustodyError('CUSTODY_PUBLICATION_FAILED', `Could not publish the locator ${path}: ${reason}.`, {
    hint,
    facts: { path, reason },
    cause,
  })
}
