import { setTimeout as pause } from 'node:timers/promises'
import { askers, listeners, openContestant } from '../contestants/index.mjs'
import { DeathObserver } from '../measure/death-observer.mjs'
import { newServer } from '../measure/new-server.mjs'
import { msBetween, now } from '../measure/now.mjs'
import { identityOf, isAlive } from '../measure/process-table.mjs'
import { scratch } from '../measure/scratch.mjs'

/** How late a stop is told that the process has died. */
export const bench = {
  about: 'From the death of a server, which another process observes, to when the stop resolved.',
  contestants: [...listeners, 'custody-test-end', ...askers],
  rounds: 20,
  metrics: [
    {
      key: 'lateMs',
      isLag: true,
      title: 'Death to stop resolved, ms; less than 0: before the death',
      goal: { of: 'difference', atMost: 1, text: 'within 1 ms of the floor' },
    },
    { key: 'totalMs', title: 'The whole stop, ms' },
    { key: 'alive', title: 'Servers alive when the stop resolved', isCount: true },
  ],

  async open(name) {
    const contestant = await openContestant(name)
    const observer = new DeathObserver()
    const directory = scratch()
    return {
      async measure() {
        const server = await newServer(directory)
        const started = await contestant.start(server)
        const identity = identityOf((await server.stamp()).pid)
        const { died } = await observer.watch(identity.pid)
        // The server has its start behind it.
        await pause(30)
        const askedAt = now()
        await started.stop()
        const stoppedAt = now()
        const alive = isAlive(identity) ? 1 : 0
        return { lateMs: msBetween(await died, stoppedAt), totalMs: msBetween(askedAt, stoppedAt), alive }
      },
      async close() {
        await contestant.close?.()
        await observer.close()
      },
    }
  },
}
