import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gone } from './alive.js'
import { noteProcess, readNoted, until } from './noted.js'
import { describeRunners, type RunnerName, shareSuite } from './run-suite.js'

/** Longer than the runner and its supervisor wait for each other, in milliseconds. */
const PAUSE_MS = 12_000

// B86, B88
describeRunners('a run that is paused, as by a debugger,', (runner) => {
  const suite = shareSuite(runner, () => ({
    // Its group, which its workers are in, is what is paused.
    wrapper: ['setsid'],
    files: {
      paused: `
        const server = ['node', path.join(programs, 'servers/answering-http.js')]
        const start = (name) => custody.start({ name, command: server, ports: ['http'], ready: { http: '/' } })
        test('starts one before and one after', async () => {
          const before = await start('before')
          fs.writeFileSync('up', '')
          while (!fs.existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
          expect(Number(await (await fetch(before.url)).text())).toBe(before.pid)
          const after = await start('after')
          expect(Number(await (await fetch(after.url)).text())).toBe(after.pid)
        }, 120_000)`,
    },
    async during(running) {
      const { directory, runner: main } = running
      await until(running, () => existsSync(join(directory, 'up')))
      const send = (signal: NodeJS.Signals) => {
        if (main.pid !== undefined && main.exitCode === null && main.signalCode === null) process.kill(-main.pid, signal)
      }
      send('SIGSTOP')
      await setTimeout(PAUSE_MS)
      send('SIGCONT')
      writeFileSync(join(directory, 'go'), '')
    },
  }))

  test('keeps what it has started, and goes on to start and to end', () => {
    const { exitCode, output, receiptsOf } = suite()
    expect(exitCode, output).toBe(0)
    for (const name of ['before', 'after']) expect(receiptsOf(name)).toMatchObject([{ forced: false, left: [] }])
    expect(output).toContain('custody  2 runtimes, 2 owned, 2 retired, 2 exits observed')
  })
})

/** `npm run soak` has 500. */
const RUNS = Number(process.env['CUSTODY_SOAK_RUNS'] ?? 10)

// B87
describeRunners(`${RUNS} runs, one after the other,`, (runner) => {
  const suite = shareSuite(
    runner,
    () => ({
      wrapper: ['sh', '-c', `for run in $(seq ${RUNS}); do "$@" || exit 1; done`, 'sh'],
      files: {
        again: `
          ${noteProcess}
          test('starts one', async () => {
            const own = path.join(os.tmpdir(), 'custody-' + process.getuid())
            const run = fs.readdirSync(own).find((name) => fs.existsSync(path.join(own, name, 'run.json')))
            const { pid } = await custody.start({ name: 'one', command: ['sleep', '100'], ports: ['http'] })
            const { sentinel, supervisor } = JSON.parse(fs.readFileSync(path.join(own, run, 'run.json'), 'utf8'))
            for (const each of [pid, sentinel.pid, supervisor.pid, await leave('obeying')]) noteProcess(each)
          })`,
      },
    }),
    600_000,
  )

  test('leave no process, no socket and no file', async () => {
    const { base, directory, exitCode, output } = suite()
    expect(exitCode, output).toBe(0)
    const noted = readNoted(directory)
    expect(noted).toHaveLength(RUNS * 4)
    await Promise.all(noted.map(gone))
    // Sockets are files of a run's directory. Jest has a cache of its own there.
    const own = `custody-${process.getuid?.()}`
    expect(readdirSync(base).filter((name) => !name.startsWith('jest_'))).toEqual([own])
    expect(readdirSync(join(base, own), { recursive: true })).toEqual(['ports'])
  })
})

const FILES = 40
const WORKERS = 4
const inWorkers: Record<RunnerName, string[]> = {
  vitest: [`--maxWorkers=${WORKERS}`, '--no-isolate'],
  jest: ['-w', `${WORKERS}`],
}

// B99
describeRunners('a runtime for each worker', (runner) => {
  const asking = `
    const definition = { scope: 'worker', name: 'db', command: ['sleep', '300'] }
    test('asks', async () => note(path.basename(expect.getState().testPath), (await custody.shared(definition)).pid))`
  const suite = shareSuite(
    runner,
    () => ({
      args: inWorkers[runner],
      files: Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`asking-${at}`, asking])),
    }),
    300_000,
  )

  test('is started and stopped once in each, however many files ask', () => {
    const { exitCode, notes, output, receiptsOf } = suite()
    expect(exitCode, output).toBe(0)
    const pids = Object.values(notes)
    expect(pids).toHaveLength(FILES)
    expect(new Set(pids)).toEqual(new Set(receiptsOf('db').map(({ identity }) => identity?.pid)))
    expect(receiptsOf('db')).toHaveLength(WORKERS)
    for (const receipt of receiptsOf('db')) expect(receipt).toMatchObject({ forced: false, left: [] })
  })
})
