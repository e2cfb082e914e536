/** @param {import('../suite.js').Bench} bench */
export function describeLease({ describe, test, expect, taskd, openTask, take }) {
  const holding = ({ holder, expiresAt }) => ({ holder, expiresAt })
  const refusal = (reason, task, held) => ({
    error: { code: 'lease_refused', reason, task, held, hint: `taskd status --task ${task}` },
  })

  describe('a lease', () => {
    test('is given, renewed and used once', async () => {
      await taskd('add', 'Paint')
      const lease = await take('t1', 'ann')
      expect((await taskd('status', '--task', 't1')).lease).toEqual(holding(lease))

      const renewed = (await taskd('renew', '--task', 't1', '--lease', lease.token, '--ttl-ms', '120000')).lease
      expect(renewed.token).toBe(lease.token)
      expect(Date.parse(renewed.expiresAt)).toBeGreaterThan(Date.parse(lease.expiresAt))

      const history = [{ ...holding(renewed), end: 'completed' }]
      const done = openTask('t1', 'Paint', { state: 'done', leaseHistory: history })
      expect(await taskd('complete', '--task', 't1', '--lease', lease.token)).toEqual(done)
      expect(await taskd.refused('complete', '--task', 't1', '--lease', lease.token)).toEqual(refusal('stale', 't1', null))
    })

    test('keeps others from the task', async () => {
      await taskd('add', 'Paint')
      const lease = await take('t1', 'ann')
      expect(await taskd.refused('lease', '--task', 't1', '--holder', 'ben')).toEqual(refusal('held', 't1', holding(lease)))
    })

    test('is stale after its time', async () => {
      await taskd('add', 'Paint')
      const lease = await take('t1', 'ann', '--ttl-ms', '1')
      expect(await taskd.refused('renew', '--task', 't1', '--lease', lease.token)).toEqual(refusal('stale', 't1', null))
      expect((await taskd('status', '--task', 't1')).leaseHistory).toEqual([{ ...holding(lease), end: 'expired' }])
    })

    test('that is stale or foreign is refused in the same words by every command', async () => {
      await taskd('add', 'Paint')
      await taskd('add', 'Sweep')
      const stale = await take('t1', 'ann')
      await taskd('pause', '--task', 't1')
      await taskd('pause', '--task', 't1', '--off')
      const held = holding(await take('t1', 'ben'))
      const foreign = await take('t2', 'ann')
      const before = await taskd('list')

      for (const command of ['renew', 'complete', 'copy', 'pause']) {
        const refuse = (lease) => taskd.refused(command, '--task', 't1', '--lease', lease.token)
        expect(await refuse(stale)).toEqual(refusal('stale', 't1', held))
        expect(await refuse(foreign)).toEqual(refusal('foreign', 't1', held))
      }
      expect(await taskd('list')).toEqual(before)
    })

    test('is not needed to pause or copy a task, which keeps the history', async () => {
      await taskd('add', 'Paint')
      const lease = await take('t1', 'ann')
      const leaseHistory = [{ ...holding(lease), end: 'paused' }]
      const paused = openTask('t1', 'Paint', { state: 'paused', leaseHistory })
      expect(await taskd('pause', '--task', 't1')).toEqual(paused)
      expect(await taskd('copy', '--task', 't1')).toEqual(openTask('t2', 'Paint', { leaseHistory, copyOf: 't1' }))
      expect(await taskd('status', '--task', 't1')).toEqual(paused)
      expect(await taskd.refused('renew', '--task', 't2', '--lease', lease.token)).toEqual(refusal('foreign', 't2', null))
    })
  })
}
