import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Locator, readLocator } from '@custody/runtime'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { serveRuntime } from '../../packages/runtime/src/serve/serve-runtime.js'
import { RawClient } from '../runtime/raw-client.js'
import { temporaryDirectory } from '../runtime/temporary-directory.js'

// The last guard stands in the runtime itself: whatever was proved before, it compares at the moment of the shutdown. Here it is served from
// the sources, in this process, so that it is seen when one of its checks is taken out.

const id = `${'0123456789abcdef'.repeat(2)}.A.1`

interface Served {
  readonly locator: Locator
  /** What its true owner expects. */
  readonly right: { readonly locator: string; readonly instance: string; readonly namespace: string }
  readonly registryEntry: string
  readonly onShutdown: ReturnType<typeof vi.fn>
}

afterEach(() => vi.unstubAllEnvs())

async function serve(namespace: string | null = id): Promise<Served> {
  const run = temporaryDirectory()
  for (const name of ['registry', 'place']) mkdirSync(join(run, name), { mode: 0o700 })
  vi.stubEnv('CUSTODY_NAMESPACE', namespace === null ? undefined : `${namespace}:${run}`)
  vi.stubEnv('XDG_RUNTIME_DIR', run)
  const path = join(run, 'place', 'locator.json')
  const onShutdown = vi.fn()
  const runtime = await serveRuntime({ name: 'guarded', locator: path, onShutdown, exit: false, signals: false })
  onTestFinished(() => runtime.close())
  const { instance } = runtime
  const registryEntry = join(run, 'registry', `${namespace}--${instance}.json`)
  return { locator: readLocator(path), right: { locator: path, instance, namespace: id }, registryEntry, onShutdown }
}

async function greet(locator: Locator): Promise<RawClient> {
  const client = new RawClient(locator.endpoint)
  onTestFinished(() => void client.socket.destroy())
  await client.hello(locator)
  return client
}

/** Whether it serves as if nothing had been, and has not been told to stop. An answer comes after all that the request has caused. */
async function isUntouched({ locator, onShutdown }: Served): Promise<boolean> {
  const answer = await (await greet(locator)).ask('identify', {})
  return answer?.result?.['state'] === 'serving' && onShutdown.mock.calls.length === 0
}

const stop = { jsonrpc: '2.0', id: 1, method: 'shutdown', params: {} }

test.each<[string, RegExp, (right: Served['right']) => unknown]>([
  ['another instance', /^another instance/, (right) => ({ ...right, instance: '0'.repeat(32) })],
  ['another locator', /^another locator/, (right) => ({ ...right, locator: `${right.locator}.copy` })],
  [
    'another spelling of its locator',
    /^another locator/,
    (right) => ({ ...right, locator: right.locator.replace('/place/', '/./place/') }),
  ],
  ['another namespace', /^another namespace/, (right) => ({ ...right, namespace: `${id}x` })],
  ['a namespace below', /^another namespace/, (right) => ({ ...right, namespace: `${id}.x` })],
  ['no namespace', /not complete$/, ({ instance, locator }) => ({ instance, locator })],
  ['no instance', /not complete$/, ({ locator, namespace }) => ({ locator, namespace })],
  ['no locator', /not complete$/, ({ instance, namespace }) => ({ instance, namespace })],
  ['a list', /^the expectation is not/, (right) => [right]],
  ['null', /not an object$/, () => null],
  ['nothing of all', /not complete$/, () => ({})],
  ['a word', /not an object$/, () => 'x'],
])('refuses who expects %s, and nothing happens', async (_, reason, expectation) => {
  const served = await serve()
  const client = await greet(served.locator)
  const answer = await client.ask('shutdown', { expect: expectation(served.right) })
  expect(answer).toMatchObject({ error: { code: -32_000, data: { code: 'not_owner', reason: expect.stringMatching(reason) } } })
  expect(await isUntouched(served)).toBe(true)
})

test.each([
  null,
  [],
  'x',
  7,
  { expects: {} },
  { expect: undefined, Expect: {} },
  { graceMs: -1 },
  { graceMs: '5' },
  { graceMs: null },
])('takes the parameters %j for no stop', async (params) => {
  const served = await serve()
  const answer = await (await greet(served.locator)).ask('shutdown', params)
  expect(answer).toMatchObject({ error: { code: -32_602 } })
  expect(await isUntouched(served)).toBe(true)
})

test.each<[string, (client: RawClient, other: RawClient) => string]>([
  ['a wrong code', (client) => client.seal(stop, { mac: 'f'.repeat(64) })],
  ['an empty code', (client) => client.seal(stop, { mac: '' })],
  ['the code of an answer', (client) => client.seal(stop, { direction: 's2c' })],
  ['the place of another line', (client) => client.seal(stop, { seq: 1 })],
  ['the line of another session', (_, other) => other.seal(stop)],
  ['another text below its code', (client) => client.seal({ ...stop, method: 'identifi' }).replace('identifi', 'shutdown')],
  ['a line twice', (client) => client.seal({ ...stop, method: 'identify' }).repeat(2)],
  ['no code at all', () => `${JSON.stringify(stop)}\n`],
])('drops who sends %s, and nothing happens', async (_, speak) => {
  const served = await serve()
  const [client, other] = await Promise.all([greet(served.locator), greet(served.locator)])
  client.send(speak(client, other))
  await client.dropped
  expect(await isUntouched(served)).toBe(true)
})

test.each(['shutdown', 'identify', 'Hello', ''])('drops who begins with "%s" instead of a hello', async (method) => {
  const served = await serve()
  const client = new RawClient(served.locator.endpoint)
  client.send(`${JSON.stringify({ ...stop, method, params: { protocol: 'custody/1', nonce: '1'.repeat(64) } })}\n`)
  await client.dropped
  expect(client.received).toEqual([])
  expect(await isUntouched(served)).toBe(true)
})

test('obeys its owner, by its locator or by its entry of the registry, from its namespace or one above', async () => {
  for (const change of [{}, { namespace: id.slice(0, -2) }, { entry: true }] as const) {
    const served = await serve()
    const expected = { ...served.right, ...change, ...('entry' in change && { locator: served.registryEntry }) }
    const answer = await (await greet(served.locator)).ask('shutdown', { expect: expected, graceMs: 5_000 })
    expect(answer).toMatchObject({ result: { accepted: true, already: false } })
    await vi.waitFor(() => expect(served.onShutdown).toHaveBeenCalledOnce(), 20_000)
  }
})

test('has no namespace to compare where it was born in none, and compares the rest', async () => {
  const served = await serve(null)
  const client = await greet(served.locator)
  for (const change of [{ instance: '0'.repeat(32) }, { locator: served.registryEntry }])
    expect(await client.ask('shutdown', { expect: { ...served.right, ...change } })).toMatchObject({ error: { code: -32_000 } })
  expect(await isUntouched(served)).toBe(true)
  expect(await client.ask('shutdown', { expect: served.right })).toMatchObject({ result: { accepted: true } })
})
