import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { connectRuntime, type Locator, type RuntimeClient, readLocator } from '@custody/runtime'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { RawClient } from './raw-client.js'
import { startProgram } from './start-program.js'
import { temporaryDirectory } from './temporary-directory.js'

const peer = fileURLToPath(new URL('../programs/custody_peer.py', import.meta.url))
const root = '0123456789abcdef'.repeat(2)
const namespace = `${root}.A.1`
const clean = { code: 0, signal: null }

const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))'])
beforeEach(() => {
  if (python.status !== 0) throw new Error('These tests need Python 3.9 or later as python3 in PATH.', { cause: python.error })
})

/** A place to publish at, and the environment of a runtime that is born there: in the namespace, or in none. */
interface Place {
  base: string
  path: string
  env: Record<string, string>
  /** The names of what a runtime has published and not yet taken away. */
  published(): { locators: string[]; entries: string[]; sockets: string[] }
}

function place(birth: string): Place {
  const base = temporaryDirectory()
  for (const name of ['locators', 'registry']) mkdirSync(join(base, name), { mode: 0o700 })
  const isBorn = birth === 'in a namespace'
  const list = (name: string) => (existsSync(join(base, name)) ? readdirSync(join(base, name)) : [])
  return {
    base,
    path: join(base, 'locators', 'locator.json'),
    env: isBorn ? { CUSTODY_NAMESPACE: `${namespace}:${base}` } : { XDG_RUNTIME_DIR: base },
    published: () => ({ locators: list('locators'), entries: list('registry'), sockets: list(isBorn ? 's' : 'custody/s') }),
  }
}

const nothing = { locators: [], entries: [], sockets: [] }

function startPython(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn('python3', [peer, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return child
}

/** Has the Python client ask; tells what it heard, what it complained of, and how it ended. */
async function askFromPython(path: string, method: string, params: unknown = {}) {
  const child = startPython(['client', path, method, JSON.stringify(params)])
  const [output, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  const lines = output.split('\n').filter((line) => line !== '')
  return { code, complaint, heard: lines.map((line) => JSON.parse(line)) }
}

async function serveFromPython({ path, env }: Place) {
  const child = startPython(['daemon', path, 'from Python'], env)
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  const complaint = text(child.stderr)
  const [ready] = await Promise.race([once(child.stdout, 'data'), once(child.stdout, 'end')])
  if (String(ready) !== 'ready\n') throw new Error(`The Python daemon did not start: ${await complaint}`)
  return { pid: child.pid as number, child, exited, locator: readLocator(path) }
}

async function connectTo(locator: Locator): Promise<RuntimeClient> {
  const client = await connectRuntime(locator, { timeoutMs: 20_000 })
  onTestFinished(() => client.close())
  return client
}

const births = ['in a namespace', 'outside of every namespace']

test.each(births)('tells a Python client who it is, %s', async (birth) => {
  const where = place(birth)
  const program = startProgram('serving.js', { args: [where.path], env: where.env })
  await program.printed(/ready/)
  const { version, token, created, details, ...same } = readLocator(where.path)
  const [entry] = where.published().entries
  const registryEntry = entry === undefined ? null : join(where.base, 'registry', entry)
  expect(await askFromPython(where.path, 'identify')).toEqual({
    code: 0,
    complaint: '',
    heard: [{ jsonrpc: '2.0', id: 2, result: { ...same, locator: where.path, registryEntry, state: 'serving' } }],
  })
})

test('refuses a Python client that expects something else, and obeys its true owner', async () => {
  const where = place('in a namespace')
  const program = startProgram('serving.js', { args: [where.path], env: where.env })
  await program.printed(/ready/)
  const right = { locator: where.path, instance: readLocator(where.path).instance, namespace: `${root}.A` }
  for (const change of [{ locator: `${where.path}.copy` }, { instance: '0'.repeat(32) }, { namespace: `${root}.B` }]) {
    const { code, heard } = await askFromPython(where.path, 'shutdown', { expect: { ...right, ...change } })
    expect(code).toBe(1)
    expect(heard).toMatchObject([{ error: { code: -32_000, data: { code: 'not_owner' } } }])
  }
  expect((await askFromPython(where.path, 'shutdown', { expects: right })).heard).toMatchObject([{ error: { code: -32_602 } }])
  expect(program.output).toBe('ready\n')
  expect(await askFromPython(where.path, 'shutdown', { expect: right })).toEqual({
    code: 0,
    complaint: '',
    heard: [
      { jsonrpc: '2.0', id: 2, result: { accepted: true, already: false } },
      { jsonrpc: '2.0', method: 'draining', params: { pending: 0 } },
      { jsonrpc: '2.0', method: 'drained' },
    ],
  })
  expect(await program.exited).toEqual(clean)
  expect(where.published()).toEqual(nothing)
})

test.each(births)("takes an operator's stop from a Python client, %s", async (birth) => {
  const where = place(birth)
  const program = startProgram('serving.js', { args: [where.path], env: where.env })
  await program.printed(/ready/)
  expect((await askFromPython(where.path, 'shutdown')).code).toBe(0)
  expect(await program.exited).toEqual(clean)
  expect(where.published()).toEqual(nothing)
})

test('does not prove itself to a Python client with another token', async () => {
  const where = place('outside of every namespace')
  await startProgram('serving.js', { args: [where.path], env: where.env }).printed(/ready/)
  const forged = join(where.base, 'forged.json')
  writeFileSync(forged, JSON.stringify({ ...readLocator(where.path), token: '0'.repeat(64) }), { mode: 0o600 })
  expect(await askFromPython(forged, 'shutdown')).toEqual({ code: 3, complaint: 'custody_peer: the proof is false\n', heard: [] })
})

test.each(births)('identifies a Python daemon, %s', async (birth) => {
  const where = place(birth)
  const { pid, locator } = await serveFromPython(where)
  const isBorn = birth === 'in a namespace'
  expect(locator).toMatchObject({ name: 'from Python', pid, namespace: isBorn ? namespace : null })
  const registryEntry = isBorn ? join(where.base, 'registry', `${namespace}--${locator.instance}.json`) : null
  expect(where.published()).toEqual({
    locators: ['locator.json'],
    entries: isBorn ? [`${namespace}--${locator.instance}.json`] : [],
    sockets: [`${locator.instance.slice(0, 16)}.sock`],
  })
  if (registryEntry !== null) expect(readLocator(registryEntry)).toEqual({ ...locator, path: where.path })
  const { version, token, created, details, ...same } = locator
  const client = await connectTo(locator)
  expect(await client.identify()).toEqual({ ...same, locator: where.path, registryEntry, state: 'serving' })
})

test.each(births)('is refused by a Python daemon that it takes for another one, and obeyed as its owner, %s', async (birth) => {
  const where = place(birth)
  const { exited, locator } = await serveFromPython(where)
  const client = await connectTo(locator)
  const before = await client.identify()
  const right = { locator: where.path, instance: locator.instance, namespace: root }
  const wrong = [{ locator: `${where.path}.copy` }, { instance: '0'.repeat(32) }]
  for (const change of birth === 'in a namespace' ? [...wrong, { namespace: `${namespace}.x` }] : wrong) {
    await expect(client.shutdown({ expect: { ...right, ...change } })).rejects.toMatchObject({ code: 'CUSTODY_NOT_OWNER' })
  }
  expect(await client.identify()).toEqual(before)
  expect(await client.shutdown({ expect: right, graceMs: 5_000 })).toMatchObject({ already: false })
  expect(await exited).toEqual(clean)
  expect(where.published()).toEqual(nothing)
})

test('stops a Python daemon by its registry entry', async () => {
  const where = place('in a namespace')
  const { exited, locator } = await serveFromPython(where)
  const client = await connectTo(locator)
  const { registryEntry } = await client.identify()
  await client.shutdown({ expect: { locator: registryEntry as string, instance: locator.instance, namespace } })
  expect(await exited).toEqual(clean)
})

test('makes no stop of a malformed shutdown to a Python daemon', async () => {
  const where = place('in a namespace')
  const { exited, locator } = await serveFromPython(where)
  const client = new RawClient(locator.endpoint)
  onTestFinished(() => void client.socket.destroy())
  const { proof, expected } = await client.hello(locator)
  expect(proof).toBe(expected)
  for (const params of [null, [], 'x', { expects: {} }, { graceMs: -1 }, { graceMs: null }, { graceMs: true }]) {
    expect(await client.ask('shutdown', params), JSON.stringify(params)).toMatchObject({ error: { code: -32_602 } })
  }
  for (const malformed of [null, {}, [], { locator: where.path, instance: locator.instance, namespace: null }]) {
    expect(await client.ask('shutdown', { expect: malformed })).toMatchObject({ error: { data: { code: 'not_owner' } } })
  }
  expect(await client.ask('hello', {})).toMatchObject({ error: { code: -32_601 } })
  expect(await client.ask('shutdown')).toMatchObject({ result: { accepted: true, already: false } })
  expect(await exited).toEqual(clean)
})

test('sees through a Python daemon that does not know the token', async () => {
  const where = place('outside of every namespace')
  const { locator } = await serveFromPython(where)
  await expect(connectTo({ ...locator, token: '0'.repeat(64) })).rejects.toMatchObject({ code: 'CUSTODY_PROOF_FALSE' })
})

test('sees a Python daemon leave in order when it is signalled', async () => {
  const where = place('in a namespace')
  const { child, exited, locator } = await serveFromPython(where)
  const client = await connectTo(locator)
  child.kill('SIGTERM')
  await client.ended
  expect(await exited).toEqual(clean)
  expect(where.published()).toEqual(nothing)
})
