/** @param {import('../suite.js').Bench} bench */
export function describeStore({ describe, test, expect, taskd, serverPid, openTask, take }) {
  for (const store of ['file', 'sqlite']) {
    describe(`the store ${store}`, () => {
      test('survives a restart', async () => {
        await taskd('add', 'Remember', '--store', store)
        const lease = await take('t1', 'ann')
        const [before, pid] = [await taskd('list'), await serverPid()]
        expect(await taskd('stop')).toEqual({ stopped: { pid } })

        expect(await taskd('list')).toEqual(before)
        expect((await taskd('status')).server).toMatchObject({ store, tasks: 1 })
        expect(await serverPid()).not.toBe(pid)
        await taskd('complete', '--task', 't1', '--lease', lease.token)
      })

      test('survives a crash', async () => {
        await taskd('add', 'Remember', '--store', store)
        process.kill(await serverPid(), 'SIGKILL')
        expect(await taskd('list')).toEqual([openTask('t1', 'Remember')])
      })

      test('refuses to be mixed with the other', async () => {
        const other = store === 'file' ? 'sqlite' : 'file'
        await taskd('add', 'Remember', '--store', store)
        expect((await taskd.refused('list', '--store', other)).error.code).toBe('store_mismatch')
        await taskd('stop')
        expect((await taskd.refused('list', '--store', other)).error.code).toBe('store_mismatch')
      })
    })
  }
}
