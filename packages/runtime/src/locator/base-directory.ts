import { type Stats, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { platform } from '../platform/index.js'

/**
 * Where Custody keeps what is short-lived: `custody` in XDG_RUNTIME_DIR if that is a directory of this user, else `custody-<uid>` in the
 * directory for temporary files.
 * @param env the environment that decides; a test may have changed its own
 */
export function baseDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const runtimeDirectory = env['XDG_RUNTIME_DIR']
  return runtimeDirectory && isOwnDirectory(runtimeDirectory) ? join(runtimeDirectory, 'custody') : temporaryBaseDirectory()
}

/** The same for what may be large: always below the directory for temporary files. */
export function temporaryBaseDirectory(): string {
  return join(tmpdir(), `custody-${process.geteuid?.() ?? 'user'}`)
}

/**
 * After `sudo -E` the variable still names another user's: what root made there would be in that user's way for ever. The mode is not
 * looked at, as some systems make it 0755; what is made inside is private by itself, and checked.
 */
function isOwnDirectory(path: string): boolean {
  let stat: Stats
  try {
    stat = statSync(path)
  } catch {
    return false // Missing, unreachable, or no path at all: in each case there is another place.
  }
  return stat.isDirectory() && (!platform.hasFileModes || stat.uid === process.geteuid?.())
}
