import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseEndpoint } from '../../packages/runtime/src/wire/endpoint.js'
import { LineReader } from '../../packages/runtime/src/wire/line-reader.js'
import { isSameHex, lengthPrefixed } from '../../packages/runtime/src/wire/proof.js'
import { SealedLines } from '../../packages/runtime/src/wire/sealed-lines.js'
import { endpoints, inPieces, mangled } from './arbitraries.js'
import { check } from './check.js'

const cuts = fc.array(fc.nat(), { maxLength: 8 })
const values = fc.json({ maxDepth: 3 }).map((json) => JSON.parse(json))
const messages = fc.oneof(
  values,
  fc.record({ jsonrpc: fc.constant('2.0'), id: fc.nat(), method: fc.string({ unit: 'binary' }), params: values }),
)
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))

function read(limitBytes: number, pieces: readonly Buffer[]): { lines: string[]; violations: string[] } {
  const lines: string[] = []
  const violations: string[] = []
  const reader = new LineReader(
    limitBytes,
    (line) => lines.push(line),
    (violation) => violations.push(violation),
  )
  for (const piece of pieces) reader.push(piece)
  return { lines, violations }
}

/** The same by splitting the whole. */
function expectedOf(limitBytes: number, bytes: Buffer): { lines: string[]; violations: string[] } {
  const lines: string[] = []
  for (let from = 0; ; ) {
    const newline = bytes.indexOf('\n', from)
    const line = bytes.subarray(from, newline < 0 ? bytes.length : newline)
    if (line.length > limitBytes) return { lines, violations: ['line too long'] }
    if (newline < 0) return { lines, violations: [] }
    const text = line.toString('utf8')
    if (!Buffer.from(text).equals(line)) return { lines, violations: ['not UTF-8'] }
    lines.push(text)
    from = newline + 1
  }
}

test('lines are read the same however their bytes are cut, and never more of them than the limit', async () => {
  const bytes = fc.oneof(
    fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 6 }).map((lines) => Buffer.from(lines.join('\n'))),
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc
      .array(fc.constantFrom(0x0a, 0x0d, 0x61, 0xc3, 0xa4, 0xff, 0xef, 0xbb, 0xbf), { maxLength: 60 })
      .map((array) => Buffer.from(array)),
  )
  await check(
    fc.property(fc.integer({ min: 1, max: 40 }), bytes, cuts, (limitBytes, given, at) => {
      expect(read(limitBytes, inPieces(given, at))).toEqual(expectedOf(limitBytes, given))
    }),
    1_500,
  )
})

test('a session reads whatever was said, in order, cut at each byte', async () => {
  await check(
    fc.property(keys, fc.array(messages, { minLength: 1, maxLength: 4 }), (key, said) => {
      const [client, server] = [new SealedLines(key, 'client'), new SealedLines(key, 'server')]
      const bytes = Buffer.from(said.map((message) => client.seal(message)).join(''))
      const { lines, violations } = read(
        bytes.length,
        [...bytes].map((byte) => Buffer.from([byte])),
      )
      expect(violations).toEqual([])
      expect(lines.map((line) => server.open(line))).toEqual(said)
    }),
    150,
  )
})

test('a line that anybody has changed, repeated, left out or turned round is none of the session', async () => {
  let refused = 0
  await check(
    fc.property(keys, fc.array(messages, { minLength: 2, maxLength: 3 }), fc.nat(), (key, said, which) => {
      const seal = new SealedLines(key, 'client')
      const lines = said.map((message) => seal.seal(message).trimEnd())
      const [first = '', second = ''] = lines
      // Repeated, ahead of its turn, and back to who said it.
      const server = new SealedLines(key, 'server')
      expect(server.open(second)).toBe(null)
      expect(server.open(first)).toEqual(said[0])
      expect(server.open(first)).toBe(null)
      expect(new SealedLines(key, 'client').open(first)).toBe(null)
      // One bit of one byte.
      const bytes = Buffer.from(first)
      const at = which % bytes.length
      bytes[at] = (bytes[at] as number) ^ (1 << (which % 7))
      const changed = bytes.toString('utf8')
      const opened = new SealedLines(key, 'server').open(changed)
      // JSON may say the same in another way.
      if (opened === null) refused++
      else expect(opened).toEqual(said[0])
    }),
    500,
  )
  expect(refused).toBeGreaterThan(100)
})

test('no text of anybody is a line of a session', async () => {
  const frames = fc.record({ seq: fc.oneof(fc.constant(0), values), body: fc.oneof(fc.json(), values), mac: fc.string() })
  await check(
    fc.property(
      keys,
      fc.oneof(
        fc.string(),
        fc.json(),
        frames.map((frame) => JSON.stringify(frame)),
      ),
      (key, line) => {
        expect(new SealedLines(key, 'server').open(line)).toBe(null)
      },
    ),
    1_500,
  )
})

test('parts are told apart, however they are cut, and codes are compared without a fault', async () => {
  const parts = fc.array(fc.string({ unit: 'grapheme', maxLength: 4 }), { maxLength: 4 })
  await check(
    fc.property(parts, parts, (a, b) => {
      const isSame = JSON.stringify(a) === JSON.stringify(b)
      expect(lengthPrefixed(...a).equals(lengthPrefixed(...b))).toBe(isSame)
    }),
    500,
  )
  await check(
    fc.property(fc.string({ unit: 'binary' }), fc.anything(), (a, b) => {
      expect(isSameHex(a, a)).toBe(true)
      expect(isSameHex(a, b)).toBe(typeof b === 'string' && Buffer.from(a).equals(Buffer.from(b)))
    }),
    500,
  )
})

test('an endpoint is one of the three forms, to the letter, or none', async () => {
  await check(
    fc.property(fc.oneof(endpoints, mangled(endpoints), fc.string()), (text) => {
      const endpoint = parseEndpoint(text)
      if (endpoint === null) return
      const host = endpoint.kind === 'tcp' && endpoint.host === '::1' ? '[::1]' : endpoint.kind === 'tcp' ? endpoint.host : ''
      expect(endpoint.kind === 'tcp' ? `tcp:${host}:${endpoint.port}` : `${endpoint.kind}:${endpoint.path}`).toBe(text)
      expect(text).not.toContain('\0')
    }),
    1_500,
  )
  await check(
    fc.property(endpoints, (text) => {
      expect(parseEndpoint(text)).not.toBe(null)
    }),
    500,
  )
})
