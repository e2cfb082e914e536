import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { platform } from '../platform/index.js'
import { checkPrivateDirectory, ensurePrivateDirectory, findExposure } from './private-directory.js'

test('finds nothing wrong with a directory of its own with mode 0700', () => {
  expect(findExposure(temporaryDirectory())).toBeNull()
})

test.each([0o755, 0o710, 0o701, 0o777])('tells that others can reach a directory (mode %o)', (mode) => {
  const path = temporaryDirectory()
  chmodSync(path, mode)
  expect(findExposure(path)).toBe(`its mode is 0${mode.toString(8)} instead of 0700`)
  expect(() => checkPrivateDirectory(path)).toThrow(
    expect.objectContaining({ code: 'CUSTODY_UNSAFE_DIRECTORY', message: expect.stringContaining(path) }),
  )
})

test('tells a symbolic link, a file, and nothing from a directory', () => {
  const directory = temporaryDirectory()
  symlinkSync(directory, join(directory, 'link'))
  writeFileSync(join(directory, 'file'), '')
  expect(findExposure(join(directory, 'link'))).toBe('it is a symbolic link')
  expect(findExposure(join(directory, 'file'))).toBe('it is not a directory')
  expect(findExposure(join(directory, 'missing'))).toBe('it does not exist')
  expect(findExposure(join(directory, 'file', 'below'))).toBe('it does not exist')
  expect(findExposure('')).toBe('it does not exist')
})

test('does not take what cannot be looked at for nothing', () => {
  expect(findExposure(join(temporaryDirectory(), 'x'.repeat(300)))).toBe('it cannot be looked at (ENAMETOOLONG)')
})

test('asks for no mode where files have none', () => {
  const { hasFileModes } = platform
  onTestFinished(() => void Object.assign(platform, { hasFileModes }))
  Object.assign(platform, { hasFileModes: false })
  const path = temporaryDirectory()
  chmodSync(path, 0o755)
  expect(findExposure(path)).toBeNull()
})

test('says what is in the way of a directory, or why it cannot be made', () => {
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  const refused = (exposure: string, code: string) =>
    expect.objectContaining({ facts: expect.objectContaining({ exposure }), cause: expect.objectContaining({ code }) })
  expect(() => ensurePrivateDirectory(file)).toThrow(refused('it is not a directory', 'EEXIST'))
  expect(() => ensurePrivateDirectory(join(file, 'below'))).toThrow(refused('it cannot be made (ENOTDIR)', 'ENOTDIR'))
})

test('tells that a directory belongs to somebody else', () => {
  // Only root can give a directory away; for everybody else the root directory is another user's.
  const path = process.geteuid?.() === 0 ? temporaryDirectory() : '/'
  if (path !== '/') chownSync(path, 65_534, 65_534)
  expect(findExposure(path)).toMatch(/^it belongs to the user \d+$/)
})

test('makes a directory and its parents private whatever the umask', () => {
  const path = join(temporaryDirectory(), 'a', 'b')
  ensurePrivateDirectory(path)
  expect(statSync(path).mode & 0o777).toBe(0o700)
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
})

test.each([
  ['a file', (path: string) => writeFileSync(path, '')],
  ['a dangling symbolic link', (path: string) => symlinkSync('nowhere', path)],
  ['a symbolic link to a private directory', (path: string) => symlinkSync(temporaryDirectory(), path)],
  ['a directory that others can list', (path: string) => mkdirSync(path, { mode: 0o755 })],
])('refuses to make do with %s', (_, put) => {
  const path = join(temporaryDirectory(), 's')
  put(path)
  expect(() => ensurePrivateDirectory(path)).toThrow(expect.objectContaining({ code: 'CUSTODY_UNSAFE_DIRECTORY' }))
})
