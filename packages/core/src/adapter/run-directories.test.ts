import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { makeRunDirectories } from './run-directories.js'

test('leaves nothing behind where the second of two directories cannot be made', async () => {
  const runtime = temporaryDirectory()
  const file = join(temporaryDirectory(), 'no-directory')
  writeFileSync(file, '')
  mkdirSync(join(runtime, 'custody'), { mode: 0o700 })
  vi.stubEnv('XDG_RUNTIME_DIR', runtime)
  vi.stubEnv('TMPDIR', file)
  onTestFinished(() => void vi.unstubAllEnvs())
  await expect(makeRunDirectories()).rejects.toMatchObject({ code: 'CUSTODY_UNSAFE_DIRECTORY' })
  expect(readdirSync(join(runtime, 'custody'))).toEqual([])
})
