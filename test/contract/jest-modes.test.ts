import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { aliveOf, gone } from './alive.js'
import { type Noted, noteProcess, readNoted, until } from './noted.js'
import { majorOf, pathOfTool, runInProject, runners, type SuiteResult, shareSuite, statusesOf } from './run-suite.js'

const isJest = runners.includes('jest')

/** So long may something take to end that nothing holds. Jest 29 has a fixed half of a second for workers, which a busy machine exceeds. */
const patient =
  isJest && majorOf('jest') >= 30 ? 'openHandlesTimeout: 60_000, workerGracefulExitTimeout: 60_000' : 'openHandlesTimeout: 60_000'

/** A configuration with more than the usual one. */
const configured = (more: string, options = '{}') => `
  import { withCustody } from '@custody/jest/config'
  const own = { testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: import.meta.dirname, ${patient}, ${more} }
  export default withCustody(own, { keep: 'never', report: { json: 'custody.json' }, timeouts: { exitMs: 200 }, ...${options} })`

const lib = `const { spawn } = require('node:child_process')
exports.never = () => 'is not covered'
exports.start = () => {
  if (!exports.start) return
  return spawn('sleep', ['300'], { stdio: 'ignore' })
}`

const extras = { 'lib.cjs': lib }

const api = `
  const script = 'console.log("up"); setInterval(() => {}, 1e3)'
  const api = { name: 'api', command: [node, '-e', script], ready: { log: 'up' } }`

const files = {
  leaking: `
    test('leaks', () => {
      note('leaked', require('./lib.cjs').start().pid)
    })
    test('is beside it', () => {})`,
  owning: `
    ${api}
    test('starts a runtime', async () => { note('runtime', (await custody.start(api)).pid) })
    test('leaves a daemon', async () => { note('daemon', await leave('obeying')) })`,
}
const outcomes = { leaks: 'failed', 'is beside it': 'passed', 'starts a runtime': 'passed', 'leaves a daemon': 'passed' }

/** What Jest says of what it had to wait for, or to end. */
const complaints = new RegExp(
  ['did not exit', 'open handle', ...(patient.includes('worker') ? ['failed to exit'] : [])].join('|'),
)

/** The processes of a suite that are alive, and what its runs have on disk. */
function leftBy(suite: SuiteResult): unknown[] {
  return [...aliveOf(suite), ...directoriesLeftBy(suite)]
}

function directoriesLeftBy({ base }: SuiteResult): string[] {
  const runs = readdirSync(base).filter((name) => name.startsWith('custody-'))
  return runs.flatMap((name) => readdirSync(join(base, name)))
}

describe.runIf(isJest)('a suite that leaks a process, starts a runtime and leaves a daemon', () => {
  describe.concurrent.each([
    ['in one process', ['--runInBand'], ''],
    ['in two processes', ['-w', '2'], ''],
    ['in threads', ['-w', '2'], 'workerThreads: true'],
    ['in any order', ['--randomize', '--seed=7'], ''],
    ['while open handles are looked for', ['--detectOpenHandles'], ''],
    ['with few words', ['--silent', '--errorOnDeprecated', '--maxConcurrency=1'], ''],
    ['with many words', ['--verbose'], 'slowTestThreshold: 0'],
    ['with mocks and modules that are reset', ['--resetMocks', '--restoreMocks', '--resetModules'], ''],
    ['with fake timers everywhere', [], `fakeTimers: { enableGlobally: true }`],
    ['with injected globals', [], `sandboxInjectedGlobals: ['Math']`],
    ['in jsdom', ['-i'], `testEnvironment: '${isJest && pathOfTool('jest-environment-jsdom')}'`],
  ] as const)('%s', (_, args, more) => {
    const suite = shareSuite('jest', () => ({ args, config: configured(more), extras, files }))

    test('is red for the leak alone, at its line', () => {
      const { exitCode, output } = suite()
      expect(statusesOf(suite()), output).toEqual(outcomes)
      expect(exitCode, output).toBe(1)
      expect(suite().test('leaks').messages).toContain('lib.cjs:5:10')
      expect(output).toMatch(/> 5 \| {3}return spawn\('sleep'/)
    })

    test('leaves nothing, and holds up nobody', () => {
      expect(Object.keys(suite().notes).sort(), suite().output).toEqual(['daemon', 'leaked', 'runtime'])
      expect(leftBy(suite())).toEqual([])
      expect(suite().output).not.toMatch(complaints)
    })
  })
})

describe.runIf(isJest)('without injected globals', () => {
  const own = `
    const { test } = require('@jest/globals')
    const { custody } = require('@custody/jest')
    ${api.replace('[node,', "['node',")}
    test('leaks', () => { require('./lib.cjs').start() })
    test('starts a runtime', async () => { await custody.start(api) })`
  const suite = shareSuite('jest', () => ({
    config: configured('injectGlobals: false'),
    extras: { ...extras, 'own.check.cjs': own },
    files: {},
  }))

  test('a leak is red, and what is owned is green', () => {
    expect(statusesOf(suite()), suite().output).toEqual({ leaks: 'failed', 'starts a runtime': 'passed' })
    expect(directoriesLeftBy(suite())).toEqual([])
  })
})

describe.runIf(isJest)('coverage', () => {
  describe.concurrent.each(['v8', 'babel'])('by %s', (provider) => {
    const args = ['--coverage', `--coverageProvider=${provider}`, '--collectCoverageFrom=**/*.cjs', '--coverageReporters=text']
    const suite = shareSuite('jest', () => ({ config: configured(''), extras, files }))

    test('is that of the user’s files, and leaves a leak its line', async () => {
      // With --json Jest 29 prints no table.
      const { output } = await runInProject('jest', suite(), ['--ci', ...args])
      expect(output).toMatch(/Tests: +1 failed, 3 passed, 4 total/)
      expect(output).toContain('lib.cjs:5:10')
      expect(output).toMatch(/> 5 \| {3}return spawn\('sleep'/)
      const rows = [...output.matchAll(/^ *(.+?) +\|(?: +[\d.]+ \|){4} +(\d*)/gm)].map(([, name, uncovered]) => [name, uncovered])
      expect(rows, output).toEqual([
        ['All files', ''],
        ['lib.cjs', '4'],
      ])
      expect(leftBy(suite())).toEqual([])
    })
  })
})

describe.runIf(isJest)('a configuration in which everything is the user’s own', () => {
  const noting = (name: string) => `const { appendFileSync } = require('node:fs')
    const note = (name) => appendFileSync('notes.jsonl', JSON.stringify(['own ' + name, 'called']) + '\\n')
    const { createRequire } = require('node:module')
    const jest = ['jest', '@jest/core', 'jest-config'].reduce((from, name) => createRequire(from.resolve(name + '/package.json')), require)
    const core = ['jest', '@jest/core'].reduce((from, name) => createRequire(from.resolve(name + '/package.json')), require)
    ${name}`
  const suite = shareSuite('jest', () => ({
    args: ['-w', '2'],
    config: configured(`
      testRunner: '<rootDir>/own/runner.cjs', reporters: ['default', '<rootDir>/own/reporter.cjs'],
      testSequencer: '<rootDir>/own/sequencer.cjs', testResultsProcessor: '<rootDir>/own/processor.cjs',
      globalSetup: '<rootDir>/own/setup.cjs', globalTeardown: '<rootDir>/own/teardown.cjs'`),
    extras: {
      ...extras,
      'own/runner.cjs': noting(`
        const circus = jest('jest-circus/runner')
        module.exports = (...args) => { note('runner'); return (circus.default ?? circus)(...args) }`),
      'own/reporter.cjs': noting(`module.exports = class {
        onTestResult(_, { numFailingTests }) { if (numFailingTests > 0) note('reporter') }
      }`),
      'own/sequencer.cjs': noting(`
        const { default: Sequencer } = core('@jest/test-sequencer')
        module.exports = class extends Sequencer {
          cacheResults(tests, results) { if (results.numFailedTests === 1) note('sequencer'); return super.cacheResults(tests, results) }
        }`),
      'own/processor.cjs': noting(
        `module.exports = (results) => { if (results.numFailedTests === 1) note('processor'); return results }`,
      ),
      'own/setup.cjs': noting(`module.exports = () => note('setup')`),
      'own/teardown.cjs': noting(`module.exports = () => note('teardown')`),
    },
    files,
  }))

  test('is called in each place, and sees the leak', () => {
    expect(statusesOf(suite()), suite().output).toEqual(outcomes)
    const called = Object.keys(suite().notes).filter((name) => name.startsWith('own '))
    const places = ['processor', 'reporter', 'runner', 'sequencer', 'setup', 'teardown']
    expect(called.sort(), suite().output).toEqual(places.map((name) => `own ${name}`))
    expect(leftBy(suite())).toEqual([])
  })
})

describe.runIf(isJest)('other ways to run Jest', () => {
  const listed = `
    const { custody } = require('@custody/jest')
    custody.configure({ leaks: 'warn' })
    custody.allow({ argv: ['sleep', '1'], reason: 'ends by itself', until: 'scope' })
    const { dir } = custody.openNamespace('second')
    const by = custody.inScope('file', () => 'Custody')
    test('is listed by ' + by, () => custody.namespace.home + dir)`
  const suite = shareSuite('jest', () => ({ config: configured(''), extras: { ...extras, 'listed.cjs': listed }, files }))
  const run = (...args: string[]) => runInProject('jest', suite(), ['--ci', ...args])

  test('shards are judged each for itself', async () => {
    const shards = [await run('--shard=1/2'), await run('--shard=2/2')]
    expect(shards.map(({ exitCode }) => exitCode).sort(), shards[0]?.output).toEqual([0, 1])
    const [green, red] = shards.sort((a, b) => (a.exitCode ?? 0) - (b.exitCode ?? 0))
    expect(green?.output).toMatch(/custody {2}2 runtimes, 2 owned, 2 retired, /)
    expect(red?.output).toMatch(/Tests: +1 failed, 1 passed, 2 total/)
  })

  test('a run whose end is forced has ended what it had before', async () => {
    const { exitCode, output } = await run('--forceExit')
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/custody {2}2 runtimes, 2 owned, 2 retired, 2 exits observed, 1 leaked/)
  })

  test('a file that has leaked counts as failed for --onlyFailures', async () => {
    await run()
    const { exitCode, output } = await run('--onlyFailures')
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/Tests: +1 failed, 1 passed, 2 total/)
  })

  test('a filter by name that leaves the leak out is green', async () => {
    const { exitCode, output } = await run('-t', 'is beside it|starts a runtime')
    expect(exitCode, output).toBe(0)
    expect(output).toMatch(/Tests: +2 skipped, 2 passed, 4 total/)
    expect(output).toMatch(/custody {2}1 runtime, /)
  })

  test('--json has standard output for itself', async () => {
    const { output, stdout } = await run('--json')
    const { numFailedTests, numPassedTests, success } = JSON.parse(stdout)
    expect({ numFailedTests, numPassedTests, success }).toEqual({ numFailedTests: 1, numPassedTests: 3, success: false })
    expect(output).toContain('custody  2 runtimes, ')
  })

  // Jest has it since 30.
  test.runIf(isJest && majorOf('jest') >= 30)(
    'to list tests starts none, and lets the top level say what holds for a run',
    async () => {
      const { exitCode, output } = await run('--collectTests', '--testMatch=**/*.check.cjs', '--testMatch=**/listed.cjs')
      expect(exitCode, output).toBe(0)
      expect(output).toMatch(/ {2}leaks\n/)
      expect(output).toMatch(/ {2}is listed by Custody\n/)
      expect(output).toMatch(/Tests: +5 total, 5 runnable/)
      expect(output).not.toContain('custody  ')
    },
  )

  test('nothing of all these is left', () => {
    expect(leftBy(suite())).toEqual([])
  })
})

/** For the inside of a test file: waits for a fact. */
const becomes = `
  const becomes = async (holds) => {
    for (let turn = 0; turn < 1_500 && !holds(); turn++) await new Promise((resolve) => setTimeout(resolve, 20))
  }`

/** Owns a daemon while another file ends the run, and starts more when nothing is left of that: Jest's workers live on. */
const goingOn = `
  ${becomes}
  ${noteProcess}
  test('owns a daemon', async () => {
    const run = path.resolve(custody.namespace.dir, '../..')
    noteProcess(await leave('obeying'))
    fs.writeFileSync('is-up', '')
    await becomes(() => !fs.existsSync(path.join(run, 'run.json')))
    for (const options of [{}, { detached: true }]) noteProcess(spawn('sleep', ['300'], { ...options, stdio: 'ignore' }).pid)
    noteProcess(await leave('obeying', path.join(custody.namespace.dir, 'second.json')))
    fs.writeFileSync('is-over', '')
  })`

// B02
describe.runIf(isJest).concurrent.each([
  ['a test that fails', `throw new Error('is red')`],
  ['a leak', `noteProcess(spawn('sleep', ['300'], { stdio: 'ignore' }).pid)`],
])('a run that --bail ends for %s', (_, body) => {
  const failing = `
    ${becomes}
    ${noteProcess}
    test('owns another daemon', async () => { noteProcess(await leave('obeying')) })
    test('is why it ends', async () => {
      await becomes(() => fs.existsSync('is-up'))
      ${body}
    })
    test('comes after it', async () => { noteProcess(await leave('obeying')) })`
  const suite = shareSuite('jest', () => ({ args: ['-w', '2', '--bail'], config: configured(''), files: { failing, goingOn } }))

  test('is red, and leaves neither daemons nor what its other worker starts later', async () => {
    const { directory, exitCode, output } = suite()
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/custody {2}\d runtimes, /)
    await vi.waitUntil(() => existsSync(join(directory, 'is-over')), 30_000)
    const noted = readNoted(directory)
    expect(noted.length).toBeGreaterThanOrEqual(6)
    for (const each of noted) await gone(each)
    await vi.waitUntil(() => directoriesLeftBy(suite()).length === 0, 30_000)
  }, 60_000)
})

// B03
describe.runIf(isJest).concurrent.each([0, 3])('process.exit(%i) in a test that runs in the process of Jest', (code) => {
  const exiting = `
    ${noteProcess}
    test('exits', async () => {
      for (const pid of [await leave('obeying'), spawn('sleep', ['300'], { stdio: 'ignore' }).pid]) noteProcess(pid)
      process.exit(${code})
    })`
  const suite = shareSuite('jest', () => ({ args: ['-i'], config: configured(''), files: { exiting } }))

  test('makes the run red, and leaves nothing', async () => {
    const { directory, exitCode, output } = suite()
    expect(exitCode, output).toBe(code || 1)
    expect(output).toMatch(/Could not keep custody to the end of this run: .* while exiting\.check\.cjs ran/)
    expect(output).toContain(`(${join(directory, suite().placeOf('process.exit('))}`)
    const noted = readNoted(directory)
    expect(noted).toHaveLength(2)
    for (const each of noted) await gone(each)
    await vi.waitUntil(() => directoriesLeftBy(suite()).length === 0, 30_000)
  }, 60_000)
})

describe.runIf(isJest)('a watched run', () => {
  const again = `
    ${noteProcess}
    test('leaks', () => {
      noteProcess(spawn('sleep', ['300'], { stdio: 'ignore' }).pid)
      note('run', fs.readFileSync('turn', 'utf8'))
    })
    test('is beside it', async () => { noteProcess(await leave('obeying')) })`
  const hook = (name: string) => `
    const { appendFileSync, readFileSync } = require('node:fs')
    module.exports = () => appendFileSync('hooks', '${name} ' + readFileSync('turn', 'utf8') + '\\n')`
  const hooksOf = (directory: string) =>
    existsSync(join(directory, 'hooks')) ? readFileSync(join(directory, 'hooks'), 'utf8') : ''
  const seen: Noted[][] = []
  const suite = shareSuite('jest', () => ({
    isWatched: true,
    config: configured(`globalSetup: '<rootDir>/setup.cjs', globalTeardown: '<rootDir>/teardown.cjs'`),
    extras: { turn: '1', 'setup.cjs': hook('setup'), 'teardown.cjs': hook('teardown') },
    files: { again },
    async during(running) {
      const { directory, runner } = running
      for (const turn of ['1', '2', '3']) {
        if (turn !== '1') {
          writeFileSync(join(directory, 'turn'), turn)
          appendFileSync(join(directory, 'again.check.cjs'), '\n// touched\n')
        }
        await until(running, () => hooksOf(directory).includes(`teardown ${turn}`))
        seen.push(readNoted(directory).slice(-2))
        for (const each of seen.at(-1) ?? []) await gone(each)
      }
      runner.kill('SIGINT')
    },
  }))

  test('is red for a leak in each of its runs, with global setup and teardown, and leaves nothing in between', async () => {
    const { directory, output } = suite()
    expect(new Set(seen.flat().map(({ pid }) => pid)).size, output).toBe(6)
    expect(output.match(/Tests: +1 failed, 1 passed, 2 total/g), output).toHaveLength(3)
    expect(output.match(/A process that this test started is still alive/g)).toHaveLength(3)
    expect(output.match(/custody {2}1 runtime, 1 owned, 1 retired, 1 exit observed, 1 leaked/g)).toHaveLength(3)
    expect(hooksOf(directory).trim().split('\n')).toEqual(
      ['1', '2', '3'].flatMap((turn) => [`setup ${turn}`, `teardown ${turn}`]),
    )
  })
})

describe.runIf(isJest)('a project with a global setup of its own', () => {
  const suite = shareSuite('jest', () => ({
    config: `
      import { withCustody } from '@custody/jest/config'
      const own = {
        testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: import.meta.dirname,
        globalSetup: '<rootDir>/setup.cjs', globalTeardown: '<rootDir>/teardown.cjs',
      }
      export default withCustody({ projects: [own] }, { keep: 'never' })`,
    extras: {
      'setup.cjs': `
        const { spawn } = require('node:child_process')
        module.exports = () => { globalThis.server = spawn('sleep', ['300'], { stdio: 'ignore' }) }`,
      'teardown.cjs': `
        const { once } = require('node:events')
        const { appendFileSync } = require('node:fs')
        module.exports = async () => {
          const { server } = globalThis
          server.kill()
          const [code, signal] = server.exitCode === null && server.signalCode === null ? await once(server, 'exit') : ['was gone', null]
          appendFileSync('notes.jsonl', JSON.stringify(['server', [code, signal]]) + '\\n')
        }`,
    },
    args: ['-i'],
    files: { owning: files.owning },
  }))

  test('has its server until its own teardown stops it, and is green', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(suite().notes['server'], suite().output).toEqual([null, 'SIGTERM'])
    expect(suite().output).toContain('custody  2 runtimes, 2 owned, 2 retired, 2 exits observed')
  })
})

describe.runIf(isJest)('a file with a limit of its own', () => {
  const limited = `
    ${api}
    jest.setTimeout(1_000)
    test('hangs', async () => {
      note('runtime', (await custody.start(api)).pid)
      await new Promise(() => {})
    }, 3_000)
    test('hangs at the limit of the file', () => new Promise(() => {}))
    test('is beside it', () => {})`
  const suite = shareSuite('jest', () => ({ config: configured(''), files: { limited } }))

  test('is red for the limits alone, and leaves nothing', () => {
    const { output } = suite()
    expect(statusesOf(suite()), output).toEqual({
      hangs: 'failed',
      'hangs at the limit of the file': 'failed',
      'is beside it': 'passed',
    })
    expect(suite().test('hangs').messages).toContain('Exceeded timeout of 3000 ms')
    expect(suite().test('hangs at the limit of the file').messages).toContain('Exceeded timeout of 1000 ms')
    expect(leftBy(suite())).toEqual([])
  })
})
