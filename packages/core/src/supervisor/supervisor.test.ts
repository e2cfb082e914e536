import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { newFileId, newRunId } from '../namespace/namespace-id.js'
import { readJournal } from './journal.js'
import type { Ended, ExitNotice, Spawned, SpawnRequest } from './protocol.js'
import { type Client, Supervisor, type SupervisorEnd } from './supervisor.js'

const program = (name: string) => fileURLToPath(new URL(`../../../../test/programs/processes/${name}`, import.meta.url))
const isAlive = ({ pid, start }: Identity) => start !== null && runtimePlatform.readStart(pid) === start

/** A shell that has a new child all the time. */
const FORKING = 'while :; do sleep 0.01; done'

interface TestClient extends Client {
  readonly notices: ExitNotice[]
  /** Ends its connection. */
  leave(): void
}

function newClient(): TestClient {
  const notices: ExitNotice[] = []
  let leave = () => {}
  const ended = new Promise<void>((resolve) => {
    leave = resolve
  })
  return { notices, leave, ended, notify: (_method, params) => void notices.push(params as ExitNotice) }
}

interface Started {
  readonly supervisor: Supervisor
  readonly runId: string
  readonly runDirectory: string
  /** What was told when the run was over. */
  readonly over: Promise<readonly Ended[]>
  request(scope: string, changes?: Partial<SpawnRequest>): SpawnRequest
}

/** A supervisor in this very process. Everything of it has ended when the test has finished. */
function newSupervisor(): Started {
  const runId = newRunId(null)
  const runDirectory = temporaryDirectory()
  let supervisor!: Supervisor
  const over = new Promise<readonly Ended[]>((resolve) => {
    supervisor = new Supervisor({ runId, runDirectory, runner: ownIdentity(), lastGraceMs: 0 }, ({ ended }) => resolve(ended))
  })
  onTestFinished(() => supervisor.end())
  let count = 0
  const request = (scope: string, changes: Partial<SpawnRequest> = {}): SpawnRequest => {
    const id = `${scope}.r${++count}`
    return {
      ...{ id, scope, name: `runtime ${count}`, argv: [process.execPath, program('waiting.js')], shell: false, cwd: '/' },
      ...{ env: { PATH: process.env['PATH'] ?? '', CUSTODY_NAMESPACE: `${id}:${runDirectory}` }, areStreamsApart: false },
      ...{ stopSignal: 'SIGTERM', graceMs: 30_000, needs: [] },
      ...changes,
    }
  }
  return { supervisor, runId, runDirectory, over, request }
}

function attachWorker(supervisor: Supervisor, file: string): TestClient {
  const client = newClient()
  supervisor.attach(client, { role: 'worker', file })
  return client
}

test('starts a process and has it in the journal before anybody is told', async () => {
  const { request, runDirectory, runId, supervisor } = newSupervisor()
  const asked = request(newFileId(runId))
  const { identity, logs } = await supervisor.spawn(attachWorker(supervisor, asked.scope), asked)
  expect(isAlive(identity)).toBe(true)
  expect(readJournal(runDirectory)).toMatchObject([{ id: asked.id, name: asked.name, identity, files: [{}] }])
  expect(existsSync(logs.stdout)).toBe(true)
})

test('makes no log through what somebody has put at its place', async () => {
  const { request, runDirectory, runId, supervisor } = newSupervisor()
  const asked = request(newFileId(runId))
  const theirs = join(runDirectory, 'theirs')
  writeFileSync(theirs, 'theirs')
  mkdirSync(join(runDirectory, 'log'))
  symlinkSync(theirs, join(runDirectory, 'log', `${asked.id}.log`))
  await expect(supervisor.spawn(attachWorker(supervisor, asked.scope), asked)).rejects.toMatchObject({ code: 'EEXIST' })
  expect(readFileSync(theirs, 'utf8')).toBe('theirs')
})

test('has nobody get the number of a log that was removed while its runtime runs', async () => {
  const { request, runDirectory, runId, supervisor } = newSupervisor()
  // It writes nowhere by the time that its log goes.
  const asked = request(newFileId(runId), { argv: ['sh', '-c', 'exec sleep 100 >/dev/null 2>&1 9>&-'] })
  const { logs } = await supervisor.spawn(attachWorker(supervisor, asked.scope), asked)
  const { ino } = statSync(logs.stdout)
  rmSync(logs.stdout)
  const numbers = Array.from({ length: 1_000 }, (_, at) => {
    writeFileSync(join(runDirectory, `other-${at}`), '')
    return statSync(join(runDirectory, `other-${at}`)).ino
  })
  expect(numbers).not.toContain(ino)
})

test('passes on why a process could not be started, and has it in no journal', async () => {
  const { request, runDirectory, runId, supervisor } = newSupervisor()
  const asked = request(newFileId(runId), { argv: ['/no/such/program'] })
  await expect(supervisor.spawn(attachWorker(supervisor, asked.scope), asked)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(readJournal(runDirectory)).toEqual([])
})

test('tells every client how a process has exited, and whether it was asked to', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const [a, b] = [attachWorker(supervisor, newFileId(runId)), attachWorker(supervisor, newFileId(runId))]
  const asked = request(`${runId}.shared`)
  await supervisor.spawn(a, asked)
  await supervisor.stop(asked.id)
  const notice = { id: asked.id, isDaemon: false, exit: { code: null, signal: 'SIGTERM' }, expected: true }
  expect([a.notices, b.notices]).toEqual([[notice], [notice]])
})

test('stops what it knows, says how it has ended to who asks again, and refuses what it does not know', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const asked = request(newFileId(runId))
  const { identity } = await supervisor.spawn(attachWorker(supervisor, asked.scope), asked)
  expect(await supervisor.stop(asked.id)).toMatchObject({ id: asked.id, identity, forced: false, left: [] })
  expect(isAlive(identity)).toBe(false)
  expect(await supervisor.stop(asked.id)).toMatchObject({ id: asked.id, left: [] })
  await expect(supervisor.stop('unknown')).rejects.toThrow('There is no runtime unknown')
  expect(supervisor.signal('unknown', 'SIGTERM')).toBe(false)
})

test('removes the logs of what has ended, which the journal says before, and of nothing else', async () => {
  const { request, runDirectory, runId, supervisor } = newSupervisor()
  const file = newFileId(runId)
  const client = attachWorker(supervisor, file)
  const [ended, apart, streamed, alive] = [
    request(file),
    request(file, { areStreamsApart: true }),
    request(file, { isStreamed: true }),
    request(file),
  ]
  const all = [ended, apart, streamed, alive]
  const logs = new Map<string, Spawned['logs']>()
  for (const each of all) logs.set(each.id, (await supervisor.spawn(client, each)).logs)
  for (const { id } of [ended, apart, streamed]) await supervisor.stop(id)
  supervisor.removeLogs([...all.map(({ id }) => id), 'unknown'])
  const areThere = all.map(({ id }) => Object.values(logs.get(id) as object).map((path) => existsSync(path)))
  expect(areThere).toEqual([
    [false, false],
    [false, false],
    [true, true],
    [true, true],
  ])
  expect(readJournal(runDirectory).map(({ id }) => id)).toEqual([streamed.id, alive.id])
  // Who asks once more is told.
  expect(await supervisor.stop(ended.id)).toMatchObject({ id: ended.id, left: [] })
})

test('keeps the logs of what has ended where it cannot be noted that it has', async () => {
  const { request, runDirectory, runId, supervisor } = newSupervisor()
  const asked = request(newFileId(runId))
  const { logs } = await supervisor.spawn(attachWorker(supervisor, asked.scope), asked)
  await supervisor.stop(asked.id)
  // Another file of that name cannot be written to.
  rmSync(join(runDirectory, 'journal.jsonl'))
  mkdirSync(join(runDirectory, 'journal.jsonl'))
  const complain = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => complain.mockRestore())
  supervisor.removeLogs([asked.id])
  expect(complain).toHaveBeenCalledOnce()
  expect(existsSync(logs.stdout)).toBe(true)
})

test('settles a scope and those below it, and leaves the others running', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const [file, other] = [newFileId(runId), newFileId(runId)]
  const client = attachWorker(supervisor, file)
  const own = [request(file), request(`${file}.1`)]
  const foreign = request(other)
  const [a, b, c] = await Promise.all([...own, foreign].map((each) => supervisor.spawn(client, each)))
  const ended = await supervisor.settle(file)
  expect(ended.map(({ id }) => id).toSorted()).toEqual(own.map(({ id }) => id).toSorted())
  expect([a, b, c].map((each) => each !== undefined && isAlive(each.identity))).toEqual([false, false, true])
  expect(await supervisor.settle(file)).toEqual([])
})

test('stops what needs another before that', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const file = newFileId(runId)
  const client = attachWorker(supervisor, file)
  const database = request(file, { name: 'database' })
  const api = request(file, { name: 'api', needs: [database.id] })
  await Promise.all([database, api].map((each) => supervisor.spawn(client, each)))
  expect((await supervisor.settle(file)).map(({ name }) => name)).toEqual(['api', 'database'])
  expect(client.notices.map(({ id }) => id)).toEqual([api.id, database.id])
})

test("ends what was a worker's when its connection ends, also what it has started itself", async () => {
  const { request, runId, runDirectory, supervisor } = newSupervisor()
  const [file, other] = [newFileId(runId), newFileId(runId)]
  const worker = attachWorker(supervisor, file)
  const observer = attachWorker(supervisor, other)
  const asked = request(`${file}.1`)
  const [own, foreign] = [await supervisor.spawn(worker, asked), await supervisor.spawn(observer, request(other))]
  const stray = startProgram('processes/waiting.js', { env: { CUSTODY_NAMESPACE: `${file}.2:${runDirectory}` } })
  await stray.printed(/ready/)
  worker.leave()
  expect(await stray.exited).toMatchObject({ code: null })
  expect(isAlive(own.identity)).toBe(false)
  expect(isAlive(foreign.identity)).toBe(true)
  expect(observer.notices).toMatchObject([{ id: asked.id, expected: true }])
})

test('stops at once what was started for a worker that has gone meanwhile', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const file = newFileId(runId)
  const worker = attachWorker(supervisor, file)
  const spawning = supervisor.spawn(worker, request(file))
  worker.leave()
  const { identity } = await spawning
  expect(isAlive(identity)).toBe(false)
})

test("ends everything of the run when the runner's connection ends, and says once what it was", async () => {
  const { over, request, runId, supervisor } = newSupervisor()
  const runner = newClient()
  supervisor.attach(runner, { role: 'runner' })
  expect(supervisor.hasRunner).toBe(true)
  const requests = [request(newFileId(runId)), request(`${runId}.shared`), request(`${runId}.w1`)]
  const started = await Promise.all(requests.map((each) => supervisor.spawn(runner, each)))
  runner.leave()
  const ended = await over
  expect(ended.map(({ id }) => id).toSorted()).toEqual(requests.map(({ id }) => id).toSorted())
  expect(started.filter(({ identity }) => isAlive(identity))).toEqual([])
  // It was asked by two by then: the end of the connection, and this.
  expect(supervisor.end()).toBe(supervisor.end())
})

test('does not take a worker for the runner', () => {
  const { runId, supervisor } = newSupervisor()
  attachWorker(supervisor, newFileId(runId))
  expect(supervisor.hasRunner).toBe(false)
})

test('never ends the runner, though the runner carries its mark', async () => {
  const runId = newRunId(null)
  const runner = startProgram('processes/counting-signals.js', { env: { CUSTODY_NAMESPACE: `${runId}.f1:/run/x` } })
  await runner.printed(/ready/)
  const identity: Identity = { ...ownIdentity(), pid: runner.pid, start: runtimePlatform.readStart(runner.pid) }
  const options = { runId, runDirectory: temporaryDirectory(), runner: identity, lastGraceMs: 0 }
  const supervisor = new Supervisor(options, () => {})
  await supervisor.end()
  expect(isAlive(identity)).toBe(true)
  expect(runner.output).toBe('ready\n')
})

test('has the next who asks start a shared runtime again when it has exited', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const client = attachWorker(supervisor, newFileId(runId))
  const asked = request(`${runId}.shared`)
  expect(await supervisor.share(client, 'db', 'v1')).toEqual({ role: 'starter' })
  const spawned = await supervisor.spawn(client, asked)
  supervisor.shared('db', { ...spawned, id: asked.id, dir: '/', env: {}, ports: {}, match: null, groups: null })
  expect(await supervisor.share(client, 'db', 'v1')).toMatchObject({ role: 'guest', runtime: { id: asked.id } })
  supervisor.signal(asked.id, 'SIGKILL')
  await supervisor.stop(asked.id)
  expect(await supervisor.share(client, 'db', 'v1')).toEqual({ role: 'starter' })
})

test('has the next in line start a shared runtime whose starter has gone', async () => {
  const { runId, supervisor } = newSupervisor()
  const [first, second] = [attachWorker(supervisor, newFileId(runId)), attachWorker(supervisor, newFileId(runId))]
  await supervisor.share(first, 'db', 'v1')
  const waiting = supervisor.share(second, 'db', 'v1')
  first.leave()
  expect(await waiting).toEqual({ role: 'starter' })
})

const asShared = (spawned: Spawned, id: string) => ({ ...spawned, id, dir: '/', env: {}, ports: {}, match: null, groups: null })

test('ends what a worker was starting for others before the next in line starts it', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const [first, second] = [attachWorker(supervisor, newFileId(runId)), attachWorker(supervisor, newFileId(runId))]
  await supervisor.share(first, 'db', 'v1')
  const { identity } = await supervisor.spawn(first, request(`${runId}.shared`))
  const waiting = supervisor.share(second, 'db', 'v1')
  first.leave()
  expect(await waiting).toEqual({ role: 'starter' })
  expect(isAlive(identity)).toBe(false)
})

test('keeps what a worker has started for others and told of', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const [first, second] = [attachWorker(supervisor, newFileId(runId)), attachWorker(supervisor, newFileId(runId))]
  const asked = request(`${runId}.shared`)
  await supervisor.share(first, 'db', 'v1')
  const spawned = await supervisor.spawn(first, asked)
  supervisor.shared('db', asShared(spawned, asked.id))
  first.leave()
  expect(await supervisor.share(second, 'db', 'v1')).toMatchObject({ role: 'guest' })
  expect(isAlive(spawned.identity)).toBe(true)
})

test('hands nobody a shared runtime that has exited before it was told of', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const client = attachWorker(supervisor, newFileId(runId))
  const asked = request(`${runId}.shared`)
  await supervisor.share(client, 'db', 'v1')
  const waiting = supervisor.share(client, 'db', 'v1')
  const spawned = await supervisor.spawn(client, asked)
  supervisor.signal(asked.id, 'SIGKILL')
  while (client.notices.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  supervisor.shared('db', asShared(spawned, asked.id))
  expect(await waiting).toEqual({ role: 'refused', problem: 'it exited as soon as it was ready' })
})

test('tells of the end of a daemon that was stopped, and has the next who asks start it again', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const client = attachWorker(supervisor, newFileId(runId))
  const argv: [string, ...string[]] = ['sh', '-c', `setsid ${process.execPath} ${program('waiting.js')} &`]
  const asked = request(`${runId}.shared`, { argv, daemonizes: true })
  await supervisor.share(client, 'db', 'v1')
  const spawned = await supervisor.spawn(client, asked)
  while (client.notices.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  const daemon = supervisor.adopt(asked.id)
  expect(daemon?.pid).not.toBe(spawned.identity.pid)
  supervisor.shared('db', asShared(spawned, asked.id))
  expect(await supervisor.stop(asked.id)).toMatchObject({ identity: daemon, exit: { code: null, signal: null }, left: [] })
  expect(client.notices.at(-1)).toEqual({ id: asked.id, isDaemon: true, exit: { code: null, signal: null }, expected: true })
  expect(await supervisor.share(client, 'db', 'v1')).toEqual({ role: 'starter' })
})

test('replaces what has lost what it needs, and ends first what needs it', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const client = attachWorker(supervisor, newFileId(runId))
  const db = request(`${runId}.shared`)
  const api = request(`${runId}.shared`, { needs: [db.id] })
  const site = request(`${runId}.shared`, { needs: [api.id] })
  for (const [name, each] of Object.entries({ db, api, site })) {
    await supervisor.share(client, name, `${name} v1`)
    supervisor.shared(name, asShared(await supervisor.spawn(client, each), each.id))
  }
  expect(await supervisor.share(client, 'api', 'api v2')).toMatchObject({ role: 'refused' })
  supervisor.signal(db.id, 'SIGKILL')
  await supervisor.stop(db.id)
  expect(await supervisor.share(client, 'api', 'api v2')).toEqual({ role: 'starter' })
  expect(client.notices.map(({ id }) => id)).toEqual([db.id, site.id, api.id])
  expect(await supervisor.share(client, 'site', 'site v2')).toEqual({ role: 'starter' })
})

test('gives nothing to start to who has gone while an outdated one was ended', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const [first, second] = [attachWorker(supervisor, newFileId(runId)), attachWorker(supervisor, newFileId(runId))]
  const asked = request(`${runId}.shared`, { isKept: true })
  await supervisor.share(first, 'db', 'v1')
  supervisor.shared('db', asShared(await supervisor.spawn(first, asked), asked.id))
  await supervisor.settle(runId, undefined, true)
  const answer = supervisor.share(first, 'db', 'v2')
  first.leave()
  await expect(answer).rejects.toThrow('who asked has gone')
  expect(await supervisor.share(second, 'db', 'v2')).toEqual({ role: 'starter' })
})

test('keeps what is kept when a run in watch mode has ended, with what it starts meanwhile, and not the rest', async () => {
  const { request, runId, supervisor } = newSupervisor()
  const client = attachWorker(supervisor, newFileId(runId))
  const [kept, other] = [request(`${runId}.shared`, { isKept: true, argv: ['sh', '-c', FORKING] }), request(`${runId}.shared`)]
  const [{ identity }, left] = [await supervisor.spawn(client, kept), await supervisor.spawn(client, other)]
  await supervisor.settle(runId, undefined, true)
  expect(await supervisor.sweep()).toEqual([])
  expect([isAlive(identity), isAlive(left.identity)]).toEqual([true, false])
  expect(supervisor.hasKept).toBe(true)
  await supervisor.settle(runId)
  expect(isAlive(identity)).toBe(false)
})

test('tells once that the run is over when its end fails, and that it is not complete', async () => {
  const ends: SupervisorEnd[] = []
  const options = { runId: newRunId(null), runDirectory: temporaryDirectory(), runner: ownIdentity(), lastGraceMs: 0 }
  const supervisor = new Supervisor(options, (end) => ends.push(end))
  vi.spyOn(supervisor, 'settle').mockRejectedValue(new Error('broken'))
  await expect(supervisor.end()).rejects.toThrow('broken')
  await expect(supervisor.end()).rejects.toThrow('broken')
  expect(ends).toEqual([{ ended: [], swept: [], isComplete: false }])
})
