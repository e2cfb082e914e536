import { expect, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { isNamespaceId, parseLocator } from './locator.js'

const problemOf = (value: unknown) => {
  const parsed = parseLocator(typeof value === 'string' ? value : JSON.stringify(value))
  return 'problem' in parsed ? parsed.problem : null
}

test('reads a locator as it was written', () => {
  expect(parseLocator(JSON.stringify(sampleLocator()))).toEqual({ locator: sampleLocator() })
})

test('leaves fields out that it does not know', () => {
  const text = JSON.stringify({ ...sampleLocator(), later: true, Token: 'x' })
  expect(parseLocator(text)).toEqual({ locator: sampleLocator() })
})

test('reads the path that only the copy in a registry has', () => {
  const copy = { ...sampleLocator(), path: '/a/locator.json' }
  expect(parseLocator(JSON.stringify(copy))).toEqual({ locator: copy })
  expect(parseLocator(JSON.stringify({ ...copy, path: 1 }))).toEqual({ locator: sampleLocator() })
})

test.each(['', 'null', '[]', '"text"', '1', '{', '{}{}'])('refuses %j, which is no JSON object', (text) => {
  expect(problemOf(text)).toBe('it is not a JSON object')
})

test.each(Object.keys(sampleLocator()))('refuses a locator without the field "%s", by its name', (field) => {
  const { [field as 'name']: _, ...others } = sampleLocator()
  expect(problemOf(others)).toBe(`the field "${field}" is missing`)
})

test('does not take an inherited property for a field', () => {
  const { version: _, ...others } = sampleLocator()
  expect(problemOf(`{"__proto__":{"version":1},${JSON.stringify(others).slice(1)}`)).toMatch(/version/)
})

const malformed: [string, unknown][] = [
  ['version', 2],
  ['version', '1'],
  ['name', ''],
  ['name', 'n'.repeat(129)],
  ['name', null],
  ['pid', 0],
  ['pid', -1],
  ['pid', 1.5],
  ['pid', '4711'],
  ['pid', 2 ** 53],
  ...['start', 'boot', 'pidns', 'timens'].flatMap((field): [string, unknown][] => [
    [field, ''],
    [field, 'x'.repeat(129)],
    [field, 12345],
    [field, {}],
  ]),
  ['instance', 'a'.repeat(31)],
  ['instance', 'a'.repeat(33)],
  ['instance', 'A'.repeat(32)],
  ['instance', `${'a'.repeat(32)}\n`],
  ['namespace', ''],
  ['namespace', 'a'.repeat(31)],
  ['namespace', `${'a'.repeat(32)}/../x`],
  ['namespace', 7],
  ['endpoint', ''],
  ['endpoint', 'http://127.0.0.1:80'],
  ['endpoint', 'tcp:10.0.0.1:80'],
  ['endpoint', null],
  ['token', ''],
  ['token', '7'.repeat(63)],
  ['token', '7'.repeat(65)],
  ['token', 'F'.repeat(64)],
  ['token', null],
  ['created', 1_700_000_000],
  ['created', 'x'.repeat(65)],
  ['details', null],
  ['details', []],
  ['details', 'text'],
]
test.each(malformed)('refuses the field "%s" with the value %j, by its name', (field, value) => {
  expect(problemOf({ ...sampleLocator(), [field]: value })).toBe(`the field "${field}" is malformed`)
})

test('accepts each text of the process at its bounds, and null', () => {
  for (const field of ['start', 'boot', 'pidns', 'timens']) {
    for (const value of [null, 'x', 'x'.repeat(128)]) expect(problemOf({ ...sampleLocator(), [field]: value })).toBeNull()
  }
})

test('accepts a name of 128 characters', () => {
  expect(problemOf({ ...sampleLocator(), name: 'n'.repeat(128) })).toBeNull()
})

const root = '0123456789abcdef'.repeat(2)
test.each([root, `${root}.a`, `${root}.Zz9.1`, `${root}.${'x'.repeat(167)}`, `${root}${'.a'.repeat(84)}`])(
  'takes %s for a namespace',
  (id) => {
    expect(isNamespaceId(id)).toBe(true)
  },
)
test.each([
  '',
  'x',
  root.toUpperCase(),
  `${root}.`,
  `${root}..a`,
  `.${root}`,
  `${root}.a-b`,
  `${root}.ä`,
  `${root}.a\n`,
  // More than 200 characters.
  `${root}.${'x'.repeat(168)}`,
  `${root}${'.a'.repeat(85)}`,
])('does not take %j for a namespace', (id) => {
  expect(isNamespaceId(id)).toBe(false)
})
