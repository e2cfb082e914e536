import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Summary } from '@custody/core'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { gone } from './alive.js'
import { noteProcess, readNoted, until } from './noted.js'
import { type RunningSuite, runners, type SuiteResult, shareSuite } from './run-suite.js'

const isVitest = runners.includes('vitest')
const programs = fileURLToPath(new URL('../programs', import.meta.url))

/** Two tests: one leaves a process, the other starts one and does the rest. Each process notes itself. */
const leaksAndStarts = (rest = '') => `
  ${noteProcess}
  test('leaks', () => { noteProcess(spawn('sleep', ['300'], { stdio: 'ignore' }).pid) })
  test('starts one', async () => {
    const { pid } = await custody.start({ name: 'api', command: ['sleep', '301'] })
    noteProcess(pid)
    ${rest}
  })`

/** What such a file comes to. */
const ONE_RED = { leaks: 'failed', 'starts one': 'passed' }

/** For the inside of a test: says that it has come so far, and waits for ever. */
const hangs = `fs.writeFileSync('up', ''); await new Promise(() => {})`

describe.runIf(isVitest).concurrent('the user interface of Vitest', () => {
  const outcomes: unknown[] = []
  const suite = shareSuite('vitest', async () => {
    const port = await freePort()
    return {
      isWatched: true,
      args: ['--ui', '--open=false', '--api.host=127.0.0.1', `--api.port=${port}`, '--api.strictPort'],
      config: `
        import { writeFileSync } from 'node:fs'
        import { custodyPlugin } from '@custody/vitest/plugin'
        const tell = { name: 'tell', configureVitest: ({ vitest }) => writeFileSync('token', vitest.config.api.token) }
        export default { plugins: [custodyPlugin({ report: { json: 'custody.json' }, timeouts: { exitMs: 100 } }), tell], test: { include: ['*.check.mjs'], testTimeout: 30_000 } }`,
      files: { page: leaksAndStarts() },
      during: async (running) => {
        const { directory, runner } = running
        outcomes.push(await nextOutcome(running))
        const url = `ws://127.0.0.1:${port}/__vitest_api__?token=${readFileSync(join(directory, 'token'), 'utf8')}`
        await callApi(url, 'rerun', [join(directory, 'page.check.mjs')])
        outcomes.push(await nextOutcome(running))
        runner.kill('SIGTERM')
      },
    }
  })

  test('shows a leak red, also when it is asked for another run', () => {
    const each = { tests: ONE_RED, summary: { started: 1, exitsObserved: 1, leaked: 1 } }
    expect(outcomes, suite().output).toMatchObject([each, each])
  })

  test('leaves nothing when its runner is ended', () => allGone(suite(), 4))
})

/** Has a program of the project stand in the place of the runner, as the process is that an editor runs Vitest in. */
const hostedBy = (program: string) => ({
  wrapper: ['sh', '-c', 'exec "$1" host.mjs', 'sh'] as const,
  extras: {
    'host.mjs': `
      import fs from 'node:fs'
      import { createVitest, startVitest } from 'vitest/node'
      const options = { watch: true, reporters: ['default', 'json'], outputFile: { json: 'results.json' } }
      const note = (name, value) => fs.appendFileSync('notes.jsonl', JSON.stringify([name, value]) + '\\n')
      const appears = async (file) => { while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20)) }
      // Vitest has those of earlier runs in it as well.
      const outcomeOf = ({ testModules, unhandledErrors }, name) => {
        const tests = testModules.filter(({ moduleId }) => moduleId.includes(name)).flatMap(({ children }) => [...children.allTests()])
        return [Object.fromEntries(tests.map((test) => [test.name, test.result().state])), unhandledErrors.length]
      }
      // A zombie has no command.
      const isAlive = (pid) => fs.existsSync('/proc/' + pid + '/exe')
      const alive = () => fs.readFileSync('noted', 'utf8').split('\\n').filter((line) => isAlive(line.split(' ')[0])).length
      ${program}`,
  },
})

describe.runIf(isVitest).concurrent('an editor that runs Vitest', () => {
  describe.concurrent('in a process that lasts', () => {
    const suite = shareSuite('vitest', () => ({
      options: { timeouts: { exitMs: 100 } },
      ...hostedBy(`
        const vitest = await createVitest('test', options)
        note('all', [...outcomeOf(await vitest.start(['first']), 'first'), alive()])
        const specifications = await vitest.globTestSpecifications()
        const of = (name) => specifications.filter(({ moduleId }) => moduleId.endsWith(name + '.check.mjs'))
        note('some', [...outcomeOf(await vitest.runTestSpecifications(of('first')), 'first'), alive()])
        const running = vitest.runTestSpecifications(of('hanging'))
        await appears('up')
        await vitest.cancelCurrentRun('keyboard-input')
        note('cancelled', [...outcomeOf(await running, 'hanging'), alive()])
        note('after', [...outcomeOf(await vitest.runTestSpecifications(of('first')), 'first'), alive()])
        await vitest.close()`),
      files: { first: leaksAndStarts(), hanging: leaksAndStarts(hangs) },
    }))

    test.each(['all', 'some', 'after'])('has each of its runs judged, and nothing left by it: %s', (name) => {
      expect(suite().notes[name], suite().output).toEqual([ONE_RED, 0, 0])
    })

    test('has nothing left of a run that it has cancelled', () => {
      expect(suite().notes['cancelled'], suite().output).toMatchObject([{ leaks: 'failed' }, 0, 0])
    })

    test('leaves nothing when it is closed', () => allGone(suite(), 8))
  })

  // What the button that stops does.
  describe.concurrent.each(['SIGTERM', 'SIGKILL'] as const)('and is stopped by %s in the middle of a test', (signal) => {
    const suite = shareSuite('vitest', () => ({
      ...hostedBy(`await (await createVitest('test', options)).start()`),
      files: { hanging: leaksAndStarts(hangs) },
      during: async (running) => {
        await until(running, () => existsSync(join(running.directory, 'up')))
        running.runner.kill(signal)
      },
    }))

    test('leaves nothing', async () => {
      expect(suite().signal ?? suite().exitCode, suite().output).toBeOneOf([signal, 143])
      await allGone(suite(), 2)
    })
  })

  describe.concurrent('with two instances at once in one process', () => {
    const config = `
      import { custodyPlugin } from '@custody/vitest/plugin'
      export default {
        plugins: [custodyPlugin({ report: { json: 'custody.json' }, timeouts: { exitMs: 100 } })],
        test: { include: ['*.check.mjs'], testTimeout: 30_000, globalSetup: ['./setup.mjs'] },
      }`
    // Each waits for the other, so that both runs are open when they start something.
    const setup = (own: string, other: string) => `
      import { execFileSync, spawn } from 'node:child_process'
      import { once } from 'node:events'
      import fs from 'node:fs'
      ${noteProcess}
      export default async () => {
        fs.writeFileSync('${own}/in-setup', '')
        while (!fs.existsSync('${other}/in-setup')) await new Promise((resolve) => setTimeout(resolve, 20))
        // Nothing but its mark says whose it is.
        noteProcess(Number(execFileSync('sh', ['-c', 'sleep 303 >/dev/null 2>&1 & echo $!'])))
        const server = spawn('sleep', ['302'], { stdio: 'ignore' })
        return () => Promise.all([once(server, 'exit'), server.kill()])
      }`
    const suite = shareSuite('vitest', () => {
      const host = hostedBy(`
        const start = (root) => startVitest('test', [], { ...options, root, watch: false, outputFile: { json: root + '/results.json' } })
        const summaryOf = (root) => JSON.parse(fs.readFileSync(root + '/custody.json', 'utf8')).summary
        const outcomes = (vitest) => outcomeOf({ testModules: vitest.state.getTestModules(), unhandledErrors: vitest.state.getUnhandledErrors() }, '')
        const [long, starting] = ['long', 'short'].map(start)
        const short = await starting
        await appears('long/up')
        await short.close()
        note('short', [...outcomes(short), summaryOf('short')])
        fs.writeFileSync('long/go', '')
        const ended = await long
        await ended.close()
        note('long', [...outcomes(ended), summaryOf('long')])`)
      const file = (body: string) => `
        import { spawn } from 'node:child_process'
        import fs from 'node:fs'
        import { expect, test } from 'vitest'
        import { custody } from '@custody/vitest'
        ${body}`
      const waits = `
        fs.writeFileSync('long/up', '')
        while (!fs.existsSync('long/go')) await new Promise((resolve) => setTimeout(resolve, 20))
        expect(fs.existsSync('/proc/' + pid + '/exe')).toBe(true)`
      return {
        ...host,
        extras: {
          ...host.extras,
          'long/vitest.config.mjs': config,
          'long/setup.mjs': setup('long', 'short'),
          'long/a.check.mjs': file(leaksAndStarts(waits)),
          'short/vitest.config.mjs': config,
          'short/setup.mjs': setup('short', 'long'),
          'short/b.check.mjs': file(leaksAndStarts()),
        },
        files: {},
      }
    })

    test.each(['short', 'long'])('has each keep what is its own: the %s one', (name) => {
      expect(suite().notes[name], suite().output).toMatchObject([ONE_RED, 0, { started: 1, exitsObserved: 1, leaked: 2 }])
    })

    test('leaves nothing', () => allGone(suite(), 6))
  })
})

/** All limits are shorter than that, in milliseconds. */
const STAND_MS = 4_500
const limits = { proofMs: 2_000, readyMs: 2_000, graceMs: 2_000, exitMs: 100, teardownMs: 4_200 }

const WARNING = 'a debugger is attached: readyMs, graceMs and teardownMs do not hold.'

/** A file that is stopped by a debugger, while a runtime is not ready and while another is asked who it is. */
const debugged = `
  import inspector from 'node:inspector'
  ${noteProcess}
  const appears = async (isThere) => { while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20)) }
  test('leaks', () => { noteProcess(spawn('sleep', ['300'], { stdio: 'ignore' }).pid) })
  test('starts one', async () => {
    fs.writeFileSync('url', inspector.url())
    const script = 'until [ -e resumed-1 ]; do touch up; sleep 0.02; done; touch ready; exec sleep 301'
    const started = custody.start({ name: 'slow', command: ['sh', '-c', script], ready: { file: 'ready' } })
    await appears(() => fs.existsSync('up') && fs.existsSync('attached-1'))
    debugger
    noteProcess((await started).pid)
  })
  let socket
  test.concurrent('leaves one that answers while nothing runs here', async () => {
    const locator = path.join(custody.namespace.dir, 'own.json')
    const pid = await leave('obeying', locator)
    noteProcess(pid)
    process.kill(pid, 'SIGSTOP')
    fs.writeFileSync('stopped', String(pid))
    socket = JSON.parse(fs.readFileSync(locator, 'utf8')).endpoint.replace('unix:', '')
  })
  test.concurrent('is at a breakpoint meanwhile', async () => {
    // A connection that waits to be accepted stands there beside its listener.
    await appears(() => socket !== undefined && fs.readFileSync('/proc/net/unix', 'utf8').split(socket).length > 2)
    debugger
  })`

describe.runIf(isVitest).concurrent('a debugger', () => {
  describe.concurrent('that is attached to a worker', () => {
    const suite = shareSuite('vitest', () => ({
      config: `
        import { version } from 'vitest/node'
        import { custodyPlugin } from '@custody/vitest/plugin'
        const execArgv = ['--inspect=0']
        export default {
          plugins: [custodyPlugin({ report: { json: 'custody.json' }, timeouts: ${JSON.stringify(limits)} })],
          test: { include: ['*.check.mjs'], testTimeout: 30_000, ...(version.startsWith('3') ? { poolOptions: { forks: { execArgv } } } : { execArgv }) },
        }`,
      files: { debugged },
      during: async (running) => {
        const { directory } = running
        const path = (name: string) => join(directory, name)
        let url = ''
        await until(running, () => {
          url = existsSync(path('url')) ? readFileSync(path('url'), 'utf8') : ''
          return url !== ''
        })
        const program = join(programs, 'stopping-a-debuggee.js')
        const seen = { attached: 0, paused: 0, resumed: 0 }
        for await (const line of execa(process.execPath, ['--experimental-websocket', program, url, String(STAND_MS)])) {
          const name = line as keyof typeof seen
          writeFileSync(path(`${name}-${++seen[name]}`), '')
          if (name === 'paused' && existsSync(path('stopped')))
            process.kill(Number(readFileSync(path('stopped'), 'utf8')), 'SIGCONT')
        }
      },
    }))

    test('has nothing expire while it stands at a breakpoint', () => {
      const { output, receiptsOf, tests } = suite()
      expect(Object.fromEntries(tests.map(({ status, title }) => [title, status])), output).toEqual({
        ...ONE_RED,
        'leaves one that answers while nothing runs here': 'passed',
        'is at a breakpoint meanwhile': 'passed',
      })
      expect(receiptsOf('obeying'), output).toMatchObject([{ verdict: 'owned', forced: false, left: [] }])
    })

    test('is named with the limits that do not hold', () => {
      expect(suite().output).toContain(`custody  warning: ${WARNING}`)
    })

    test('leaves nothing', () => allGone(suite(), 3))
  })

  describe.concurrent('that is attached to the runner, of which the workers are threads', () => {
    const suite = shareSuite('vitest', () => ({
      env: { NODE_OPTIONS: '--inspect=0' },
      args: ['--pool=threads'],
      options: { timeouts: limits },
      files: {
        thread: `
          test('starts one', () => {
            const script = 'sleep 3; touch ready; exec sleep 301'
            return custody.start({ name: 'slow', command: ['sh', '-c', script], ready: { file: 'ready' } })
          })`,
      },
    }))

    test('is known to them', () => {
      expect(suite().test('starts one').status, suite().output).toBe('passed')
      expect(suite().output).toContain(`custody  warning: ${WARNING}`)
    })
  })
})

/** Waits until a runner that watches has ended a run, and takes its reports away. */
async function nextOutcome(running: RunningSuite): Promise<{ tests: Readonly<Record<string, string>>; summary: Summary }> {
  const [results, custody] = await Promise.all(['results.json', 'custody.json'].map((name) => takeReport(running, name)))
  return { tests: outcomeOf(results as Results), summary: (custody as { summary: Summary }).summary }
}

interface Results {
  testResults: { assertionResults: { title: string; status: string }[] }[]
}

async function takeReport(running: RunningSuite, name: string): Promise<unknown> {
  const path = join(running.directory, name)
  let report: unknown = null
  await until(running, () => {
    report = existsSync(path) ? parse(readFileSync(path, 'utf8')) : null
    return report !== null
  })
  rmSync(path)
  return report
}

/** Null while it is being written. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function outcomeOf({ testResults }: Results): Readonly<Record<string, string>> {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults)
  return Object.fromEntries(all.map(({ status, title }) => [title, status]))
}

/** Calls a function of Vitest's API as its page does: birpc in flatted, where each text stands by itself. */
async function callApi(url: string, name: string, texts: readonly string[]): Promise<void> {
  const list = texts.map((_, at) => String(at + 6))
  const message = [{ m: '1', a: '2', i: '3', t: '4' }, name, ['5'], 'id', 'q', list, ...texts]
  await execa(process.execPath, [
    '--experimental-websocket',
    join(programs, 'asking-a-websocket.js'),
    url,
    JSON.stringify(message),
  ])
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** What is left when a runner was ended from outside is ended by its supervisor. */
async function allGone({ directory, output }: Pick<SuiteResult, 'directory' | 'output'>, count: number): Promise<void> {
  const noted = readNoted(directory)
  expect(noted, output).toHaveLength(count)
  await Promise.all(noted.map(gone))
}
