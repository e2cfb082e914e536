import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { gone, isAlive } from './alive.js'
import { identify, type Keepers, readKeepers } from './keepers.js'
import { type Noted, noteProcess, readNoted, until } from './noted.js'
import { describeRunners, type RunnerName, type RunningSuite, runners, type SuiteResult, shareSuite } from './run-suite.js'

// What cannot be seen at this level, and so is no test: a process with an empty environment and descriptors of its own, whose parent has
// exited before anybody looked.

/** The command of one runtime of each suite, and of a foreign process beside it. */
const LOOK_ALIKE = ['sleep', '119'] as const

/** For the inside of a test file: waits for a file. */
const appears = `
  const appears = async (file) => { while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20)) }`

/** A test that starts one of each kind of tree, a plain command and, by another command, a daemon. Then it does the rest. */
const withEverything = (name: string, { graceMs = 2_000, rest }: File) => `
  ${noteProcess}
  ${appears}
  test('has everything', async () => {
    const program = path.join(programs, 'trees/one-of-each.sh')
    const command = ['sh', program, path.resolve('noted-${name}')]
    const family = await custody.start({ name: 'family', command, ready: { log: 'one of each' }, graceMs: ${graceMs} })
    noteProcess((await custody.start({ name: 'plain', command: ${JSON.stringify(LOOK_ALIKE)} })).pid)
    noteProcess(await leave('obeying'))
    fs.writeFileSync('${name}.worker', String(process.pid))
    fs.writeFileSync('${name}.up', '')
    ${rest}
  })`

/** What a file does when it has everything. */
interface File {
  readonly rest: string
  /** How long its family may take to obey. */
  readonly graceMs?: number
}

const waits: File = { rest: 'await new Promise(() => {})' }
const goesOn: File = { rest: `await appears('go')` }

/** What is acted on when everything is up. */
interface Everything extends RunningSuite, Keepers {
  /** The process of the first file. */
  readonly worker: Noted
}

interface Killed {
  readonly result: SuiteResult
  readonly everything: Everything
  readonly foreign: Noted
}

interface Plan {
  /** Those that have everything. */
  readonly files: Readonly<Record<string, File>>
  /** Whether the runner leads a group of its own, with its workers in it. */
  readonly leadsGroup?: boolean
  /** The body of the test in a file beside them. */
  readonly beside?: string
  /** Called when everything is up. */
  act(everything: Everything): unknown
}

/** Runs a suite that has everything in each of its files, with a foreign process beside it. */
function shareKilled(runner: RunnerName, { act, beside = '', files, leadsGroup = false }: Plan): () => Killed {
  let foreign: ChildProcess
  let found: Omit<Killed, 'result'>
  const names = Object.keys(files)
  const suite = shareSuite(runner, () => {
    foreign = spawn(LOOK_ALIKE[0], LOOK_ALIKE.slice(1), { stdio: 'ignore' })
    return {
      ...(leadsGroup && { wrapper: ['setsid'] as const }),
      // With a second file Jest has workers.
      args: runner === 'jest' ? ['-w', '4'] : ['--maxWorkers=4'],
      files: {
        beside: `${appears}\ntest('lives on', async () => { ${beside} })`,
        ...Object.fromEntries(names.map((name) => [name, withEverything(name, files[name] as File)])),
      },
      async during(running) {
        const { base, directory } = running
        await until(running, () => names.every((name) => existsSync(join(directory, `${name}.up`))))
        const worker = identify(Number(readFileSync(join(directory, `${names[0]}.worker`), 'utf8')))
        const everything: Everything = { ...running, ...readKeepers(base), worker }
        found = { everything, foreign: identify(foreign.pid as number) }
        // What follows shows nothing without them.
        expect(readNoted(directory).length).toBeGreaterThanOrEqual(names.length * 21)
        await act(everything)
      },
    }
  })
  afterAll(() => void foreign.kill('SIGKILL'))
  return () => ({ result: suite(), ...found })
}

/** What must hold after every run, however it ended. */
function leavesNothing(killed: () => Killed): void {
  test('leaves nothing of the suite', async () => {
    const { directory } = killed().result
    // Some come into being only when they are asked to leave, and note themselves then.
    for (let left = 1; left > 0; left = readNoted(directory).filter(isAlive).length) {
      await Promise.all(readNoted(directory).map(gone))
    }
  })

  test('leaves neither supervisor nor sentinel', async () => {
    const { sentinel, supervisor } = killed().everything
    await Promise.all([gone(supervisor), gone(sentinel)])
  })

  // B46
  test('leaves a foreign process alone that looks like one of the suite', () => {
    expect(isAlive(killed().foreign)).toBe(true)
  })
}

describeRunners('a runner that is ended by', (runner) => {
  // B15, B01
  describe.sequential.each(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', (name) => {
    const killed = shareKilled(runner, { files: { waits }, act: (everything) => everything.runner.kill(name) })

    test('ends by that signal, or by the code that stands for it', () => {
      const { exitCode, signal } = killed().result
      expect(signal ?? exitCode).toBeOneOf([name, 128 + constants.signals[name]])
    })
    leavesNothing(killed)
  })

  // B15
  describe.sequential('SIGKILL, together with all of its group', () => {
    const killed = shareKilled(runner, {
      files: { waits },
      leadsGroup: true,
      act: (everything) => signalGroup(everything, 'SIGKILL'),
    })

    test('ends by that signal', () => expect(killed().result.signal).toBe('SIGKILL'))
    leavesNothing(killed)
  })

  // B13
  describe.sequential('SIGINT to its group, twice, while a runtime takes its time to stop', () => {
    const graceMs = 600_000
    const rest = `void family.stop()\n${waits.rest}`
    const killed = shareKilled(runner, {
      files: { stops: { rest, graceMs } },
      leadsGroup: true,
      async act(everything) {
        // Whoever forks when it is asked to leave has been asked.
        await until(everything, () => readNoted(everything.directory).length > 21)
        signalGroup(everything, 'SIGINT')
        await setTimeout(100)
        signalGroup(everything, 'SIGINT')
      },
    })

    leavesNothing(killed)
  })
})

// B03
describeRunners('a worker that ends while its test runs,', (runner) => {
  describe.sequential('by a signal, by process.exit and by process.abort', () => {
    const files = {
      kills: { rest: `process.kill(process.pid, 'SIGKILL'); ${waits.rest}` },
      exits: { rest: `process.exit(0); ${waits.rest}` },
      aborts: { rest: `process.abort(); ${waits.rest}` },
    }
    const killed = shareKilled(runner, { files, beside: goesOn.rest, act: goOn })

    test('makes the run red, and holds up no other file', () => {
      expect(killed().result.exitCode).toBe(1)
      expect(killed().result.test('lives on').status, killed().result.output).toBe('passed')
    })

    test('has a receipt for each runtime', () => {
      const { output, receiptsOf } = killed().result
      for (const name of ['family', 'plain']) {
        const receipts = receiptsOf(name).map(({ left, verdict }) => ({ left, verdict }))
        expect(receipts, output).toEqual(Array(3).fill({ left: [], verdict: 'owned' }))
      }
    })
    leavesNothing(killed)
  })
})

describeRunners('a supervisor that is ended by SIGKILL', (runner) => {
  // B86
  describe.sequential('while the run goes on,', () => {
    const killed = shareKilled(runner, { files: { goesOn }, act: endSupervisor('SIGKILL') })

    isLost(killed, 'it was ended by SIGKILL')
    leavesNothing(killed)
  })

  // B15
  describe.sequential('together with the runner and the worker,', () => {
    const killed = shareKilled(runner, {
      files: { waits },
      act({ runner: main, supervisor, worker }) {
        send('SIGKILL', supervisor)
        main.kill('SIGKILL')
        send('SIGKILL', worker)
      },
    })

    leavesNothing(killed)
  })
})

describe.each(runners.filter((runner) => runner === 'vitest'))(
  'a run of %s whose directory is gone when it is killed',
  (runner) => {
    const suite = shareSuite(runner, () => ({
      files: {
        waits: `test('waits', async () => {
        const command = ['sh', path.join(programs, 'trees/double-forking.sh'), path.resolve('noted')]
        await custody.start({ name: 'forks', command, ready: { log: 'up' } })
        fs.writeFileSync('up', '')
        ${waits.rest}
      })`,
      },
      async during(running) {
        const { base, directory, runner: main } = running
        await until(running, () => existsSync(join(directory, 'up')))
        const { supervisor } = readKeepers(base)
        rmSync(base, { recursive: true })
        send('SIGKILL', supervisor)
        main.kill('SIGKILL')
      },
    }))

    test('leaves nothing', async () => {
      const noted = readNoted(suite().directory)
      expect(noted.length).toBe(2)
      await Promise.all(noted.map(gone))
    })
  },
)

// B16. How a worker of Vitest outlives its runner; Jest's have none.
describe.each(runners.filter((runner) => runner === 'vitest'))('a worker of %s that outlives its runner', (runner) => {
  const rest = `
    process.removeAllListeners('disconnect')
    process.exit = () => {}
    const more = { name: 'more', command: ['sh', path.join(programs, 'trees/staying.sh'), path.resolve('noted-more')] }
    const keepOn = async () => { for (;;) await custody.start(more) }
    const { message } = await keepOn().catch((error) => error)
    fs.writeFileSync('refused', message)
    process.kill(process.pid, 'SIGKILL')`
  const killed = shareKilled(runner, {
    files: { outlives: { rest } },
    async act(everything) {
      await until(everything, () => readNoted(everything.directory).length > 24)
      everything.runner.kill('SIGKILL')
    },
  })

  test('can start nothing more', async () => {
    await gone(killed().everything.worker)
    expect(readFileSync(join(killed().result.directory, 'refused'), 'utf8')).toContain('this run is over')
  })
  leavesNothing(killed)
})

// Takes the ten seconds of the heartbeat: one runner shows it.
describe.each(runners.filter((runner) => runner === 'vitest'))('a supervisor that hangs under %s', (runner) => {
  const killed = shareKilled(runner, { files: { goesOn }, act: endSupervisor('SIGSTOP') })

  isLost(killed, 'it did not answer for 10 s')
  leavesNothing(killed)
})

/** Lets the run go on as soon as everything is gone: nothing waits for its end. */
async function goOn(everything: Everything): Promise<void> {
  await until(everything, () => !readNoted(everything.directory).some(isAlive))
  writeFileSync(join(everything.directory, 'go'), '')
}

function endSupervisor(signal: NodeJS.Signals): Plan['act'] {
  return (everything) => {
    send(signal, everything.supervisor)
    return goOn(everything)
  }
}

/** The errors of CUSTODY_SUPERVISOR_LOST: of the test, at its own line, and of the run, with the reason. */
function isLost(killed: () => Killed, reason: string): void {
  test('makes its test and the run red, and is named as the reason', () => {
    const { exitCode, output, placeOf, test } = killed().result
    const { messages, status } = test('has everything')
    expect([exitCode, status]).toEqual([1, 'failed'])
    expect(messages).toContain('Could not end what goesOn.check.')
    expect(messages).toContain(placeOf('const family = await custody.start'))
    expect(output).toContain(`Could not keep custody to the end of this run: the supervisor is gone: ${reason}.`)
  })
}

/** The runner leads its group, and this process has not reaped it as long as it does not know its exit. */
function signalGroup({ runner }: RunningSuite, signal: NodeJS.Signals): void {
  if (runner.pid !== undefined && runner.exitCode === null && runner.signalCode === null) process.kill(-runner.pid, signal)
}

function send(signal: NodeJS.Signals, target: Noted): void {
  if (target.pid > 1 && isAlive(target)) process.kill(target.pid, signal)
}
