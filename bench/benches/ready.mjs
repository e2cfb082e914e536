import { askers, listeners, openContestant } from '../contestants/index.mjs'
import { newServer } from '../measure/new-server.mjs'
import { msBetween, now } from '../measure/now.mjs'
import { scratch } from '../measure/scratch.mjs'

/** How late a start is told that the server is ready. */
export const bench = {
  about: 'From when a server wrote its ready line, by its own clock, to when the start resolved.',
  contestants: [...listeners, ...askers],
  rounds: 20,
  metrics: [
    {
      key: 'lateMs',
      isLag: true,
      title: 'Ready line to start resolved, ms',
      goal: { of: 'difference', atMost: 0.5, text: 'within 0.5 ms of the floor' },
    },
  ],

  async open(name) {
    const contestant = await openContestant(name)
    const directory = scratch()
    return {
      async measure() {
        const server = await newServer(directory)
        const started = await contestant.start(server)
        const resolvedAt = now()
        const { saidAt } = await server.stamp()
        await started.stop()
        return { lateMs: msBetween(saidAt, resolvedAt) }
      },
      close: () => contestant.close?.(),
    }
  },
}
