import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { Deadline } from '../deadline.js'
import type { Locator } from '../locator/locator.js'
import { PROTOCOL, serverProof, sessionKey } from '../wire/proof.js'
import { SealedLines } from '../wire/sealed-lines.js'
import { openSession, type Session } from './open-session.js'

/** For those that never answer. */
const TIMEOUT_MS = 400
/** For those that do, on a machine that may be busy. */
const LONG_MS = 30_000
/** What a slow machine may add to a time limit. */
const SLACK_MS = 5_000

const token = sampleLocator().token
const stuff = (bytes: number) => Buffer.alloc(bytes, 'x')

/** A locator at whose endpoint this server listens, and all bytes that it has received. */
async function impostor(server: Server): Promise<{ locator: Locator; heard: () => string }> {
  const chunks: Buffer[] = []
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const endpoint = `tcp:127.0.0.1:${(server.address() as AddressInfo).port}`
  return { locator: sampleLocator({ endpoint }), heard: () => Buffer.concat(chunks).toString('latin1') }
}

/** A server that does the same to everybody. */
const always = (treat: (socket: Socket) => void) => createServer(treat)

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('x'), 5)
  socket.on('close', () => clearInterval(timer))
}

function pour(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(stuff(1024)));
  }
  socket.on('drain', more)
  more()
}

// B43: the port of a dead runtime belongs to another program by now.
const impostors: [string, string, () => Server][] = [
  [
    'an HTTP server that answers 200 to everything',
    'CUSTODY_ANSWER_GARBAGE',
    () => createHttpServer((_, response) => response.end('{}')),
  ],
  [
    'a server that answers "200 OK" to every line',
    'CUSTODY_ANSWER_GARBAGE',
    () => always((socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))),
  ],
  ['a TLS server', 'CUSTODY_CONNECTION_CLOSED', () => createTlsServer({})],
  ['a server that says nothing', 'CUSTODY_ANSWER_TIMEOUT', () => always(() => {})],
  ['a server that sends one byte at a time', 'CUSTODY_ANSWER_TIMEOUT', () => always(drip)],
  ['a server that hangs up', 'CUSTODY_CONNECTION_CLOSED', () => always((socket) => socket.end())],
  ['a server that resets the connection', 'CUSTODY_CONNECTION_CLOSED', () => always((socket) => socket.resetAndDestroy())],
  [
    'a server that hangs up after half a line',
    'CUSTODY_CONNECTION_CLOSED',
    () => always((socket) => socket.end('{"jsonrpc":"2.0",')),
  ],
  ['a server that sends a line without end', 'CUSTODY_ANSWER_GARBAGE', () => always(pour)],
  ['a server that sends 10 MB in one line', 'CUSTODY_ANSWER_GARBAGE', () => always((socket) => socket.write(stuff(10_000_000)))],
  [
    'a server that sends bytes that are not UTF-8',
    'CUSTODY_ANSWER_GARBAGE',
    () => always((socket) => socket.write(Buffer.from([0xff, 0x0a]))),
  ],
  ['an echo', 'CUSTODY_ANSWER_GARBAGE', () => always((socket) => socket.pipe(socket))],
  ...['null', '[]', '1', '{}', '{"result":null}', '{"result":{}}', 'garbage', ''].map((line): [string, string, () => Server] => [
    `a server that answers ${JSON.stringify(line)}`,
    'CUSTODY_ANSWER_GARBAGE',
    () => always((socket) => socket.write(`${line}\n`)),
  ]),
]
test.each(impostors)('gives %s away nothing and says %s in time', async (_, code, make) => {
  const { locator, heard } = await impostor(make())
  const began = performance.now()
  const limitMs = code === 'CUSTODY_ANSWER_TIMEOUT' ? TIMEOUT_MS : LONG_MS
  await expect(openSession(locator, Deadline.after(limitMs))).rejects.toMatchObject({
    code,
    facts: { name: 'sample', endpoint: locator.endpoint, pid: locator.pid },
    message: expect.not.stringContaining(token),
  })
  expect(performance.now() - began).toBeLessThan(limitMs + SLACK_MS)
  expect(heard()).not.toContain(token)
  expect(heard()).not.toContain(Buffer.from(token, 'hex').toString('latin1'))
})

interface Hello {
  id: unknown
  params: { nonce: string }
}

/** A listener that answers hello with whatever `answer` makes of it, and each later line with what `reply` gives. */
const speaker = (
  answer: (hello: Hello) => unknown,
  reply: (line: string, hello: Hello, socket: Socket) => string | null = () => null,
) =>
  always((socket) => {
    let hello: Hello | null = null
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      const lines = (text + chunk).split('\n')
      text = lines.pop() as string
      for (const line of lines) {
        const isHello = hello === null
        hello ??= JSON.parse(line) as Hello
        const said = isHello ? `${JSON.stringify(answer(hello))}\n` : reply(line, hello, socket)
        if (said !== null) socket.write(said)
      }
    })
  })

const ns = '9'.repeat(64)
const greeting = (hello: Hello, changes: object) => ({
  jsonrpc: '2.0',
  id: hello.id,
  result: { protocol: PROTOCOL, nonce: ns, proof: 'f'.repeat(64), ...changes },
})

test.each([
  ['protocol', 'custody/2'],
  ['protocol', 1],
  ['nonce', 'F'.repeat(64)],
  ['nonce', '9'.repeat(63)],
  ['nonce', null],
  ['proof', null],
  ['proof', 1],
])('takes an answer with the %s %j for garbage', async (field, value) => {
  const { locator } = await impostor(speaker((hello) => greeting(hello, { [field]: value })))
  await expect(openSession(locator, Deadline.after(TIMEOUT_MS + SLACK_MS))).rejects.toMatchObject({
    code: 'CUSTODY_ANSWER_GARBAGE',
  })
})

test.each([
  ['a code of no meaning', () => 'f'.repeat(64)],
  ['an empty code', () => ''],
  [
    'the proof of another token',
    (hello: Hello, { endpoint }: Locator) => serverProof(Buffer.alloc(32, 1), hello.params.nonce, ns, endpoint),
  ],
  [
    'the proof of another endpoint',
    (hello: Hello) => serverProof(Buffer.from(token, 'hex'), hello.params.nonce, ns, 'tcp:127.0.0.1:1'),
  ],
  [
    'the key of the session',
    (hello: Hello, { endpoint }: Locator) =>
      sessionKey(Buffer.from(token, 'hex'), hello.params.nonce, ns, endpoint).toString('hex'),
  ],
  [
    'the true proof in capitals',
    (hello: Hello, { endpoint }: Locator) =>
      serverProof(Buffer.from(token, 'hex'), hello.params.nonce, ns, endpoint).toUpperCase(),
  ],
])('does not take %s for a proof', async (_, prove) => {
  const server = speaker((hello) => greeting(hello, { proof: prove(hello, locator) }))
  const { locator } = await impostor(server)
  await expect(openSession(locator, Deadline.after(TIMEOUT_MS + SLACK_MS))).rejects.toMatchObject({ code: 'CUSTODY_PROOF_FALSE' })
})

test('does not take its own nonce back, even with a true code over it', async () => {
  const server = speaker((hello) => {
    const { nonce } = hello.params
    return greeting(hello, { nonce, proof: serverProof(Buffer.from(token, 'hex'), nonce, nonce, locator.endpoint) })
  })
  const { locator } = await impostor(server)
  await expect(openSession(locator, Deadline.after(TIMEOUT_MS + SLACK_MS))).rejects.toMatchObject({ code: 'CUSTODY_PROOF_FALSE' })
})

/** A session with a listener that knows the token and then replies as given. */
async function sessionWith(reply: (line: string, server: SealedLines, socket: Socket) => string | null): Promise<Session> {
  let lines: SealedLines | null = null
  const server = speaker(
    (hello) => {
      const secret = Buffer.from(token, 'hex')
      lines = new SealedLines(sessionKey(secret, hello.params.nonce, ns, locator.endpoint), 'server')
      return greeting(hello, { proof: serverProof(secret, hello.params.nonce, ns, locator.endpoint) })
    },
    (line, _, socket) => reply(line, lines as SealedLines, socket),
  )
  const { locator } = await impostor(server)
  const session = await openSession(locator, Deadline.after(TIMEOUT_MS + SLACK_MS))
  onTestFinished(() => session.close())
  return session
}
const ask = (session: Session, limitMs = TIMEOUT_MS + SLACK_MS) => session.call('identify', {}, Deadline.after(limitMs))

test('hears the answer of a listener that has proved itself', async () => {
  const session = await sessionWith((_, server) => server.seal({ jsonrpc: '2.0', id: 1, result: { name: 'x' } }))
  await expect(ask(session)).resolves.toEqual({ name: 'x' })
})

test('gives each answer to the question with its id', async () => {
  const ids: number[] = []
  const session = await sessionWith((line, server) => {
    ids.push((server.open(line) as { id: number }).id)
    return ids.length < 2
      ? null
      : ids
          .reverse()
          .map((id) => server.seal({ jsonrpc: '2.0', id, result: id }))
          .join('')
  })
  await expect(Promise.all([ask(session), ask(session)])).resolves.toEqual([1, 2])
})

test.each<[string, (line: string, server: SealedLines) => string]>([
  ['an answer without a code', () => '{"jsonrpc":"2.0","id":1,"result":{}}\n'],
  ['its own line, sent back', (line) => `${line}\n`],
  ['an answer with a flipped bit', (_, server) => server.seal({ id: 1, result: { a: 1 } }).replace('\\"a\\":1', '\\"a\\":3')],
  ['an answer out of its place', (_, server) => [server.seal({}), server.seal({ id: 1, result: {} })].slice(1).join('')],
  ['a line of more than 64 KiB', () => `${'x'.repeat(64 * 1024 + 1)}\n`],
  ['a sealed null', (_, server) => server.seal(null)],
])('ends the session at %s', async (_, reply) => {
  const session = await sessionWith(reply)
  await expect(ask(session)).rejects.toMatchObject({ code: 'CUSTODY_ANSWER_GARBAGE' })
  await session.ended
})

test('reads an answer of nearly 64 KiB', async () => {
  const session = await sessionWith((_, server) => server.seal({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(60_000) }))
  await expect(ask(session)).resolves.toHaveLength(60_000)
})

test('waits for an answer until its deadline and not longer', async () => {
  const session = await sessionWith(() => null)
  await expect(ask(session, 50)).rejects.toMatchObject({ code: 'CUSTODY_ANSWER_TIMEOUT' })
})

test('ends every question when the listener hangs up, and refuses new ones', async () => {
  const session = await sessionWith((_, __, socket) => {
    socket.destroy()
    return null
  })
  const questions = [ask(session), ask(session)]
  for (const question of questions) await expect(question).rejects.toMatchObject({ code: 'CUSTODY_CONNECTION_CLOSED' })
  await session.ended
  await expect(ask(session)).rejects.toMatchObject({ code: 'CUSTODY_CONNECTION_CLOSED' })
})

test('says that nobody listens', async () => {
  const { locator } = await impostor(createServer())
  const free = createServer()
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve))
  const { port } = free.address() as AddressInfo
  await new Promise((resolve) => free.close(resolve))
  await expect(openSession({ ...locator, endpoint: `tcp:127.0.0.1:${port}` }, Deadline.after(SLACK_MS))).rejects.toMatchObject({
    code: 'CUSTODY_CONNECT_FAILED',
    facts: { pid: locator.pid },
  })
})

// B52: a socket file without a listener.
test('says that the socket, or its whole directory, is gone', async () => {
  const directory = temporaryDirectory()
  const locator = sampleLocator({ endpoint: `unix:${directory}/a.sock` })
  await expect(openSession(locator, Deadline.after(SLACK_MS))).rejects.toMatchObject({ code: 'CUSTODY_CONNECT_FAILED' })
  rmSync(directory, { recursive: true })
  await expect(openSession(locator, Deadline.after(SLACK_MS))).rejects.toMatchObject({ code: 'CUSTODY_CONNECT_FAILED' })
})

test('does not connect to a socket in a directory that others can reach', async () => {
  const directory = join(temporaryDirectory(), 's')
  mkdirSync(directory)
  chmodSync(directory, 0o755)
  const server = createServer(() => expect.unreachable('It has connected.'))
  await new Promise<void>((resolve) => server.listen(join(directory, 'a.sock'), resolve))
  onTestFinished(() => void server.close())
  const locator = sampleLocator({ endpoint: `unix:${directory}/a.sock` })
  await expect(openSession(locator, Deadline.after(SLACK_MS))).rejects.toMatchObject({ code: 'CUSTODY_UNSAFE_DIRECTORY' })
})

test('does not connect to a socket whose path the system would cut', async () => {
  const path = join(temporaryDirectory(), 'x'.repeat(200))
  await expect(openSession(sampleLocator({ endpoint: `unix:${path}` }), Deadline.after(SLACK_MS))).rejects.toMatchObject({
    code: 'CUSTODY_CONNECT_FAILED',
    message: expect.stringContaining(`its path has ${Buffer.byteLength(path)} bytes`),
  })
})
