import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasProgram } from './alive.js'
import { runners, runSuite, shareSuite, statusesOf } from './run-suite.js'

const isJest = runners.includes('jest')

const wrapped = (config: string, options = '{}') => `
  import { withCustody } from '@custody/jest/config'
  export default withCustody({ testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname, ${config} }, ${options})`

const green = { green: `test('is green', () => {})` }

// What each of these comes to without Custody.
describe.runIf(isJest).concurrent.each([
  ['sets the exit code', 'process.exitCode = 3', 3],
  ['ends the process', 'process.exit()', 0],
  ['waits for ever', 'await new Promise(() => {})', 0],
])('a global teardown that %s', (_, act, code) => {
  const suite = shareSuite('jest', () => ({
    config: wrapped(`globalTeardown: './teardown.cjs'`),
    extras: { 'teardown.cjs': `module.exports = async () => { ${act} }` },
    files: green,
  }))

  test('does so', () => expect(suite().exitCode, suite().output).toBe(code))
})

describe.runIf(isJest)('what Jest prints of places', () => {
  const suite = shareSuite('jest', () => ({
    config: wrapped(''),
    files: {
      printing: `
        test('in a body', () => { console.error('printed') })
        test('where processes are started', () => { spawnSync('true'); console.error('printed') })
        test.concurrent('beside others', async () => { console.error('printed') })
        test('in a generator', function* () { console.error('printed'); yield Promise.resolve() })
        test('of causes', () => { throw new Error('red', { cause: new Error('why') }) })
        test('of several', () => { throw new AggregateError([new Error('one'), new Error('two')], 'all') })
        beforeEach(() => { console.error('printed') })
        afterAll(() => { throw new Error('of a hook') })`,
    },
  }))

  test('has no frame of Custody', () => {
    const frames = suite()
      .output.split('\n')
      .filter((line) => /^\s+at /.test(line))
    expect(frames.length, suite().output).toBeGreaterThan(8)
    expect(frames.filter((line) => /custody|packages|wrap-tree|jest\/build\/ /.test(line))).toEqual([])
  })
})

/** A runner that makes up its results, and asks for no test runner. */
const ownRunner = `
  const counts = { numFailingTests: 0, numPassingTests: 1, numPendingTests: 0, numTodoTests: 0 }
  const snapshot = { added: 0, fileDeleted: false, matched: 0, unchecked: 0, uncheckedKeys: [], unmatched: 0, updated: 0 }
  const passed = { ancestorTitles: [], title: 'is made up', fullName: 'is made up', status: 'passed', failureMessages: [], failureDetails: [], numPassingAsserts: 0 }
  module.exports = class {
    async runTests(tests, _watcher, onStart, onResult) {
      for (const each of tests) {
        await onStart(each)
        await onResult(each, {
          ...counts, snapshot, testFilePath: each.path, testResults: [passed], skipped: false, leaks: false, openHandles: [],
          failureMessage: null, perfStats: { start: 0, end: 0, runtime: 0, slow: false },
        })
      }
    }
  }`

describe.runIf(isJest)('a project with a runner that asks for no test runner', () => {
  const suite = shareSuite('jest', () => ({
    config: wrapped(`runner: '<rootDir>/own-runner.cjs', displayName: 'odd'`, `{ unmanaged: 'fail' }`),
    extras: { 'own-runner.cjs': ownRunner },
    files: green,
  }))

  test('is told as one without Custody', () => {
    expect(suite().exitCode, suite().output).toBe(1)
    expect(suite().output).toContain('Could not keep custody of the project "odd"')
  })
})

/** A test runner that tells no events. */
const silentRunner = `
  const counts = { numFailingTests: 0, numPassingTests: 1, numPendingTests: 0, numTodoTests: 0 }
  const snapshot = { added: 0, fileDeleted: false, matched: 0, unchecked: 0, uncheckedKeys: [], unmatched: 0, updated: 0 }
  const passed = { ancestorTitles: [], title: 'is made up', fullName: 'is made up', status: 'passed', failureMessages: [], failureDetails: [], numPassingAsserts: 0 }
  module.exports = async (_globalConfig, _config, environment, runtime, path) => {
    environment.global.test = (_title, body) => body()
    runtime.requireModule(path)
    return { ...counts, snapshot, testFilePath: path, testResults: [passed], skipped: false, leaks: false, openHandles: [], failureMessage: null, perfStats: { start: 0, end: 0, runtime: 0, slow: false } }
  }`

describe.runIf(isJest)('a test runner that tells nothing of its tests', () => {
  const suiteWith = (strict: boolean) =>
    shareSuite('jest', () => ({
      config: wrapped(`testRunner: '<rootDir>/silent-runner.cjs'`, `{ strict: ${strict}, timeouts: { exitMs: 100 } }`),
      extras: { 'silent-runner.cjs': silentRunner },
      files: { leaking: `test('leaks', () => { spawn('sleep', ['310'], { stdio: 'ignore' }) })` },
    }))
  const [loose, strict] = [suiteWith(false), suiteWith(true)]

  test('has a line at the end, and the leaks of its tests are those of their file', () => {
    expect(loose().exitCode, loose().output).toBe(1)
    expect(loose().output).toContain('warning: Could not hook into this runner as into jest-circus: it tells no run_start')
    expect(loose().test('leaves no process behind').messages).toContain('sleep 310')
  })

  test('is an error where the options are strict', () => {
    expect(strict().test('leaves no process behind').messages, strict().output).toContain('Could not hook into this runner')
  })
})

describe.runIf(isJest)('a file system that a test spies on for a while', () => {
  const suite = shareSuite('jest', () => ({
    config: wrapped('restoreMocks: true'),
    args: ['-i'],
    files: {
      spying: `
        test('spies', async () => {
          await custody.exec('true')
          jest.spyOn(fs, 'readdirSync').mockImplementation(() => { throw new Error('spied') })
        })`,
    },
  }))

  test('is not in the way of the end of the run', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(suite().output).not.toContain('spied')
  })
})

describe.runIf(isJest).concurrent.each([
  ['in the process of Jest', ['-i']],
  ['in workers', ['-w', '2']],
])('a test that forgets to await, %s,', (_, args) => {
  const server = `{ name: 'server', command: ['sleep', '300'], ready: { log: 'never' } }`
  const suite = shareSuite('jest', () => ({
    args,
    config: wrapped(''),
    files: {
      forgetting: `
        test('a start', () => { custody.start(${server}) })
        test('a shared one', () => { custody.shared({ ...${server}, scope: 'file' }) })
        test('a command', () => { custody.exec('sleep', ['300']) })
        test('is green', () => {})`,
      other: `test('is green too', () => {})`,
    },
  }))

  test('is red itself, and no other', () => {
    const { 'a shared one': shared, ...others } = statusesOf(suite())
    expect(others, suite().output).toEqual({
      ...{ 'a start': 'failed', 'a command': 'failed', 'is green': 'passed', 'is green too': 'passed' },
    })
    expect(['failed', 'passed']).toContain(shared)
    expect(suite().output).toContain('Test Suites: 1 failed, 1 passed, 2 total')
  })
})

// W: a number that a test writes proves nothing.
test.runIf(isJest)('a child that a test gives the number of a stranger is told by its own, and the stranger lives', async () => {
  let stranger = 0
  const { output, ...result } = await runSuite('jest', {
    config: wrapped('', `{ timeouts: { exitMs: 100 } }`),
    files: {
      renaming: `
        test('renames', async () => {
          const child = spawn('sleep', ['308'], { stdio: 'ignore' })
          note('child', child.pid)
          while (!fs.existsSync('stranger')) await new Promise((resolve) => setTimeout(resolve, 20))
          child.pid = Number(fs.readFileSync('stranger', 'utf8'))
        })`,
    },
    // After the run has begun: what is older is spared in any case.
    during: async ({ directory }) => {
      while (!existsSync(join(directory, 'notes.jsonl'))) await setTimeout(20)
      const process = spawn('sleep', ['309'], { stdio: 'ignore' })
      onTestFinished(() => void process.kill())
      stranger = process.pid as number
      writeFileSync(join(directory, 'stranger'), String(stranger))
    },
  })
  expect(result.test('renames').messages, output).toContain(`pid ${result.notes['child']}  sleep 308`)
  expect([hasProgram(stranger), hasProgram(result.notes['child'])]).toEqual([true, false])
})
