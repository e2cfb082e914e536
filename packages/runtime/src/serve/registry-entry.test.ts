import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { readBirthplace, registerLocator, registryEntryPath, unregisterLocator } from './registry-entry.js'

const namespace = `${'0123456789abcdef'.repeat(2)}.q.1`
/** The directory of a run that goes on. */
function startRun(path: string = temporaryDirectory()): string {
  mkdirSync(join(path, 'registry'), { recursive: true, mode: 0o700 })
  return path
}

const read = (value?: string) => readBirthplace(value === undefined ? {} : { CUSTODY_NAMESPACE: value })

test('reads the namespace and the directory of the run, split at the first colon', () => {
  const runDirectory = startRun(join(temporaryDirectory(), 'a:b'))
  expect(read(`${namespace}:${runDirectory}`)).toEqual({ namespace, runDirectory })
})

test('is outside of every namespace without the variable, and with a malformed one', () => {
  const run = startRun()
  for (const value of [
    undefined,
    '',
    ':',
    namespace,
    `${namespace}:`,
    `:${run}`,
    `x:${run}`,
    `${namespace.toUpperCase()}:${run}`,
    `${namespace}. :${run}`,
  ]) {
    expect(read(value), value).toBeNull()
  }
})

test('is outside of every namespace when the run has ended', () => {
  const run = startRun()
  rmSync(run, { recursive: true })
  expect(read(`${namespace}:${run}`)).toBeNull()
})

test.each([
  ['is gone', () => {}],
  ['is a file', (registry: string) => writeFileSync(registry, '')],
  ['is a symbolic link', (registry: string) => symlinkSync(startRun(), registry)],
  ['can be reached by others', (registry: string) => mkdirSync(registry, { mode: 0o755 })],
])('is outside of every namespace when the registry of the run %s', (_, put) => {
  const run = startRun()
  expect(read(`${namespace}:${run}`)).not.toBeNull()
  rmSync(join(run, 'registry'), { recursive: true })
  put(join(run, 'registry'))
  // What a run leaves for people to look at.
  mkdirSync(join(run, 'ns'))
  expect(read(`${namespace}:${run}`)).toBeNull()
})

test('is outside of every namespace when the directory of the run is not private', () => {
  const run = startRun()
  symlinkSync(run, join(run, 'link'))
  writeFileSync(join(run, 'file'), '')
  for (const name of ['link', 'file', 'file/below', 'missing', `${'x'.repeat(300)}`])
    expect(read(`${namespace}:${join(run, name)}`), name).toBeNull()
  chmodSync(run, 0o755)
  expect(read(`${namespace}:${run}`)).toBeNull()
})

test('takes only the plain absolute path of the directory of a run', () => {
  const run = startRun()
  const link = join(temporaryDirectory(), 'link')
  symlinkSync(run, link)
  // With a slash at its end even a symbolic link would pass for a directory.
  for (const path of [relative(process.cwd(), run), `${run}/`, `${run}/.`, `${run}/../${basename(run)}`, link, `${link}/`]) {
    expect(read(`${namespace}:${path}`), path).toBeNull()
  }
})

test('keeps a private copy of the locator in the registry, and nothing beside it', () => {
  const runDirectory = startRun()
  const path = registryEntryPath({ namespace, runDirectory }, sampleLocator().instance)
  registerLocator(path, sampleLocator())
  expect(path).toBe(join(runDirectory, 'registry', `${namespace}--${sampleLocator().instance}.json`))
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(sampleLocator())
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(path, '..'))).toEqual([`${namespace}--${sampleLocator().instance}.json`])
  unregisterLocator(path)
  expect(readdirSync(join(path, '..'))).toEqual([])
})

test('does not mind that the run has removed the entry or everything', () => {
  const path = join(temporaryDirectory(), 'registry', 'entry.json')
  expect(() => unregisterLocator(path)).not.toThrow()
})

test('says which entry cannot be written', () => {
  const path = join(temporaryDirectory(), 'registry', 'entry.json')
  expect(() => registerLocator(path, sampleLocator())).toThrow(
    expect.objectContaining({ code: 'CUSTODY_PUBLICATION_FAILED', message: expect.stringContaining(path) }),
  )
})
