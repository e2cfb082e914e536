import { expect, test } from 'vitest'
import { frameMac } from './proof.js'
import { SealedLines } from './sealed-lines.js'

const key = Buffer.alloc(32, 5)
const pair = (clientKey = key, serverKey = key) =>
  [new SealedLines(clientKey, 'client'), new SealedLines(serverKey, 'server')] as const

test('opens the lines of the other side in their order', () => {
  const [client, server] = pair()
  expect([1, 2].map((id) => server.open(client.seal({ id })))).toEqual([{ id: 1 }, { id: 2 }])
  expect([1, 2].map((id) => client.open(server.seal({ id })))).toEqual([{ id: 1 }, { id: 2 }])
})

test('keeps what JSON does not keep: the text is authenticated as it stands', () => {
  const [client, server] = pair()
  const message = { text: 'früh \u2028 "\\" \n 😀', number: -0.5, list: [null, true] }
  expect(server.open(client.seal(message))).toEqual(message)
})

test('refuses a replayed line', () => {
  const [client, server] = pair()
  const line = client.seal({ id: 1 })
  server.open(line)
  expect(server.open(line)).toBeNull()
})

test('refuses a line out of its place', () => {
  const [client, server] = pair()
  client.seal({ id: 1 })
  expect(server.open(client.seal({ id: 2 }))).toBeNull()
})

test('refuses a renumbered line', () => {
  const [client, server] = pair()
  client.seal({ id: 1 })
  const line = client.seal({ id: 2 }).replace('"seq":1', '"seq":0')
  expect(server.open(line)).toBeNull()
})

test.each(['1', '-1', '"0"', 'null', '0.5', '[0]'])(
  'refuses a line that claims the place %s, whatever its code says',
  (place) => {
    const [client, server] = pair()
    expect(server.open(client.seal({ id: 1 }).replace('"seq":0', `"seq":${place}`))).toBeNull()
  },
)

test('refuses its own line, sent back', () => {
  const [client, server] = pair()
  expect(client.open(client.seal({ id: 1 }))).toBeNull()
  expect(server.open(server.seal({ id: 1 }))).toBeNull()
})

test('refuses a line of another session', () => {
  const [client] = pair(Buffer.alloc(32, 6))
  const [, server] = pair()
  expect(server.open(client.seal({ id: 1 }))).toBeNull()
})

test('refuses a line in which any one bit of the body or the code was flipped', () => {
  const line = Buffer.from(pair()[0].seal({ id: 1 }))
  const from = line.indexOf('"body"')
  for (let at = from * 8; at < (line.length - 1) * 8; at += 5) {
    const changed = Buffer.from(line)
    changed[at >> 3] = (changed[at >> 3] as number) ^ (1 << (at & 7))
    expect(pair()[1].open(changed.toString('latin1')), `bit ${at}`).toBeNull()
  }
})

test('refuses a text that has no form in UTF-8, in which two texts have one code', () => {
  const [one, other] = ['"\ud800"', '"\udfff"'] as const
  const mac = frameMac(key, 'c2s', 0, one)
  expect(frameMac(key, 'c2s', 0, other)).toBe(mac)
  for (const body of [one, other]) expect(pair()[1].open(JSON.stringify({ seq: 0, body, mac }))).toBeNull()
})

test.each([
  ['escaped', '"\\ud800"', '\ud800'],
  ['in its pair, as an emoji has it', '"😀"', '😀'],
  ['in its pair, escaped', '"\\ud83d\\ude00"', '😀'],
])('opens a text with a surrogate %s', (_, body, message) => {
  const mac = frameMac(key, 'c2s', 0, body)
  expect(pair()[1].open(JSON.stringify({ seq: 0, body, mac }))).toBe(message)
})

test.each([
  'null',
  '[]',
  '1',
  '"x"',
  '{}',
  '{',
  '{"seq":0}',
  '{"seq":0,"body":{}}',
  '{"seq":0,"body":"{}"}',
  '{"seq":0,"body":"{}","mac":null}',
  '{"seq":0,"body":"{}","mac":""}',
  `{"seq":0,"body":"{}","mac":"${'0'.repeat(64)}"}`,
  `{"seq":"0","body":"{}","mac":"${'0'.repeat(64)}"}`,
])('refuses %s', (line) => {
  expect(pair()[1].open(line)).toBeNull()
})

test('still opens the true line after a refused one', () => {
  const [client, server] = pair()
  server.open('{"seq":0,"body":"{}","mac":""}')
  expect(server.open(client.seal({ id: 1 }))).toEqual({ id: 1 })
})
