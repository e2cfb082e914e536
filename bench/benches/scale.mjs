import { newProgram } from '../measure/new-server.mjs'
import { msBetween, now } from '../measure/now.mjs'
import { cpuMs, descendantsOf } from '../measure/process-table.mjs'
import { scratch } from '../measure/scratch.mjs'

const COUNT = 200

/** Many runtimes at once. */
export const bench = {
  about: `Starts ${COUNT} programs at once, waits until all are ready, and stops them all at once.`,
  contestants: ['floor', 'custody', 'custody-test-end', 'execa', 'tinyexec', 'prool'],
  rounds: 5,
  metrics: [
    { key: 'totalMs', title: 'All of it, ms', digits: 0, goal: { of: 'ratio', atMost: 1, text: 'at most 1.0 of the floor' } },
    { key: 'startMs', title: 'Until all are ready, ms', digits: 0 },
    { key: 'stopMs', title: 'Until all have stopped, ms', digits: 0 },
    { key: 'cpuMs', title: 'CPU time of all processes, that of the programs and of a supervisor included, ms', digits: 0 },
    {
      key: 'helpers',
      title: 'Processes besides the programs',
      isCount: true,
      goal: { of: 'most', atMost: 2, text: 'one supervisor, and its shell' },
    },
  ],

  async open(name) {
    const contestant = await import(`../contestants/${name}.mjs`)
    const directory = scratch()
    return {
      async measure() {
        const cpuBefore = cpuMs()
        await contestant.open?.()
        const programs = Array.from({ length: COUNT }, () => newProgram(directory))
        const calledAt = now()
        const started = await Promise.all(programs.map((program) => contestant.start(program)))
        const readyAt = now()
        const helpers = descendantsOf(process.pid).length - COUNT
        const askedAt = now()
        await Promise.all(started.map((each) => each.stop()))
        const stoppedAt = now()
        // What has been reaped is counted: the supervisor too, when its run is closed.
        await contestant.close?.()
        const [startMs, stopMs] = [msBetween(calledAt, readyAt), msBetween(askedAt, stoppedAt)]
        return { totalMs: startMs + stopMs, startMs, stopMs, cpuMs: cpuMs() - cpuBefore, helpers }
      },
    }
  },
}
