import { unlinkSync } from 'node:fs'

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
