import { expect, test } from 'vitest'
import { Work } from './work.js'

const MOMENT_MS = 20

function wait(): { work: Work; idle: Promise<string> } {
  let tell!: (text: string) => void
  const idle = new Promise<string>((resolve) => {
    tell = resolve
  })
  return { work: new Work(MOMENT_MS, () => tell('idle')), idle }
}

test('is idle after its time without work', async () => {
  await expect(wait().idle).resolves.toBe('idle')
})

test('is not idle while there is work', async () => {
  const { work, idle } = wait()
  const end = work.begin()
  // Another one's idle time, which began later, passes.
  await wait().idle
  let isIdle = false
  idle.then(() => {
    isIdle = true
  })
  await wait().idle
  expect(isIdle).toBe(false)
  end()
  await expect(idle).resolves.toBe('idle')
})

test('counts a piece of work once however often it is ended', () => {
  const work = new Work(Infinity, () => {})
  const [first, second] = [work.begin(), work.begin()]
  first()
  first()
  expect(work.pending).toBe(1)
  second()
  expect(work.pending).toBe(0)
})

test('has finished when the last piece has ended, with those that began meanwhile', async () => {
  const work = new Work(Infinity, () => {})
  await work.finished()
  const end = work.begin()
  let hasFinished = false
  const finished = work.finished().then(() => {
    hasFinished = true
  })
  end()
  const endLater = work.begin()
  await new Promise((resolve) => setImmediate(resolve))
  expect(hasFinished).toBe(false)
  endLater()
  await finished
})

test('is never idle again once it has stopped waiting', async () => {
  const { work, idle } = wait()
  work.stopWaiting()
  work.begin()()
  let isIdle = false
  idle.then(() => {
    isIdle = true
  })
  await wait().idle
  await wait().idle
  expect(isIdle).toBe(false)
})
