import fs, { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { temporaryDirectory } from '../../../test/runtime/temporary-directory.js'
import { appendLines, readText, writeText } from './text-file.js'

const newPath = () => join(temporaryDirectory(), 'file')

test('reads what was written, of any size', () => {
  const path = newPath()
  for (const text of ['', 'ü\n', 'é'.repeat(200_000)]) {
    writeText(path, text)
    expect(readFileSync(path, 'utf8') === text && readText(path) === text, `${text.length} letters`).toBe(true)
  }
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('reads each byte as a letter where that is asked for', () => {
  const path = newPath()
  writeText(path, 'ü')
  expect(readText(path, 'latin1')).toBe('Ã¼')
})

test('reads what has no size', () => {
  expect(readText('/proc/self/stat', 'latin1')).toContain(`${process.pid} (`)
})

test('adds lines below a half one, and makes no second file where it must be the first', () => {
  const path = newPath()
  writeText(path, 'half a li')
  appendLines(path, ['a', 'b'])
  appendLines(path, ['c'])
  expect(readText(path).split('\n').filter(Boolean)).toEqual(['half a li', 'a', 'b', 'c'])
  expect(() => writeText(path, '', { flag: 'wx' })).toThrow('EEXIST')
  expect(() => readText(`${path}-not-there`)).toThrow('ENOENT')
})

test('does not see spies', () => {
  const path = newPath()
  for (const name of ['openSync', 'readFileSync', 'writeFileSync', 'appendFileSync'] as const) {
    vi.spyOn(fs, name).mockImplementation(() => {
      throw new Error('a spy')
    })
  }
  try {
    writeText(path, 'a')
    expect(readText(path)).toBe('a')
  } finally {
    vi.restoreAllMocks()
  }
})
