import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { RawClient } from '../../../../test/runtime/raw-client.js'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import type { Locator } from '../locator/locator.js'
import { type Answer, METHOD_NOT_FOUND, ProtocolServer } from './protocol-server.js'

/** A locator at whose endpoint a server with this answer listens. */
async function listening(
  answer: Answer = async (method, params) => ({ method, params }),
): Promise<{ locator: Locator; protocol: ProtocolServer }> {
  const path = join(temporaryDirectory(), 'a.sock')
  const locator = sampleLocator({ endpoint: `unix:${path}` })
  const protocol = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, answer)
  await new Promise<void>((resolve) => protocol.server.listen(path, resolve))
  onTestFinished(() => protocol.close())
  return { locator, protocol }
}

function connectTo(locator: Locator): RawClient {
  const client = new RawClient(locator.endpoint)
  onTestFinished(() => void client.socket.destroy())
  return client
}

async function proven(locator: Locator): Promise<RawClient> {
  const client = connectTo(locator)
  await client.hello(locator)
  await client.ask('first')
  return client
}

test('proves that it knows the token, as docs/protocol.md tells', async () => {
  const { locator } = await listening()
  const { proof, expected } = await connectTo(locator).hello(locator)
  expect(proof).toBe(expected)
})

test('answers with the id of the question, and an unknown method as JSON-RPC tells', async () => {
  const { locator } = await listening(async (method, params) => {
    if (method === 'echo') return params
    throw METHOD_NOT_FOUND
  })
  const client = await proven(locator)
  client.send(client.seal({ jsonrpc: '2.0', id: 'an id', method: 'echo', params: [1] }))
  expect(JSON.parse(JSON.parse((await client.line()) as string).body)).toEqual({ jsonrpc: '2.0', id: 'an id', result: [1] })
  expect(await client.ask('none')).toMatchObject({ error: { code: -32_601 } })
})

test('does not tell a client what went wrong inside', async () => {
  const { locator } = await listening(async () => {
    throw new Error(`no such file: ${sampleLocator().token}`)
  })
  const client = connectTo(locator)
  await client.hello(locator)
  expect(await client.ask('any')).toMatchObject({ error: { code: -32_603, message: 'Internal error' } })
})

const hello = (params: unknown, method = 'hello') => `${JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })}\n`
const nonce = randomBytes(32).toString('hex')
test.each<[string, string | Buffer]>([
  ['garbage', 'garbage\n'],
  ['an empty line', '\n'],
  ['HTTP', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['TLS', Buffer.from('16030100c8010000c40303', 'hex')],
  ['null', 'null\n'],
  ['a list of messages', `[${hello({ protocol: 'custody/1', nonce }).trim()}]\n`],
  ['another method', hello({ protocol: 'custody/1', nonce }, 'identify')],
  ['hello without params', hello(undefined)],
  ['hello with a list of params', hello(['custody/1', nonce])],
  ['another protocol', hello({ protocol: 'custody/9', nonce })],
  ['no protocol', hello({ nonce })],
  ['no nonce', hello({ protocol: 'custody/1' })],
  ['a short nonce', hello({ protocol: 'custody/1', nonce: nonce.slice(1) })],
  ['a long nonce', hello({ protocol: 'custody/1', nonce: `${nonce}0` })],
  ['a nonce in capitals', hello({ protocol: 'custody/1', nonce: 'ABCDEF01'.repeat(8) })],
  ['a nonce that is a number', hello({ protocol: 'custody/1', nonce: 1 })],
  ['an id that is no text or number', hello({ protocol: 'custody/1', nonce }).replace('"id":0', '"id":[1]')],
  ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0x0a])],
  ['2 KiB and one byte without a newline', 'x'.repeat(2049)],
  ['a hello of more than 2 KiB', hello({ protocol: 'custody/1', nonce, more: 'x'.repeat(2048) })],
  ['10 MB in one line', Buffer.alloc(10_000_000, 'x')],
])('drops a client that says %s, without an answer', async (_, text) => {
  const { locator } = await listening()
  const client = connectTo(locator)
  // TLS has no newline in it here: what follows makes it a line.
  client.send(text)
  client.send('\n')
  await client.dropped
  expect(client.received).toEqual([])
  await expect(proven(locator)).resolves.toBeDefined()
})

const question = { jsonrpc: '2.0', id: 1, method: 'any' }
test.each<[string, (client: RawClient) => string]>([
  ['a line without a code', () => `${JSON.stringify(question)}\n`],
  ['a wrong code', (client) => client.seal(question, { mac: '0'.repeat(64) })],
  ['a code of the other direction', (client) => client.seal(question, { direction: 's2c' })],
  ['a later place', (client) => client.seal(question, { seq: 1 })],
  ['the place -1', (client) => client.seal(question, { seq: -1 })],
  ['hello once more', () => hello({ protocol: 'custody/1', nonce })],
  ['an authentic line that is no request', (client) => client.seal({ jsonrpc: '2.0', id: 1 })],
  ['an authentic request with an id that is no text or number', (client) => client.seal({ ...question, id: [1] })],
  ['an authentic null', (client) => client.seal('null')],
  ['an authentic text that is not JSON', (client) => client.seal('garbage')],
  ['more than 2 KiB before it has proved itself', (client) => client.seal({ ...question, params: 'x'.repeat(2048) })],
])('drops a client whose first line of the session is %s', async (_, say) => {
  let asked = 0
  const { locator } = await listening(async () => ++asked)
  const client = connectTo(locator)
  await client.hello(locator)
  client.send(say(client))
  await client.dropped
  expect([client.received, asked]).toEqual([[], 0])
})

test.each([
  ['[1]', '[1]'],
  ['{}', '{}'],
  ['true', 'true'],
  // More than Node can write again, and less than a line may have.
  ['a list 12 000 deep', '['.repeat(12_000) + ']'.repeat(12_000)],
])('drops a client that has proved itself and gives the id %s, and serves on', async (_, id) => {
  let asked = 0
  const { locator } = await listening(async () => ++asked)
  const client = await proven(locator)
  client.send(client.seal(`{"jsonrpc":"2.0","id":${id},"method":"any"}`))
  await client.dropped
  expect([client.received, asked]).toEqual([[], 1])
  await expect(proven(locator)).resolves.toBeDefined()
})

test('drops a client that repeats a line', async () => {
  let asked = 0
  const { locator } = await listening(async () => ++asked)
  const client = connectTo(locator)
  await client.hello(locator)
  const line = client.seal(question)
  client.send(line + line)
  await client.dropped
  expect(asked).toBe(1)
})

test('drops a line that was recorded in another session', async () => {
  let asked = 0
  const { locator } = await listening(async () => ++asked)
  const [recorded, replaying] = [connectTo(locator), connectTo(locator)]
  await recorded.hello(locator)
  await replaying.hello(locator)
  replaying.send(recorded.seal(question))
  await replaying.dropped
  expect(asked).toBe(0)
})

test('drops a client that sends back what it heard', async () => {
  const { locator } = await listening()
  const client = await proven(locator)
  client.send(client.seal(question))
  client.send(`${await client.line()}\n`)
  await client.dropped
})

test('drops a client that does not know the token', async () => {
  const { locator } = await listening()
  const client = connectTo(locator)
  await client.hello({ ...locator, token: '0'.repeat(64) })
  client.send(client.seal(question))
  await client.dropped
  expect(client.received).toEqual([])
})

test('reads up to 64 KiB a line from a client that has proved itself', async () => {
  const { locator } = await listening(async (_, params) => (params as string | undefined)?.length)
  const client = await proven(locator)
  expect(await client.ask('any', 'x'.repeat(60_000))).toMatchObject({ result: 60_000 })
  client.send('x'.repeat(64 * 1024 + 1))
  await client.dropped
})

test('accepts a client that sends one byte at a time', async () => {
  const { locator } = await listening()
  const client = connectTo(locator)
  client.socket.setNoDelay()
  await client.hello(locator)
  for (const byte of client.seal(question)) {
    client.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await client.line()).toContain('any')
})

test('drops the oldest stranger when there are more than 32, and nobody who has proved himself', async () => {
  const { locator } = await listening()
  const friend = await proven(locator)
  const strangers: RawClient[] = []
  for (let count = 0; count < 33; count++) {
    const stranger = connectTo(locator)
    strangers.push(stranger)
    // A hello alone proves nothing.
    await stranger.hello(locator)
  }
  await strangers[0]?.dropped
  expect(await friend.ask('any')).toMatchObject({ result: { method: 'any' } })
  expect(await strangers[1]?.ask('any')).toMatchObject({ result: { method: 'any' } })
})

test('keeps 32 strangers when 200 come at once', async () => {
  const { locator, protocol } = await listening()
  const strangers = Array.from({ length: 200 }, () => connectTo(locator))
  await Promise.all(strangers.slice(0, 168).map(({ dropped }) => dropped))
  const count = await new Promise<number>((resolve) => protocol.server.getConnections((_, open) => resolve(open)))
  expect(count).toBe(32)
  await expect(proven(locator)).resolves.toBeDefined()
})

test('lets its peers read what it has sent before it closes', async () => {
  const { locator, protocol } = await listening(async (_, __, peer) => {
    setImmediate(() => {
      // More than the kernel takes at once.
      peer.notify('last', { words: 'x'.repeat(2_000_000) })
      protocol.close()
    })
  })
  const client = connectTo(locator)
  await client.hello(locator)
  await client.ask('any')
  expect(await client.line()).toContain('last')
  await client.dropped
})

test('outlives a client that goes away at any moment', async () => {
  const { locator } = await listening()
  for (const leave of [(client: RawClient) => client.socket.destroy(), (client: RawClient) => client.socket.end()]) {
    const client = await proven(locator)
    for (let count = 0; count < 20; count++) client.send(client.seal(question))
    leave(client)
    await client.dropped
  }
  await expect(proven(locator)).resolves.toBeDefined()
})
