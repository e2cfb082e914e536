import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Identity } from '@custody/runtime'
import { ownIdentity, seeStart } from '@custody/runtime/internals'
import { expect, onTestFinished, test } from 'vitest'
import { ExitWatchList } from './exit-watch-list.js'

function start(...command: [string, ...string[]]): { identity: Identity; end: () => Promise<void> } {
  const [file, ...args] = command
  const child = spawn(file, args, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const end = async () => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(end)
  const pid = child.pid as number
  return { identity: { ...ownIdentity(), pid, start: seeStart(pid) }, end }
}

test('tells who is alive, also when its time is not over', async () => {
  const [staying, leaving] = [start('sleep', '100'), start('sleep', '100')]
  const list = new ExitWatchList()
  list.watch([staying.identity, leaving.identity], 60_000)
  await leaving.end()
  expect(list.takeOutlived()).toEqual([staying.identity])
})

test('tells who has outlived its time, though it has exited since', async () => {
  const { end, identity } = start('sleep', '100')
  const list = new ExitWatchList()
  list.watch([identity], 0)
  // A timer that was set later, for as long, fires later.
  await new Promise((resolve) => setTimeout(resolve, 0))
  await end()
  expect(list.takeOutlived()).toEqual([identity])
})

test('tells of each once', () => {
  const list = new ExitWatchList()
  list.watch([start('sleep', '100').identity], 60_000)
  list.takeOutlived()
  expect(list.takeOutlived()).toEqual([])
})
