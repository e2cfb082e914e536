import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { type RunRecord, readRunRecord, writeRunRecord } from './run-record.js'

const record: RunRecord = {
  ...{ version: 1, id: 'ab'.repeat(16), runner: ownIdentity(), supervisor: null, sentinel: null, group: null },
  ...{
    storage: '/tmp/x',
    mostLevel: 2,
    allow: [],
    commonHelpers: true,
    isSwept: true,
    root: '/project',
    created: '2026-01-01T00:00:00.000Z',
  },
}

test('gives back what was written last, and leaves nothing else behind', () => {
  const directory = temporaryDirectory()
  writeRunRecord(directory, record)
  writeRunRecord(directory, { ...record, supervisor: ownIdentity() })
  expect(readRunRecord(directory)).toEqual({ ...record, supervisor: ownIdentity() })
  expect(readdirSync(directory)).toEqual(['run.json'])
  expect(statSync(join(directory, 'run.json')).mode & 0o777).toBe(0o600)
})

test('is replaced as a whole: who has the old one open still reads that', () => {
  const directory = temporaryDirectory()
  writeRunRecord(directory, record)
  const { ino } = statSync(join(directory, 'run.json'))
  writeRunRecord(directory, record)
  expect(statSync(join(directory, 'run.json')).ino).not.toBe(ino)
})

test('is null where there is no run', () => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'file'), '')
  expect(readRunRecord(directory)).toBe(null)
  expect(readRunRecord(join(directory, 'missing'))).toBe(null)
  expect(readRunRecord(join(directory, 'file'))).toBe(null)
})
