import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectRuntime, type Locator, type RuntimeClient, readLocator } from '@custody/runtime'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { RawClient } from './raw-client.js'
import { sampleLocator } from './sample-locator.js'
import { type Program, startProgram } from './start-program.js'
import { temporaryDirectory } from './temporary-directory.js'

const root = '0123456789abcdef'.repeat(2)

interface Served {
  program: Program
  path: string
  locator: Locator
  run: string
}

/** A published program, born in the namespace `<root>.A.1` of a run of its own. */
async function serve(name: string, ...args: string[]): Promise<Served> {
  const run = temporaryDirectory()
  mkdirSync(join(run, 'registry'), { mode: 0o700 })
  mkdirSync(join(run, 'place'))
  const path = join(run, 'place', 'locator.json')
  const program = startProgram(name, { args: [path, ...args], env: { CUSTODY_NAMESPACE: `${root}.A.1:${run}` } })
  await program.printed(/ready/)
  return { program, path, locator: readLocator(path), run }
}

async function connectTo(locator: Locator): Promise<RuntimeClient> {
  const client = await connectRuntime(locator, { timeoutMs: 20_000 })
  onTestFinished(() => client.close())
  return client
}

async function rawClient(locator: Locator): Promise<RawClient> {
  const client = new RawClient(locator.endpoint)
  onTestFinished(() => void client.socket.destroy())
  await client.hello(locator)
  return client
}

const clean = { code: 0, signal: null }
const failed = { code: 1, signal: null }
/** What a runtime that has left leaves behind in its run: nothing. */
const leftovers = ({ run }: Served) => ['place', 'registry', 's'].flatMap((name) => readdirSync(join(run, name)))

test("takes an operator's stop, on the word of the token alone", async () => {
  const served = await serve('serving.js')
  const client = await connectTo(served.locator)
  expect(await client.shutdown()).toMatchObject({ already: false })
  expect(await served.program.exited).toEqual(clean)
  expect(served.program.output).toContain('draining because of request')
  expect(leftovers(served)).toEqual([])
})

test.each([
  ['its own namespace', `${root}.A.1`],
  ['a scope above its own', `${root}.A`],
  ['the root of its run', root],
])('accepts its true owner, who expects %s', async (_, namespace) => {
  const served = await serve('serving.js')
  const client = await connectTo(served.locator)
  const { locator, instance } = await client.identify()
  expect(await client.shutdown({ expect: { locator, instance, namespace } })).toMatchObject({ already: false })
  expect(await served.program.exited).toEqual(clean)
  expect(leftovers(served)).toEqual([])
})

test('accepts its registry entry for its locator', async () => {
  const served = await serve('serving.js')
  const client = await connectTo(served.locator)
  const { registryEntry, instance } = await client.identify()
  await client.shutdown({ expect: { locator: registryEntry as string, instance, namespace: root } })
  expect(await served.program.exited).toEqual(clean)
})

test('accepts it by its registry entry after its locator was deleted', async () => {
  const served = await serve('serving.js')
  rmSync(served.path)
  const [entry] = readdirSync(join(served.run, 'registry'))
  const client = await connectTo(readLocator(join(served.run, 'registry', entry as string)))
  await client.shutdown()
  expect(await served.program.exited).toEqual(clean)
  expect(leftovers(served)).toEqual([])
})

test('accepts its true owner when its path alone is longer than a stranger may speak', async () => {
  const directory = join(temporaryDirectory(), ...Array.from({ length: 12 }, () => 'd'.repeat(240)))
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'locator.json')
  const program = startProgram('serving.js', { args: [path], env: { XDG_RUNTIME_DIR: temporaryDirectory() } })
  await program.printed(/ready/)
  const { instance } = readLocator(path)
  const client = await connectTo(readLocator(path))
  await client.shutdown({ expect: { locator: path, instance, namespace: root } })
  expect(await program.exited).toEqual(clean)
})

test('refuses whoever expects something else, changes nothing, and still obeys its true owner', async () => {
  const served = await serve('serving.js')
  const client = await connectTo(served.locator)
  const before = await client.identify()
  const right = { locator: served.path, instance: served.locator.instance, namespace: `${root}.A` }
  const wrong: [string, object][] = [
    ['another instance is expected', { instance: '0'.repeat(32) }],
    ['another locator is expected', { locator: `${served.path}.copy` }],
    ['another namespace is expected', { namespace: `${root}.B` }],
    ['another namespace is expected', { namespace: `${root}.A.1.x` }],
    ['another namespace is expected', { namespace: `${root}.A.` }],
    ['another namespace is expected', { namespace: `${root}.A.11` }],
  ]
  for (const [reason, change] of wrong) {
    await expect(client.shutdown({ expect: { ...right, ...change } })).rejects.toMatchObject({
      code: 'CUSTODY_NOT_OWNER',
      facts: { name: 'serving', reason },
    })
  }
  expect(await client.identify()).toEqual(before)
  expect(readLocator(served.path)).toEqual(served.locator)
  expect(served.program.output).toBe('ready\n')
  await client.shutdown({ expect: right })
  expect(await served.program.exited).toEqual(clean)
})

test('does not take r.A for a scope above r.AB', async () => {
  const served = await serve('serving.js')
  const client = await connectTo(served.locator)
  const right = { locator: served.path, instance: served.locator.instance }
  await expect(client.shutdown({ expect: { ...right, namespace: `${root}.A.1`.slice(0, -3) } })).rejects.toMatchObject({
    code: 'CUSTODY_NOT_OWNER',
  })
})

test('takes no malformed shutdown for a stop', async () => {
  const served = await serve('serving.js')
  const client = await rawClient(served.locator)
  const right = { locator: served.path, instance: served.locator.instance, namespace: root }
  const malformed = [
    null,
    false,
    true,
    0,
    '',
    'x',
    [],
    {},
    [right],
    { ...right, namespace: null },
    { ...right, instance: undefined },
  ]
  for (const expected of malformed) {
    expect(await client.ask('shutdown', { expect: expected }), JSON.stringify(expected)).toMatchObject({
      error: { code: -32_000, data: { code: 'not_owner', reason: expect.any(String) } },
    })
  }
  // By position, misspelt, not in its place, and none.
  const misplaced = [[right], [{ expect: right }], [], { expects: {} }, { expects: right }, right, 'x', 1, null]
  const graces = [-1, 'x', '1', null, true, [1]].map((graceMs) => ({ graceMs }))
  for (const params of [...misplaced, ...graces]) {
    expect(await client.ask('shutdown', params), JSON.stringify(params)).toMatchObject({ error: { code: -32_602 } })
  }
  expect(await client.ask('identify', {})).toMatchObject({ result: { state: 'serving' } })
  expect(served.program.output).toBe('ready\n')
  expect(await client.ask('shutdown', { expect: right })).toMatchObject({ result: { accepted: true, already: false } })
  expect(await served.program.exited).toEqual(clean)
})

test("takes a request without parameters for an operator's stop", async () => {
  const served = await serve('serving.js')
  const client = await rawClient(served.locator)
  expect(await client.ask('shutdown')).toMatchObject({ result: { accepted: true } })
  expect(await served.program.exited).toEqual(clean)
})

test('accepts two clients at once, and tells the second that it drains already', async () => {
  const served = await serve('draining-until-told.js')
  const [first, second] = [await connectTo(served.locator), await connectTo(served.locator)]
  expect(await first.shutdown()).toMatchObject({ already: false })
  await served.program.printed(/draining because of request/)
  expect(await second.shutdown()).toMatchObject({ already: true })
  expect(await second.identify()).toMatchObject({ state: 'draining' })
  served.program.tell('done')
  await Promise.all([first.ended, second.ended])
  expect(await served.program.exited).toEqual(clean)
})

test('says in order that it has accepted, drains, and has drained', async () => {
  const served = await serve('working-until-told.js')
  const client = await rawClient(served.locator)
  const late = await rawClient(served.locator)
  const body = async (from: RawClient) => JSON.parse(JSON.parse((await from.line()) as string).body)
  client.send(client.seal({ jsonrpc: '2.0', id: 7, method: 'shutdown', params: {} }))
  expect(await body(client)).toEqual({ jsonrpc: '2.0', id: 7, result: { accepted: true, already: false } })
  expect(await body(client)).toEqual({ jsonrpc: '2.0', method: 'draining', params: { pending: 1 } })
  expect(await late.ask('shutdown', {})).toMatchObject({ result: { already: true } })
  // Accepted is not drained: the locator is there for as long as the work.
  expect(existsSync(served.path)).toBe(true)
  served.program.tell('done')
  expect(await body(client)).toEqual({ jsonrpc: '2.0', method: 'drained' })
  expect(await body(late)).toEqual({ jsonrpc: '2.0', method: 'drained' })
  expect(await served.program.exited).toEqual(clean)
  expect(served.program.output).toContain('work done')
})

test('answers questions while it drains, on open connections and on new ones', async () => {
  const served = await serve('draining-until-told.js')
  const client = await connectTo(served.locator)
  await client.shutdown()
  await served.program.printed(/draining/)
  expect(await client.identify()).toMatchObject({ state: 'draining' })
  expect(await (await connectTo(served.locator)).identify()).toMatchObject({ state: 'draining' })
  await expect(client.shutdown({ expect: { locator: '/x', instance: 'x', namespace: 'x' } })).rejects.toMatchObject({
    code: 'CUSTODY_NOT_OWNER',
  })
  served.program.tell('done')
  expect(await served.program.exited).toEqual(clean)
})

test.each(['SIGTERM', 'SIGINT'] as const)('drains, removes its locator and exits with code 0 on %s', async (signal) => {
  const served = await serve('serving.js')
  served.program.child.kill(signal)
  expect(await served.program.exited).toEqual(clean)
  expect(served.program.output).toContain('draining because of signal')
  expect(leftovers(served)).toEqual([])
})

test('is not hurried by a second signal', async () => {
  const served = await serve('draining-until-told.js')
  served.program.child.kill('SIGTERM')
  await served.program.printed(/draining because of signal/)
  served.program.child.kill('SIGTERM')
  await served.program.printed(/got SIGTERM[\s\S]*got SIGTERM/)
  expect(await (await connectTo(served.locator)).identify()).toMatchObject({ state: 'draining' })
  served.program.tell('done')
  expect(await served.program.exited).toEqual(clean)
  expect(served.program.output.match(/draining because/g)).toHaveLength(1)
})

test('exits when it is idle, also while somebody asks who it is', async () => {
  const served = await serve('leaving-when-idle.js', '400')
  const client = await connectTo(served.locator)
  let answers = 0
  const asking = (async () => {
    for (;;) {
      await client.identify()
      answers++
    }
  })()
  // It ends only because the runtime leaves.
  await expect(asking).rejects.toMatchObject({ code: 'CUSTODY_CONNECTION_CLOSED' })
  expect(answers).toBeGreaterThan(0)
  expect(await served.program.exited).toEqual(clean)
  expect(served.program.output).toContain('draining because of idle')
  expect(leftovers(served)).toEqual([])
})

test('is not idle while it works', async () => {
  const [working, idle] = await Promise.all([
    serve('leaving-when-idle.js', '1000', 'working'),
    serve('leaving-when-idle.js', '1000'),
  ])
  // The other one's idle time has passed, and so would have this one's.
  expect(await idle.program.exited).toEqual(clean)
  expect(await (await connectTo(working.locator)).identify()).toMatchObject({ state: 'serving' })
  working.program.tell('end')
  expect(await working.program.exited).toEqual(clean)
})

test('publishes before it can be idle, and leaves nothing behind with no patience at all', async () => {
  const directory = temporaryDirectory()
  // The locator of a dead container: to learn that it is dead takes some turns, and these are longer than no time.
  const stale = sampleLocator({ ...ownIdentity(), pidns: 'pid:[1]', endpoint: `unix:${directory}/none.sock` })
  const programs = Array.from({ length: 5 }, (_, index) => {
    const path = join(directory, `${index}.json`)
    writeFileSync(path, JSON.stringify(stale), { mode: 0o600 })
    return startProgram('leaving-when-idle.js', { args: [path, '0'], env: { XDG_RUNTIME_DIR: directory } })
  })
  for (const program of programs) {
    expect(await program.exited).toEqual(clean)
    await program.printed(/draining because of idle/)
  }
  expect(readdirSync(directory)).toEqual(['custody'])
})

test('cuts a drain that takes too long, exits with code 1, and leaves its locator', async () => {
  const served = await serve('draining-for-ever.js', '100')
  await (await connectTo(served.locator)).shutdown()
  expect(await served.program.exited).toEqual(failed)
  expect(served.program.output).toContain('out of time')
  expect(readLocator(served.path)).toEqual(served.locator)
})

test.each([
  ['shortens its drain to what the caller will wait', '600000', 50],
  ['keeps a second of what the caller will wait for the time after a cut', '600000', 1_200],
  ['never lengthens its drain', '100', 600_000],
  ['keeps its own limit when the caller would wait for ever', '100', Infinity],
])('%s', async (_, drainMs, graceMs) => {
  const served = await serve('draining-for-ever.js', drainMs)
  await (await connectTo(served.locator)).shutdown({ graceMs })
  expect(await served.program.exited).toEqual(failed)
  expect(served.program.output).toContain('drain of at most 200 ms')
})

test('exits with code 1, says why, and leaves its locator when its product cannot shut down', async () => {
  const served = await serve('throwing-in-shutdown.js')
  await (await connectTo(served.locator)).shutdown()
  expect(await served.program.exited).toEqual(failed)
  expect(served.program.output).toContain('the disk is full')
  expect(readLocator(served.path)).toEqual(served.locator)
})

test('leaves a host alone after its close, with its signals, and does not hold it', async () => {
  const served = await serve('staying-after-shutdown.js')
  served.program.tell('close')
  await served.program.printed(/closed; listens to SIGTERM 0 times/)
  expect(await served.program.exited).toEqual(clean)
  expect(leftovers(served)).toEqual([])
})

test('tells a host that its product cannot shut down, and leaves the locator', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  const program = startProgram('failing-to-close.js', { args: [path], env: { XDG_RUNTIME_DIR: directory } })
  await program.printed(/heard that the disk is full/)
  expect(await program.exited).toEqual({ code: 7, signal: null })
  expect(readLocator(path).name).toBe('failing-to-close')
})

test('tells a host that nobody asked what went wrong, and does not end it', async () => {
  const served = await serve('outliving-its-shutdown.js')
  const client = await connectTo(served.locator)
  expect(await client.shutdown()).toMatchObject({ already: false })
  await served.program.printed(/the disk is full/)
  served.program.tell('end')
  await served.program.printed(/still here/)
  expect(await served.program.exited).toEqual({ code: 7, signal: null })
  expect(readLocator(served.path)).toEqual(served.locator)
})

test('gives a host that it cannot drain its signals back, and holds no connection', async () => {
  const served = await serve('outliving-its-shutdown.js')
  const client = await connectTo(served.locator)
  await client.shutdown()
  await served.program.printed(/the disk is full/)
  await client.ended
  await expect(connectRuntime(served.locator)).rejects.toMatchObject({ code: 'CUSTODY_CONNECT_FAILED' })
  served.program.child.kill('SIGTERM')
  expect(await served.program.exited).toEqual({ code: null, signal: 'SIGTERM' })
})

test('keeps the exit code that its product has set', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  const program = startProgram('closing-with-a-code.js', { args: [path], env: { XDG_RUNTIME_DIR: directory } })
  expect(await program.exited).toEqual({ code: 4, signal: null })
  expect(existsSync(path)).toBe(false)
})

test('does not serve from a worker thread', async () => {
  const directory = temporaryDirectory()
  const program = startProgram('serving-in-a-thread.js', {
    args: [join(directory, 'locator.json')],
    env: { XDG_RUNTIME_DIR: directory },
  })
  await program.printed(/refused CUSTODY_NOT_MAIN_THREAD/)
  expect(await program.exited).toEqual(clean)
  expect(readdirSync(directory)).toEqual([])
})
