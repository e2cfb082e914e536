import { openConnection } from '../open-connection.js'
import { untilDraining } from '../until-draining.js'

/** @param {import('../suite.js').Bench} bench */
export function describeStop({ describe, test, expect, taskd, openTask, locatorPath }) {
  describe('a stop', () => {
    const body = (title) => JSON.stringify({ title })

    test('lets accepted requests finish, and refuses later ones on connections that are open', async () => {
      await taskd('add', 'Before')
      const [accepted, late] = [await openConnection(locatorPath()), await openConnection(locatorPath())]
      await accepted.beginPost('/tasks', body('During').length)
      const request = late.get('/tasks')
      await late.write(request.slice(0, 20))
      const stopping = taskd('stop')
      await untilDraining(locatorPath())
      await late.write(request.slice(20))
      await accepted.write(body('During'))

      expect(await accepted.answers()).toEqual([{ status: 200, body: openTask('t2', 'During') }])
      expect(await late.answers()).toEqual([
        { status: 503, body: { error: { code: 'draining', message: 'The server is shutting down.' } } },
      ])
      await stopping
      expect((await taskd('list')).map((task) => task.title)).toEqual(['Before', 'During'])
    })

    test('lets a request finish whose caller has left', async () => {
      await taskd('add', 'Before')
      const connection = await openConnection(locatorPath())
      await connection.beginPost('/tasks', body('Unheard').length)
      const stopping = taskd('stop')
      await untilDraining(locatorPath())
      connection.socket.write(body('Unheard'))
      connection.socket.destroySoon()

      await stopping
      expect((await taskd('list')).map((task) => task.title)).toEqual(['Before', 'Unheard'])
    })
  })
}
