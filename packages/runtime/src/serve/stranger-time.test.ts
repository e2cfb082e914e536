import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { RawClient } from '../../../../test/runtime/raw-client.js'
import { sampleLocator } from '../../../../test/runtime/sample-locator.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { ProtocolServer } from './protocol-server.js'

interface Alarm {
  ms: number
  ring(): void
  isOff: boolean
}

// Ten seconds are too long for a test, so this clock rings when it is told to.
const alarms = vi.hoisted(() => {
  const set: Alarm[] = []
  const clock = {
    setTimeout(ring: () => void, ms: number) {
      const alarm = { ms, ring, isOff: false, unref() {} }
      set.push(alarm)
      return alarm
    },
    clearTimeout(alarm: Alarm) {
      alarm.isOff = true
    },
  }
  Reflect.set(process, Symbol.for('@custody/clock.1'), clock)
  return set
})

test('drops a client that has not proved itself after 10 seconds, however much it says', async () => {
  const path = join(temporaryDirectory(), 'a.sock')
  const locator = sampleLocator({ endpoint: `unix:${path}` })
  const protocol = new ProtocolServer(Buffer.from(locator.token, 'hex'), locator.endpoint, async () => null)
  await new Promise<void>((resolve) => protocol.server.listen(path, resolve))
  onTestFinished(() => protocol.close())
  const silent = connect(path)
  const greeted = new RawClient(locator.endpoint)
  await greeted.hello(locator)
  const proven = new RawClient(locator.endpoint)
  await proven.hello(locator)
  await proven.ask('any')
  expect(alarms.map(({ ms, isOff }) => [ms, isOff])).toEqual([
    [10_000, false],
    [10_000, false],
    [10_000, true],
  ])
  for (const alarm of alarms) if (!alarm.isOff) alarm.ring()
  await Promise.all([new Promise((resolve) => silent.once('close', resolve).resume()), greeted.dropped])
  expect(await proven.ask('any')).toMatchObject({ result: null })
  proven.socket.destroy()
})
