import { expect, onTestFinished, test, vi } from 'vitest'
import { startProgram } from '../../../../test/runtime/start-program.js'
import { platform } from '../platform/index.js'
import { nextProcessTable, ProcessTable } from './process-table.js'

/** Whether a table has the parent of this process, which is older than it. */
const hasElder = ({ byPid }: ProcessTable) => byPid.has(process.ppid)

async function startWaiting(): Promise<number> {
  const program = startProgram('processes/waiting.js')
  await program.printed(/ready/)
  return program.pid
}

test('has those alone in a quick look who are no older than this process', async () => {
  const younger = await startWaiting()
  expect(hasElder(new ProcessTable())).toBe(true)
  const quick = new ProcessTable(true)
  expect([hasElder(quick), quick.byPid.has(younger)]).toEqual([false, true])
})

test.each([
  ['numbers have begun anew', 1],
  ['nobody tells', null],
])('looks at all when %s since the last look', (_, lastPid) => {
  expect(hasElder(new ProcessTable())).toBe(true)
  const look = vi.spyOn(platform, 'readLastPid').mockReturnValue(lastPid)
  onTestFinished(() => look.mockRestore())
  expect(hasElder(new ProcessTable(true))).toBe(true)
})

test('adds who is new, and says whether anybody was', async () => {
  const table = new ProcessTable()
  while (table.update());
  const pid = await startWaiting()
  expect(table.byPid.has(pid)).toBe(false)
  expect(table.update()).toBe(true)
  expect(table.byPid.has(pid)).toBe(true)
})

test('tells who asks that it could not be read', async () => {
  const list = vi.spyOn(platform, 'listProcesses').mockImplementation(() => {
    throw new Error('EMFILE')
  })
  onTestFinished(() => list.mockRestore())
  await expect(nextProcessTable(false)).rejects.toThrow('EMFILE')
})

test('is one for all who ask in the same turn, and another for who asks later', async () => {
  const [first, second] = [nextProcessTable(false), nextProcessTable(false)]
  expect(second).toBe(first)
  expect(await nextProcessTable(true)).not.toBe(await first)
  expect(nextProcessTable(false)).not.toBe(first)
})
