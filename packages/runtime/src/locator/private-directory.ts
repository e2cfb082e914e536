import { lstatSync, mkdirSync } from 'node:fs'
import { CustodyError } from '../errors.js'
import { platform } from '../platform/index.js'

/** What keeps a directory from being private to this user, or null. A symbolic link is refused, as its target may change. */
export function findExposure(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 'it does not exist'
  if (!stat.isDirectory()) return stat.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a directory'
  if (!platform.hasFileModes) return null
  if (stat.uid !== process.geteuid?.()) return `it belongs to the user ${stat.uid}`
  if ((stat.mode & 0o077) !== 0) return `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, '0')} instead of 0700`
  return null
}

/** @throws CUSTODY_UNSAFE_DIRECTORY when another user could have put something into this directory */
export function checkPrivateDirectory(path: string): void {
  const exposure = findExposure(path)
  if (exposure === null) return
  throw new CustodyError('CUSTODY_UNSAFE_DIRECTORY', `Could not use the directory ${path}: ${exposure}.`, {
    hint: `make it a directory of your own with mode 0700, or remove it so that it is made anew.`,
    facts: { path, exposure },
  })
}

/** Makes the directory with mode 0700 unless it is there, and checks it in either case. Parents are made as well. */
export function ensurePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  checkPrivateDirectory(path)
}
