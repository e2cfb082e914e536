import { renameSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Locator } from '@custody/runtime'
import { ProtocolServer } from '@custody/runtime/internals'
import { RawClient } from '../../runtime/raw-client.js'
import { type ExpectedReceipt, type Row, unproven } from '../row.js'
import type { Runtime, Stage } from '../stage.js'

// Who listens does not know the token, but has the true runtime beside it, or all that was ever said.

const pathOf = ({ endpoint }: Locator) => endpoint.slice('unix:'.length)

const notBelieved = (answer: 'false' | 'garbage'): ExpectedReceipt => ({
  name: 'theirs',
  verdict: 'unproven',
  reason: /^what listens there does not know its token, and its process is alive$/,
  evidence: { answer, statement: null, recorded: 'alive', isPathEqual: false, isSeenAlive: false },
})

/** A runtime that would be owned by all that it says, so that the proof alone stands before its end. */
const startInPlace = (stage: Stage) => stage.startRuntime('theirs', 'claimed', { home: stage.found })

function forge(stage: Stage, { locator }: Runtime, changes: Partial<Locator>): void {
  stage.keepSecret(changes.token ?? locator.token)
  stage.write('keeping-a-record.json', JSON.stringify({ ...locator, ...changes }))
}

/** Takes the endpoint over, by its very name. @returns where the true runtime is from now on */
async function takeOver(stage: Stage, { locator }: Runtime, treat: (socket: Socket, original: string) => void): Promise<string> {
  const path = pathOf(locator)
  const original = `${path}.true`
  renameSync(path, original)
  await stage.listen((socket) => treat(socket, original), { at: path })
  return original
}

function relay(socket: Socket, to: string): void {
  const upstream = connect(to)
  upstream.on('error', () => {})
  socket.on('close', () => upstream.destroy())
  upstream.on('close', () => socket.destroy())
  socket.pipe(upstream).pipe(socket)
}

/** A whole session with the true runtime, the client's lines and the server's, up to a stop that is held back. */
async function record({ locator }: Runtime): Promise<{ client: string; server: string }> {
  const client = new RawClient(locator.endpoint)
  const said = { client: '', server: '' }
  const send = client.send.bind(client)
  client.send = (text) => {
    said.client += text
    send(text)
  }
  client.socket.on('data', (text) => {
    said.server += text
  })
  await client.hello(locator)
  await client.ask('identify', {})
  said.client += client.seal({ jsonrpc: '2.0', id: 2, method: 'shutdown', params: {} })
  client.socket.destroy()
  await client.dropped
  return said
}

/** Sends what an attacker has, and waits until he is dropped. */
async function attack({ endpoint }: Locator, speak: (client: RawClient) => Promise<void> | void): Promise<void> {
  const client = new RawClient(endpoint)
  await speak(client)
  await client.dropped
}

export const sessions: readonly Row[] = [
  {
    title: 'a relay at another endpoint, to the true runtime',
    expected: [notBelieved('false')],
    failure: unproven,
    async arrange(stage) {
      const runtime = await startInPlace(stage)
      forge(stage, runtime, { endpoint: await stage.listen((socket) => relay(socket, pathOf(runtime.locator))) })
    },
  },
  {
    title: 'the endpoint of another runtime',
    expected: [notBelieved('false')],
    failure: unproven,
    async arrange(stage) {
      const [runtime, other] = await Promise.all([startInPlace(stage), stage.startRuntime('other', 'another run')])
      forge(stage, runtime, { endpoint: other.locator.endpoint })
    },
  },
  {
    title: 'a wrong token',
    expected: [notBelieved('false')],
    failure: unproven,
    async arrange(stage) {
      forge(stage, await startInPlace(stage), { token: '0'.repeat(64) })
    },
  },
  {
    title: 'what a runtime has said in another session, by whom has its endpoint now',
    expected: [notBelieved('false')],
    failure: unproven,
    async arrange(stage) {
      const runtime = await startInPlace(stage)
      const { server } = await record(runtime)
      await takeOver(stage, runtime, (socket) => socket.write(server))
    },
  },
  {
    title: 'the true greeting, by whom has its endpoint now, and then each line sent back',
    expected: [notBelieved('garbage')],
    failure: unproven,
    async arrange(stage) {
      const runtime = await startInPlace(stage)
      await takeOver(stage, runtime, (socket, original) => {
        const upstream = connect(original)
        upstream.on('error', () => {})
        socket.on('close', () => upstream.destroy())
        upstream.on('data', (chunk) => socket.write(chunk))
        // The true runtime greets, and hears nothing after that.
        socket.once('data', (hello) => {
          upstream.write(hello)
          socket.on('data', (line) => socket.write(line))
        })
      })
    },
  },
  {
    title: 'a runtime of another run, to which a recorded stop was played again, and its own proof',
    expected: [{ name: 'theirs', verdict: 'foreign', reason: /^it belongs to the namespace/, evidence: { answer: 'authentic' } }],
    async arrange(stage) {
      const runtime = await stage.startRuntime('theirs', 'another run', { home: stage.found })
      const { locator } = runtime
      const { client: recorded } = await record(runtime)
      const stop = { jsonrpc: '2.0', id: 1, method: 'shutdown', params: {} }
      await attack(locator, (client) => client.send(recorded))
      for (const tell of [
        (client: RawClient, proof: string) => client.seal(stop, { mac: proof }),
        (client: RawClient) => client.seal(stop, { direction: 's2c' }),
        (client: RawClient) => client.seal(stop, { seq: 1 }),
      ]) {
        await attack(locator, async (client) => {
          const { proof } = await client.hello(locator)
          client.send(tell(client, proof))
        })
      }
    },
  },
  {
    title: 'the pid of a stranger beside the right token of a runtime of another run',
    expected: [
      {
        name: 'theirs',
        verdict: 'foreign',
        reason: /^it belongs to the namespace/,
        evidence: { answer: 'authentic', isSeenAlive: false, recorded: 'alive' },
      },
    ],
    async arrange(stage) {
      const runtime = await stage.startRuntime('theirs', 'another run', { home: stage.found })
      const { pid, start } = await stage.startStranger()
      forge(stage, runtime, { pid, start })
    },
  },
  {
    title: 'another instance beside the right token',
    expected: [
      {
        name: 'theirs',
        verdict: 'unproven',
        reason: /^it says that it is another instance$/,
        evidence: { answer: 'authentic', statement: 'another instance', namespace: null, isPathEqual: false },
      },
    ],
    failure: unproven,
    async arrange(stage) {
      forge(stage, await startInPlace(stage), { instance: 'b'.repeat(32) })
    },
  },
  {
    title: 'a listener that knows the token, and says of itself no more than that',
    expected: [
      {
        name: 'forged',
        verdict: 'unproven',
        reason: /^what it says of itself is incomplete$/,
        evidence: { answer: 'authentic', statement: 'malformed', namespace: null, isPathEqual: false, recorded: 'alive' },
      },
    ],
    failure: unproven,
    async arrange(stage) {
      const [at, token, instance] = [join(stage.directory(), 'a.sock'), 'ab'.repeat(32), 'c'.repeat(32)] as const
      const { server } = new ProtocolServer(Buffer.from(token, 'hex'), `unix:${at}`, async () => ({ instance }))
      const endpoint = await stage.listen(() => {}, { at, server })
      const { pid, start } = await stage.startStranger()
      stage.put({ pid, start, endpoint, token, instance })
    },
  },
  {
    // B35
    title: 'the pid of a stranger beside the right token of its own runtime',
    // It is asked to leave, for what it says itself. The stranger is not even looked for.
    expected: [
      {
        name: 'ours',
        verdict: 'owned',
        reason: /^it was born in this namespace/,
        evidence: { answer: 'authentic', isSeenAlive: false, recorded: 'alive' },
      },
    ],
    failure: /it accepted the shutdown, but its process cannot be seen from here/,
    async arrange(stage) {
      const runtime = await stage.startRuntime('ours', 'claimed', { home: stage.found })
      const { pid, start } = await stage.startStranger()
      forge(stage, runtime, { pid, start })
    },
  },
]
