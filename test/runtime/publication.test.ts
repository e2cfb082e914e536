import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { watch } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connectRuntime, readLocator } from '@custody/runtime'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { RawClient } from './raw-client.js'
import { sampleLocator } from './sample-locator.js'
import { type Program, startProgram } from './start-program.js'
import { temporaryDirectory } from './temporary-directory.js'

const namespace = `${'0123456789abcdef'.repeat(2)}.q.1`

/** A place for one locator, and the environment of a program that keeps its socket beside it. */
function place(): { directory: string; path: string; env: Record<string, string> } {
  const base = temporaryDirectory()
  const directory = join(base, 'locators')
  mkdirSync(directory)
  return { directory, path: join(directory, 'locator.json'), env: { XDG_RUNTIME_DIR: base } }
}

function startRun(): string {
  const run = temporaryDirectory()
  mkdirSync(join(run, 'registry'), { mode: 0o700 })
  return run
}

async function refusal(
  program: Program,
): Promise<{ code: string; message: string; facts: Record<string, unknown>; cause?: string }> {
  const [, json] = await program.printed(/^refused (.*)$/m)
  // It exits by itself: nothing that it had opened holds it.
  expect(await program.exited).toEqual({ code: 3, signal: null })
  return JSON.parse(json as string)
}

const socketsIn = (base: string) => (existsSync(join(base, 's')) ? readdirSync(join(base, 's')) : [])

test('publishes a private locator that leads to the live process', async () => {
  const { directory, path, env } = place()
  const program = startProgram('serving.js', { args: [path], env })
  await program.printed(/ready/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(directory)).toEqual(['locator.json'])
  const locator = readLocator(path)
  expect(locator).toMatchObject({ name: 'serving', pid: program.pid, namespace: null, details: {} })
  const client = await connectRuntime(locator)
  const { version: _, token: __, created: ___, details: ____, ...same } = locator
  expect(await client.identify()).toEqual({ ...same, locator: path, registryEntry: null, state: 'serving' })
  client.close()
})

test('freezes the real path of the locator, whatever name of its directory was given', async () => {
  const { directory, env } = place()
  const link = join(directory, '..', 'link')
  symlinkSync(directory, link)
  const program = startProgram('serving.js', { args: [join(link, 'locator.json')], env })
  await program.printed(/ready/)
  rmSync(link)
  const client = await connectRuntime(readLocator(join(directory, 'locator.json')))
  expect((await client.identify()).locator).toBe(join(directory, 'locator.json'))
  await client.shutdown()
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(readdirSync(directory)).toEqual([])
})

test('leaves a private copy in the registry of the run that it was born in', async () => {
  const { path } = place()
  const run = startRun()
  const program = startProgram('serving.js', { args: [path], env: { CUSTODY_NAMESPACE: `${namespace}:${run}` } })
  await program.printed(/ready/)
  const locator = readLocator(path)
  const entry = join(run, 'registry', `${namespace}--${locator.instance}.json`)
  expect(locator).toMatchObject({ namespace, endpoint: `unix:${run}/s/${locator.instance.slice(0, 16)}.sock` })
  expect(readLocator(entry)).toEqual({ ...locator, path })
  expect(statSync(entry).mode & 0o777).toBe(0o600)
  expect(readdirSync(join(run, 'registry'))).toHaveLength(1)
  const client = await connectRuntime(locator)
  expect(await client.identify()).toMatchObject({ namespace, registryEntry: entry })
  await client.shutdown()
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect([existsSync(path), readdirSync(join(run, 'registry')), socketsIn(run)]).toEqual([false, [], []])
})

test.each([
  ['a malformed namespace', (run: string) => `x:${run}`],
  ['no colon', () => namespace],
  ['a run that has gone', (run: string) => `${namespace}:${run}.gone`],
  ['a run below a file', (run: string) => `${namespace}:${run}/file/below`],
  ['a run that others can reach', (run: string) => `${namespace}:${run}/public`],
  ['a run that has left only what people look at', (run: string) => `${namespace}:${run}/left`],
  ['a run whose registry is a file', (run: string) => `${namespace}:${run}/odd`],
])('starts outside of every namespace with %s', async (_, value) => {
  const { path, env } = place()
  const run = startRun()
  writeFileSync(join(run, 'file'), '')
  mkdirSync(join(run, 'public', 'registry'), { recursive: true, mode: 0o755 })
  mkdirSync(join(run, 'left', 'ns'), { recursive: true, mode: 0o700 })
  mkdirSync(join(run, 'odd'), { mode: 0o700 })
  writeFileSync(join(run, 'odd', 'registry'), '')
  const program = startProgram('serving.js', { args: [path], env: { ...env, CUSTODY_NAMESPACE: value(run) } })
  await program.printed(/ready/)
  expect(readLocator(path).namespace).toBeNull()
  for (const registry of [join(run, 'registry'), join(run, 'public', 'registry')]) expect(readdirSync(registry)).toEqual([])
  expect([readdirSync(join(run, 'left')), readdirSync(join(run, 'odd'))]).toEqual([['ns'], ['registry']])
})

// In processes of their own: what waits for the writer of a FIFO cannot be interrupted.
test('neither reads nor waits for a FIFO', async () => {
  const { directory, path, env } = place()
  execFileSync('mkfifo', ['-m', '600', path])
  const reading = startProgram('reading.js', { args: [path] })
  const serving = startProgram('serving.js', { args: [path], env })
  await reading.printed(/^refused CUSTODY_LOCATOR_INVALID: it is not a regular file$/m)
  expect(await refusal(serving)).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED', facts: { path } })
  expect([readdirSync(directory), lstatSync(path).isFIFO()]).toEqual([['locator.json'], true])
})

test('does not start over something that is not its own, and leaves nothing behind', async () => {
  const { directory, path } = place()
  const run = startRun()
  writeFileSync(path, 'a letter')
  const program = startProgram('serving.js', { args: [path], env: { CUSTODY_NAMESPACE: `${namespace}:${run}` } })
  expect(await refusal(program)).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED', facts: { path } })
  expect(readFileSync(path, 'utf8')).toBe('a letter')
  expect([readdirSync(directory), readdirSync(join(run, 'registry')), socketsIn(run)]).toEqual([['locator.json'], [], []])
})

test.each([
  ['is missing', (directory: string) => join(directory, 'missing', 'locator.json')],
  ['is a file', (directory: string) => join(directory, 'file', 'locator.json')],
  // A directory of sysfs takes no files, not even from root.
  ['takes no files', () => '/sys/kernel/locator.json'],
])('names the locator whose directory %s, without the token, and leaves nothing behind', async (_, choose) => {
  const { directory } = place()
  writeFileSync(join(directory, 'file'), '')
  const path = choose(directory)
  const run = startRun()
  const program = startProgram('serving.js', { args: [path], env: { CUSTODY_NAMESPACE: `${namespace}:${run}` } })
  const error = await refusal(program)
  expect(error).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED', message: expect.stringContaining(path), facts: { path } })
  // The only secret of a runtime has this form.
  expect(program.output).not.toMatch(/[0-9a-f]{64}/)
  expect([readdirSync(join(run, 'registry')), socketsIn(run)]).toEqual([[], []])
})

// B51, B52: what a killed runtime leaves behind is no obstacle.
test('takes the place of a runtime that was killed, whose pid is free or somebody else', async () => {
  const { directory, path, env } = place()
  const killed = startProgram('serving.js', { args: [path], env })
  await killed.printed(/ready/)
  killed.child.kill('SIGKILL')
  await killed.exited
  const second = startProgram('serving.js', { args: [path, 'second'], env })
  await second.printed(/ready/)
  expect(readLocator(path)).toMatchObject({ name: 'second', pid: second.pid })
  second.child.kill('SIGKILL')
  await second.exited
  // The kernel gives the pid of the dead to this test's own process.
  writeFileSync(path, JSON.stringify({ ...readLocator(path), pid: process.pid }))
  const third = startProgram('serving.js', { args: [path, 'third'], env })
  await third.printed(/ready/)
  expect(readLocator(path)).toMatchObject({ name: 'third', pid: third.pid })
  expect(readdirSync(directory)).toEqual(['locator.json'])
})

test('does not take the place of a live runtime', async () => {
  const { directory, path, env } = place()
  const first = startProgram('serving.js', { args: [path, 'first'], env })
  await first.printed(/ready/)
  const before = readFileSync(path, 'utf8')
  const error = await refusal(startProgram('serving.js', { args: [path], env }))
  expect(error).toMatchObject({
    code: 'CUSTODY_PUBLICATION_FAILED',
    message: expect.stringContaining(`"first" (pid ${first.pid})`),
  })
  expect(readFileSync(path, 'utf8')).toBe(before)
  expect(readdirSync(directory)).toEqual(['locator.json'])
  expect((await (await connectRuntime(readLocator(path))).identify()).name).toBe('first')
})

/** Leaves what a runtime leaves that was killed: its locator. */
function leaveLocator(path: string): void {
  writeFileSync(path, JSON.stringify(sampleLocator()), { mode: 0o600 })
}

/** Leaves what was left by one that was killed while it cleared that locator away. */
function leaveClaim(path: string): void {
  const claim = join(path, '..', `.locator.json.${sampleLocator().instance}.stale`)
  writeFileSync(claim, JSON.stringify({ ...ownIdentity(), start: '1' }), { mode: 0o600 })
}

test.each<[string, ...((path: string) => void)[]]>([
  ['an empty directory'],
  ['the locator of a dead runtime', leaveLocator],
  ['the locator of a dead runtime that a dead one has claimed', leaveLocator, leaveClaim],
])('lets exactly one of twenty processes publish at %s', async (_, ...leave) => {
  const { directory, path, env } = place()
  for (const leaveOne of leave) leaveOne(path)
  const programs = Array.from({ length: 20 }, (_, index) => startProgram('serving.js', { args: [path, `number ${index}`], env }))
  const verdicts = await Promise.all(programs.map((program) => program.printed(/^(ready)$|^refused (.*)$/m)))
  const winners = programs.filter((_, index) => verdicts[index]?.[1] === 'ready')
  expect(winners).toHaveLength(1)
  for (const [, , json] of verdicts)
    if (json !== undefined) expect(JSON.parse(json)).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED' })
  await Promise.all(programs.filter((program) => program !== winners[0]).map(({ exited }) => exited))
  expect(readdirSync(directory)).toEqual(['locator.json'])
  const locator = readLocator(path)
  expect(locator.pid).toBe(winners[0]?.pid)
  expect((await (await connectRuntime(locator)).identify()).pid).toBe(winners[0]?.pid)
  expect(socketsIn(join(env['XDG_RUNTIME_DIR'] as string, 'custody'))).toEqual([`${locator.instance.slice(0, 16)}.sock`])
})

test.each<[string, string[], ...((path: string) => void)[]]>([
  ['nothing', []],
  ['nothing but the locator of a dead runtime that was there', ['locator.json'], leaveLocator],
])('leaves %s behind when not one byte can be written', async (_, left, ...leave) => {
  const { directory, path, env } = place()
  for (const leaveOne of leave) leaveOne(path)
  const program = startProgram('serving.js', { args: [path], env, before: 'ulimit -f 0' })
  expect(await refusal(program)).toMatchObject({
    code: 'CUSTODY_PUBLICATION_FAILED',
    message: expect.stringContaining('EFBIG'),
  })
  expect(readdirSync(directory)).toEqual(left)
  if (left.length > 0) expect(readLocator(path)).toEqual(sampleLocator())
})

test('names the entry of the registry that cannot be written, and leaves nothing behind', async () => {
  const { directory, path } = place()
  const run = startRun()
  const env = { CUSTODY_NAMESPACE: `${namespace}:${run}` }
  const error = await refusal(startProgram('serving.js', { args: [path], env, before: 'ulimit -f 0' }))
  expect(error).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED', message: expect.stringContaining(join(run, 'registry')) })
  expect([readdirSync(directory), readdirSync(join(run, 'registry')), socketsIn(run)]).toEqual([[], [], []])
})

/** A port at which whoever connects waits, until the program is told to accept or is killed. */
async function startSilence(): Promise<{ program: Program; port: number }> {
  const program = startProgram('listening-without-accepting.js')
  const [, port] = (await program.printed(/listens on (\d+)/)) as unknown as [string, number]
  // These two are as many as its queue holds.
  for (let count = 0; count < 2; count++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
  }
  return { program, port }
}

/**
 * A runtime that has not published yet and can be reached by its registry entry. It waits for an answer at the port of an old
 * locator, and publishes when nobody listens there any more.
 */
async function startHeldUp(): Promise<{ program: Program; client: RawClient; path: string; entry: string; silence: Program }> {
  const { program: silence, port } = await startSilence()
  const { path } = place()
  const stale = sampleLocator({ ...ownIdentity(), pidns: 'pid:[1]', endpoint: `tcp:127.0.0.1:${port}` })
  writeFileSync(path, JSON.stringify(stale), { mode: 0o600 })
  const run = startRun()
  const registry = join(run, 'registry')
  const changes = watch(registry)
  const program = startProgram('serving.js', { args: [path], env: { CUSTODY_NAMESPACE: `${namespace}:${run}` } })
  for await (const { filename } of changes) if (filename !== null && !filename.startsWith('.')) break
  const [name] = readdirSync(registry).filter((each) => !each.startsWith('.'))
  const entry = join(registry, name as string)
  const locator = readLocator(entry)
  const client = new RawClient(locator.endpoint)
  onTestFinished(() => void client.socket.destroy())
  await client.hello(locator)
  return { program, client, path, entry, silence }
}

test('lets those wait who ask before it has published, and answers them then', async () => {
  const { program, client, path, silence } = await startHeldUp()
  const answer = client.ask('identify', {}).then((answered) => ({ answered, published: readLocator(path).pid }))
  silence.child.kill('SIGKILL')
  expect(await answer).toMatchObject({ answered: { result: { pid: program.pid, state: 'serving' } }, published: program.pid })
  await client.ask('shutdown', {})
  expect(await program.exited).toEqual({ code: 0, signal: null })
})

test('does not answer those who asked for its shutdown when it cannot publish', async () => {
  const { program, client, silence } = await startHeldUp()
  const answer = client.ask('shutdown', {})
  silence.tell('accept')
  expect(await refusal(program)).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED' })
  expect(await answer).toBeNull()
  expect(program.output).not.toContain('draining')
})

test('says why it cannot publish, also when it cannot take its entry away', async () => {
  const { program, entry, silence } = await startHeldUp()
  rmSync(entry)
  mkdirSync(entry)
  silence.tell('accept')
  expect(await refusal(program)).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED' })
  await program.printed(/EISDIR|EPERM/)
})

test('hears nothing of an idle time that has passed when it cannot publish', async () => {
  const { program: silence, port } = await startSilence()
  const { path, env } = place()
  const stale = sampleLocator({ ...ownIdentity(), pidns: 'pid:[1]', endpoint: `tcp:127.0.0.1:${port}` })
  writeFileSync(path, JSON.stringify(stale), { mode: 0o600 })
  const program = startProgram('idle-before-it-is-refused.js', { args: [path], env })
  await program.printed(/was idle/)
  silence.tell('accept')
  expect(await refusal(program)).toMatchObject({ code: 'CUSTODY_PUBLICATION_FAILED' })
})

// B58
test('says how long the path of its socket would be, and makes nothing', async () => {
  const { directory, path } = place()
  const long = join(temporaryDirectory(), 'x'.repeat(200))
  mkdirSync(long)
  const error = await refusal(startProgram('serving.js', { args: [path], env: { XDG_RUNTIME_DIR: long } }))
  expect(error).toMatchObject({
    code: 'CUSTODY_SOCKET_PATH_TOO_LONG',
    message: expect.stringMatching(/the path has 2\d\d bytes/),
  })
  expect([readdirSync(long), readdirSync(directory)]).toEqual([[], []])
})

test.each([
  ['others can reach', (path: string) => mkdirSync(path, { mode: 0o755 })],
  ['is a symbolic link', (path: string) => symlinkSync(temporaryDirectory(), path)],
])('does not listen in a directory that %s', async (_, put) => {
  const { directory, path, env } = place()
  const base = join(env['XDG_RUNTIME_DIR'] as string, 'custody')
  mkdirSync(base, { mode: 0o700 })
  put(join(base, 's'))
  const error = await refusal(startProgram('serving.js', { args: [path], env }))
  expect(error).toMatchObject({ code: 'CUSTODY_UNSAFE_DIRECTORY', message: expect.stringContaining(join(base, 's')) })
  expect([readdirSync(directory), socketsIn(base)]).toEqual([[], []])
})

test('does not remove the locator of another runtime at its path when it leaves', async () => {
  const { directory, path, env } = place()
  const program = startProgram('serving.js', { args: [path], env })
  await program.printed(/ready/)
  const client = await connectRuntime(readLocator(path))
  writeFileSync(path, JSON.stringify(sampleLocator()))
  await client.shutdown()
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(readdirSync(directory)).toEqual(['locator.json'])
  expect(readLocator(path)).toEqual(sampleLocator())
})

test('leaves its own locator alone where somebody has moved it', async () => {
  const { directory, path, env } = place()
  const program = startProgram('serving.js', { args: [path], env })
  await program.printed(/ready/)
  renameSync(path, `${path}.moved`)
  const client = await connectRuntime(readLocator(`${path}.moved`))
  expect((await client.identify()).locator).toBe(path)
  await client.shutdown()
  expect(await program.exited).toEqual({ code: 0, signal: null })
  expect(readdirSync(directory)).toEqual(['locator.json.moved'])
})
