import type { Identity, Locator } from '@custody/runtime'
import fc from 'fast-check'

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })

export const namespaceIds: fc.Arbitrary<string> = fc
  .tuple(hex(32), fc.array(fc.stringMatching(/^[0-9A-Za-z]{1,8}$/), { maxLength: 3 }))
  .map(([run, parts]) => [run, ...parts].join('.'))

export const endpoints: fc.Arbitrary<string> = fc.oneof(
  fc.stringMatching(/^[a-z/ .ä😀]{0,40}$/u).map((path) => `unix:/${path}`),
  fc.stringMatching(/^[a-z-]{0,40}$/).map((name) => `pipe:\\\\.\\pipe\\${name}`),
  fc
    .tuple(fc.constantFrom('127.0.0.1', '[::1]'), fc.integer({ min: 1, max: 65_535 }))
    .map(([host, port]) => `tcp:${host}:${port}`),
)

export const identities: fc.Arbitrary<Identity> = fc.record({
  pid: fc.integer({ min: 1, max: 2 ** 22 }),
  start: fc.option(fc.stringMatching(/^\d{1,9}$/)),
  boot: fc.option(fc.uuid()),
  pidns: fc.option(fc.constant('pid:[4026531836]')),
  timens: fc.option(fc.constant('time:[4026531834]')),
})

/** As JSON has them: what is written and read again is the same. */
const jsonValues = fc.json({ maxDepth: 3 }).map((json) => JSON.parse(json))

/** Locators in which every field is right. */
export const locators: fc.Arbitrary<Locator> = fc
  .tuple(
    identities,
    fc.record(
      {
        version: fc.constant(1 as const),
        name: text,
        instance: hex(32),
        namespace: fc.option(namespaceIds),
        endpoint: endpoints,
        token: hex(64),
        created: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
        details: fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), jsonValues, { maxKeys: 3 }),
        path: text,
      },
      { requiredKeys: ['version', 'name', 'instance', 'namespace', 'endpoint', 'token', 'created', 'details'] },
    ),
  )
  .map(([identity, rest]) => ({ ...identity, ...rest }) as Locator)

/** The same text with some of its characters left out, doubled or replaced, or cut short: often still JSON, or nearly. */
export function mangled(texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    length: fc.nat({ max: 4 }),
    instead: fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('"', '{', '}', 'null', '\n', '\0', '\ud800', '0', ',')),
  })
  return fc.tuple(texts, fc.array(change, { minLength: 1, maxLength: 3 })).map(([whole, changes]) =>
    changes.reduce((given, { at, instead, length }) => {
      const from = Math.floor(at * (given.length + 1))
      return given.slice(0, from) + instead + given.slice(from + length)
    }, whole),
  )
}

/** Some bytes in arbitrary pieces: at each byte, or wherever. */
export function inPieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length))
}

/** Everything that may be said where something else is expected. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  jsonValues,
  fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
)

/** Whether there is an undefined anywhere in it. */
export function hasUndefined(value: unknown): boolean {
  if (value === undefined) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUndefined)
}
