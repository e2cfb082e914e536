import { chmodSync, chownSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { baseDirectory, temporaryBaseDirectory } from './base-directory.js'

const inside = (XDG_RUNTIME_DIR: string) => baseDirectory({ XDG_RUNTIME_DIR })

test('is in XDG_RUNTIME_DIR when that is a directory of this user, whatever its mode and name', () => {
  const directory = temporaryDirectory()
  expect(inside(directory)).toBe(join(directory, 'custody'))
  chmodSync(directory, 0o755)
  expect(inside(directory)).toBe(join(directory, 'custody'))
  const link = join(temporaryDirectory(), 'link')
  symlinkSync(directory, link)
  expect(inside(link)).toBe(join(link, 'custody'))
})

test('is in the temporary directory without XDG_RUNTIME_DIR', () => {
  expect(baseDirectory({})).toBe(temporaryBaseDirectory())
  expect(inside('')).toBe(temporaryBaseDirectory())
})

test('is in the temporary directory when XDG_RUNTIME_DIR is missing or no directory', () => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'file'), '')
  for (const name of ['missing', 'file', 'file/below']) expect(inside(join(directory, name)), name).toBe(temporaryBaseDirectory())
})

// As after `sudo -E`.
test("is in the temporary directory when XDG_RUNTIME_DIR is another user's", () => {
  // Only root can give a directory away; for everybody else the root directory is another user's.
  const path = process.geteuid?.() === 0 ? temporaryDirectory() : '/'
  if (path !== '/') chownSync(path, 65_534, 65_534)
  expect(inside(path)).toBe(temporaryBaseDirectory())
})
