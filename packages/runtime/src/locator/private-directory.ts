import { lstatSync, mkdirSync, type Stats } from 'node:fs'
import { CustodyError } from '../errors.js'
import { platform } from '../platform/index.js'

const MISSING = 'it does not exist'

/** What keeps a directory from being private to this user, or null. A symbolic link is refused, as its target may change. */
export function findExposure(path: string): string | null {
  let stat: Stats
  try {
    stat = lstatSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? MISSING : `it cannot be looked at (${code})`
  }
  if (!stat.isDirectory()) return stat.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a directory'
  if (!platform.hasFileModes) return null
  if (stat.uid !== process.geteuid?.()) return `it belongs to the user ${stat.uid}`
  if ((stat.mode & 0o077) !== 0) return `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, '0')} instead of 0700`
  return null
}

/** @throws CUSTODY_UNSAFE_DIRECTORY when another user could have put something into this directory */
export function checkPrivateDirectory(path: string): void {
  const exposure = findExposure(path)
  if (exposure !== null) throw unsafe(path, exposure)
}

/**
 * Makes the directory with mode 0700 unless it is there, and checks it in either case. Parents are made as well.
 * @throws CUSTODY_UNSAFE_DIRECTORY when it cannot be made, or is not private
 */
export function ensurePrivateDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    // What is in the way says more than the failure to make it.
    const found = findExposure(path) ?? MISSING
    throw unsafe(path, found === MISSING ? `it cannot be made (${(cause as NodeJS.ErrnoException).code})` : found, cause)
  }
  checkPrivateDirectory(path)
}

function unsafe(path: string, exposure: string, cause?: unknown): CustodyError {
  return new CustodyError('CUSTODY_UNSAFE_DIRECTORY', `Could not use the directory ${path}: ${exposure}.`, {
    hint: 'make it a directory of your own with mode 0700, or remove it so that it is made anew.',
    facts: { path, exposure, isMissing: exposure === MISSING },
    cause,
  })
}
