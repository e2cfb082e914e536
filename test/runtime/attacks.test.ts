import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { connectRuntime, type Locator, readLocator } from '@custody/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { RawClient } from './raw-client.js'
import { type Program, startProgram } from './start-program.js'
import { temporaryDirectory } from './temporary-directory.js'

async function serve(): Promise<{ program: Program; locator: Locator }> {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  const program = startProgram('serving.js', { args: [path], env: { XDG_RUNTIME_DIR: directory } })
  await program.printed(/ready/)
  return { program, locator: readLocator(path) }
}

function connectTo(locator: Locator): RawClient {
  const client = new RawClient(locator.endpoint)
  onTestFinished(() => void client.socket.destroy())
  return client
}

/** Whether the runtime serves its own client, as if nothing had been. */
async function isServing(locator: Locator): Promise<boolean> {
  const client = await connectRuntime(locator, { timeoutMs: 20_000 })
  const { state } = await client.identify()
  client.close()
  return state === 'serving'
}

test('answers a client that was written from docs/protocol.md alone', async () => {
  const { program, locator } = await serve()
  const client = connectTo(locator)
  const { proof, expected } = await client.hello(locator)
  expect(proof).toBe(expected)
  expect(await client.ask('identify', {})).toMatchObject({ result: { pid: program.pid, instance: locator.instance } })
  expect(await client.ask('toString', {})).toMatchObject({ error: { code: -32_601 } })
})

test('outlives garbage of every kind, one after the other', async () => {
  const { program, locator } = await serve()
  for (const text of [
    'garbage\n',
    'GET /shutdown HTTP/1.1\r\n\r\n',
    'null\n',
    '{"jsonrpc":"2.0","id":1,"method":"shutdown"}\n',
    Buffer.from([0xff, 0x0a]),
  ]) {
    const client = connectTo(locator)
    client.send(text)
    await client.dropped
    expect(client.received).toEqual([])
  }
  expect(await isServing(locator)).toBe(true)
  expect(program.output).toBe('ready\n')
})

test('outlives a client that knows the token and gives it an id that is none', async () => {
  const { program, locator } = await serve()
  // The last is more than Node can write again, and less than a line may have.
  for (const id of ['[1]', '{}', 'true', '['.repeat(12_000) + ']'.repeat(12_000)]) {
    const client = connectTo(locator)
    await client.hello(locator)
    await client.ask('identify', {})
    client.send(client.seal(`{"jsonrpc":"2.0","id":${id},"method":"shutdown","params":{}}`))
    await client.dropped
    expect(client.received).toEqual([])
  }
  expect(await isServing(locator)).toBe(true)
  expect(program.output).toBe('ready\n')
})

/** The most memory that a process ever held, in bytes. */
function peakBytes({ pid }: Program): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Number(kilobytes) * 1024
}

test('drops lines of 10 MB without holding them', async () => {
  const { program, locator } = await serve()
  expect(await isServing(locator)).toBe(true)
  const before = peakBytes(program)
  const line = Buffer.alloc(10_000_000, 'x')
  for (let count = 0; count < 10; count++) {
    const client = connectTo(locator)
    client.send(line)
    await client.dropped
  }
  expect(await isServing(locator)).toBe(true)
  // It was sent 100 MB.
  expect(peakBytes(program) - before).toBeLessThan(30_000_000)
})

test('serves while 200 connections say nothing', async () => {
  const { locator } = await serve()
  const silent = Array.from({ length: 200 }, () => connectTo(locator))
  for (const client of silent) client.send('{')
  await silent[0]?.dropped
  expect(await isServing(locator)).toBe(true)
})

test('does not verify through a relay at another endpoint, which learns nothing', async () => {
  const { locator } = await serve()
  const heard: Buffer[] = []
  const path = join(temporaryDirectory(), 'relay.sock')
  const relay = createServer((socket) => {
    const target = connect(locator.endpoint.slice('unix:'.length))
    socket.on('data', (chunk: Buffer) => heard.push(chunk))
    socket.on('error', () => {}).on('close', () => target.destroy())
    target.on('error', () => {}).on('close', () => socket.destroy())
    socket.pipe(target).pipe(socket)
  })
  await new Promise<void>((resolve) => relay.listen(path, resolve))
  onTestFinished(() => void relay.close())
  await expect(connectRuntime({ ...locator, endpoint: `unix:${path}` }, { timeoutMs: 20_000 })).rejects.toMatchObject({
    code: 'CUSTODY_PROOF_FALSE',
  })
  expect(Buffer.concat(heard).toString()).toMatch(/^\{[^\n]*"hello"[^\n]*\}\n$/)
  expect(Buffer.concat(heard).toString()).not.toContain(locator.token)
  expect(await isServing(locator)).toBe(true)
})

test('does not verify a locator whose endpoint was replaced by that of another runtime', async () => {
  const [a, b] = await Promise.all([serve(), serve()])
  await expect(connectRuntime({ ...a.locator, endpoint: b.locator.endpoint }, { timeoutMs: 20_000 })).rejects.toMatchObject({
    code: 'CUSTODY_PROOF_FALSE',
  })
  expect([await isServing(a.locator), await isServing(b.locator)]).toEqual([true, true])
})

test('does not verify another spelling of the same endpoint', async () => {
  const { locator } = await serve()
  const other = locator.endpoint.replace('/s/', '/./s/')
  await expect(connectRuntime({ ...locator, endpoint: other }, { timeoutMs: 20_000 })).rejects.toMatchObject({
    code: 'CUSTODY_PROOF_FALSE',
  })
})

test('takes no line of a session with another runtime', async () => {
  const [a, b] = await Promise.all([serve(), serve()])
  const [recorded, replaying] = [connectTo(a.locator), connectTo(b.locator)]
  await recorded.hello(a.locator)
  await replaying.hello(b.locator)
  replaying.send(recorded.seal({ jsonrpc: '2.0', id: 1, method: 'shutdown', params: {} }))
  await replaying.dropped
  expect([await isServing(a.locator), await isServing(b.locator)]).toEqual([true, true])
})

test('tells a locator of an earlier life from the runtime at the same endpoint', async () => {
  const { locator } = await serve()
  const stale = { ...locator, token: '0'.repeat(64) }
  await expect(connectRuntime(stale, { timeoutMs: 20_000 })).rejects.toMatchObject({
    code: 'CUSTODY_PROOF_FALSE',
    message: expect.not.stringContaining(stale.token),
  })
  expect(await isServing(locator)).toBe(true)
})
