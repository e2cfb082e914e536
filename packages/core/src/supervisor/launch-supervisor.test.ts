import { once } from 'node:events'
import { mkdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Deadline, ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bundle, newRecord } from '../../../../test/programs/start-supervisor.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { observeExit } from '../retire/observe-exit.js'
import { SupervisorLink } from './link.js'
import { readRunRecord } from './run-record.js'

/** Launches a supervisor the way a runner does. It and its sentinel have exited when the test has finished. */
async function launch(env: Record<string, string> = {}) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  // The launcher looks for the program next to itself, where only the build puts it.
  const build = temporaryDirectory()
  bundle('supervisor/main.ts', join(build, 'supervisor.cjs'))
  const url = pathToFileURL(
    bundle('supervisor/launch-supervisor.ts', join(build, 'supervisor/launch-supervisor.mjs'), 'esm'),
  ).href
  const { launchSupervisor } = (await import(/* @vite-ignore */ url)) as typeof import('./launch-supervisor.js')
  const runDirectory = temporaryDirectory()
  const run = newRecord()
  const child = launchSupervisor(runDirectory, run)
  vi.unstubAllEnvs()
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
    const sentinel = readRunRecord(runDirectory)?.sentinel
    if (sentinel) await observeExit(sentinel, Promise.resolve(), Deadline.after(20_000))
  })
  const link = await SupervisorLink.open(runDirectory, { role: 'runner' })
  onTestFinished(() => link.close())
  return { child, pid: child.pid as number, exited, link, run, runDirectory }
}

function environmentOf(pid: number): Record<string, string> {
  const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

test("has what a process needs in its environment, and nothing of the runner's", async () => {
  const { pid } = await launch({
    ...{ NODE_OPTIONS: '--no-warnings', NODE_V8_COVERAGE: '/nonexistent', VITEST: 'true', SECRET: 'x', FORCE_COLOR: '1' },
    ...{ RUNNER_TRACKING_ID: 'ci', TMPDIR: '/tmp', CUSTODY_NAMESPACE: `${'ab'.repeat(16)}:/run/x` },
  })
  const env = environmentOf(pid)
  expect(env).toMatchObject({ PATH: process.env['PATH'], RUNNER_TRACKING_ID: 'ci', TMPDIR: '/tmp' })
  // Empty: it belongs to no namespace, also not to the one that its runner was born in.
  expect(env['CUSTODY_NAMESPACE']).toBe('')
  for (const name of ['NODE_OPTIONS', 'NODE_V8_COVERAGE', 'VITEST', 'SECRET', 'FORCE_COLOR']) expect(env).not.toHaveProperty(name)
})

test('holds no directory, no terminal, and has a session of its own', async () => {
  const { pid } = await launch()
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/')
  const [, , , session, terminal] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  expect([session, terminal]).toEqual([String(pid), '0'])
})

test('writes what goes wrong to a private file', async () => {
  const { pid, runDirectory } = await launch()
  const log = join(runDirectory, 'supervisor.log')
  expect([1, 2].map((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`))).toEqual([log, log])
  expect(statSync(log).mode & 0o777).toBe(0o600)
  expect(readFileSync(log, 'utf8')).toBe('')
})

test('has the run on record, with who runs it, before it is there', async () => {
  const { run, runDirectory } = await launch()
  expect(readRunRecord(runDirectory)).toMatchObject({ id: run.id, runner: ownIdentity(), root: run.root })
})

test('leaves when its runner has gone', async () => {
  const { exited, link } = await launch()
  link.close()
  expect(await exited).toEqual([0, null])
})

test('leaves also when it cannot write what it has ended, and its log says why', async () => {
  const { exited, link, runDirectory } = await launch()
  mkdirSync(join(runDirectory, 'ended.jsonl'))
  link.close()
  expect(await exited).toEqual([0, null])
  expect(readFileSync(join(runDirectory, 'supervisor.log'), 'utf8')).toContain('EISDIR')
})

test('goes on when the terminal of its runner sends signals', async () => {
  const { child, link } = await launch()
  child.kill('SIGINT')
  child.kill('SIGHUP')
  expect(await link.call('ping', {})).toEqual({})
})
