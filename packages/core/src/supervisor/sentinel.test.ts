import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { Deadline, ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test, vi } from 'vitest'
import { newRecord, type StartedSupervisor, startSupervisor } from '../../../../test/programs/start-supervisor.js'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { newRunId } from '../namespace/namespace-id.js'
import { observeExit } from '../retire/observe-exit.js'
import { fileIdOf } from '../tree/file-id.js'
import { sendSignal } from '../tree/send-signal.js'
import { writeJournal } from './journal.js'
import { SupervisorLink } from './link.js'
import type { Spawned, SpawnRequest } from './protocol.js'
import { postSentinel, type Sentinel } from './sentinel.js'
import { sweepRun } from './sweep.js'

const program = (name: string) => fileURLToPath(new URL(`../../../../test/programs/processes/${name}`, import.meta.url))
const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })
const isAlive = ({ pid, start }: Identity) => start !== null && runtimePlatform.readStart(pid) === start
const gone = (identity: Identity) => observeExit(identity, Promise.resolve(), Deadline.after(20_000))

/** Has the supervisor start a process, and gives who it is. */
async function startBy({ run, runDirectory }: StartedSupervisor, changes: Partial<SpawnRequest> = {}): Promise<Identity> {
  const link = await SupervisorLink.open(runDirectory, { role: 'runner' })
  onTestFinished(() => link.close())
  const scope = `${run.id}.shared`
  const request: SpawnRequest = {
    ...{ id: `${scope}.r1`, scope, name: 'waiting', argv: [process.execPath, program('waiting.js')], shell: false, cwd: '/' },
    ...{ env: { CUSTODY_NAMESPACE: `${scope}.r1:${runDirectory}` }, areStreamsApart: false },
    ...{ stopSignal: 'SIGTERM', graceMs: 30_000, needs: [] },
    ...changes,
  }
  return (await link.call<Spawned>('spawn', request)).identity
}

test('cleans up after a supervisor that was killed, and leaves the runner alone', async () => {
  const started = await startSupervisor()
  const process = await startBy(started)
  const sentinel = started.record().sentinel as Identity
  expect(isAlive(sentinel)).toBe(true)
  started.child.kill('SIGKILL')
  expect(await gone(process)).toBe(true)
  expect(await gone(sentinel)).toBe(true)
  expect(isAlive(ownIdentity())).toBe(true)
})

test('cleans up when runner and supervisor die together', async () => {
  const runner = startProgram('processes/waiting.js')
  await runner.printed(/ready/)
  const started = await startSupervisor(identityOf(runner.pid))
  const process = await startBy(started, { env: {} })
  runner.child.kill('SIGKILL')
  started.child.kill('SIGKILL')
  expect(await gone(process)).toBe(true)
})

test('tells of what it does', async () => {
  const file = join(temporaryDirectory(), 'acts.jsonl')
  vi.stubEnv('CUSTODY_WITNESS', file)
  onTestFinished(() => void vi.unstubAllEnvs())
  const started = await startSupervisor()
  const left = await startBy(started)
  started.child.kill('SIGKILL')
  expect(await gone(left)).toBe(true)
  const { pid, start } = left
  const [first] = readFileSync(file, 'utf8').trim().split('\n')
  expect(JSON.parse(first as string)).toMatchObject({ act: 'signal', signal: 'SIGTERM', to: 'process', pid, start })
})

test('goes home when everything has been ended', async () => {
  const started = await startSupervisor()
  const process = await startBy(started)
  const { sentinel, supervisor } = started.record()
  expect(supervisor).toEqual(identityOf(started.child.pid as number))
  started.child.kill('SIGTERM')
  expect(await started.exited).toEqual({ code: 0, signal: null })
  expect(isAlive(process)).toBe(false)
  expect(await gone(sentinel as Identity)).toBe(true)
})

test('does not clean up when it was sent home', async () => {
  const runDirectory = temporaryDirectory()
  const program = join(runDirectory, 'cleaning-up.cjs')
  writeFileSync(program, "require('node:fs').writeFileSync(process.argv[3] + '/swept', '')\n")
  const sentinel = postSentinel(program, runDirectory, newRecord()) as Sentinel
  expect(isAlive(sentinel.identity)).toBe(true)
  sentinel.dismiss()
  expect(await gone(sentinel.identity)).toBe(true)
  expect(existsSync(join(runDirectory, 'swept'))).toBe(false)
})

test('is not ended by what ends a session', async () => {
  const started = await startSupervisor()
  const process = await startBy(started)
  const sentinel = started.record().sentinel as Identity
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    expect(sendSignal(signal, { kind: 'process', identity: sentinel, proof: 'seen at birth' })).toBe(true)
  }
  started.child.kill('SIGKILL')
  expect(await gone(process)).toBe(true)
})

test('a supervisor whose runner never came leaves when that has gone', async () => {
  const runner = startProgram('processes/waiting.js')
  await runner.printed(/ready/)
  const started = await startSupervisor(identityOf(runner.pid))
  runner.child.kill('SIGKILL')
  expect(await started.exited).toEqual({ code: 0, signal: null })
})

test('a sweep ends what the journal names and what carries the mark of the run, and nobody else', async () => {
  const runDirectory = temporaryDirectory()
  const run = newRecord()
  const other = newRunId(null)
  const entry = { id: `${run.id}.f1.r1`, name: 'known', files: [] }
  mkdirSync(join(runDirectory, 'log'))
  const log = join(runDirectory, 'log', `${entry.id}.log`)
  const removed = join(runDirectory, 'removed')
  const known = startProgram('processes/waiting.js')
  const marked = startProgram('processes/waiting.js', { env: { CUSTODY_NAMESPACE: `${run.id}.f1:/run/x` } })
  const writing = startProgram('processes/waiting.js', { before: `exec 9>>${log}` })
  const stranger = startProgram('processes/counting-signals.js', { env: { CUSTODY_NAMESPACE: `${other}:/run/x` } })
  const reused = startProgram('processes/counting-signals.js')
  // Of a log whose name has gone the number may be another's: this one stands for it.
  const unsure = startProgram('processes/counting-signals.js', { before: `exec 9>>${removed}` })
  await Promise.all([known, marked, writing, stranger, reused, unsure].map((each) => each.printed(/ready/)))
  writeJournal(runDirectory, { ...entry, identity: identityOf(known.pid), files: [fileIdOf(log), fileIdOf(removed)] })
  writeJournal(runDirectory, { ...entry, identity: { ...identityOf(reused.pid), start: '1' } })
  writeJournal(runDirectory, { ...entry, identity: { ...identityOf(reused.pid), start: null } })
  expect(await sweepRun(runDirectory, run, [], 20_000)).toEqual({ signals: ['SIGTERM'], forced: false, left: [] })
  for (const each of [known, marked, writing]) expect(await each.exited).toEqual({ code: null, signal: 'SIGTERM' })
  for (const each of [stranger, reused, unsure]) expect(isAlive(identityOf(each.pid)) && each.output).toBe('ready\n')
})

test('a sweep may run several times at once', async () => {
  const runDirectory = temporaryDirectory()
  const run = newRecord()
  const marked = startProgram('processes/obeying-slowly.js', { env: { CUSTODY_NAMESPACE: `${run.id}:/run/x` } })
  await marked.printed(/ready/)
  const sweeps = await Promise.all([1, 2, 3].map(() => sweepRun(runDirectory, run, [], 20_000)))
  for (const { forced, left } of sweeps) expect({ forced, left }).toEqual({ forced: false, left: [] })
  expect(await marked.exited).toEqual({ code: 0, signal: null })
  expect(existsSync(join(runDirectory, 'journal.jsonl'))).toBe(false)
})
