import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { drainHttpServer } from './drain-http-server.js'

/** What a drain must not wait for: a test that waits for it fails by its own time limit. */
const NEVER_MS = 10 * 60_000
/** The grace of a drain that is expected to use it up. */
const SHORT_MS = 50

async function serving(listener?: RequestListener): Promise<Server> {
  const server = createServer({ keepAliveTimeout: NEVER_MS, requestTimeout: 0, headersTimeout: 0 }, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

interface Client {
  readonly socket: Socket
  readonly text: string
  /** Resolves when this text has come. */
  heard(text: string): Promise<void>
  readonly ended: Promise<void>
}

/** An accepted connection. */
async function connectTo(server: Server): Promise<Client> {
  const accepted = once(server, 'connection')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.setEncoding('utf8')
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk
  })
  await accepted
  return {
    socket,
    get text() {
      return text
    },
    async heard(expected) {
      while (!text.includes(expected)) await once(socket, 'data')
    },
    ended: new Promise((resolve) => socket.once('close', () => resolve())),
  }
}

/** Sends a request, and waits until the server has accepted it. */
async function request(server: Server, { socket }: Client): Promise<ServerResponse> {
  const accepted = once(server, 'request')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  return (await accepted)[1]
}

const greet: RequestListener = (_, response) => response.end('hello')

test('is complete at once when nobody is connected', async () => {
  const server = await serving(greet)
  await expect(drainHttpServer(server, { graceMs: NEVER_MS })).resolves.toEqual({ isComplete: true })
  expect(server.listening).toBe(false)
})

test('is complete for a server that is closed already, or never listened', async () => {
  const server = await serving(greet)
  await new Promise((resolve) => server.close(resolve))
  await expect(drainHttpServer(server, { graceMs: NEVER_MS })).resolves.toEqual({ isComplete: true })
  await expect(drainHttpServer(createServer(), { graceMs: NEVER_MS })).resolves.toEqual({ isComplete: true })
})

test('finishes a request in flight, and ends its keep-alive connection with the response', async () => {
  const server = await serving()
  const client = await connectTo(server)
  const response = await request(server, client)
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  response.end('finished')
  await expect(drained).resolves.toEqual({ isComplete: true })
  await client.ended
  expect(client.text).toContain('finished')
})

test('says in a response that is in flight when the drain begins that the connection ends', async () => {
  const server = await serving()
  const client = await connectTo(server)
  const response = await request(server, client)
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  response.end('finished')
  await drained
  await client.ended
  expect(client.text).toMatch(/^connection: close\r$/im)
})

test('finishes a request of which a half had come, and says that the connection ends', async () => {
  const server = await serving(greet)
  const client = await connectTo(server)
  // The whole request before the half one tells that the server reads.
  client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHos')
  await client.heard('hello')
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  client.socket.write('t: x\r\n\r\n')
  await expect(drained).resolves.toEqual({ isComplete: true })
  await client.ended
  expect(client.text).toMatch(/connection: keep-alive[\s\S]*hello[\s\S]*connection: close[\s\S]*hello$/i)
})

test('ends the connection of a response whose headers had left before', async () => {
  const server = await serving()
  const client = await connectTo(server)
  const response = await request(server, client)
  response.writeHead(200, { 'content-length': 8 }).write('half')
  await client.heard('half')
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  response.end('half')
  await expect(drained).resolves.toEqual({ isComplete: true })
  await client.ended
  expect(client.text).toMatch(/halfhalf$/)
})

test('finishes each of many requests in flight', async () => {
  const server = await serving()
  const clients: Client[] = []
  const responses: ServerResponse[] = []
  for (let count = 0; count < 10; count++) {
    const client = await connectTo(server)
    clients.push(client)
    responses.push(await request(server, client))
  }
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  for (const [index, response] of responses.reverse().entries()) response.end(`finished ${index}`)
  await expect(drained).resolves.toEqual({ isComplete: true })
  for (const client of clients) {
    await client.ended
    expect(client.text).toMatch(/finished \d/)
  }
})

test('says in the response to a request that came during the drain that the connection ends', async () => {
  const server = await serving()
  const client = await connectTo(server)
  const first = await request(server, client)
  // The second waits on the same connection until the first is answered.
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  const second = once(server, 'request')
  client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await second.then(([, response]) => {
    first.end('first')
    response.end('second')
  })
  await expect(drained).resolves.toEqual({ isComplete: true })
  await client.ended
  expect(client.text).toContain('first')
  expect(client.text).toMatch(/connection: close/i)
})

test('ends an idle keep-alive connection', async () => {
  const server = await serving(greet)
  const client = await connectTo(server)
  await request(server, client)
  await client.heard('hello')
  await expect(drainHttpServer(server, { graceMs: NEVER_MS })).resolves.toEqual({ isComplete: true })
  await client.ended
})

test('ends a connection that has sent nothing', async () => {
  const server = await serving(greet)
  const client = await connectTo(server)
  await expect(drainHttpServer(server, { graceMs: NEVER_MS })).resolves.toEqual({ isComplete: true })
  await client.ended
})

test('frees a stream whose reader departs', async () => {
  const server = await serving()
  const client = await connectTo(server)
  const response = await request(server, client)
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  await client.heard('data: 1')
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  client.socket.destroy()
  await expect(drained).resolves.toEqual({ isComplete: true })
})

test('cuts half a request when the grace time ends', async () => {
  const server = await serving(greet)
  const client = await connectTo(server)
  // The whole request before the half one tells that the server reads.
  client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHos')
  await client.heard('hello')
  await expect(drainHttpServer(server, { graceMs: SHORT_MS })).resolves.toEqual({ isComplete: false })
  await client.ended
})

test('cuts a stream without end when the grace time ends', async () => {
  const server = await serving()
  const client = await connectTo(server)
  const response = await request(server, client)
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
  await expect(drainHttpServer(server, { graceMs: SHORT_MS })).resolves.toEqual({ isComplete: false })
  await client.ended
})

/** A connection that has left HTTP, as that of a WebSocket. */
async function upgraded(server: Server): Promise<Client> {
  server.on('upgrade', (_, socket) => {
    // An HTTP server's sockets may stay half open: whoever takes one over has to end its half.
    socket.on('end', () => socket.end()).resume()
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  })
  const client = await connectTo(server)
  client.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  await client.heard('101')
  return client
}

test('cuts an upgraded socket when the grace time ends', async () => {
  const server = await serving()
  const client = await upgraded(server)
  await expect(drainHttpServer(server, { graceMs: SHORT_MS })).resolves.toEqual({ isComplete: false })
  await client.ended
})

test('waits for an upgraded socket that ends by itself', async () => {
  const server = await serving()
  const client = await upgraded(server)
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  client.socket.destroy()
  await expect(drained).resolves.toEqual({ isComplete: true })
})

test('cuts at once when its signal aborts', async () => {
  const server = await serving()
  const client = await connectTo(server)
  await request(server, client)
  const controller = new AbortController()
  const drained = drainHttpServer(server, { graceMs: NEVER_MS, signal: controller.signal })
  controller.abort()
  await expect(drained).resolves.toEqual({ isComplete: false })
  await client.ended
})

test('cuts at once when its signal has aborted before', async () => {
  const server = await serving()
  const client = await connectTo(server)
  await request(server, client)
  await expect(drainHttpServer(server, { graceMs: NEVER_MS, signal: AbortSignal.abort() })).resolves.toEqual({
    isComplete: false,
  })
  await client.ended
})

test('leaves the connections of another server alone', async () => {
  const [server, other] = [await serving(), await serving(greet)]
  const held = await request(server, await connectTo(server))
  const drained = drainHttpServer(server, { graceMs: NEVER_MS })
  const client = await connectTo(other)
  await request(other, client)
  await client.heard('hello')
  expect(client.text).toMatch(/connection: keep-alive/i)
  held.end()
  await expect(drained).resolves.toEqual({ isComplete: true })
  await request(other, client)
  expect(other.listening).toBe(true)
})
