import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { Deadline, ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { newRunId } from '../namespace/namespace-id.js'
import { observeExit } from '../retire/observe-exit.js'
import type { Birthmark } from './birthmark.js'
import { fileIdOf } from './file-id.js'
import { findBornHere } from './find-born-here.js'
import { sendSignal } from './send-signal.js'

const markOf = (changes: Partial<Birthmark> = {}): Birthmark => ({ namespace: newRunId(null), files: [], known: [], ...changes })
const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })
const pidsOf = (mark: Birthmark, spared: readonly Identity[] = []) =>
  findBornHere(mark, spared)
    .map(({ pid }) => pid)
    .sort((a, b) => a - b)

async function startWaiting(env: Record<string, string> = {}): Promise<number> {
  const program = startProgram('processes/waiting.js', { env })
  await program.printed(/ready/)
  return program.pid
}

/** Starts a process with two descendants that carry nothing, and gives all pids, its own first. */
async function startFamily(env: Record<string, string> = {}): Promise<number[]> {
  const program = startProgram('processes/parent-of-many.js', { env })
  await program.printed(/all there/)
  const pids = [...program.output.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid))
  const [, ...descendants] = pids.map(identityOf)
  onTestFinished(async () => {
    for (const identity of descendants) sendSignal('SIGKILL', { kind: 'process', identity, proof: 'seen at birth' })
    for (const identity of descendants) await observeExit(identity, Promise.resolve(), Deadline.after(10_000))
  })
  return pids
}

test('finds who carries the namespace in the environment it was started with, or one below it', async () => {
  const mark = markOf()
  const inside = await startWaiting({ CUSTODY_NAMESPACE: `${mark.namespace}:/run/x` })
  const below = await startWaiting({ CUSTODY_NAMESPACE: `${mark.namespace}.f1.1:/run/x` })
  await startWaiting({ CUSTODY_NAMESPACE: `${mark.namespace}1:/run/x` })
  await startWaiting({ OTHER: `${mark.namespace}:/run/x`, CUSTODY_NAMESPACE: `${newRunId(null)}:/${mark.namespace}:/` })
  expect(pidsOf(mark)).toEqual([inside, below].sort((a, b) => a - b))
})

test('finds who holds a file that was opened for it, though the file has another name by now', async () => {
  const path = join(temporaryDirectory(), 'log')
  const program = startProgram('processes/waiting.js', { before: `exec 9>>${path}; mv ${path} ${path}.old` })
  await program.printed(/ready/)
  expect(pidsOf(markOf({ files: [fileIdOf(`${path}.old`)] }))).toEqual([program.pid])
})

test('leaves alone who only reads that file, like a pager', async () => {
  const path = join(temporaryDirectory(), 'log')
  const pager = startProgram('processes/waiting.js', { before: `: >${path}; exec 9<${path}` })
  await pager.printed(/ready/)
  expect(pidsOf(markOf({ files: [fileIdOf(path)] }))).toEqual([])
})

test('finds who is known, and nobody who has its number with another start', async () => {
  const pid = await startWaiting()
  const identity = identityOf(pid)
  expect(pidsOf(markOf({ known: [identity] }))).toEqual([pid])
  expect(pidsOf(markOf({ known: [{ ...identity, start: '1' }] }))).toEqual([])
  expect(pidsOf(markOf({ known: [{ ...identity, start: null }] }))).toEqual([])
})

test('finds the descendants of who was found, who have cleared their environment and left its group', async () => {
  const mark = markOf()
  const family = await startFamily({ CUSTODY_NAMESPACE: `${mark.namespace}:/run/x` })
  expect(family).toHaveLength(3)
  expect(pidsOf(mark)).toEqual(family.toSorted((a, b) => a - b))
})

test('says of each when it started, and of which boot and namespaces it is', async () => {
  const pid = await startWaiting()
  const { boot, pidns, timens } = ownIdentity()
  const identity = identityOf(pid)
  expect(findBornHere(markOf({ known: [identity] }), [])).toEqual([{ pid, start: identity.start, boot, pidns, timens }])
})

test('never finds this process, its ancestors, or the first process, whatever is known of them', () => {
  const path = join(temporaryDirectory(), 'log')
  // Held by this very process.
  const descriptor = openSync(path, 'a')
  onTestFinished(() => closeSync(descriptor))
  const known = [ownIdentity(), identityOf(process.ppid), identityOf(1)]
  const found = pidsOf(markOf({ known, files: [fileIdOf(path)] }))
  for (const { pid } of known) expect(found).not.toContain(pid)
})

test('never finds who is spared, nor its children by it', async () => {
  const mark = markOf()
  const family = await startFamily({ CUSTODY_NAMESPACE: `${mark.namespace}:/run/x` })
  const [parent = 0, ...rest] = family
  expect(pidsOf(mark, [identityOf(parent)])).toEqual([])
  // One that has the number of a spared one is a stranger to it.
  expect(pidsOf(mark, [{ ...identityOf(parent), start: '1' }])).toEqual([parent, ...rest].toSorted((a, b) => a - b))
})

test('does not count what was born of an exception, also of what that has started meanwhile', async () => {
  const mark = markOf()
  const kept = `${mark.namespace}.r1`
  const inside = await startWaiting({ CUSTODY_NAMESPACE: `${mark.namespace}.f1:/run/x` })
  await startFamily({ CUSTODY_NAMESPACE: `${kept}:/run/x` })
  expect(pidsOf({ ...mark, except: [markOf({ namespace: kept })] })).toEqual([inside])
  await startWaiting({ CUSTODY_NAMESPACE: `${kept}.f1:/run/x` })
  expect(pidsOf({ ...mark, except: [markOf({ namespace: kept })] })).toEqual([inside])
})
