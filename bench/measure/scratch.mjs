import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory for what is measured. It goes with the process. */
export function scratch() {
  const directory = mkdtempSync(join(tmpdir(), 'custody-bench-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  return directory
}
