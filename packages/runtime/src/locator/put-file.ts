import { linkSync } from 'node:fs'
import { writeText } from '../text-file.js'
import { removeIfAllowed } from './remove-if-allowed.js'

/**
 * Writes a private file, whole or not at all, and never over anything that is there.
 *
 * @param draft where it is written first: a name in the same directory that nobody else has
 * @throws EEXIST when something is there
 */
export function putFile(path: string, text: string, draft: string): void {
  try {
    writeText(draft, text, { flag: 'wx' })
    // A link, not a rename: a rename replaces what is there.
    linkSync(draft, path)
  } finally {
    // Also when it could be made and not written, as on a full disk.
    removeIfAllowed(draft)
  }
}
