import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { captureFile, captureGlobs, captureRegistry } from './capture.js'

const scope = 'a'.repeat(32)
const locator = sampleLocator()

function newRegistry(): { run: string; put: (name: string | Buffer, text?: string) => void } {
  const run = temporaryDirectory()
  const registry = join(run, 'registry')
  mkdirSync(registry)
  const put = (name: string | Buffer, text = JSON.stringify(locator)) =>
    writeFileSync(Buffer.concat([Buffer.from(`${registry}/`), Buffer.from(name)]), text, { mode: 0o600 })
  return { run, put }
}

describe('a registry', () => {
  test('gives the entries of a scope, and of those below it, with the namespaces that their names state', () => {
    const { put, run } = newRegistry()
    for (const name of [`${scope}--1.json`, `${scope}.f1--2.json`, `${scope}0--3.json`, `${'b'.repeat(32)}--4.json`]) put(name)
    const captured = captureRegistry(run, scope).toSorted((a, b) => (a.path < b.path ? -1 : 1))
    expect(captured).toEqual([
      { source: 'registry', path: join(run, 'registry', `${scope}--1.json`), locator, unreadable: null, namespace: scope },
      ...[
        {
          source: 'registry',
          path: join(run, 'registry', `${scope}.f1--2.json`),
          locator,
          unreadable: null,
          namespace: `${scope}.f1`,
        },
      ],
    ])
  })

  test('gives no entry that is half-made, or that has gone since it was listed', () => {
    const { put, run } = newRegistry()
    // A name that is listed as another than it has.
    put(Buffer.concat([Buffer.from(`${scope}--`), Buffer.from([0xff]), Buffer.from('.json')]))
    put(`.${scope}--1.json`)
    expect(captureRegistry(run, `.${scope}`)).toEqual([])
    expect(captureRegistry(run, scope)).toEqual([])
  })

  test('that is gone is a fault: nothing could be accounted for', () => {
    const { run } = newRegistry()
    rmSync(join(run, 'registry'), { recursive: true })
    const gone = expect.objectContaining({ code: 'CUSTODY_REGISTRY_UNREADABLE', facts: { directory: join(run, 'registry') } })
    expect(() => captureRegistry(run, scope)).toThrow(gone)
    writeFileSync(join(run, 'registry'), '')
    expect(() => captureRegistry(run, scope)).toThrow(gone)
  })
})

describe('a file', () => {
  test('is none where it or its directory is missing', () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'file'), '')
    for (const path of ['none', 'none/a', 'file/a', 'file/a/b']) expect(captureFile(join(directory, path), 'glob')).toBe(null)
  })

  test('that is no locator is captured with the reason', () => {
    const path = join(temporaryDirectory(), 'a')
    writeFileSync(path, '', { mode: 0o600 })
    expect(captureFile(path, 'glob')).toEqual({
      ...{ source: 'glob', path, locator: null },
      unreadable: 'it is empty or was changed while it was read',
    })
  })

  test('whose directory cannot be looked at is not taken for a missing one', () => {
    const path = join(temporaryDirectory(), 'x'.repeat(300), 'a')
    expect(() => captureFile(path, 'glob')).toThrow(expect.objectContaining({ code: 'ENAMETOOLONG' }))
  })
})

test('globs give what matches them, and say which of them were cut short', () => {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, 'a.json'), JSON.stringify(locator), { mode: 0o600 })
  mkdirSync(join(directory, 'many'))
  const whole = captureGlobs(['*.json'], directory)
  expect(whole).toEqual({
    locators: [{ source: 'glob', path: join(directory, 'a.json'), locator, unreadable: null }],
    cutShort: [],
  })
  for (let at = 0; at <= 20_000; at++) writeFileSync(join(directory, 'many', String(at)), '')
  expect(captureGlobs(['*.json', 'many/*.json'], directory).cutShort).toEqual(['many/*.json'])
})
