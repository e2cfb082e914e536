import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newFileId, newRunId } from '../../packages/core/src/namespace/namespace-id.js'
import { isFieldValid, isNamespaceId, parseLocator } from '../../packages/runtime/src/locator/locator.js'
import { publishLocator } from '../../packages/runtime/src/locator/publication.js'
import { readLocator } from '../../packages/runtime/src/locator/read-locator.js'
import { isInScope } from '../../packages/runtime/src/serve/ownership.js'
import { readBirthplace, registryEntryPath } from '../../packages/runtime/src/serve/registry-entry.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'
import { anything, hasUndefined, locators, mangled, namespaceIds } from './arbitraries.js'
import { check } from './check.js'

const fields = [
  'version',
  'name',
  'pid',
  'start',
  'boot',
  'pidns',
  'timens',
  'instance',
  'namespace',
  'endpoint',
  'token',
  'created',
  'details',
] as const

/** A locator with some fields wrong or missing, or with more of them. */
const wrong = fc
  .tuple(
    locators,
    fc.array(fc.tuple(fc.constantFrom(...fields, 'path', '__proto__', 'constructor'), fc.option(anything)), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([locator, changes]) => Object.fromEntries([...Object.entries(locator), ...changes]))

function expectSound(text: string): void {
  const parsed = parseLocator(text)
  if ('problem' in parsed) {
    expect(parsed.problem).toMatch(/^(it is not a JSON object|the field "\w+" is (missing|malformed))$/)
    return
  }
  const { locator } = parsed
  for (const field of fields) if (!isFieldValid(field, locator[field])) throw new Error(`${field} is ${locator[field]}`)
  expect(hasUndefined(locator)).toBe(false)
  const said = JSON.parse(text)
  for (const [field, value] of Object.entries(locator)) expect(value).toEqual(said[field])
}

test('a locator is read as it was written', async () => {
  await check(
    fc.property(locators, (locator) => {
      expect(parseLocator(JSON.stringify(locator))).toEqual({ locator })
    }),
    1_000,
  )
})

test('whatever stands in a locator, each of its fields is right, or it is none', async () => {
  const texts = fc.oneof(
    mangled(locators.map((locator) => JSON.stringify(locator))),
    wrong.map((value) => stringify(value)),
    fc.json(),
    fc.string({ unit: 'binary' }),
  )
  await check(fc.property(texts, expectSound), 2_000)
})

test('whatever bytes a file has, it is read as a locator of them, or refused with the path and a reason', async () => {
  const path = join(temporaryDirectory(), 'a.json')
  const texts = fc.oneof(
    locators.map((locator) => JSON.stringify(locator)),
    mangled(locators.map((locator) => JSON.stringify(locator))),
  )
  const contents = fc.oneof(
    texts.map((text) => Buffer.from(text)),
    texts.chain((text) => fc.nat({ max: text.length }).map((length) => Buffer.from(text).subarray(0, length))),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.nat({ max: 40_000 }).map((length) => Buffer.alloc(length, '{"a":1}')),
  )
  await check(
    fc.property(contents, (bytes) => {
      writeFileSync(path, bytes, { mode: 0o600 })
      try {
        const locator = readLocator(path)
        expect({ locator }).toEqual(parseLocator(bytes.toString()))
        expect(bytes.length).toBeLessThanOrEqual(16 * 1024)
      } catch (error) {
        expect(error).toMatchObject({ code: 'CUSTODY_LOCATOR_INVALID', facts: { path, reason: expect.any(String) } })
      }
    }),
    1_000,
  )
})

test('what is published is read again, and taken away by nobody but its own', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'a.json')
  const never = () => Promise.resolve(false)
  await check(
    fc.asyncProperty(locators, locators, async (locator, other) => {
      const publication = await publishLocator(path, locator, never)
      expect(readLocator(path)).toEqual(locator)
      await expect(publishLocator(path, other, never)).rejects.toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED' })
      const isOther = other.instance !== locator.instance
      if (isOther) {
        writeFileSync(path, JSON.stringify(other))
        expect(publication.withdraw()).toBe(false)
        expect(readFileSync(path, 'utf8')).toBe(JSON.stringify(other))
        writeFileSync(path, JSON.stringify(locator))
      }
      expect(publication.withdraw()).toBe(true)
    }),
    100,
  )
})

test('an id of a namespace is one however deep, and in the scope of nobody but those above it', async () => {
  await check(
    fc.property(fc.nat({ max: 8 }), namespaceIds, fc.nat({ max: 99 }), (depth, outer, test) => {
      let id = outer
      for (let at = 0; at < depth; at++) id = newRunId(id)
      const below = `${newFileId(id)}.${test}`
      expect(isNamespaceId(id)).toBe(true)
      expect(isNamespaceId(below)).toBe(true)
      expect(isInScope(below, id)).toBe(true)
      expect(isInScope(id, below)).toBe(false)
      expect(isInScope(`${id}${test}`, id)).toBe(false)
    }),
    500,
  )
  await check(
    fc.property(fc.oneof(namespaceIds, mangled(namespaceIds), anything), (value) => {
      // As docs/protocol.md has it.
      const isOne =
        typeof value === 'string' && value.length <= 200 && /^[0-9a-f]{32}(\.[0-9A-Za-z]+)*$/.test(value) && !value.endsWith('\n')
      expect(isNamespaceId(value)).toBe(isOne)
    }),
    1_000,
  )
})

test('a process is born in a namespace with a whole variable, and in none with any other', async () => {
  const run = temporaryDirectory()
  const registry = join(run, 'registry')
  mkdirSync(registry, { mode: 0o700 })
  const elsewhere = temporaryDirectory()
  const directories = fc.constantFrom(run, `${run}/`, `${run}/.`, `${run}//`, elsewhere, '/', '', '.', 'a')
  const variables = fc.oneof(
    fc.tuple(namespaceIds, directories).map(([id, directory]) => `${id}:${directory}`),
    mangled(namespaceIds.map((id) => `${id}:${run}`)),
    fc.string({ unit: 'binary' }),
  )
  await check(
    fc.property(fc.oneof(variables, fc.constant(undefined)), (variable) => {
      const birthplace = readBirthplace(variable === undefined ? {} : { CUSTODY_NAMESPACE: variable })
      if (birthplace === null) return
      expect(`${birthplace.namespace}:${birthplace.runDirectory}`).toBe(variable)
      expect(birthplace.runDirectory).toBe(run)
      expect(isNamespaceId(birthplace.namespace)).toBe(true)
      expect(registryEntryPath(birthplace, 'a').startsWith(`${registry}/${birthplace.namespace}--`)).toBe(true)
    }),
    1_000,
  )
})

/** Its JSON, or what it is where it has none. */
function stringify(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return String(value)
  }
}
