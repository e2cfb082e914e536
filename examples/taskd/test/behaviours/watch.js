import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { cli } from '../taskd.js'

/** @param {import('../suite.js').Bench} bench */
export function describeWatch({ custody, describe, test, expect, taskd }) {
  describe('watch', () => {
    test('prints events as they happen', async () => {
      const options = { env: { ...process.env, ...custody.namespace.env } }
      const watcher = spawn(process.execPath, [cli, 'watch', '--count', '2', '--json'], options)
      const exited = once(watcher, 'exit')
      const events = createInterface({ input: watcher.stdout })[Symbol.asyncIterator]()
      const nextEvent = async () => JSON.parse((await events.next()).value)

      expect(await nextEvent()).toEqual({ event: 'watching' })
      const added = await taskd('add', 'Be seen')
      expect(await nextEvent()).toEqual({ event: 'added', task: added })
      const paused = await taskd('pause', '--task', 't1')
      expect(await nextEvent()).toEqual({ event: 'paused', task: paused })
      expect(await exited).toEqual([0, null])
    })

    test('ends when the server is stopped', async () => {
      const watching = taskd('watch')
      let server = null
      while (!server?.watchers) server = (await taskd('status')).server
      await taskd('stop')
      expect(await watching).toEqual({ event: 'watching' })
    })
  })
}
