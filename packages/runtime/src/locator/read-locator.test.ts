import { chmodSync, chownSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { platform } from '../platform/index.js'
import { readLocator } from './read-locator.js'

function writeLocator(text: string = JSON.stringify(sampleLocator()), mode = 0o600): string {
  const path = join(temporaryDirectory(), 'locator.json')
  writeFileSync(path, text, { mode })
  chmodSync(path, mode)
  return path
}

function refusalOf(path: string): { code: string; message: string } {
  try {
    readLocator(path)
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error('It was not refused.')
}

test('reads a private file of its own user', () => {
  expect(readLocator(writeLocator())).toEqual(sampleLocator())
})

test('tells a file that is missing from one that is wrong', () => {
  const path = writeLocator()
  expect(refusalOf(`${path}.other`)).toMatchObject({ code: 'CUSTODY_LOCATOR_MISSING', message: expect.stringContaining(path) })
  expect(refusalOf(join(path, 'below-a-file'))).toMatchObject({ code: 'CUSTODY_LOCATOR_MISSING' })
})

test('does not follow a symbolic link to a good locator', () => {
  const path = writeLocator()
  symlinkSync(path, `${path}.link`)
  expect(refusalOf(`${path}.link`)).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('it is a symbolic link'),
  })
})

test('says why a file cannot be opened', () => {
  expect(refusalOf(join(temporaryDirectory(), 'x'.repeat(300)))).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('it cannot be opened (ENAMETOOLONG)'),
  })
})

test('asks for no owner and no mode where files have none', () => {
  const { hasFileModes } = platform
  onTestFinished(() => void Object.assign(platform, { hasFileModes }))
  Object.assign(platform, { hasFileModes: false })
  const path = writeLocator(undefined, 0o644)
  if (process.geteuid?.() === 0) chownSync(path, 65_534, 65_534)
  expect(readLocator(path)).toEqual(sampleLocator())
})

test('follows a symbolic link of a parent directory', () => {
  const directory = temporaryDirectory()
  symlinkSync(join(writeLocator(), '..'), join(directory, 'link'))
  expect(readLocator(join(directory, 'link', 'locator.json'))).toEqual(sampleLocator())
})

test('refuses a directory', () => {
  const path = join(temporaryDirectory(), 'locator.json')
  mkdirSync(path)
  expect(refusalOf(path)).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('it is not a regular file'),
  })
})

// B52: zero-byte and half-written files.
test('refuses an empty file', () => {
  expect(refusalOf(writeLocator(''))).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('empty'),
  })
})

test('refuses half of a locator', () => {
  const half = JSON.stringify(sampleLocator()).slice(0, 100)
  expect(refusalOf(writeLocator(half))).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('it is not a JSON object'),
  })
})

test('refuses bytes that are not UTF-8', () => {
  const path = writeLocator()
  const text = JSON.stringify({ ...sampleLocator(), name: '?' })
  writeFileSync(path, Buffer.from(text.replace('"?"', '"\u00ff"'), 'latin1'))
  expect(refusalOf(path)).toMatchObject({ code: 'CUSTODY_LOCATOR_INVALID', message: expect.stringContaining('it is not UTF-8') })
})

test('reads 16 KiB and refuses one byte more', () => {
  const text = JSON.stringify(sampleLocator())
  expect(readLocator(writeLocator(text.padEnd(16 * 1024)))).toEqual(sampleLocator())
  expect(refusalOf(writeLocator(text.padEnd(16 * 1024 + 1)))).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('more than 16384 bytes'),
  })
})

test.each([0o644, 0o640, 0o604, 0o620, 0o610])('refuses a file that others can reach (mode %o)', (mode) => {
  expect(refusalOf(writeLocator(undefined, mode))).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining(`its mode is 0${mode.toString(8)}`),
  })
})

test('refuses a file of another user', () => {
  // Only root can give a file away; for everybody else this one is root's.
  const path = process.geteuid?.() === 0 ? writeLocator() : '/etc/passwd'
  if (path !== '/etc/passwd') chownSync(path, 65_534, 65_534)
  expect(refusalOf(path)).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringContaining('it belongs to the user'),
  })
})

test('refuses a file of /proc, which has bytes and no size', () => {
  expect(refusalOf('/proc/self/environ')).toMatchObject({
    code: 'CUSTODY_LOCATOR_INVALID',
    message: expect.stringMatching(/empty or was changed|more than 16384 bytes/),
  })
})

test('judges a hard link by its path, like every other name', () => {
  const path = writeLocator()
  linkSync(path, `${path}.hard`)
  expect(readLocator(path)).toEqual(sampleLocator())
  rmSync(path)
  expect(readLocator(`${path}.hard`)).toEqual(sampleLocator())
})

test('says nothing of the content that it refuses', () => {
  const text = JSON.stringify({ ...sampleLocator(), pid: 'none' })
  expect(JSON.stringify(refusalOf(writeLocator(text))) + refusalOf(writeLocator(text)).message).not.toContain(
    sampleLocator().token,
  )
})
