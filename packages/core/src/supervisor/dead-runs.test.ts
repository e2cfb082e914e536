import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { ownIdentity, seeStart } from '@custody/runtime/internals'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { sweepDeadRuns } from './dead-runs.js'
import { type RunRecord, readRunRecord, writeRunRecord } from './run-record.js'

/** A process that has ended. */
async function ended(): Promise<Identity> {
  const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
  const pid = child.pid as number
  const identity = { ...ownIdentity(), pid, start: seeStart(pid) }
  child.stdin?.end()
  await once(child, 'exit')
  return identity as Identity
}

/** The directory of a run whose runner was killed, in a base of its own. */
async function killedRun(): Promise<{ base: string; directory: string }> {
  const base = temporaryDirectory()
  const [directory, storage] = [join(base, 'run'), join(base, 'storage')]
  for (const path of [directory, storage]) mkdirSync(path)
  writeRunRecord(directory, {
    ...{ version: 1, id: 'ab'.repeat(16), runner: await ended(), supervisor: null, sentinel: null, group: null, storage },
    ...{ mostLevel: 0, allow: [], commonHelpers: true, isSwept: true, root: '/project', created: '2026-01-01T00:00:00.000Z' },
  })
  return { base, directory }
}

test('says nothing of a killed run that has left nothing alive, and removes its directory', async () => {
  const { base, directory } = await killedRun()
  expect(await sweepDeadRuns(base, '/project')).toEqual([])
  expect(existsSync(directory)).toBe(false)
})

test.each(['..', '../live', 'run/../live'])(
  'removes no other directory that the record of a killed run names: %s',
  async (storage) => {
    const { base, directory } = await killedRun()
    const live = join(base, 'live')
    mkdirSync(live)
    const record = readRunRecord(directory) as RunRecord
    writeRunRecord(live, { ...record, runner: ownIdentity() })
    writeRunRecord(directory, { ...record, storage: storage === '../live' ? live : `${directory}/${storage}` })
    expect(await sweepDeadRuns(base, '/project')).toEqual([])
    expect([existsSync(directory), existsSync(live)]).toEqual([false, true])
  },
)

test('says nothing of a directory whose record is none', async () => {
  const { base, directory } = await killedRun()
  writeFileSync(join(directory, 'run.json'), '')
  expect(await sweepDeadRuns(base, '/project')).toEqual([])
  expect(existsSync(directory)).toBe(true)
})

test('says how many processes of a killed run were ended', async () => {
  const { base, directory } = await killedRun()
  writeFileSync(join(directory, 'ended.jsonl'), '{}\n{}\n')
  expect(await sweepDeadRuns(base, '/project')).toEqual([
    'the run of 2026-01-01T00:00:00.000Z in /project was killed. Ended of its processes: 2 right after it, 0 just now.',
  ])
})
