import { spawn } from 'node:child_process'
import inspector from 'node:inspector'
import { expect, onTestFinished, test } from 'vitest'
import { clock } from './clock.js'
import { Deadline, pause } from './deadline.js'

test('is never stretched by a step within it', () => {
  const deadline = Deadline.after(1_000)
  expect(deadline.within(5_000).at).toBe(deadline.at)
  expect(deadline.within(10).at).toBeLessThan(deadline.at)
  expect(deadline.plus(10).at).toBe(deadline.at + 10)
})

test('has no time left, never less, once it has passed', async () => {
  const deadline = Deadline.after(1)
  await pause(5)
  expect([deadline.leftMs, deadline.hasPassed]).toEqual([0, true])
  expect(Deadline.after(-5).leftMs).toBe(0)
  expect(Deadline.after(60_000).hasPassed).toBe(false)
})

test('calls once when it passes, and not when that was cancelled', async () => {
  const calls: string[] = []
  const cancel = Deadline.after(1).onPassed(() => calls.push('cancelled'))
  cancel()
  await new Promise<void>((resolve) => {
    Deadline.after(5).onPassed(() => {
      calls.push('passed')
      resolve()
    })
  })
  expect(calls).toEqual(['passed'])
})

test('never passes when it is without end, nor early when it is further away than a timer can wait', () => {
  const deadline = Deadline.after(Infinity)
  expect([deadline.hasPassed, deadline.leftMs]).toEqual([false, Infinity])
  // A timer that is set to more than 31 bits fires at once, with a warning.
  const warned = (warning: Error) => expect.unreachable(String(warning))
  process.once('warning', warned)
  for (const far of [deadline, Deadline.after(2 ** 40)]) far.onPassed(() => expect.unreachable('It has passed.'))()
  process.off('warning', warned)
})

// Before a debugger is attached: then all stops are seen.
test('does not count for how long code has held the thread, however early it was', async () => {
  const deadline = Deadline.after(3_000)
  const cancel = deadline.onPassed(() => expect.unreachable('It has passed.'))
  const until = clock.now() + 2_500
  while (clock.now() < until);
  await pause(1)
  cancel()
  expect(deadline.leftMs).toBeGreaterThan(1_500)
})

test('does not count the time at which a debugger has stopped its process', async () => {
  inspector.open(0)
  onTestFinished(() => inspector.close())
  const deadline = Deadline.after(300)
  let hasPassed = false
  deadline.onPassed(() => {
    hasPassed = true
  })
  await pause(1)
  stop(1_000)
  await pause(1)
  expect([hasPassed, deadline.hasPassed]).toEqual([false, false])
  while (!hasPassed) await pause(10)
  expect(deadline.hasPassed).toBe(true)
})

/** Has nothing run in this thread for a time. */
function stop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('goes by a monotonic clock that a test cannot replace', () => {
  expect(Object.isFrozen(clock)).toBe(true)
  const { now } = clock
  expect(now()).toBeLessThanOrEqual(now())
})

test('does not pass before what came in time is read, however long code holds the thread', async () => {
  const child = spawn('sh', ['-c', 'echo here'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const outcome = new Promise<string>((resolve) => {
    const cancel = Deadline.after(300).onPassed(() => resolve('passed'))
    child.stdout.once('data', () => {
      cancel()
      resolve('heard')
    })
  })
  const until = clock.now() + 1_500
  while (clock.now() < until);
  expect(await outcome).toBe('heard')
})
