import { linkSync, writeFileSync } from 'node:fs'
import { removeIfAllowed } from './remove-if-allowed.js'

/**
 * Writes a private file, whole or not at all, and never over anything that is there.
 *
 * @param draft where it is written first: a name in the same directory that nobody else has
 * @throws EEXIST when something is there
 */
export function putFile(path: string, text: string, draft: string): void {
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 })
    // A link, not a rename: a rename replaces what is there.
    linkSync(draft, path)
  } finally {
    // Also when it could be made and not written, as on a full disk.
    removeIfAllowed(draft)
  }
}
