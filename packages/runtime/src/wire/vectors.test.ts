import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Direction, frameMac, lengthPrefixed, serverProof, sessionKey } from './proof.js'

const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8')
const section = page.slice(page.indexOf('Test vectors\n'))
const vectors = [...section.matchAll(/^(\w+)(?: (\d+))? += (.*)$/gm)].map(([, name, seq, value]) => ({
  name: name as string,
  seq: Number(seq),
  value: value as string,
}))

test('computes every test vector of docs/protocol.md', () => {
  // Each value holds until the page gives another one.
  const given = { token: '', nc: '', ns: '', endpoint: '', direction: 'c2s' as Direction, seq: 0, body: '' }
  const token = () => Buffer.from(given.token, 'hex')
  const key = () => sessionKey(token(), given.nc, given.ns, given.endpoint)
  const mac = () => frameMac(key(), given.direction, given.seq, given.body)

  for (const { name, seq, value } of vectors) {
    if (name === 'c2s' || name === 's2c') Object.assign(given, { direction: name, seq, body: value })
    else if (name === 'serverProof') expect(value).toBe(serverProof(token(), given.nc, given.ns, given.endpoint))
    else if (name === 'K') expect(value).toBe(key().toString('hex'))
    else if (name === 'mac') expect(value).toBe(mac())
    else if (name === 'line') expect(JSON.parse(value)).toEqual({ seq: given.seq, body: given.body, mac: mac() })
    else Object.assign(given, { [name]: value })
  }
})

test('finds every kind of vector on the page, also with letters that are not ASCII', () => {
  const kinds = ['K', 'c2s', 'endpoint', 'line', 'mac', 'nc', 'ns', 's2c', 'serverProof', 'token']
  expect([...new Set(vectors.map(({ name }) => name))].sort()).toEqual(kinds)
  for (const kind of ['endpoint', 'c2s']) {
    expect(
      vectors.some(({ name, value }) => name === kind && /[^\0-\x7f]/.test(value)),
      kind,
    ).toBe(true)
  }
})

test('prefixes lengths as docs/protocol.md shows', () => {
  const [, a, b, hex] = /`LV\("(.*)", "(.*)"\)` is `([0-9a-f]+)`/.exec(section) ?? []
  expect(lengthPrefixed(a as string, b as string).toString('hex')).toBe(hex)
})
