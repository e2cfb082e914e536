import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { bundle, type StartedSupervisor, startSupervisor } from '../../../../test/programs/start-supervisor.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { newFileId } from '../namespace/namespace-id.js'
import { SupervisorLink } from './link.js'
import type { Attachment, Ended, Spawned, SpawnRequest } from './protocol.js'

const isAlive = ({ pid, start }: Identity) => start !== null && runtimePlatform.readStart(pid) === start

async function open({ runDirectory }: StartedSupervisor, attachment: Attachment = { role: 'runner' }): Promise<SupervisorLink> {
  const link = await SupervisorLink.open(runDirectory, attachment)
  onTestFinished(() => link.close())
  return link
}

function request({ run, runDirectory }: StartedSupervisor, changes: Partial<SpawnRequest> = {}): SpawnRequest {
  const scope = `${run.id}.shared`
  return {
    ...{ id: `${scope}.r1`, scope, name: 'sleeping', argv: ['sleep', '1000'], shell: false, cwd: '/' },
    ...{ env: { PATH: process.env['PATH'] ?? '', CUSTODY_NAMESPACE: `${scope}.r1:${runDirectory}` }, areStreamsApart: false },
    ...{ stopSignal: 'SIGTERM', graceMs: 30_000, needs: [] },
    ...changes,
  }
}

test('waits for a supervisor that is still on its way', async () => {
  const started = await startSupervisor()
  // Nothing of it is there when this begins to wait.
  const link = await open(started)
  expect(link.locator).toMatchObject({ pid: started.child.pid, namespace: started.run.id })
  expect(await link.call('ping', {})).toEqual({})
})

test('has processes started and stopped, and hears of their exits', async () => {
  const started = await startSupervisor()
  const link = await open(started)
  const asked = request(started)
  const { identity } = await link.call<Spawned>('spawn', asked)
  expect(isAlive(identity)).toBe(true)
  const exit = link.exitOf(asked.id)
  expect(link.peekExit(asked.id)).toBe(null)
  expect(await link.call<Ended>('stop', { id: asked.id })).toMatchObject({
    exit: { code: null, signal: 'SIGTERM' },
    forced: false,
  })
  const notice = { id: asked.id, isDaemon: false, exit: { code: null, signal: 'SIGTERM' }, expected: true }
  expect(await exit).toEqual(notice)
  expect(link.peekExit(asked.id)).toEqual(notice)
  // Of an exit that was told already, too.
  expect(await link.exitOf(asked.id)).toEqual(notice)
})

test('takes an environment that is longer than what a stranger may send', async () => {
  const started = await startSupervisor()
  const link = await open(started)
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`V${at}`, 'x'.repeat(100_000)])),
  }
  const { logs } = await link.call<Spawned>('spawn', request(started, { env, argv: ['sh', '-c', 'printenv V8 | wc -c'] }))
  await link.exitOf(request(started).id)
  expect(readFileSync(logs.stdout, 'utf8')).toBe('100001\n')
})

test('gives a guest an environment that is longer than what a runtime may send', async () => {
  const started = await startSupervisor()
  const [starter, guest] = [await open(started), await open(started)]
  const runtime = { id: `${started.run.id}.shared.r1`, env: { V: 'x'.repeat(200_000) } }
  expect(await starter.call('share', { key: 'db', fingerprint: 'v1' })).toEqual({ role: 'starter' })
  await starter.call('shared', { key: 'db', outcome: runtime })
  expect(await guest.call('share', { key: 'db', fingerprint: 'v1' })).toEqual({ role: 'guest', runtime })
})

test('rejects with the code of a command that cannot be started', async () => {
  const started = await startSupervisor()
  const link = await open(started)
  await expect(link.call('spawn', request(started, { argv: ['/no/such/program'] }))).rejects.toMatchObject({
    name: 'RpcFailure',
    error: { data: { code: 'ENOENT' } },
  })
})

test.each(['unknown', 'toString', '__proto__'])('refuses the method %s', async (method) => {
  const link = await open(await startSupervisor())
  await expect(link.call(method, {})).rejects.toMatchObject({ error: { code: -32_601 } })
})

test('is a lease: what a file has started ends with its connection', async () => {
  const started = await startSupervisor()
  const runner = await open(started)
  const file = newFileId(started.run.id)
  const worker = await open(started, { role: 'worker', file })
  const asked = request(started, { id: `${file}.r1`, scope: file })
  const { identity } = await worker.call<Spawned>('spawn', asked)
  const exit = runner.exitOf(asked.id)
  worker.close()
  await worker.ended
  expect(await exit).toMatchObject({ expected: true })
  expect(isAlive(identity)).toBe(false)
})

test('ends with the supervisor, and rejects what it is asked then', async () => {
  const started = await startSupervisor()
  const link = await open(started)
  started.child.kill('SIGKILL')
  await link.ended
  await expect(link.call('ping', {})).rejects.toMatchObject({ code: 'CUSTODY_CONNECTION_CLOSED' })
})

test('is reached by a thread that something holds for longer than the supervisor waits for a stranger', async () => {
  const started = await startSupervisor()
  await open(started)
  const opening = open(started, { role: 'worker', file: newFileId(started.run.id) })
  // The connection is made, and nobody is there to say a word.
  await new Promise<void>((resolve) => setImmediate(resolve))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000)
  expect(await (await opening).call('ping', {})).toEqual({})
})

test('says where to look when the supervisor cannot be reached', async () => {
  const runDirectory = temporaryDirectory()
  writeFileSync(join(runDirectory, 'supervisor.json'), 'garbage', { mode: 0o600 })
  await expect(SupervisorLink.open(runDirectory, { role: 'runner' })).rejects.toMatchObject({
    code: 'CUSTODY_SUPERVISOR_UNREACHABLE',
    message: expect.stringContaining(join(runDirectory, 'supervisor.log')),
    facts: { runDirectory },
  })
})

test('says at once that there is no run', async () => {
  const missing = join(temporaryDirectory(), 'missing')
  await expect(SupervisorLink.open(missing, { role: 'runner' })).rejects.toMatchObject({ code: 'CUSTODY_SUPERVISOR_UNREACHABLE' })
})

test('is reached on a machine that has no watches of files left', async () => {
  const runDirectory = temporaryDirectory()
  const module = bundle('supervisor/link.ts', join(temporaryDirectory(), 'link.mjs'), 'esm')
  const script = `
    import { SupervisorLink } from ${JSON.stringify(module)}
    const opening = SupervisorLink.open(process.argv[1], { role: 'runner' })
    console.log('waits')
    await opening
    console.log('reached')`
  const command = 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$@"'
  const node = [process.execPath, '--input-type=module', '-e', script, runDirectory]
  const child = spawn('unshare', ['--user', '--map-root-user', 'sh', '-c', command, 'sh', ...node], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect(await lines.next()).toEqual({ done: false, value: 'waits' })
  await startSupervisor(ownIdentity(), runDirectory)
  expect(await lines.next()).toEqual({ done: false, value: 'reached' })
})
