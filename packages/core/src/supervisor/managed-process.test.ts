import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { LogFile } from '../launch/log-file.js'
import { matches } from '../launch/probes/log.js'
import { retry } from '../launch/probes/probe.js'
import { newRunId } from '../namespace/namespace-id.js'
import { platform } from '../platform/index.js'
import { holdsFile } from '../tree/file-id.js'
import { findBornHere } from '../tree/find-born-here.js'
import { ManagedProcess } from './managed-process.js'
import type { SpawnRequest } from './protocol.js'

const program = (name: string) => fileURLToPath(new URL(`../../../../test/programs/processes/${name}`, import.meta.url))
const isAlive = ({ pid, start }: Identity) => start !== null && runtimePlatform.readStart(pid) === start

/** Starts a process as the supervisor does. It has been stopped when the test has finished. */
async function start(changes: Partial<SpawnRequest> = {}): Promise<ManagedProcess> {
  const scope = newRunId(null)
  const id = `${scope}.r1`
  const request: SpawnRequest = {
    ...{ id, scope, name: 'waiting', argv: [process.execPath, program('waiting.js')], shell: false, cwd: '/' },
    ...{ env: { PATH: process.env['PATH'] ?? '', CUSTODY_NAMESPACE: `${id}:/run/x` }, areStreamsApart: false },
    ...{ stopSignal: 'SIGTERM', graceMs: 30_000, needs: [] },
    ...changes,
  }
  const started = await ManagedProcess.start(request, join(temporaryDirectory(), 'log'))
  onTestFinished(async () => {
    if (started.exit === null) started.signal('SIGKILL')
    await started.stop([], 0)
  })
  return started
}

async function printed({ spawned }: ManagedProcess, pattern: RegExp): Promise<RegExpMatchArray> {
  const log = new LogFile(spawned.logs.stdout)
  for await (const match of matches(log, pattern, AbortSignal.timeout(20_000))) return match
  throw new Error(`It has not printed ${pattern}, but:\n${log.text()}`)
}

test('says which process it is, and that is the leader of a group and session of its own', async () => {
  const { identity } = await start()
  expect(identity).toEqual({ ...ownIdentity(), pid: identity.pid, start: runtimePlatform.readStart(identity.pid) })
  const [, , group, session] = readFileSync(`/proc/${identity.pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  expect([group, session]).toEqual([String(identity.pid), String(identity.pid)])
  expect(platform.readProcess(identity.pid)?.parent).toBe(process.pid)
})

test('runs in the directory and with exactly the environment of the request', async () => {
  const cwd = temporaryDirectory()
  const started = await start({
    cwd,
    env: { A: '1' },
    argv: ['/bin/sh', '-c', 'pwd; /usr/bin/env | grep -v -e ^PWD -e ^SHLVL -e ^_='],
  })
  expect(await started.exited).toEqual({ code: 0, signal: null })
  expect(new LogFile(started.spawned.logs.stdout).text()).toBe(`${cwd}\nA=1\n`)
})

test('has its output in one private file, or in two when it is asked for', async () => {
  const argv = ['/bin/sh', '-c', 'echo out; echo err >&2'] as const
  const together = await start({ argv: [...argv] })
  await together.exited
  const { logs } = together.spawned
  expect(logs.stderr).toBe(logs.stdout)
  expect(readFileSync(logs.stdout, 'utf8')).toBe('out\nerr\n')
  expect(statSync(logs.stdout).mode & 0o777).toBe(0o600)
  const apart = await start({ argv: [...argv], areStreamsApart: true })
  await apart.exited
  expect([apart.spawned.logs.stdout, apart.spawned.logs.stderr].map((path) => readFileSync(path, 'utf8'))).toEqual([
    'out\n',
    'err\n',
  ])
  expect(apart.files).toHaveLength(2)
})

test('has nothing on its stdin, and its log on one more descriptor, which daemons keep', async () => {
  const { identity, files } = await start({ argv: ['/bin/sh', '-c', 'read line && exit 1; exec >/dev/null 2>&1; sleep 1000'] })
  const linkOf = (descriptor: number) => readlinkSync(`/proc/${identity.pid}/fd/${descriptor}`)
  const signal = AbortSignal.timeout(20_000)
  await retry({ ended: signal, signal }, () => linkOf(1) === '/dev/null' && linkOf(2) === '/dev/null')
  expect(linkOf(0)).toBe('/dev/null')
  expect(linkOf(9)).toMatch(/\.log$/)
  expect(holdsFile(identity.pid, files)).toBe(true)
})

test('keeps no descriptor of it in this process: who looks for writers of its log must not find its parent', async () => {
  const { files } = await start()
  expect(holdsFile(process.pid, files)).toBe(false)
})

test.each([
  ['no such command', { argv: ['/no/such/program'] as [string] }],
  ['no such directory', { cwd: '/no/such/directory' }],
])('rejects with the code for %s, and leaves no descriptor open', async (_, changes) => {
  const before = readdirSync('/proc/self/fd').length
  await expect(start(changes)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(readdirSync('/proc/self/fd')).toHaveLength(before)
})

test('tells how it has exited', async () => {
  const started = await start({ argv: ['/bin/sh', '-c', 'exit 7'] })
  expect(await started.exited).toEqual({ code: 7, signal: null })
  expect(started.exit).toEqual({ code: 7, signal: null })
  expect(started.isExpected).toBe(false)
  expect(started.isUnreaped()).toBe(false)
})

test('tells its exit though a helper holds its output', async () => {
  const started = await start({ argv: [process.execPath, program('leaving-a-daemon.js')] })
  expect(await started.exited).toEqual({ code: 0, signal: null })
})

test('is stopped once, with all that was born of it, however often that is asked', async () => {
  const started = await start({ argv: [process.execPath, program('leaving-a-daemon.js'), 'whole', 'obeying-slowly.js'] })
  await printed(started, /ready/)
  await started.exited
  const { files, identity, request } = started
  const stopping = started.stop([])
  expect(started.stop([])).toBe(stopping)
  expect(await stopping).toEqual({
    ...{ id: request.id, scope: request.scope, name: 'waiting', identity, exit: { code: 0, signal: null } },
    ...{ expected: false, signals: ['SIGTERM'], forced: false, left: [], tookMs: expect.any(Number) },
  })
  expect(findBornHere({ namespace: request.id, files, known: [] }, [])).toEqual([])
})

test('has an expected exit when it is stopped, and its status is known by then', async () => {
  const started = await start({ argv: [process.execPath, program('obeying-slowly.js')] })
  await printed(started, /ready/)
  expect(await started.stop([])).toMatchObject({ exit: { code: 0, signal: null }, expected: true, signals: ['SIGTERM'] })
  expect(started.isExpected).toBe(true)
  expect(isAlive(started.identity)).toBe(false)
})

test('has an exit that nobody asked for when it had happened before the stop, though nobody has told of it yet', async () => {
  const started = await start()
  await printed(started, /ready/)
  process.kill(started.identity.pid, 'SIGKILL')
  // In this very turn: Node has no chance to tell.
  while (isAlive(started.identity));
  expect(started.exit).toBe(null)
  expect(await started.stop([])).toMatchObject({ exit: { code: null, signal: 'SIGKILL' }, expected: false })
  expect(started.isExpected).toBe(false)
})

test('takes the shorter grace of who stops it over its own', async () => {
  const started = await start({ argv: [process.execPath, program('counting-signals.js')] })
  await printed(started, /ready/)
  expect(await started.stop([], 0)).toMatchObject({ exit: { code: null, signal: 'SIGKILL' }, forced: true })
})

test.each([
  ['SIGSTOP', false],
  ['SIGCONT', false],
  ['SIGUSR2', true],
] as const)('takes an exit after %s for expected: %s', async (signal, isExpected) => {
  const started = await start()
  await printed(started, /ready/)
  expect(started.signal(signal)).toBe(true)
  expect(started.isExpected).toBe(isExpected)
})

test('sends no signal to the number of one that has exited', async () => {
  const started = await start({ argv: ['/bin/true'] })
  await started.exited
  expect(started.signal('SIGTERM')).toBe(false)
})
