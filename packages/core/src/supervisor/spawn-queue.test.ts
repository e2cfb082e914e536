import { expect, test } from 'vitest'
import { SpawnQueue } from './spawn-queue.js'

/** A promise that is resolved from outside. */
function later<T = void>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const [a, b] = [{ name: 'a' }, { name: 'b' }]

test('takes turns among clients, so that a burst of one does not hold up the other', async () => {
  const queue = new SpawnQueue<object>()
  const order: string[] = []
  const job = (name: string) => async () => void order.push(name)
  await Promise.all([
    ...['a1', 'a2', 'a3'].map((name) => queue.add(a, job(name))),
    ...['b1', 'b2'].map((name) => queue.add(b, job(name))),
  ])
  // The first had begun before anybody else was there.
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
})

test('starts one at a time', async () => {
  const queue = new SpawnQueue<object>()
  let running = 0
  let most = 0
  const job = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
  }
  await Promise.all([queue.add(a, job), queue.add(a, job), queue.add(b, job)])
  expect(most).toBe(1)
})

test('gives the event loop a turn between two starts', async () => {
  const queue = new SpawnQueue<object>()
  const order: string[] = []
  const first = queue.add(a, async () => {
    order.push('first')
    setImmediate(() => order.push('others'))
  })
  await Promise.all([first, queue.add(a, async () => void order.push('second'))])
  expect(order).toEqual(['first', 'others', 'second'])
})

test('gives each the outcome of its own start, and goes on after a failure', async () => {
  const queue = new SpawnQueue<object>()
  const outcomes = await Promise.allSettled([
    queue.add(a, async () => 1),
    queue.add(a, () => Promise.reject(new Error('no such command'))),
    queue.add(a, async () => 3),
  ])
  expect(outcomes).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: new Error('no such command') },
    { status: 'fulfilled', value: 3 },
  ])
})

test('works again after it was empty', async () => {
  const queue = new SpawnQueue<object>()
  expect(await queue.add(a, async () => 1)).toBe(1)
  await new Promise(setImmediate)
  expect(await queue.add(a, async () => 2)).toBe(2)
})

test('starts nothing more for a client that has gone, though its turn had come in this round', async () => {
  const queue = new SpawnQueue<object>()
  const [begun, goOn] = [later(), later()]
  const started: string[] = []
  const job = (name: string) => async () => void started.push(name)
  void queue.add(a, job('a1'))
  const second = queue.add(a, () => {
    begun.resolve()
    return goOn.promise
  })
  void queue.add(b, job('b1'))
  void queue.add(b, job('b2'))
  // This round is the second of the one, and the first of the other, who goes while it is held up.
  await begun.promise
  queue.drop(b)
  goOn.resolve()
  await second
  await queue.add(a, job('a3'))
  await queue.add(a, job('a4'))
  expect(started).toEqual(['a1', 'a3', 'a4'])
})
