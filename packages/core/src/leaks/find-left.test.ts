import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { ownIdentity } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import type { BornChild } from '../namespace/birth-state.js'
import { newRunId } from '../namespace/namespace-id.js'
import { findLeft } from './find-left.js'

const file = () => `${newRunId(null)}.f1`

/** Starts a child in a namespace, which says when it is up; it has exited when the test has finished. */
async function bear(
  namespace: string,
  script: string,
  changes: Partial<BornChild> = {},
): Promise<BornChild & { readonly process: ChildProcess }> {
  const child: ChildProcess = spawn('sh', ['-c', script], {
    env: { PATH: process.env['PATH'], CUSTODY_NAMESPACE: `${namespace}:/run/x` },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return { site: { stack: 'here' }, pid: child.pid ?? null, isDetached: false, isLate: false, ...changes, process: child }
}

test('finds a child that is alive, with the line that started it, and none that has exited', async () => {
  const scope = file()
  const [alive, gone] = [await bear(`${scope}.1`, 'echo up; exec sleep 100'), await bear(`${scope}.1`, 'echo up')]
  if (gone.process.exitCode === null) await once(gone.process, 'exit')
  const left = findLeft(scope, [{ id: `${scope}.1`, children: [alive, gone] }], ownIdentity())
  expect(left).toMatchObject([
    {
      identity: { pid: alive.process.pid },
      command: ['sleep', '100'],
      namespace: `${scope}.1`,
      site: alive.site,
      isOfWorker: false,
    },
  ])
})

test('finds who was born in the scope though nobody here has started it, and counts it as one with its children', async () => {
  const scope = file()
  const { process: parent } = await bear(`${scope}.2`, 'sleep 100 & echo up; wait')
  const left = findLeft(scope, [], ownIdentity())
  expect(left).toMatchObject([{ identity: { pid: parent.pid }, namespace: `${scope}.2`, site: null, descendants: [{}] }])
})

test('takes a child that nobody waits for, and that is in no session of its own, for one of the worker', async () => {
  const scope = file()
  const [helper, detached] = [
    await bear(scope, 'echo up; exec sleep 100'),
    await bear(scope, 'echo up; exec sleep 100', { isDetached: true }),
  ]
  for (const each of [helper, detached]) each.process.unref()
  const left = findLeft(scope, [{ id: scope, children: [helper, detached] }], ownIdentity())
  expect(left.map(({ identity, isOfWorker }) => [identity.pid, isOfWorker])).toEqual(
    [helper, detached].map(({ isDetached, process }) => [process.pid, !isDetached]),
  )
})

test('leaves out what Custody has started, and a child whose environment says that it is nobody’s', async () => {
  const scope = file()
  await bear(`${scope}.r1`, 'echo up; exec sleep 100')
  const opted = spawn('sleep', ['100'], { env: { PATH: process.env['PATH'], CUSTODY_NAMESPACE: '' }, stdio: 'ignore' })
  const exited = once(opted, 'exit')
  onTestFinished(async () => {
    opted.kill('SIGKILL')
    await exited
  })
  await once(opted, 'spawn')
  const child: BornChild = { process: opted, site: {}, pid: opted.pid ?? null, isDetached: false, isLate: false }
  expect(findLeft(scope, [{ id: scope, children: [child] }], ownIdentity())).toEqual([])
})

test('leaves out a child that a test has made up, with the number of another process', async () => {
  const scope = file()
  const stranger = await bear('', 'echo up; exec sleep 100')
  const child: BornChild = { ...stranger, pid: null }
  expect(findLeft(scope, [{ id: scope, children: [child] }], ownIdentity())).toEqual([])
})

test('leaves out a process that is no child of this one, whatever stands in the place of its number', async () => {
  const scope = file()
  const parent = await bear('', 'sleep 100 & echo up; wait')
  const stranger = Number(readFileSync(`/proc/${parent.process.pid}/task/${parent.process.pid}/children`, 'utf8').split(' ')[0])
  const child: BornChild = { ...parent, pid: stranger }
  expect(findLeft(scope, [{ id: scope, children: [child] }], ownIdentity())).toEqual([])
})
