import type { Identity } from '@custody/runtime'
import { ownIdentity, runtimePlatform } from '@custody/runtime/internals'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { newRunId } from '../namespace/namespace-id.js'
import { platform } from '../platform/index.js'
import { findRole, type RunIdentity, readBorn } from './own-processes.js'

const identityOf = (pid: number): Identity => ({ ...ownIdentity(), pid, start: runtimePlatform.readStart(pid) })

async function start(env: Record<string, string> = {}): Promise<Identity> {
  const program = startProgram('processes/waiting.js', { env })
  await program.printed(/ready/)
  return identityOf(program.pid)
}

/** A run whose runner is somebody else: nobody here is its child. */
const runOf = (runner: Identity): RunIdentity => ({ id: newRunId(null), runner })
const nobody: Identity = { ...ownIdentity(), pid: 2 ** 22 + 1, start: '1' }

describe('the role of a process', () => {
  test('is this process', () => expect(findRole(ownIdentity(), runOf(ownIdentity()))).toBe('this process'))

  test('is the runner', async () => {
    const runner = await start()
    expect(findRole(runner, runOf(runner))).toBe('the runner')
  })

  test('is an ancestor, of any degree', () => {
    expect(findRole(identityOf(process.ppid), runOf(nobody))).toBe('an ancestor')
    expect(findRole(identityOf(1), runOf(nobody))).toBe('an ancestor')
  })

  test("is a worker: the runner's own child, which carries no mark of the run", async () => {
    expect(findRole(await start(), runOf(ownIdentity()))).toBe('a worker')
    const run = runOf(ownIdentity())
    expect(findRole(await start({ CUSTODY_NAMESPACE: `${newRunId(null)}:/run/x` }), run)).toBe('a worker')
  })

  test('is none for what a test has started in a worker that is the runner itself', async () => {
    const run = runOf(ownIdentity())
    expect(findRole(await start({ CUSTODY_NAMESPACE: `${run.id}.f1.1:/run/x` }), run)).toBe(null)
  })

  test('is none for a stranger', async () => expect(findRole(await start(), runOf(nobody))).toBe(null))

  test('is none where an ancestor cannot be seen, and so not who is above it', () => {
    const look = vi.spyOn(platform, 'readProcess').mockImplementation(() => null)
    onTestFinished(() => look.mockRestore())
    expect(findRole(identityOf(process.ppid), runOf(nobody))).toBe(null)
  })

  test('is none for one that has a number of ours with another start', () => {
    expect(findRole({ ...ownIdentity(), start: '1' }, runOf(nobody))).toBe(null)
    expect(findRole({ ...nobody, start: '2' }, runOf(nobody))).toBe(null)
  })
})

describe('the kernel shows a birth', () => {
  const scope = `${newRunId(null)}.f1`
  test.each([
    ['in the scope', `${scope}:/run/x`, 'environment'],
    ['below the scope', `${scope}.3:/run/x`, 'environment'],
    ['above the scope', `${scope.split('.')[0]}:/run/x`, 'no'],
    ['in a scope whose name begins alike', `${scope}0:/run/x`, 'no'],
    ['in the scope, without a directory', scope, 'no'],
    ['in no scope', '', 'no'],
  ])('%s', async (_, value, born) => {
    expect(readBorn((await start({ CUSTODY_NAMESPACE: value })).pid, scope)).toBe(born)
  })

  test('neither way of whom it does not show the environment', async () => {
    const read = vi.spyOn(platform, 'readInitialVariable').mockImplementation(() => 'unreadable')
    onTestFinished(() => read.mockRestore())
    expect(readBorn((await start({ CUSTODY_NAMESPACE: `${scope}:/run/x` })).pid, scope)).toBe('unreadable')
  })

  test('of nobody who has no such variable, or is not there', async () => {
    expect(readBorn((await start()).pid, scope)).toBe('no')
    expect(readBorn(nobody.pid, scope)).toBe('no')
  })
})
