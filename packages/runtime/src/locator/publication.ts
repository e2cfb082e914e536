import { linkSync, lstatSync, realpathSync, unlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CustodyError, hasCode } from '../errors.js'
import { LOCATOR_BYTES, type Locator } from './locator.js'
import { readLocator } from './read-locator.js'
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
  const draft = join(dirname(path), draftName)
  const json = JSON.stringify(locator)
  const bytes = Buffer.byteLength(json)
  // Nobody could read it, and so nobody could account for it or take it away again.
  if (bytes > LOCATOR_BYTES)
    throw failed(path, `it would have ${bytes} bytes, and a locator may have ${LOCATOR_BYTES}`, 'choose a shorter path.')
  try {
    writeFileSync(draft, json, { flag: 'wx', mode: 0o600 })
    try {
      // A link, not a rename: a rename replaces what is there.
      linkSync(draft, path)
    } finally {
      unlinkSync(draft)
    }
  } catch (cause) {
    throw hasCode(cause, 'EEXIST')
      ? failed(path, 'another runtime has published there first', 'use that one, or stop it.', cause)
      : notWritten(path, cause)
  }
}

/** Removes a file that may have gone, or whose directory may have become somebody else's, since. Tells whether it did. */
export function removeIfAllowed(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false
    throw error
  }
}

async function removeStale(path: string, isGone: (found: Locator) => Promise<boolean>): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  const found = readOwnLocator(path)
  if (found === null)
    throw failed(path, 'something that is no locator of yours is there', 'move it away, or choose another path.')
  if (!(await isGone(found))) {
    throw failed(
      path,
      `the runtime "${found.name}" (pid ${found.pid}) that published there may still run`,
      'use that one, or stop it.',
    )
  }
  withClaim(join(dirname(path), `.${basename(path)}.${found.instance}.stale`), () => {
    // Whoever holds the claim looks once more: a new runtime's locator, put here since, is never touched.
    if (readOwnLocator(path)?.instance === found.instance) removeIfAllowed(path)
  })
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
