import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyPackage } from '../copy-package.js'
import { untilRemoved } from '../until-removed.js'

/** @param {import('../suite.js').Bench} bench */
export function describeServer({ custody, describe, test, expect, taskd, serverPid, openTask, locatorPath }) {
  describe('the server', () => {
    test('is started by the first command and used by the second', async () => {
      await taskd('add', 'Water the plants')
      const pid = await serverPid()
      expect(await taskd('list')).toEqual([openTask('t1', 'Water the plants')])
      expect(await serverPid()).toBe(pid)
    })

    test('is not started by a question about it', async () => {
      expect((await taskd('status')).server).toBe(null)
      expect(await taskd('stop')).toEqual({ stopped: null })
    })

    test('is one when eight commands start it at once', async () => {
      const titles = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      await Promise.all(titles.map((title) => taskd('add', title)))
      const tasks = await taskd('list')
      expect(tasks.map((task) => task.title).sort()).toEqual(titles)
      expect(new Set(tasks.map((task) => task.id)).size).toBe(titles.length)
      expect((await custody.runtimes()).map((runtime) => [runtime.verdict, runtime.pid])).toEqual([['owned', await serverPid()]])
    })

    test('leaves when it is idle', async () => {
      await taskd('add', 'Wait', '--idle-ms', '300')
      await untilRemoved(locatorPath())
      expect((await taskd('status')).server).toBe(null)
    })

    test('tells its log when it cannot start', async () => {
      const home = join(custody.namespace.home, '.taskd')
      mkdirSync(home, { recursive: true })
      writeFileSync(join(home, 'tasks.json'), 'not JSON')
      const { error } = await taskd.refused('list')
      expect(error).toMatchObject({ code: 'not_started', hint: `look into ${join(home, 'taskd.log')}` })
      expect(readFileSync(join(home, 'taskd.log'), 'utf8')).toContain(`Could not read the tasks in ${join(home, 'tasks.json')}`)
    })

    test('runs on when the package that it was started from is deleted', async () => {
      const copy = copyPackage(join(custody.namespace.dir, 'copied'))
      await taskd.from(copy)('add', 'Outlive the code')
      const pid = await serverPid()
      rmSync(copy, { recursive: true })
      expect(await taskd('list')).toEqual([openTask('t1', 'Outlive the code')])
      expect(await serverPid()).toBe(pid)
    })
  })
}
