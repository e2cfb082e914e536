import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A private directory under its canonical name, removed when the test has finished. */
export function temporaryDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'cst-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}
