import { expect, test } from 'vitest'
import { describeRunners, shareSuite } from './run-suite.js'

/** How many runtimes are started and ended, one after the other. `npm run soak` has 10,000. */
const CYCLES = Number(process.env['CUSTODY_SOAK_CYCLES'] ?? 400)
/** So many in each test, one of which is a daemon that a command has left. */
const CYCLES_OF_TEST = 20

/** So many moments are compared at the beginning and at the end. */
const FEW = 5

/**
 * V8 lets the young generation of its heap grow to 48 MB. What grows with the number
 * of runtimes is more than this in 10,000, from 6 KiB each on.
 */
const YOUNG_BYTES = 64 * 2 ** 20

/** What a process has at one moment. */
interface Sample {
  readonly descriptors: number
  readonly rssBytes: number
}

/** Between two tests, when everything of the tests before has ended. */
interface Moment {
  readonly worker: Sample
  readonly runner: Sample
  readonly supervisor: Sample
  /** Below the supervisor. */
  readonly processes: number
  /** Below the run's base directory. */
  readonly files: number
}

const measuring = `
  const own = path.join(os.tmpdir(), 'custody-' + process.getuid())
  const sampleOf = (pid) => ({
    descriptors: fs.readdirSync('/proc/' + pid + '/fd').length,
    rssBytes: 1024 * Number(/VmRSS:\\s+(\\d+)/.exec(fs.readFileSync('/proc/' + pid + '/status', 'utf8'))[1]),
  })
  const childrenOf = (pid) => fs.readdirSync('/proc/' + pid + '/task')
    .flatMap((thread) => fs.readFileSync('/proc/' + pid + '/task/' + thread + '/children', 'utf8').split(' ').filter(Boolean))
  const noteMoment = () => {
    const name = fs.readdirSync(own).find((name) => fs.existsSync(path.join(own, name, 'run.json')))
    const { runner, supervisor } = JSON.parse(fs.readFileSync(path.join(own, name, 'run.json'), 'utf8'))
    note('moment ' + process.hrtime.bigint(), {
      worker: sampleOf(process.pid), runner: sampleOf(runner.pid), supervisor: sampleOf(supervisor.pid),
      processes: childrenOf(supervisor.pid).length, files: fs.readdirSync(own, { recursive: true }).length,
    })
  }`

describeRunners(`${CYCLES} runtimes, one after the other,`, (runner) => {
  const suite = shareSuite(
    runner,
    () => ({
      files: {
        soak: `
          ${measuring}
          const numbers = Array.from({ length: ${CYCLES / CYCLES_OF_TEST} }, (_, at) => at)
          test.each(numbers)('starts and ends some, %i', async (at) => {
            if (at > 0) noteMoment()
            for (let cycle = 1; cycle < ${CYCLES_OF_TEST}; cycle++) {
              const { stop } = await custody.start({ name: 'one', command: ['sleep', '100'], ports: ['http'] })
              // Half of them are left to the end of the test.
              if (cycle % 2 === 0) await stop()
            }
            await leave('obeying')
          })`,
      },
    }),
    3_600_000,
  )
  const momentsOf = () => Object.values(suite().notes) as Moment[]

  test('are all retired', () => {
    const { exitCode, output } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).toContain(`custody  ${CYCLES} runtimes, ${CYCLES} owned, ${CYCLES} retired, ${CYCLES} exits observed`)
  })

  test('leave no descriptor, no process and no file', () => {
    const moments = momentsOf()
    // What has ended a moment ago may have a connection yet: the least of some moments is what stays.
    const [before, after] = [moments.slice(0, FEW), moments.slice(-FEW)].map((some) => ({
      files: leastOf(some, ({ files }) => files),
      processes: leastOf(some, ({ processes }) => processes),
      ofRunner: leastOf(some, ({ runner }) => runner.descriptors),
      ofSupervisor: leastOf(some, ({ supervisor }) => supervisor.descriptors),
      ofWorker: leastOf(some, ({ worker }) => worker.descriptors),
    }))
    expect(after).toEqual(before)
  })

  test('grow by less than 64 MB', () => {
    const moments = momentsOf()
    const half = Math.floor(moments.length / 2)
    for (const who of ['runner', 'supervisor', 'worker'] as const) {
      const before = medianOf(moments.slice(half / 2, half).map((moment) => moment[who].rssBytes))
      const after = medianOf(moments.slice(-half / 2).map((moment) => moment[who].rssBytes))
      const perCycle = (after - before) / (CYCLES / 2)
      console.log(`${runner}: ${who} ${mb(before)} MB, then ${mb(after)} MB: ${Math.round(perCycle)} bytes a cycle`)
      expect(after, who).toBeLessThan(before + YOUNG_BYTES)
    }
  })
})

function leastOf(moments: readonly Moment[], count: (moment: Moment) => number): number {
  return Math.min(...moments.map(count))
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number
}

function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1)
}
