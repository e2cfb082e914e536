import { setTimeout as pause } from 'node:timers/promises'
import { openRun } from '@custody/core'
import { msBetween, now } from '../measure/now.mjs'
import { cpuMs } from '../measure/process-table.mjs'

/** Milliseconds that the shortest run of a runner takes at least: the supervisor starts beside it. */
const RUN_MS = 300

/** What Custody adds to a run in which nothing is started. */
export const bench = {
  about: `A run of ${RUN_MS} ms in which nothing is started.`,
  floor: 'nothing',
  contestants: ['custody'],
  rounds: 20,
  metrics: [
    { key: 'addedMs', title: 'Open, settle and close, ms' },
    { key: 'openMs', title: 'Open, ms' },
    { key: 'endMs', title: 'Settle and close, ms' },
    { key: 'cpuMs', title: 'CPU time, that of the supervisor included, ms', digits: 0 },
  ],

  async open() {
    return {
      async measure() {
        const cpuBefore = cpuMs()
        const begunAt = now()
        const run = await openRun({}, process.cwd())
        const openedAt = now()
        await pause(RUN_MS)
        const endedAt = now()
        await run.settle()
        await run.close()
        const closedAt = now()
        const [openMs, endMs] = [msBetween(begunAt, openedAt), msBetween(endedAt, closedAt)]
        return { addedMs: openMs + endMs, openMs, endMs, cpuMs: cpuMs() - cpuBefore }
      },
    }
  },
}
