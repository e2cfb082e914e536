import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { gone, isAlive } from '../contract/alive.js'
import { identify, type Keepers, readKeepers } from '../contract/keepers.js'
import { type Noted, noteProcess, readNoted, until } from '../contract/noted.js'
import {
  describeRunners,
  type RunnerName,
  type RunningSuite,
  runInProject,
  type SuiteResult,
  shareSuite,
} from '../contract/run-suite.js'

/** How long a pause lasts, in milliseconds: longer than every limit that a teardown has by default. */
const PAUSE_MS = Number(process.env['CUSTODY_TEST_PAUSE_MS'] || 30_000)
/** The same for who is given up after ten seconds without an answer. */
const SHORT_PAUSE_MS = Math.min(PAUSE_MS, 5_000)

/** A test that has one of each, and holds in its body or, by its daemon, in its teardown. */
const files = {
  pauses: `
    ${noteProcess}
    const appears = async (file) => { while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20)) }
    test('is paused', async () => {
      fs.writeFileSync('worker', String(process.pid))
      process.env.HELD = process.cwd()
      noteProcess((await custody.start({ name: 'started', command: ['sleep', '301'] })).pid)
      noteProcess(await leave('holding-at', 'draining'))
      fs.writeFileSync('at-body', '')
      await appears('body-goes-on')
    }, 300_000)
    test('comes after it', async () => {
      noteProcess((await custody.start({ name: 'later', command: ['sleep', '302'] })).pid)
      noteProcess(await leave('obeying'))
    })`,
  beside: `test('is beside it', () => {})`,
}

type Step = 'body' | 'draining'

interface Everybody extends RunningSuite, Keepers {
  readonly worker: Noted
}

/** Has each of them stopped, one after the other, at a step, and go on. */
function sharePaused(runner: RunnerName, step: Step, act: (everybody: Everybody) => Promise<void>): () => SuiteResult {
  return shareSuite(
    runner,
    () => ({
      files,
      args: runner === 'jest' ? ['-w', '2'] : ['--maxWorkers=2'],
      async during(running) {
        const { base, directory } = running
        const goOn = (name: string) => writeFileSync(join(directory, name), '')
        await until(running, () => existsSync(join(directory, 'at-body')))
        const worker = identify(Number(readFileSync(join(directory, 'worker'), 'utf8')))
        if (step !== 'body') {
          goOn('body-goes-on')
          await until(running, () => existsSync(join(directory, `at-${step}`)))
        }
        await act({ ...running, ...readKeepers(base), worker })
        for (const name of ['body-goes-on', 'go']) goOn(name)
      },
    }),
    PAUSE_MS * 4 + 120_000,
  )
}

/** Stops a process of the run for a while. */
async function pause(target: Noted, forMs: number, meanwhile: () => void = () => {}): Promise<void> {
  send('SIGSTOP', target)
  meanwhile()
  await setTimeout(forMs)
  send('SIGCONT', target)
}

function send(signal: NodeJS.Signals, target: Noted): void {
  if (target.pid > 1 && isAlive(target)) process.kill(target.pid, signal)
}

const runnerOf = ({ runner }: RunningSuite) => identify(runner.pid as number)

function isGreen(suite: () => SuiteResult): void {
  test('leaves the run green, everything retired, and nobody forced', async () => {
    const { directory, exitCode, output, receipts } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).toContain('custody  4 runtimes, 4 owned, 4 retired, 4 exits observed')
    for (const { forced, left } of receipts) expect({ forced, left }).toEqual({ forced: false, left: [] })
    await Promise.all(readNoted(directory).map(gone))
  })
}

describeRunners('a pause', (runner) => {
  describe.sequential('of the worker in its test, of the runner, and for a shorter time of the supervisor,', () => {
    isGreen(
      sharePaused(runner, 'body', async (everybody) => {
        await pause(everybody.worker, PAUSE_MS)
        await pause(runnerOf(everybody), PAUSE_MS)
        await pause(everybody.supervisor, SHORT_PAUSE_MS)
      }),
    )
  })

  describe.sequential('of the worker while it waits for an exit, which came meanwhile,', () => {
    isGreen(
      sharePaused(runner, 'draining', async ({ directory, worker }) => {
        await pause(worker, PAUSE_MS, () => writeFileSync(join(directory, 'go'), ''))
      }),
    )
  })
})

/** A project whose global teardown holds: by then everything of the run was settled, and only its end is left. */
const teardown = `
  const { existsSync, writeFileSync } = require('node:fs')
  const hold = async () => {
    writeFileSync('at-teardown', '')
    while (!existsSync('torn-down')) await new Promise((resolve) => setTimeout(resolve, 20))
  }`
const withTeardown: Record<RunnerName, string> = {
  vitest: `
    import { custodyPlugin } from '@custody/vitest/plugin'
    export default { plugins: [custodyPlugin()], test: { include: ['*.check.mjs'], globalSetup: ['./own-setup.mjs'] } }`,
  jest: `
    import { withCustody } from '@custody/jest/config'
    export default withCustody({ testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname, globalTeardown: '<rootDir>/own-teardown.cjs' })`,
}

// Before that, while tests run: test/contract/killed.test.ts.
describeRunners('a supervisor that hangs for ever when all that is left to it is to leave', (runner) => {
  let keepers: Keepers
  let begunMs: number
  const suite = shareSuite(
    runner,
    () => ({
      config: withTeardown[runner],
      extras: {
        'own-setup.mjs': `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${teardown}\nexport default () => hold`,
        'own-teardown.cjs': `${teardown}\nmodule.exports = hold`,
      },
      files: {
        starts: `
          ${noteProcess}
          test('starts one', async () => noteProcess((await custody.start({ name: 'started', command: ['sleep', '301'] })).pid))`,
      },
      async during(running) {
        const { base, directory } = running
        await until(running, () => existsSync(join(directory, 'at-teardown')))
        keepers = readKeepers(base)
        send('SIGSTOP', keepers.supervisor)
        begunMs = performance.now()
        writeFileSync(join(directory, 'torn-down'), '')
      },
    }),
    180_000,
  )

  test('is given up after ten seconds, which is said', async () => {
    const { directory, exitCode, output } = suite()
    expect(exitCode, output).toBe(0)
    expect(output).toContain('custody  warning: the supervisor could not end the run: it did not answer for 10 s.')
    await Promise.all([keepers.supervisor, keepers.sentinel, ...readNoted(directory)].map(gone))
    // Not only after the two minutes that the end of a run may take.
    expect(performance.now() - begunMs).toBeLessThan(90_000)
  })

  test('has left the files of the run to its sentinel, and the next run removes them', async () => {
    const own = join(suite().base, `custody-${process.getuid?.()}`)
    const runs = () => readdirSync(own).filter((name) => existsSync(join(own, name, 'run.json')))
    expect(runs()).toHaveLength(1)
    const { exitCode, output } = await runInProject(runner, suite(), [])
    expect(exitCode, output).toBe(0)
    expect(runs()).toEqual([])
  })
})
