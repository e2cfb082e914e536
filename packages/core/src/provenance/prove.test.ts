import { once } from 'node:events'
import { chmodSync, mkdirSync, renameSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { Identity, Locator } from '@custody/runtime'
import { Deadline, METHOD_NOT_FOUND, ownIdentity, ProtocolServer, readLocator, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { serveAnswers } from '../../../../test/runtime/serve-answers.js'
import { type Program, startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { collectActs } from '../../../../test/witness/collect-acts.js'
import type { CapturedLocator } from '../locators/capture.js'
import { newRunId } from '../namespace/namespace-id.js'
import { judge } from './judge.js'
import { type Proof, type ProofContext, prove } from './prove.js'

/** For those that answer: nobody waits for it. */
const LONG_MS = 20_000
/** For those that never will. */
const SHORT_MS = 50
/** For who answers at once; whoever answers wrongly is looked at for as long. */
const AMPLE_MS = 3_000

const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })
/** A runner as old as the first process, and whose child nobody here is. */
const elder: Identity = { ...ownIdentity(), pid: 2 ** 22 + 1, start: '1' }

const scope = `${newRunId(null)}.f1`
const contextOf = (changes: Partial<ProofContext> = {}): ProofContext => ({
  run: { id: scope.split('.')[0] as string, runner: elder },
  scope,
  proofMs: LONG_MS,
  ...changes,
})

const captured = (locator: Locator, path: string): CapturedLocator => ({ source: 'glob', path, locator, unreadable: null })

/** Proves, and closes the session when the test has finished. Nobody gets a signal, whatever comes of it. */
async function proveOne(
  given: CapturedLocator | readonly CapturedLocator[],
  changes: Partial<ProofContext> = {},
): Promise<Proof> {
  const acts = collectActs()
  const copies = [given].flat() as [CapturedLocator, ...CapturedLocator[]]
  const proof = await prove(copies, contextOf(changes), Deadline.after(LONG_MS))
  onTestFinished(() => proof.session?.close())
  expect(acts).toEqual([])
  return proof
}

interface Daemon {
  readonly program: Program
  readonly locator: Locator
  readonly path: string
  readonly identity: Identity
}

/** Starts a daemon of test/programs, with the namespace that it is given, and reads what it has published. */
async function startDaemon(name: string, namespace: string | null = `${scope}.1`): Promise<Daemon> {
  const home = temporaryDirectory()
  mkdirSync(join(home, 'registry'), { mode: 0o700 })
  const env = {
    ...{ HOME: home, XDG_RUNTIME_DIR: home, TMPDIR: home },
    ...(namespace === null ? {} : { CUSTODY_NAMESPACE: `${namespace}:${home}` }),
  }
  const program = startProgram('daemons/daemon-saying-when-ready.js', { args: [name], env })
  await program.printed(/ready/)
  const path = join(home, `${name}.json`)
  return { program, path, locator: readLocator(path), identity: identityOf(program.pid) }
}

/** A server that does the same to everybody, and a locator with which it is found. */
async function impostor(treat: (socket: Socket) => void, identity: Partial<Locator>): Promise<CapturedLocator> {
  const server = createServer(treat)
  const endpoint = await listen(server)
  return captured(sampleLocator({ ...ownIdentity(), ...identity, endpoint }), '/x.json')
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return `tcp:127.0.0.1:${(server.address() as { port: number }).port}`
}

/** Somebody who is alive and no part of the run. */
async function stranger(env: Record<string, string> = {}): Promise<{ program: Program; identity: Identity }> {
  const program = startProgram('processes/waiting.js', { env })
  await program.printed(/ready/)
  return { program, identity: identityOf(program.pid) }
}

test('shows that a runtime was born in the scope and has published this very locator', async () => {
  const { identity, locator, path } = await startDaemon('obeying')
  const { evidence, session } = await proveOne(captured(locator, path))
  expect(evidence).toEqual({
    ...{ source: 'glob', path, unreadable: null, scope, role: null, isOlderThanRun: false, answer: 'authentic' },
    ...{ statement: 'complete', namespace: `${scope}.1`, isInScope: true, frozenPath: path, isPathEqual: true },
    ...{ recorded: 'alive', born: 'environment', isSeenAlive: true, identity },
  })
  expect(session).not.toBe(null)
  expect(judge(evidence).verdict).toBe('owned')
})

test('takes any of several captures of one publication that has the published path', async () => {
  const { locator, path } = await startDaemon('obeying')
  const copies = [captured(locator, '/elsewhere/copy.json'), captured(locator, path)]
  expect((await proveOne(copies)).evidence).toMatchObject({ path, isPathEqual: true })
})

test('takes the entry of the registry for what was published as well', async () => {
  const { locator, path } = await startDaemon('obeying')
  const entry = join(dirname(path), 'registry', `${locator.namespace}--${locator.instance}.json`)
  const { evidence } = await proveOne({ ...captured(locator, entry), source: 'registry' })
  expect(evidence).toMatchObject({ path: entry, frozenPath: path, isPathEqual: true })
  expect(judge(evidence).verdict).toBe('owned')
})

test('shows that a copied locator was not published there', async () => {
  const { locator, path } = await startDaemon('obeying')
  const { evidence } = await proveOne(captured(locator, '/elsewhere/copy.json'))
  expect(evidence).toMatchObject({ answer: 'authentic', path: '/elsewhere/copy.json', frozenPath: path, isPathEqual: false })
  expect(judge(evidence).verdict).toBe('foreign')
})

test('shows that a runtime belongs to another namespace', async () => {
  const other = `${newRunId(null)}.f1`
  const { locator, path } = await startDaemon('obeying', other)
  const { evidence } = await proveOne(captured(locator, path))
  expect(evidence).toMatchObject({ answer: 'authentic', namespace: other, isInScope: false, born: 'no' })
  expect(judge(evidence).verdict).toBe('foreign')
})

test('shows by the kernel where a runtime was born that knows of no namespace', async () => {
  const { locator, path } = await startDaemon('published-without-a-namespace')
  const { evidence } = await proveOne(captured(locator, path))
  expect(evidence).toMatchObject({ answer: 'authentic', namespace: null, born: 'environment' })
  expect(judge(evidence).verdict).toBe('owned')
})

test('does not let a locator speak for another instance', async () => {
  const { locator, path } = await startDaemon('obeying')
  const { evidence } = await proveOne(captured({ ...locator, instance: 'b'.repeat(32) }, path))
  expect(evidence).toMatchObject({ answer: 'authentic', statement: 'another instance', namespace: null, frozenPath: null })
  expect(judge(evidence).verdict).toBe('unproven')
})

test.each([
  ['pid', 1],
  ['start', '1'],
])('does not say that a process was seen alive whose locator has another %s', async (field, value) => {
  const { identity, locator, path } = await startDaemon('obeying')
  const { evidence } = await proveOne(captured({ ...locator, [field]: value }, path))
  // It says itself who it is; but it is not the one that was looked at.
  expect(evidence).toMatchObject({ answer: 'authentic', isSeenAlive: field === 'start', recorded: 'gone', identity })
})

/** Who knows the token, and says what it likes of itself: that it is a process which was born in the scope. */
async function liar(
  say: (truth: object, program: Program) => unknown,
): Promise<{ given: CapturedLocator; program: Program; identity: Identity }> {
  const { identity, program } = await stranger({ CUSTODY_NAMESPACE: `${scope}:/run/x` })
  const path = join(temporaryDirectory(), 's')
  const locator = sampleLocator({ ...identity, namespace: scope, endpoint: `unix:${path}` })
  const { created, details, token, version, ...known } = locator
  const truth = { ...known, locator: '/x.json', registryEntry: null, state: 'serving' }
  const protocol = new ProtocolServer(Buffer.from(token, 'hex'), locator.endpoint, async () => say(truth, program))
  await new Promise<void>((resolve) => protocol.server.listen(path, resolve))
  onTestFinished(() => protocol.close())
  return { given: captured(locator, '/x.json'), program, identity }
}

test.each<[string, (truth: object) => unknown]>([
  ['nothing', () => null],
  ['a list', (truth) => [truth]],
  ...['name', 'pid', 'start', 'boot', 'pidns', 'timens', 'instance', 'namespace', 'endpoint', 'locator', 'registryEntry'].map(
    (field): [string, (truth: object) => unknown] => [`no ${field}`, (truth) => ({ ...truth, [field]: undefined })],
  ),
  ['a registry entry that is no path', (truth) => ({ ...truth, registryEntry: 1 })],
])('does not take for complete what says %s', async (_, say) => {
  const { given, identity } = await liar(say)
  const { evidence } = await proveOne(given)
  expect(evidence).toMatchObject({ answer: 'authentic', statement: 'malformed', namespace: null, born: 'no', identity })
  expect(judge(evidence).verdict).toBe('unproven')
})

test('takes for complete who says all of it, without an entry in a registry and with one', async () => {
  for (const registryEntry of [null, '/y.json']) {
    const { evidence } = await proveOne((await liar((truth) => ({ ...truth, registryEntry }))).given)
    expect(evidence).toMatchObject({ statement: 'complete', isPathEqual: true, isSeenAlive: true, born: 'environment' })
  }
})

test.each([
  ['a boot', { boot: 'another' }],
  ['a pid namespace', { pidns: 'pid:[1]' }],
  ['a time namespace', { timens: 'time:[1]' }],
])('does not say that a process was seen alive which states %s that is not this one', async (_, changes) => {
  const { evidence } = await proveOne((await liar((truth) => ({ ...truth, ...changes }))).given)
  expect(evidence).toMatchObject({ answer: 'authentic', statement: 'complete', isSeenAlive: false, born: 'no' })
})

test('does not say that a process was seen alive which was there only before it was spoken of', async () => {
  const { given } = await liar(async (truth, { child, exited }) => {
    child.kill('SIGKILL')
    await exited
    return truth
  })
  expect((await proveOne(given)).evidence).toMatchObject({ answer: 'authentic', recorded: 'alive', isSeenAlive: false })
})

test('does not say that a process was seen alive of which no start was read or stated', async () => {
  const { given, identity } = await liar((truth) => ({ ...truth, pid: 2 ** 22 + 1, start: null }))
  const locator = { ...(given.locator as Locator), pid: 2 ** 22 + 1 }
  expect((await proveOne({ ...given, locator })).evidence).toMatchObject({ isSeenAlive: false, identity: { start: null } })
  expect(identity.start).not.toBe(null)
})

test('takes a refusal to say who it is for garbage', async () => {
  const { given } = await liar(() => Promise.reject(METHOD_NOT_FOUND))
  const { evidence, session } = await proveOne(given, { proofMs: SHORT_MS * 10 })
  expect(evidence).toMatchObject({ answer: 'garbage', recorded: 'alive' })
  expect(session).toBe(null)
})

test('asks everybody where it is not known how old the run or this boot is', async () => {
  const own = ownIdentity()
  const { boot } = own
  onTestFinished(() => {
    own.boot = boot
  })
  const { given } = await liar((truth) => truth)
  const run = { id: newRunId(null), runner: { ...elder, start: null } }
  expect((await proveOne(given, { run })).evidence).toMatchObject({ isOlderThanRun: false, answer: 'authentic' })
  own.boot = null
  expect((await proveOne(given)).evidence).toMatchObject({ recorded: 'alive', answer: 'authentic' })
})

test('asks nobody of the test run itself, nor its ancestors', async () => {
  const asked: Socket[] = []
  const silent = (socket: Socket) => void asked.push(socket)
  const worker = await stranger()
  const runner = await stranger()
  const roles = [
    [ownIdentity(), elder, 'this process'],
    [identityOf(process.ppid), elder, 'an ancestor'],
    [runner.identity, runner.identity, 'the runner'],
    [worker.identity, ownIdentity(), 'a worker'],
  ] as const
  for (const [identity, runner, role] of roles) {
    const { evidence, session } = await proveOne(await impostor(silent, identity), { run: { id: newRunId(null), runner } })
    expect(evidence).toMatchObject({ role, answer: null, recorded: 'alive', identity })
    expect(session).toBe(null)
    expect(judge(evidence).verdict).toBe('foreign')
  }
  expect(asked).toEqual([])
})

test('asks nobody who is older than the run', async () => {
  const asked: Socket[] = []
  const { identity } = await stranger()
  // The next tick of the kernel's clock begins the run.
  const runner = { ...elder, start: String(BigInt(identity.start as string) + 1n) }
  const { evidence } = await proveOne(await impostor((socket) => void asked.push(socket), identity), {
    run: { id: newRunId(null), runner },
  })
  expect(evidence).toMatchObject({ isOlderThanRun: true, role: null, answer: null, recorded: 'alive' })
  expect(judge(evidence).verdict).toBe('foreign')
  expect(asked).toEqual([])
})

test('asks who began with the run', async () => {
  const { identity, locator, path } = await startDaemon('obeying')
  const { evidence } = await proveOne(captured(locator, path), {
    run: { id: newRunId(null), runner: { ...elder, start: identity.start } },
  })
  expect(evidence).toMatchObject({ isOlderThanRun: false, answer: 'authentic' })
})

test('does not believe a relay, which passes on every byte of the true runtime', async () => {
  const { locator, path } = await startDaemon('obeying')
  const relay = createServer((socket) => {
    const upstream = connect(locator.endpoint.slice('unix:'.length))
    upstream.on('error', () => {})
    socket.on('close', () => upstream.destroy())
    socket.pipe(upstream).pipe(socket)
  })
  const { evidence, session } = await proveOne(captured({ ...locator, endpoint: await listen(relay) }, path), {
    proofMs: AMPLE_MS,
  })
  expect(evidence).toMatchObject({ answer: 'false', recorded: 'alive', statement: null, isSeenAlive: false })
  expect(session).toBe(null)
  expect(judge(evidence).verdict).toBe('unproven')
})

test('does not believe who answers garbage at its endpoint', async () => {
  const { locator, path } = await startDaemon('answering-garbage')
  const { evidence } = await proveOne(captured(locator, path), { proofMs: AMPLE_MS })
  expect(evidence).toMatchObject({ answer: 'garbage', recorded: 'alive' })
  expect(judge(evidence).verdict).toBe('unproven')
})

test('says that a runtime has hung up, though there was no time for its answer when it was asked once more', async () => {
  const { identity } = await stranger()
  let count = 0
  const treat = (socket: Socket) => {
    if (count++ === 0) socket.end()
  }
  const { evidence } = await proveOne(await impostor(treat, identity), { proofMs: 500 })
  expect(evidence).toMatchObject({ answer: 'closed', recorded: 'alive' })
  expect(judge(evidence).verdict).toBe('unreachable')
  expect(count).toBe(2)
})

test('asks once more who hung up, as a busy runtime does', async () => {
  const { locator, path } = await startDaemon('obeying')
  const endpoint = locator.endpoint.slice('unix:'.length)
  // The directory of its socket is its own: another name of the socket, behind a server that first hangs up.
  const server = createServer((socket) => {
    socket.on('error', () => {})
    renameSync(`${endpoint}.true`, endpoint)
    socket.destroy()
  })
  renameSync(endpoint, `${endpoint}.true`)
  await new Promise<void>((resolve) => server.listen(endpoint, resolve))
  onTestFinished(() => void server.close())
  expect((await proveOne(captured(locator, path))).evidence).toMatchObject({ answer: 'authentic', isSeenAlive: true })
})

test('asks once more where nobody has listened yet', async () => {
  const { locator, path } = await startDaemon('obeying')
  const endpoint = locator.endpoint.slice('unix:'.length)
  renameSync(endpoint, `${endpoint}.hidden`)
  setTimeout(() => renameSync(`${endpoint}.hidden`, endpoint), SHORT_MS)
  expect((await proveOne(captured(locator, path))).evidence).toMatchObject({ answer: 'authentic' })
})

test('says that nobody answers', async () => {
  const { identity } = await stranger()
  const locator = sampleLocator({ ...identity, endpoint: `unix:${temporaryDirectory()}/none.sock` })
  const { evidence } = await proveOne(captured(locator, '/x.json'), { proofMs: SHORT_MS })
  expect(evidence).toMatchObject({ answer: 'none', recorded: 'alive', identity })
  expect(judge(evidence).verdict).toBe('unreachable')
})

test('waits no longer for an answer than it may', async () => {
  const { identity } = await stranger()
  const { evidence } = await proveOne(await impostor(() => {}, identity), { proofMs: SHORT_MS })
  expect(evidence).toMatchObject({ answer: 'none', recorded: 'alive' })
})

test('sees that a runtime which closes its connections was on its way out', async () => {
  const { identity, program } = await stranger()
  // It is gone only after it has hung up: at the first look it was alive.
  const treat = (socket: Socket) => {
    socket.destroy()
    program.child.kill('SIGKILL')
  }
  const { evidence } = await proveOne(await impostor(treat, identity))
  expect(evidence).toMatchObject({ answer: 'closed', recorded: 'gone' })
  expect(judge(evidence).verdict).toBe('gone')
})

test('looks at a dying runtime for a while, however short the time for the proof', async () => {
  const { identity, program } = await stranger()
  const treat = (socket: Socket) => {
    socket.end('garbage\n')
    // Garbage is not asked about again: from here on it is only looked at.
    setTimeout(() => program.child.kill('SIGKILL'), 50)
  }
  const { evidence } = await proveOne(await impostor(treat, identity), { proofMs: SHORT_MS / 2 })
  expect(evidence.recorded).toBe('gone')
})

test.each<[string, Partial<Locator>, string, string]>([
  // However old it was.
  ['that has ended', { pid: 2 ** 22 + 1, start: '0' }, 'gone', 'gone'],
  ['of which no boot is known', { boot: null }, 'alive', 'unreachable'],
  ['of another boot', { boot: 'another' }, 'other boot', 'gone'],
  ['of another pid namespace', { pidns: 'pid:[1]' }, 'unknowable', 'unreachable'],
  ['of another time namespace', { timens: 'time:[1]' }, 'unknowable', 'unreachable'],
  ['of which no start is known', { start: null }, 'unknowable', 'unreachable'],
])('says of a process %s what can be known of it', async (_, changes, recorded, verdict) => {
  const { identity } = await stranger()
  const locator = sampleLocator({ ...identity, endpoint: `unix:${temporaryDirectory()}/none.sock`, ...changes })
  const { evidence } = await proveOne(captured(locator, '/x.json'), { proofMs: SHORT_MS })
  expect(evidence).toMatchObject({ answer: 'none', recorded, role: null, isOlderThanRun: false })
  expect(judge(evidence).verdict).toBe(verdict)
})

test('does not take a stranger in the place of a dead runtime for it', async () => {
  const dead = { pid: 2 ** 22 + 1, start: '1' }
  const { evidence } = await proveOne(await impostor((socket) => socket.end('HTTP/1.1 400\r\n\r\n'), dead))
  expect(evidence).toMatchObject({ answer: 'garbage', recorded: 'gone' })
  expect(judge(evidence).verdict).toBe('gone')
})

test('says why a locator is none, and asks nobody', async () => {
  const { evidence, session } = await proveOne({ source: 'registry', path: '/x.json', locator: null, unreadable: 'it is empty' })
  expect(evidence).toMatchObject({ unreadable: 'it is empty', answer: null, identity: null })
  expect(session).toBe(null)
  expect(judge(evidence).verdict).toBe('invalid')
})

/** An authentic runtime that says of itself what a test wants. */
async function speaker(identity: Identity, changes: Record<string, unknown>): Promise<CapturedLocator> {
  let locator!: Locator
  const said = () => {
    const { endpoint, instance, name } = locator
    const path = { locator: '/x.json', registryEntry: null }
    return { ...identity, name, endpoint, instance, namespace: `${scope}.1`, ...path, state: 'serving', ...changes }
  }
  locator = await serveAnswers(async () => said(), identity)
  return captured(locator, '/x.json')
}

test.each<[string, Record<string, unknown>, boolean]>([
  ['what the kernel shows', {}, true],
  ['another pid', { pid: process.ppid }, false],
  ['another start', { start: '1' }, false],
  ['another boot', { boot: 'another' }, false],
])('sees alive, or not, who says of itself %s', async (_, changes, isSeenAlive) => {
  const { identity } = await stranger()
  expect((await proveOne(await speaker(identity, changes))).evidence).toMatchObject({ answer: 'authentic', isSeenAlive })
})

test('sees alive who listens by the kernel’s number of it, where its own is of another pid namespace', async () => {
  const { identity } = await stranger()
  const peer = {
    pids: [identity.pid, 7],
    exited: new Promise<void>(() => {}),
    send: () => false,
    sendToGroup: () => null,
    release() {},
  }
  const native = { mechanisms: new Set<never>(), adoptOrphans() {}, hold: () => null, holdPeer: () => peer, reap() {} }
  const elsewhere = { ...identity, pid: 7, pidns: 'pid:[1]' }
  const proof = await proveOne(await speaker(elsewhere, {}), { findNative: () => native })
  expect(proof).toMatchObject({ peer, evidence: { answer: 'authentic', recorded: 'unknowable', isSeenAlive: true } })
})

test('passes on a fault of its own', async () => {
  const { identity } = await stranger()
  const locator = sampleLocator({ ...identity, endpoint: 'nowhere' })
  await expect(proveOne(captured(locator, '/x.json'))).rejects.toThrow('Not an endpoint: nowhere')
})

test.each<[string, Partial<Locator>]>([
  ['has gone', { pid: 2 ** 22 + 1, start: '1' }],
  ['is of another boot', { boot: 'another' }],
])('does not ask again where the process %s', async (_, identity) => {
  let count = 0
  const treat = (socket: Socket) => {
    count++
    socket.destroy()
  }
  const { evidence } = await proveOne(await impostor(treat, identity), { proofMs: AMPLE_MS })
  expect(evidence).toMatchObject({ answer: 'closed' })
  expect(count).toBe(1)
})

test('says that nobody answers any more, though somebody had hung up before', async () => {
  const { identity } = await stranger()
  const directory = temporaryDirectory()
  const path = join(directory, 's')
  const server = createServer((socket) => {
    socket.on('error', () => {})
    server.close()
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const locator = sampleLocator({ ...identity, endpoint: `unix:${path}` })
  expect((await proveOne(captured(locator, '/x.json'), { proofMs: AMPLE_MS })).evidence).toMatchObject({ answer: 'none' })
})

test('does not ask where others could have put a listener', async () => {
  const { identity } = await stranger()
  const directory = temporaryDirectory()
  chmodSync(directory, 0o777)
  const asked: Socket[] = []
  const server = createServer((socket) => void asked.push(socket))
  await new Promise<void>((resolve) => server.listen(join(directory, 's'), resolve))
  onTestFinished(() => void server.close())
  const locator = sampleLocator({ ...identity, endpoint: `unix:${directory}/s` })
  expect((await proveOne(captured(locator, '/x.json'), { proofMs: SHORT_MS })).evidence).toMatchObject({ answer: 'none' })
  expect(asked).toEqual([])
})
