import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
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

/** Where the runtimes of one teardown hold, each at a step of its own. `stopping` is a started one that was asked by the supervisor. */
const steps = ['verifying', 'identifying', 'requested', 'draining', 'drained', 'exiting', 'stopping'] as const

type Party = 'runner' | 'worker' | 'supervisor' | 'sentinel' | 'runtimes'

/** A test whose teardown holds at every step at once; nobody lets it go on but `go`. And a file beside it, which is only busy. */
const files = {
  holds: `
    ${noteProcess}
    const holdAt = (step) => new Promise((resolve, reject) => {
      const env = { ...process.env, HOME: custody.namespace.home, HELD: process.cwd() }
      const options = { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env }
      const child = childProcess.fork(path.join(programs, 'daemons/holding-at.js'), [step], options)
      child.once('exit', (code) => reject(new Error(step + ' exited with ' + code)))
      child.once('message', () => { noteProcess(child.pid); child.unref(); resolve() })
    })
    test('holds', async () => {
      fs.writeFileSync('worker', String(process.pid))
      const command = ['node', path.join(programs, 'processes/holding-its-stop.js'), process.cwd()]
      const starts = custody.start({ name: 'stopping', command, ready: { log: 'ready' }, graceMs: 60_000 })
      await Promise.all(${JSON.stringify(steps.slice(0, -1))}.map(holdAt))
      noteProcess((await starts).pid)
    })
    test('comes after it', () => {})`,
  beside: `test('is busy beside it', async () => {
    while (!fs.existsSync('beside')) await new Promise((resolve) => setTimeout(resolve, 20))
  })`,
}

interface Everybody extends RunningSuite, Keepers {
  readonly worker: Noted
}

interface Killed {
  readonly result: SuiteResult
  readonly everybody: Everybody
  readonly stranger: Noted
}

/** Ends some by SIGKILL when everything holds, and then lets go on what is to end by itself. */
function shareKilled(runner: RunnerName, parties: readonly Party[]): () => Killed {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'cst-')))
  let stranger: ChildProcess
  let everybody: Everybody
  const suite = shareSuite(
    runner,
    async () => {
      stranger = await startStranger(home)
      return {
        files,
        // Longer than everything holds.
        options: { timeouts: { proofMs: 60_000, graceMs: 60_000, teardownMs: 60_000 } },
        // With a second file Jest has workers.
        args: runner === 'jest' ? ['-w', '2'] : ['--maxWorkers=2'],
        async during(running) {
          const { base, directory } = running
          await until(running, () => steps.every((step) => existsSync(join(directory, `at-${step}`))))
          everybody = {
            ...running,
            ...readKeepers(base),
            worker: identify(Number(readFileSync(join(directory, 'worker'), 'utf8'))),
          }
          expect(readNoted(directory).filter(isAlive)).toHaveLength(steps.length)
          kill(parties, everybody)
          // Nothing else would end them.
          if (parties.includes('sentinel') && parties.length === 1) writeFileSync(join(directory, 'go'), '')
          // The run goes on when everything has ended, and not because of that.
          if (!parties.includes('runner')) await until(running, () => !readNoted(directory).some(isAlive))
          writeFileSync(join(directory, 'beside'), '')
        },
      }
    },
    120_000,
  )
  afterAll(() => {
    stranger.kill('SIGKILL')
    rmSync(home, { recursive: true })
  })
  return () => ({ result: suite(), everybody, stranger: identify(stranger.pid as number) })
}

describeRunners('when everything holds at a step of its teardown, SIGKILL of', (runner) => {
  describe.sequential.each<{ parties: Party[] }>([
    { parties: ['runner'] },
    { parties: ['runner', 'supervisor'] },
    { parties: ['runner', 'worker', 'supervisor'] },
  ])('$parties', ({ parties }) => {
    const killed = shareKilled(runner, parties)

    test('ends the runner by that signal', () => expect(killed().result.signal).toBe('SIGKILL'))
    leavesNothing(killed)
  })

  describe.sequential('the worker', () => {
    const killed = shareKilled(runner, ['worker'])

    test('makes the run red, holds up no other file, and has each that was ended told', () => {
      const { exitCode, output, receiptsOf, test } = killed().result
      expect(exitCode, output).toBe(1)
      expect(test('is busy beside it').status).toBe('passed')
      for (const { pid } of daemonsOf(killed())) expect(output).toContain(`custody  ended with the run: pid ${pid}  `)
      expect(receiptsOf('stopping')).toMatchObject([{ verdict: 'owned', forced: true, left: [] }])
    })
    leavesNothing(killed)
  })

  describe.sequential('the supervisor', () => {
    const killed = shareKilled(runner, ['supervisor'])

    test('makes its test and the run red, and is named as the reason; what is published has receipts', () => {
      const { exitCode, output, receipts, test } = killed().result
      expect([exitCode, test('holds').status], output).toEqual([1, 'failed'])
      expect(test('holds').messages).toMatch(/Could not end what .*holds had started: the supervisor of this run is gone\./)
      expect(output).toContain('the supervisor is gone: it was ended by SIGKILL.')
      for (const title of ['comes after it', 'is busy beside it']) expect(test(title).status).toBe('passed')
      expect(receipts.map(({ exit }) => exit)).toEqual(daemonsOf(killed()).map(() => 'observed'))
    })
    leavesNothing(killed)
  })

  describe.sequential('the sentinel', () => {
    const killed = shareKilled(runner, ['sentinel'])

    test('leaves the run green, and everything retired', () => {
      const { exitCode, output, receipts } = killed().result
      expect(exitCode, output).toBe(0)
      expect(receipts.map(({ forced, left, verdict }) => ({ forced, left, verdict }))).toEqual(
        steps.map(() => ({ forced: false, left: [], verdict: 'owned' })),
      )
    })
    leavesNothing(killed)
  })

  describe.sequential('the runtimes themselves', () => {
    const killed = shareKilled(runner, ['runtimes'])

    test('leaves the run green: who had proved itself was owned, who had not is gone, and each exit was seen', () => {
      const { exitCode, output, receipts, receiptsOf } = killed().result
      expect(exitCode, output).toBe(0)
      expect(receipts).toHaveLength(steps.length)
      for (const step of steps.slice(0, -1)) {
        const verdict = step === 'verifying' || step === 'identifying' ? 'gone' : 'owned'
        expect(receiptsOf(step), step).toMatchObject([{ exit: 'observed', left: [], verdict }])
      }
      expect(receiptsOf('stopping')).toMatchObject([{ exit: { code: null, signal: 'SIGKILL' }, left: [] }])
    })
    leavesNothing(killed)
  })

  describe.sequential('all but the runtimes', () => {
    const killed = shareKilled(runner, ['runner', 'worker', 'supervisor', 'sentinel'])

    test('leaves it to the next run, which says so', async () => {
      const { result } = killed()
      expect(readNoted(result.directory).filter(isAlive)).toHaveLength(steps.length)
      const next = await runInProject(runner, result, runner === 'jest' ? ['--ci', 'beside'] : ['run', 'beside'])
      expect(next.exitCode, next.output).toBe(0)
      expect(next.output).toMatch(
        /custody {2}warning: the run of .* was killed\. Ended of its processes: 0 right after it, \d+ just now\./,
      )
    })
    leavesNothing(killed)
  })
})

function daemonsOf({ result }: Killed): Noted[] {
  return readNoted(result.directory).slice(0, steps.length - 1)
}

/** What must hold whoever was ended. */
function leavesNothing(killed: () => Killed): void {
  test('leaves nothing of the suite, and neither supervisor nor sentinel', async () => {
    const { everybody, result } = killed()
    await Promise.all([...readNoted(result.directory), everybody.supervisor, everybody.sentinel].map(gone))
  })

  test('leaves alone a runtime of somebody else that was born in no run', () => {
    expect(isAlive(killed().stranger)).toBe(true)
  })
}

function kill(parties: readonly Party[], { directory, runner, sentinel, supervisor, worker }: Everybody): void {
  const targets = { runner: [], worker: [worker], supervisor: [supervisor], sentinel: [sentinel], runtimes: readNoted(directory) }
  for (const party of parties) {
    if (party === 'runner') runner.kill('SIGKILL')
    for (const target of targets[party]) if (target.pid > 1 && isAlive(target)) process.kill(target.pid, 'SIGKILL')
  }
}

/** A runtime of the same program that was born in no run. */
async function startStranger(home: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('../programs/daemons/obeying.js', import.meta.url))
  const { CUSTODY_NAMESPACE: _, ...env } = process.env
  const child = fork(program, [], { env: { ...env, HOME: home }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  await once(child, 'message')
  return child
}
