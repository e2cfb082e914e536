import { appendFileSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { type JournalEntry, readJournal, writeEnded, writeJournal } from './journal.js'

const entry = (id: string): JournalEntry => ({
  id,
  name: 'a "name"\nof two lines',
  identity: ownIdentity(),
  files: [{ dev: 1, ino: 2 }],
})

test('gives back what was written, in order', () => {
  const directory = temporaryDirectory()
  writeJournal(directory, entry('a'))
  writeJournal(directory, entry('b'))
  expect(readJournal(directory)).toEqual([entry('a'), entry('b')])
})

test('leaves out what was noted to have ended', () => {
  const directory = temporaryDirectory()
  for (const id of ['a', 'b', 'c']) writeJournal(directory, entry(id))
  writeEnded(directory, ['a', 'c'])
  expect(readJournal(directory)).toEqual([entry('b')])
})

test('is for the eyes of its user only', () => {
  const directory = temporaryDirectory()
  writeJournal(directory, entry('a'))
  expect(statSync(join(directory, 'journal.jsonl')).mode & 0o777).toBe(0o600)
})

test('leaves out a line that was not written to its end, and nothing beside it', () => {
  const directory = temporaryDirectory()
  writeJournal(directory, entry('a'))
  appendFileSync(join(directory, 'journal.jsonl'), JSON.stringify(entry('b')).slice(0, -1))
  expect(readJournal(directory)).toEqual([entry('a')])
  writeJournal(directory, entry('c'))
  expect(readJournal(directory)).toEqual([entry('a'), entry('c')])
})

test('tells of what was started after an entry that was cut, as on a full disk', () => {
  const directory = temporaryDirectory()
  writeJournal(directory, entry('a'))
  appendFileSync(join(directory, 'journal.jsonl'), JSON.stringify(entry('b')).slice(0, -1))
  writeJournal(directory, entry('c'))
  expect(readJournal(directory)).toEqual([entry('a'), entry('c')])
})

test('is empty where nothing was started', () => expect(readJournal(temporaryDirectory())).toEqual([]))

test('does not take a journal that cannot be read for an empty one', () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'journal.jsonl'))
  expect(() => readJournal(directory)).toThrow(expect.objectContaining({ code: 'EISDIR' }))
})
