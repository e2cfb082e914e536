import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { cutLog } from './cut-log.js'

test('leaves a log of the allowed length as it is', () => {
  const path = join(temporaryDirectory(), 'a.log')
  writeFileSync(path, '0123456789')
  expect(cutLog(path, 10, 4)).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('0123456789')
})

test('cuts a longer one to its end', () => {
  const path = join(temporaryDirectory(), 'a.log')
  writeFileSync(path, '0123456789')
  expect(cutLog(path, 9, 4)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('6789')
})
