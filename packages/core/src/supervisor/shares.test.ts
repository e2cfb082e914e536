import { expect, test } from 'vitest'
import type { ShareAnswer, SharedRuntime } from './protocol.js'
import { Shares } from './shares.js'
import type { Client } from './supervisor.js'

const client = (): Client => ({ notify() {}, ended: new Promise(() => {}) })
const runtime = (id = 'r1') => ({ id, ports: { http: 4711 } }) as unknown as SharedRuntime

/** What an answer is by now; null while it is awaited. */
async function sofar(answer: Promise<ShareAnswer>): Promise<ShareAnswer | null> {
  return Promise.race([answer, new Promise<null>((resolve) => setImmediate(() => resolve(null)))])
}

test('has the first who asks start it, and the others wait for it', async () => {
  const shares = new Shares()
  expect(await shares.ask(client(), 'run db', 'v1')).toEqual({ role: 'starter' })
  const waiting = [shares.ask(client(), 'run db', 'v1'), shares.ask(client(), 'run db', 'v1')]
  expect(await Promise.all(waiting.map(sofar))).toEqual([null, null])
  shares.tell('run db', runtime())
  const guest = { role: 'guest', runtime: runtime() }
  expect(await Promise.all(waiting)).toEqual([guest, guest])
  expect(await shares.ask(client(), 'run db', 'v1')).toEqual(guest)
})

test('starts another for each key', async () => {
  const shares = new Shares()
  expect(await shares.ask(client(), 'w1 db', 'v1')).toEqual({ role: 'starter' })
  expect(await shares.ask(client(), 'w2 db', 'v1')).toEqual({ role: 'starter' })
})

test('refuses another definition under the same key, before and after it was started', async () => {
  const shares = new Shares()
  const refused = { role: 'refused', problem: expect.stringContaining('another definition has this name already') }
  await shares.ask(client(), 'run db', 'v1')
  expect(await shares.ask(client(), 'run db', 'v2')).toEqual(refused)
  shares.tell('run db', runtime())
  expect(await shares.ask(client(), 'run db', 'v2')).toEqual(refused)
})

test('tells those who wait why a start failed, and lets the next who asks try again', async () => {
  const shares = new Shares()
  await shares.ask(client(), 'run db', 'v1')
  const waiting = shares.ask(client(), 'run db', 'v1')
  shares.tell('run db', { problem: 'no such command' })
  expect(await waiting).toEqual({ role: 'refused', problem: 'no such command' })
  // With a corrected definition, too.
  expect(await shares.ask(client(), 'run db', 'v2')).toEqual({ role: 'starter' })
})

test('has the next who asks start it again when it has exited', async () => {
  const shares = new Shares()
  for (const [key, id] of [
    ['run db', 'r1'],
    ['run api', 'r2'],
  ] as const) {
    await shares.ask(client(), key, 'v1')
    shares.tell(key, runtime(id))
  }
  shares.forget('r1')
  expect(await shares.ask(client(), 'run db', 'v1')).toEqual({ role: 'starter' })
  expect(await shares.ask(client(), 'run api', 'v1')).toMatchObject({ role: 'guest' })
})

test('has the next in line start it when the starter has gone before it was ready', async () => {
  const shares = new Shares()
  const [starter, second, third] = [client(), client(), client()]
  await shares.ask(starter, 'run db', 'v1')
  const answers = [shares.ask(second, 'run db', 'v1'), shares.ask(third, 'run db', 'v1')] as const
  shares.drop(starter)
  expect(await answers[0]).toEqual({ role: 'starter' })
  expect(await sofar(answers[1])).toBe(null)
  shares.drop(second)
  expect(await answers[1]).toEqual({ role: 'starter' })
  shares.drop(third)
  expect(await shares.ask(client(), 'run db', 'v1')).toEqual({ role: 'starter' })
})

test('passes over who has gone while waiting', async () => {
  const shares = new Shares()
  const [starter, gone, patient] = [client(), client(), client()]
  await shares.ask(starter, 'run db', 'v1')
  const [forgotten, waiting] = [shares.ask(gone, 'run db', 'v1'), shares.ask(patient, 'run db', 'v1')]
  shares.drop(gone)
  shares.drop(starter)
  expect(await waiting).toEqual({ role: 'starter' })
  expect(await sofar(forgotten)).toBe(null)
})

test('keeps what is ready when its starter has gone', async () => {
  const shares = new Shares()
  const starter = client()
  await shares.ask(starter, 'run db', 'v1')
  shares.tell('run db', runtime())
  shares.drop(starter)
  expect(await shares.ask(client(), 'run db', 'v1')).toEqual({ role: 'guest', runtime: runtime() })
})

test('hears of what nobody asked for without effect', async () => {
  const shares = new Shares()
  shares.tell('run db', runtime())
  expect(await shares.ask(client(), 'run db', 'v1')).toEqual({ role: 'starter' })
})

test('finds what was kept from the run before outdated by another definition, and nothing else', async () => {
  const shares = new Shares()
  const outdated = (fingerprint: string, hasLost = false) => shares.findOutdated('run db', fingerprint, () => hasLost)
  await shares.ask(client(), 'run db', 'v1')
  shares.tell('run db', runtime())
  expect([outdated('v1'), outdated('v2')]).toEqual([null, null])
  // What it needs has gone: it cannot be the same any more.
  expect([outdated('v1', true), outdated('v2', true)]).toEqual([null, runtime()])
  shares.beginRerun()
  expect([outdated('v1'), outdated('v2')]).toEqual([null, runtime()])
})
