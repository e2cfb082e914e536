import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { readLastPaths, writeLastPaths } from './last-paths.js'

const storage = '/tmp/custody-0/abcdef'

test('gives back what was written of the run’s own', () => {
  const directory = temporaryDirectory()
  const own = [storage, directory, join(directory, 'log')]
  writeLastPaths(directory, own)
  expect(readLastPaths(directory, { storage })).toEqual(own)
})

test('leaves out whatever else somebody has written there', () => {
  const directory = temporaryDirectory()
  const theirs = ['/', '/home', `${storage}/..`, `${directory}/..`, `${directory}/log/..`, `${directory}/../other`, '', null, 1]
  writeFileSync(join(directory, 'last-paths.json'), JSON.stringify(theirs))
  expect(readLastPaths(directory, { storage })).toEqual([])
  for (const text of ['', '{}', '"/home"', '[']) {
    writeFileSync(join(directory, 'last-paths.json'), text)
    expect(readLastPaths(directory, { storage })).toEqual([])
  }
})

test('is empty where nothing was written', () => expect(readLastPaths(temporaryDirectory(), { storage })).toEqual([]))
