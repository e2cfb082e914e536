import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Where Custody keeps what is short-lived: `custody` in XDG_RUNTIME_DIR, else `custody-<uid>` in the directory for temporary files.
 * @param env the environment that decides; a test may have changed its own
 */
export function baseDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const runtimeDirectory = env['XDG_RUNTIME_DIR']
  return runtimeDirectory ? join(runtimeDirectory, 'custody') : temporaryBaseDirectory()
}

/** The same for what may be large: always below the directory for temporary files. */
export function temporaryBaseDirectory(): string {
  return join(tmpdir(), `custody-${process.geteuid?.() ?? 'user'}`)
}
