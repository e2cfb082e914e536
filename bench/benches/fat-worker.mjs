import { openContestant } from '../contestants/index.mjs'
import { newProgram } from '../measure/new-server.mjs'
import { msBetween, now } from '../measure/now.mjs'
import { scratch } from '../measure/scratch.mjs'

/** Megabytes that a worker of a large project holds. */
const BALLAST_MB = 300

/** What a start costs the worker that asks for it. A spawn copies the page table of the whole process. */
export const bench = {
  about: `Starts a program in a process that holds ${BALLAST_MB} MB more, until it is spawned.`,
  contestants: ['floor', 'custody', 'execa', 'tinyexec'],
  rounds: 30,
  metrics: [
    {
      key: 'callMs',
      title: 'The call itself, which holds the event loop, ms',
      goal: { of: 'ratio', atMost: 0.25, text: 'at most 0.25 of what child_process.spawn holds it' },
    },
    {
      key: 'busyMs',
      title: 'Event loop busy between the call and spawned, ms',
      goal: { of: 'ratio', atMost: 0.25, text: 'at most 0.25 of what child_process.spawn holds it' },
    },
    { key: 'spawnedMs', title: 'Call to spawned, ms' },
  ],

  async open(name) {
    const contestant = await openContestant(name)
    const directory = scratch()
    const ballast = newBallast()
    return {
      async measure() {
        const program = newProgram(directory, null)
        const before = performance.eventLoopUtilization()
        const calledAt = now()
        const starting = contestant.start(program)
        const returnedAt = now()
        const started = await starting
        const spawnedAt = now()
        const { active } = performance.eventLoopUtilization(before)
        await started.stop()
        return {
          callMs: msBetween(calledAt, returnedAt),
          busyMs: active,
          spawnedMs: msBetween(calledAt, spawnedAt),
        }
      },
      async close() {
        await contestant.close?.()
        ballast.length = 0
      },
    }
  },
}

/** Objects on the heap, as modules and test results are: their pages are small ones, and each has an entry to be copied. */
function newBallast() {
  return Array.from({ length: BALLAST_MB * 8 }, () => Array.from({ length: 16_000 }, Math.random))
}
