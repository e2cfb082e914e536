import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { Deadline, openSession, ownIdentity, type Peer, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { serveAnswers } from '../../../../test/runtime/serve-answers.js'
import { type Program, startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { collectActs } from '../../../../test/witness/collect-acts.js'
import type { HeldPeer } from '../platform/index.js'
import type { Evidence } from '../provenance/evidence.js'
import { type OwnedRuntime, type RetireOutcome, retire } from './retire.js'
import type { StepName } from './steps.js'

/** For what happens soon. */
const LONG_MS = 60_000
/** For what never does. */
const SHORT_MS = 150

type Answer = (params: unknown, peer: Peer, program: Program) => Promise<unknown>

interface Stage {
  readonly runtime: OwnedRuntime
  readonly program: Program
  readonly locator: string
  /** What it was asked. */
  readonly asked: unknown[]
  retire(limits?: { graceMs?: number; teardownMs?: number }): Promise<RetireOutcome>
  readonly steps: StepName[]
}

/**
 * A process that ends when it is told, with a true session of which this process answers the requests: so each moment of a retirement
 * can be had.
 */
async function newStage(answer: Answer, changes: Partial<Evidence> = {}, peer: HeldPeer | null = null): Promise<Stage> {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  const locator = join(temporaryDirectory(), 'runtime.json')
  writeFileSync(locator, '')
  const asked: unknown[] = []
  const served = await serveAnswers((_method, params, peer) => {
    asked.push(params)
    return answer(params, peer, program)
  })
  const session = await openSession(served, Deadline.after(LONG_MS))
  onTestFinished(() => session.close())
  const identity: Identity = { ...ownIdentity(), pid: program.pid, start: runtimePlatform.readStart(program.pid) }
  const evidence: Evidence = {
    ...{ source: 'registry', path: '/registry/entry.json', unreadable: null, scope: 'a.f1', role: null, isOlderThanRun: false },
    ...{ answer: 'authentic', statement: 'complete', namespace: 'a.f1', isInScope: true, frozenPath: locator, isPathEqual: true },
    ...{ recorded: 'alive', born: 'environment', isSeenAlive: true, identity },
    ...changes,
  }
  const runtime: OwnedRuntime = {
    verdict: 'owned',
    reason: 'it is',
    name: 'sample',
    instance: 'c'.repeat(32),
    evidence,
    session,
    peer,
  }
  const steps: StepName[] = []
  return {
    ...{ asked, locator, program, runtime, steps },
    retire: ({ graceMs = LONG_MS, teardownMs = LONG_MS } = {}) =>
      retire(runtime, { graceMs, deadline: Deadline.after(teardownMs) }, (step) => steps.push(step)),
  }
}

async function end({ child, exited }: Program): Promise<void> {
  child.kill('SIGKILL')
  await exited
}

const accept = { already: false }
const endAndAccept: Answer = async (_params, _peer, program) => {
  await end(program)
  return accept
}

test('asks for what it means, and no more, and is done when the kernel no longer has the process', async () => {
  const acts = collectActs()
  const stage = await newStage(async (_params, peer) => {
    peer.notify('draining')
    peer.notify('of no meaning')
    peer.notify('drained')
    return accept
  })
  const retiring = stage.retire()
  await until(() => stage.steps.includes('drained'))
  await end(stage.program)
  expect(await retiring).toEqual({ end: 'exited' })
  const expected = { locator: '/registry/entry.json', instance: 'c'.repeat(32), namespace: 'a.f1' }
  expect(stage.asked).toEqual([{ expect: expected, graceMs: expect.any(Number) }])
  expect(stage.steps.toSorted()).toEqual(
    ['shutdown requested', 'accepted', 'draining', 'drained', 'exit observed', 'locator left behind'].toSorted(),
  )
  expect(stage.steps.at(0)).toBe('shutdown requested')
  expect(stage.steps.slice(-2)).toEqual(['exit observed', 'locator left behind'])
  const { pid, start } = stage.runtime.evidence.identity as Identity
  const request = { act: 'shutdown request', locator: expected.locator, instance: expected.instance, proof: 'it is', pid, start }
  expect(acts).toEqual([request])
})

test('says that a runtime has taken its locator away', async () => {
  const stage = await newStage(async (_params, _peer, program) => {
    rmSync(stage.locator)
    await end(program)
    return accept
  })
  expect(await stage.retire()).toEqual({ end: 'exited' })
  expect(stage.steps.at(-1)).toBe('locator removed')
})

test('says nothing of a locator that nobody knows', async () => {
  const stage = await newStage(endAndAccept, { frozenPath: null })
  expect(await stage.retire()).toEqual({ end: 'exited' })
  expect(stage.steps.at(-1)).toBe('exit observed')
})

test('asks without a time where there is no limit', async () => {
  const stage = await newStage(endAndAccept)
  expect(await stage.retire({ graceMs: Infinity, teardownMs: Infinity })).toEqual({ end: 'exited' })
  expect(stage.asked).toEqual([{ expect: expect.any(Object) }])
})

test('takes a refusal for what it is, ends the session, and does not call that the runtime’s doing', async () => {
  const refusal = { code: -32_002, message: 'not the owner', data: { code: 'not_owner', reason: 'it is another instance' } }
  const stage = await newStage(() => Promise.reject(refusal))
  expect(await stage.retire()).toEqual({ end: 'refused', reason: 'it is another instance' })
  await stage.runtime.session.ended
  expect(stage.steps).toEqual(['shutdown requested', 'refused'])
  expect(stage.program.child.exitCode).toBe(null)
})

test.each([
  ['graceMs', { graceMs: SHORT_MS }],
  ['teardownMs', { teardownMs: SHORT_MS }],
])('says of one that does not answer which limit has passed: %s', async (limit, limits) => {
  const stage = await newStage(() => new Promise(() => {}))
  expect(await stage.retire(limits)).toEqual({ end: 'unanswered', afterMs: expect.any(Number), limit })
  await stage.runtime.session.ended
  expect(stage.steps).toEqual(['shutdown requested'])
})

test('says of one that accepts and stays that it is alive', async () => {
  const stage = await newStage(async () => accept)
  expect(await stage.retire({ graceMs: SHORT_MS })).toEqual({ end: 'still alive', afterMs: expect.any(Number), limit: 'graceMs' })
  await stage.runtime.session.ended
  expect(stage.steps).toEqual(['shutdown requested', 'accepted'])
  expect(stage.program.child.exitCode).toBe(null)
})

test('sees the exit of one that has left before it could answer', async () => {
  const stage = await newStage(async () => accept)
  await end(stage.program)
  // Its connection ends with it; here that is another process's.
  stage.runtime.session.close()
  expect(await stage.retire()).toEqual({ end: 'exited' })
  expect(stage.steps).not.toContain('accepted')
})

test('passes on any other failure of the request', async () => {
  const stage = await newStage(() => Promise.reject({ code: -32_603, message: 'Internal error' }))
  await expect(stage.retire()).rejects.toThrow('Internal error')
})

test.each<[string, Partial<Evidence>]>([
  ['was not seen alive', { isSeenAlive: false }],
  ['is of no known number', { identity: null }],
])('claims no exit of a process that %s', async (_, changes) => {
  const stage = await newStage(endAndAccept, changes)
  expect(await stage.retire()).toEqual({ end: 'exit unobservable' })
  await stage.runtime.session.ended
  expect(stage.steps).toEqual(['shutdown requested', 'accepted'])
})

test('goes by the kernel’s word of a process that is held, and not by numbers of another namespace', async () => {
  let tell = () => {}
  const exited = new Promise<void>((resolve) => {
    tell = resolve
  })
  const held: HeldPeer = { pids: [1], exited, send: () => false, sendToGroup: () => null, release() {} }
  // The number is nobody's here: without the hold it would look gone.
  const identity = { ...ownIdentity(), pid: 4_194_305, start: '1' }
  const stage = await newStage(async () => accept, { identity }, held)
  const retiring = stage.retire()
  await until(() => stage.steps.includes('accepted'))
  expect(stage.steps).not.toContain('exit observed')
  tell()
  expect(await retiring).toEqual({ end: 'exited' })
})

test('tells of the end of a connection that the runtime has ended', async () => {
  const stage = await newStage(async () => accept)
  const retiring = stage.retire()
  await until(() => stage.steps.includes('accepted'))
  stage.runtime.session.close()
  await stage.runtime.session.ended
  await end(stage.program)
  expect(await retiring).toEqual({ end: 'exited' })
  expect(stage.steps).toContain('connection ended')
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}
