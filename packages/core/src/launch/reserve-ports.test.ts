import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { bundle } from '../../../../test/programs/start-supervisor.js'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { reservePorts } from './reserve-ports.js'

const held = (base: string) => readdirSync(join(base, 'ports')).map(Number)

/** Draws these ports in this order, and any after them. */
function draws(...ports: number[]): () => number {
  return () => ports.shift() ?? 20_000 + Math.floor(Math.random() * 12_000)
}

/** A port of the range on which this listens, on one address. */
async function occupied(host?: string): Promise<number> {
  for (let port = 20_000; ; port++) {
    const server = createServer()
    const isListening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen({ port, exclusive: true, ...(host === undefined ? {} : { host }) }, () => resolve(true))
    })
    if (!isListening) continue
    onTestFinished(() => close(server))
    return port
  }
}

const close = (server: Server) => new Promise<void>((resolve) => server.close(() => resolve()))

test('gives a port of its own to each name, on which one can listen', async () => {
  const base = temporaryDirectory()
  const { ports } = await reservePorts(['http', 'ws', 'admin'], base, ownIdentity())
  const all = Object.values(ports)
  expect(Object.keys(ports)).toEqual(['http', 'ws', 'admin'])
  expect(new Set(all).size).toBe(3)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(ports.http, '127.0.0.1', resolve))
  expect((server.address() as AddressInfo).port).toBe(ports.http)
  await close(server)
})

test('stays below the range from which systems take ports by themselves', async () => {
  const [lowest = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t').map(Number)
  const names = Array.from({ length: 50 }, (_, at) => `p${at}`)
  const { ports } = await reservePorts(names, temporaryDirectory(), ownIdentity())
  for (const port of Object.values(ports)) expect(port).toBeGreaterThanOrEqual(20_000)
  for (const port of Object.values(ports)) expect(port).toBeLessThan(Math.min(lowest, 32_000))
})

test('holds them in files of its user, with who holds them, until they are released', async () => {
  const base = temporaryDirectory()
  const { ports, release } = await reservePorts(['http'], base, ownIdentity())
  const path = join(base, 'ports', String(ports.http))
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(ownIdentity())
  expect([join(base, 'ports'), path].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o600])
  release()
  expect(held(base)).toEqual([])
  release()
})

test('gives nobody else what is reserved', async () => {
  const base = temporaryDirectory()
  const first = await reservePorts(['http'], base, ownIdentity())
  const second = await reservePorts(['http'], base, ownIdentity(), draws(first.ports.http, first.ports.http, 31_998))
  expect(second.ports.http).toBe(31_998)
})

test.each([
  ['every address', undefined],
  ['one address', '127.0.0.1'],
  ['one address of the other family', '::1'],
])('gives nobody a port on which a stranger listens on %s', async (_, host) => {
  const base = temporaryDirectory()
  const port = await occupied(host)
  const { ports } = await reservePorts(['http'], base, ownIdentity(), draws(port, 31_997))
  expect(ports.http).toBe(31_997)
  expect(held(base)).toEqual([31_997])
})

// B60
test('gives no port twice to twenty processes that each take fifty, and use them a moment later', async () => {
  const base = temporaryDirectory()
  const module = bundle('launch/reserve-ports.ts', join(base, 'reserve-ports.mjs'), 'esm')
  const args = [module, base, JSON.stringify(ownIdentity()), '50']
  const takers = Array.from({ length: 20 }, () => startProgram('processes/taking-ports.js', { args }))
  const taken = await Promise.all(takers.map((taker) => taker.printed(/^(took|could not take) (.*)$/m)))
  expect(taken.flatMap(([, outcome, what]) => (outcome === 'took' ? [] : [what]))).toEqual([])
  expect(new Set(taken.flatMap(([, , ports = '']) => ports.split(' '))).size).toBe(1_000)
})

// B55
test.each([
  ['that has ended', { start: '1' }],
  ['of another boot', { boot: 'another' }],
])('takes back what is held by a process %s', async (_, changes) => {
  const base = temporaryDirectory()
  const { ports, release } = await reservePorts(['http'], base, ownIdentity())
  release()
  const port = ports.http
  writeFileSync(join(base, 'ports', String(port)), JSON.stringify({ ...ownIdentity(), ...changes }))
  expect((await reservePorts(['http'], base, ownIdentity(), draws(port, port))).ports.http).toBe(port)
})

test.each([
  ['of another pid namespace', { pidns: 'pid:[1]', start: '1' }],
  ['of which no start is known', { start: null }],
  ['that writes it just now', null],
])('leaves what is held by a process %s', async (_, changes) => {
  const base = temporaryDirectory()
  const { ports, release } = await reservePorts(['http'], base, ownIdentity())
  release()
  const port = ports.http
  writeFileSync(join(base, 'ports', String(port)), changes === null ? '' : JSON.stringify({ ...ownIdentity(), ...changes }))
  expect(
    (await reservePorts(['http'], base, ownIdentity(), draws(port, port, port === 31_996 ? 31_995 : 31_996))).ports.http,
  ).not.toBe(port)
  expect(held(base)).toContain(port)
})

test('gives up after many tries, and holds nothing then', async () => {
  const base = temporaryDirectory()
  const port = await occupied()
  await expect(
    reservePorts(['a', 'b'], base, ownIdentity(), draws(31_994, ...Array.from({ length: 400 }, () => port))),
  ).rejects.toMatchObject({
    code: 'CUSTODY_NO_PORT',
    facts: { name: 'b' },
  })
  expect(held(base)).toEqual([])
})

test('makes nothing where no port is wanted', async () => {
  const base = temporaryDirectory()
  const { ports, release } = await reservePorts([], base, ownIdentity())
  release()
  expect(ports).toEqual({})
  expect(readdirSync(base)).toEqual([])
})
