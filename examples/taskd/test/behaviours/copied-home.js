import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** @param {import('../suite.js').Bench} bench */
export function describeCopiedHome({ custody, describe, test, expect, taskd, serverPid, openTask }) {
  describe('a copied home', () => {
    const copyHome = () => {
      const copy = join(custody.namespace.dir, 'copy')
      cpSync(join(custody.namespace.home, '.taskd'), copy, { recursive: true })
      return copy
    }

    test('does not touch the server of the original', async () => {
      await taskd('add', 'Stay')
      const pid = await serverPid()
      const copy = copyHome()
      for (const args of [['status'], ['list'], ['add', 'Intrude'], ['stop']]) {
        const { error } = await taskd.refused(...args, '--home', copy)
        expect(error).toMatchObject({ code: 'foreign_locator', pid })
        expect(error.hint).toContain(`rm ${join(copy, 'taskd.json')}`)
      }
      expect(await serverPid()).toBe(pid)
      expect(await taskd('list')).toEqual([openTask('t1', 'Stay')])
    })

    test('gets a server of its own without the copied locator', async () => {
      await taskd('add', 'Stay')
      const copy = copyHome()
      rmSync(join(copy, 'taskd.json'))
      await taskd('add', 'Diverge', '--home', copy)
      expect(await serverPid('--home', copy)).not.toBe(await serverPid())
      expect(await taskd('list')).toEqual([openTask('t1', 'Stay')])
    })

    test('gets a server of its own when the original has left', async () => {
      await taskd('add', 'Stay')
      const copy = copyHome()
      await taskd('stop')
      expect(await taskd('list', '--home', copy)).toEqual([openTask('t1', 'Stay')])
    })
  })
}
