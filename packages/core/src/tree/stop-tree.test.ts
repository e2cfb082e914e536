import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { collectActs } from '../../../../test/witness/collect-acts.js'
import { LogFile } from '../launch/log-file.js'
import { matches } from '../launch/probes/log.js'
import { newRunId } from '../namespace/namespace-id.js'
import { fileIdOf } from './file-id.js'
import { findBornHere } from './find-born-here.js'
import { type Leader, type StopOptions, stopTree } from './stop-tree.js'

/** More than a test will wait for what should not have to be waited for. */
const LONG_MS = 30_000

const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })
const isAlive = ({ pid, start }: Identity) => start !== null && runtimePlatform.readStart(pid) === start

interface Tree {
  readonly leader: Leader
  readonly options: StopOptions
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** Resolves when nobody is left who holds a pipe that all have inherited: the kernel's own word, without a look. */
  readonly noneIsLeft: Promise<unknown>
  output(): string
  /** Resolves when its output matches. */
  printed(pattern: RegExp): Promise<RegExpMatchArray>
}

/** Starts a program as the supervisor does: in a group of its own, with a namespace and a log that it writes to. */
async function startTree(program: string, ...args: string[]): Promise<Tree> {
  const file = program.endsWith('.py') ? 'python3' : process.execPath
  const namespace = newRunId(null)
  const log = new LogFile(join(temporaryDirectory(), 'log'))
  const descriptor = openSync(log.path, 'a', 0o600)
  const path = fileURLToPath(new URL(`../../../../test/programs/processes/${program}`, import.meta.url))
  const child = spawn(file, [path, ...args], {
    detached: true,
    env: { PATH: process.env['PATH'], CUSTODY_NAMESPACE: `${namespace}:/run/x` },
    stdio: ['pipe', descriptor, descriptor, 'pipe'],
  })
  const held = child.stdio[3] as Readable
  const noneIsLeft = once(held.resume(), 'end')
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }))
  await once(child, 'spawn')
  closeSync(descriptor)
  const leader: Leader = {
    identity: identityOf(child.pid as number),
    exited,
    held: null,
    isUnreaped: () => child.exitCode === null && child.signalCode === null,
  }
  const mark = { namespace, files: [fileIdOf(log.path)], known: [leader.identity] }
  const options: StopOptions = { mark, leader, spared: [], stopSignal: 'SIGTERM', graceMs: LONG_MS }
  const over = new AbortController()
  onTestFinished(async () => {
    over.abort()
    await stopTree({ ...options, graceMs: 0 })
    await exited
  })
  return {
    leader,
    options,
    exited,
    noneIsLeft,
    output: () => log.text(),
    async printed(pattern) {
      for await (const match of matches(log, pattern, over.signal)) return match
      throw new Error(`${program} has not printed ${pattern}, but:\n${log.text()}`)
    },
  }
}

test('ends a tree by one polite signal to its group, and kills nobody who obeys', async () => {
  const { exited, leader, options, printed } = await startTree('obeying-slowly.js')
  await printed(/ready/)
  const seen = collectActs()
  expect(await stopTree(options)).toEqual({ signals: ['SIGTERM'], forced: false, left: [] })
  expect(await exited).toEqual({ code: 0, signal: null })
  const { pid, start } = leader.identity
  const toGroup = { act: 'signal', to: 'group', pid, start, proof: 'own child' }
  expect(seen).toEqual([
    { ...toGroup, signal: 'SIGTERM' },
    { ...toGroup, signal: 'SIGCONT' },
  ])
})

test.each([
  ['politely', 'obeying-slowly.js', LONG_MS, { code: 0, signal: null }, ['SIGTERM']],
  ['by force', 'counting-signals.js', 100, { code: null, signal: 'SIGKILL' }, ['SIGTERM', 'SIGKILL']],
] as const)(
  'ends a child that the system does not show, %s, by what its parent knows of it',
  async (_, program, graceMs, exit, signals) => {
    const { exited, leader, options, printed } = await startTree(program)
    await printed(/ready/)
    const unseen = { ...leader, identity: { ...leader.identity, start: null } }
    const mark = { ...options.mark, namespace: null, files: [], known: [] }
    expect(await stopTree({ ...options, graceMs, mark, leader: unseen })).toEqual({
      signals,
      forced: signals.length > 1,
      left: [],
    })
    expect(await exited).toEqual(exit)
  },
)

test('sends nothing to a child that the system does not show when it has been reaped', async () => {
  const { exited, leader, options } = await startTree('waiting.js')
  const unseen = { ...leader, identity: { ...leader.identity, start: null } }
  expect(process.kill(leader.identity.pid, 'SIGKILL')).toBe(true)
  await exited
  const seen = collectActs()
  expect(await stopTree({ ...options, leader: unseen })).toEqual({ signals: [], forced: false, left: [] })
  expect(seen).toEqual([])
})

test('ends what a first process has left behind of which nobody saw the start', async () => {
  const { exited, leader, options, printed } = await startTree('leaving-a-daemon.js', 'silent', 'obeying-slowly.js')
  const daemon = identityOf(Number((await printed(/left (\d+)/))[1]))
  expect(await exited).toEqual({ code: 0, signal: null })
  const unseen = { ...leader, identity: { ...leader.identity, start: null } }
  const mark = { ...options.mark, known: [daemon] }
  expect(await stopTree({ ...options, mark, leader: unseen })).toMatchObject({ signals: ['SIGTERM'], left: [] })
  expect(isAlive(daemon)).toBe(false)
})

test('uses the stop signal that it is given', async () => {
  const { exited, options, printed } = await startTree('waiting.js')
  await printed(/ready/)
  expect(await stopTree({ ...options, stopSignal: 'SIGINT' })).toMatchObject({ signals: ['SIGINT'], forced: false })
  expect(await exited).toEqual({ code: null, signal: 'SIGINT' })
})

test('kills who does not obey, after one polite signal', async () => {
  const { exited, options, output, printed } = await startTree('counting-signals.js')
  await printed(/ready/)
  const stopping = stopTree({ ...options, graceMs: 300 })
  await printed(/SIGTERM 1/)
  expect(await stopping).toEqual({ signals: ['SIGTERM', 'SIGKILL'], forced: true, left: [] })
  expect(await exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(output()).not.toContain('SIGTERM 2')
})

test('has a paused tree go on, so that it can obey', async () => {
  const { exited, leader, options, printed } = await startTree('obeying-slowly.js')
  await printed(/ready/)
  process.kill(leader.identity.pid, 'SIGSTOP')
  expect(await stopTree(options)).toMatchObject({ forced: false })
  expect(await exited).toEqual({ code: 0, signal: null })
})

test('ends descendants in sessions of their own that carry no mark, by their parents as they were before the first signal', async () => {
  const { exited, options, printed } = await startTree('parent-of-many.js')
  await printed(/all there/)
  const family = findBornHere(options.mark, [])
  expect(family).toHaveLength(3)
  await stopTree({ ...options, graceMs: 0 })
  await exited
  expect(family.filter(isAlive)).toEqual([])
})

test.each([
  ['with its environment and its output', 'whole'],
  ['without its environment', 'bare'],
  ['without its output', 'silent'],
])('asks a daemon politely that its first process has left behind %s', async (_, how) => {
  const { exited, options, printed } = await startTree('leaving-a-daemon.js', how, 'obeying-slowly.js')
  const daemon = identityOf(Number((await printed(/left (\d+)/))[1]))
  // Before that it would obey in its own way, and the parent's environment would still be seen.
  if (how !== 'silent') await printed(/ready/)
  expect(await exited).toEqual({ code: 0, signal: null })
  const seen = collectActs()
  expect(await stopTree(options)).toMatchObject({ signals: ['SIGTERM'], forced: false, left: [] })
  expect(isAlive(daemon)).toBe(false)
  expect(seen.filter((act) => act.act === 'signal' && act.to === 'group')).toEqual([])
})

test('leaves the children of a daemon to it, however long that takes', async () => {
  const { exited, options, output, printed } = await startTree('leaving-a-daemon.js', 'whole', 'ending-its-child.js')
  await printed(/ready/)
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(await stopTree(options)).toEqual({ signals: ['SIGTERM'], forced: false, left: [] })
  expect(output()).not.toContain('the child was asked')
})

test('asks those whom a daemon leaves behind when it is asked itself', async () => {
  const { exited, options, output, printed } = await startTree('leaving-a-daemon.js', 'whole', 'leaving-its-child.js')
  await printed(/ready/)
  expect(await exited).toEqual({ code: 0, signal: null })
  expect(await stopTree(options)).toEqual({ signals: ['SIGTERM'], forced: false, left: [] })
  expect(output()).toContain('the child was asked')
})

test('kills what comes anew while it is being stopped, until nothing comes any more', async () => {
  const { exited, options, output, printed } = await startTree('replacing-its-child.js', '1000')
  await printed(/started/)
  expect(await stopTree({ ...options, graceMs: 0 })).toEqual({ signals: ['SIGTERM', 'SIGKILL'], forced: true, left: [] })
  await exited
  expect(findBornHere(options.mark, [])).toEqual([])
  expect(output()).toContain('started')
})

// B25
test.each([1, 5])(
  'ends who is replaced every %i ms, each time by a process of another session, and none is left',
  async (pauseMs) => {
    const { exited, noneIsLeft, options, printed } = await startTree('replacing-itself.py', String(pauseMs))
    await printed(/ready/)
    expect(await exited).toEqual({ code: 0, signal: null })
    expect(await stopTree({ ...options, graceMs: 100 })).toMatchObject({ left: [] })
    await noneIsLeft
  },
)

test('without a leader, asks each of them once', async () => {
  const first = startProgram('processes/counting-signals.js')
  const second = startProgram('processes/counting-signals.js')
  await Promise.all([first.printed(/ready/), second.printed(/ready/)])
  const known = [identityOf(first.pid), identityOf(second.pid)]
  const seen = collectActs()
  const stopping = stopTree({
    mark: { namespace: newRunId(null), files: [], known },
    leader: null,
    spared: [],
    stopSignal: 'SIGTERM',
    graceMs: 200,
  })
  await Promise.all([first.printed(/SIGTERM 1/), second.printed(/SIGTERM 1/)])
  expect(await stopping).toEqual({ signals: ['SIGTERM', 'SIGKILL'], forced: true, left: [] })
  const asked = seen.filter((act) => act.act === 'signal' && act.signal === 'SIGTERM')
  expect(asked.map(({ pid }) => pid).sort()).toEqual(known.map(({ pid }) => pid).sort())
  expect(await Promise.all([first.exited, second.exited])).toEqual([
    { code: null, signal: 'SIGKILL' },
    { code: null, signal: 'SIGKILL' },
  ])
})

test('sends no signal to who is spared, though it is known', async () => {
  const program = startProgram('processes/counting-signals.js')
  await program.printed(/ready/)
  const identity = identityOf(program.pid)
  const seen = collectActs()
  const mark = { namespace: newRunId(null), files: [], known: [identity] }
  const stopped = await stopTree({ mark, leader: null, spared: [identity], stopSignal: 'SIGTERM', graceMs: LONG_MS })
  expect(stopped).toEqual({ signals: [], forced: false, left: [] })
  expect(seen).toEqual([])
})

test('says that nobody was killed where nobody was there', async () => {
  const mark = { namespace: newRunId(null), files: [], known: [{ ...ownIdentity(), pid: 2 ** 22 + 1 }] }
  const options: StopOptions = { mark, leader: null, spared: [], stopSignal: 'SIGTERM', graceMs: 0 }
  expect(await stopTree(options)).toEqual({ signals: [], forced: false, left: [] })
})
