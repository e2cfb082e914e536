import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { fileIdOf } from '../tree/file-id.js'
import { cutLog } from './cut-log.js'

test('leaves a log of the allowed length as it is', () => {
  const path = join(temporaryDirectory(), 'a.log')
  writeFileSync(path, '0123456789')
  expect(cutLog(path, [fileIdOf(path)], 10, 4)).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('0123456789')
})

test('cuts a longer one to its end', () => {
  const path = join(temporaryDirectory(), 'a.log')
  writeFileSync(path, '0123456789')
  expect(cutLog(path, [fileIdOf(path)], 9, 4)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('6789')
})

test('does not touch what somebody has put in its place', () => {
  const [own, theirs, link] = ['own', 'theirs', 'link'].map((name) => join(temporaryDirectory(), name)) as [
    string,
    string,
    string,
  ]
  for (const path of [own, theirs]) writeFileSync(path, '0123456789')
  symlinkSync(theirs, link)
  expect(cutLog(theirs, [fileIdOf(own)], 9, 4)).toBe(false)
  expect(() => cutLog(link, [fileIdOf(own), fileIdOf(theirs)], 9, 4)).toThrow(expect.objectContaining({ code: 'ELOOP' }))
  expect(readFileSync(theirs, 'utf8')).toBe('0123456789')
})
