import type { Locator } from '@custody/runtime'
import { afterAll, describe, expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { describeRunners, type RunnerName, runners, shareSuite } from './run-suite.js'

const plainJest = `testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname,`

/** The configurations of projects without Custody. */
const plain: Record<RunnerName, string> = {
  vitest: `export default { test: { include: ['*.check.mjs'], testTimeout: 30_000 } }`,
  jest: `export default { ${plainJest} }`,
}

const readLocator = `const readLocator = (home) => JSON.parse(fs.readFileSync(path.join(home, 'answering-garbage.json')))`

const killed = `test('is killed', async () => { await leave('obeying'); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}) })`
const exiting = `test('exits', async () => { await leave('leaving-its-locator'); process.exit(0) })`
const other = `test('lives on', () => {})`

/** Workers that die, and what they leave. */
const dying: Record<RunnerName, { files: Record<string, string>; args: string[]; daemons: string[] }> = {
  vitest: { files: { killed, other }, args: [], daemons: ['obeying'] },
  jest: { files: { killed, exiting, other }, args: ['-w', '2'], daemons: ['leaving-its-locator', 'obeying'] },
}

const noteFor = (name: string) => `
const { appendFileSync } = require('node:fs')
const note = () => appendFileSync('notes.jsonl', '["${name}",true]\\n')`

/** Found as Jest finds it: a project under pnpm does not see it. */
const ownJestRunner = `
${noteFor('own runner')}
const { createRequire } = require('node:module')
const jest = ['jest', '@jest/core', 'jest-config'].reduce((from, name) => createRequire(from.resolve(name + '/package.json')), require)
const circus = jest('jest-circus/runner')
module.exports = (...args) => {
  note()
  return (circus.default ?? circus)(...args)
}`

const ownVitestRunner = `
import { appendFileSync } from 'node:fs'
import * as vitest from 'vitest'
const Base = vitest.TestRunner ?? (await import(/* @vite-ignore */ ['vitest', 'runners'].join('/'))).VitestTestRunner
export default class extends Base {
  onBeforeRunTask(test) {
    appendFileSync('notes.jsonl', JSON.stringify(['own runner', test.name]) + '\\n')
    return super.onBeforeRunTask?.(test)
  }
}`

describeRunners('wrong options', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { timeouts: { gracMs: 5 }, keep: 'sometimes' } as never,
    files: { never: `test('runs', () => note('ran', true))` },
  }))

  test('fail the run by name, and with the question whether another was meant', () => {
    expect(suite().exitCode).toBe(1)
    expect(suite().output).toContain('there is no option timeouts.gracMs')
    expect(suite().output).toContain('did you mean timeouts.graceMs?')
  })

  test('fail the run with the values that an option can have', () => {
    expect(suite().exitCode).toBe(1)
    expect(suite().output).toContain('keep is wrong: it is "sometimes"')
    expect(suite().output).toContain("keep must be 'never', 'on-failure' or 'always'.")
  })

  test('fail the run before any test', () => {
    expect(suite().notes).toEqual({})
    expect(suite().tests).toEqual([])
  })
})

/** A project that gives a text where options belong. */
const givingText: Record<RunnerName, string> = {
  vitest: `
import { custodyPlugin } from '@custody/vitest/plugin'
export default { plugins: [custodyPlugin('warn')], test: { include: ['*.check.mjs'] } }`,
  jest: `
import { withCustody } from '@custody/jest/config'
export default withCustody({ ${plainJest} }, 'warn')`,
}

describeRunners('a text in the place of options', (runner) => {
  const suite = shareSuite(runner, () => ({ config: givingText[runner], files: { never: `test('runs', () => {})` } }))

  test('fails the run, and says what to pass', () => {
    expect(suite().exitCode).toBe(1)
    expect(suite().output).toContain(`Could not read Custody's options: options is wrong: it is "warn".`)
    expect(suite().output).toContain("Hint: options must be an object, such as { leaks: 'warn' }.")
  })
})

describeRunners('a project without Custody', (runner) => {
  const suite = shareSuite(runner, () => ({
    config: plain[runner],
    files: {
      unmanaged: `test('asks', () => custody.exec(process.execPath, ['--version']).catch(({ code, message }) => note(code, message)))`,
    },
  }))

  test('says CUSTODY_NOT_SET_UP, and what to do', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(suite().notes['CUSTODY_NOT_SET_UP']).toMatch(/^Could not .*\nHint: .*withCustody/s)
  })
})

describeRunners('a worker that dies', (runner) => {
  const { args, daemons, files } = dying[runner]
  const suite = shareSuite(runner, () => ({ args, files }))

  test('makes the run red by itself, and holds up no other file', () => {
    expect(suite().exitCode).toBe(1)
    expect(suite().test('lives on').status, suite().output).toBe('passed')
  })

  test('leaves what the run retires in the end', () => {
    const { output, receipts } = suite()
    expect(receipts.map(({ name }) => name).sort(), output).toEqual(daemons)
    for (const { exit, identity, scope, verdict } of receipts) {
      expect([verdict, exit, identity !== null && isAlive(identity)]).toEqual(['owned', 'observed', false])
      // The run's own.
      expect(scope).toMatch(/^[0-9a-f]{32}$/)
    }
  })
})

describe.each(runners.filter((runner) => runner === 'vitest'))('%s', (runner) => {
  describe('with the global setup and a runner of its own', () => {
    const suite = shareSuite(runner, () => ({
      config: `export default { test: { include: ['*.check.mjs'], testTimeout: 30_000, globalSetup: ['@custody/vitest/global-setup'], runner: './own-runner.mjs' } }`,
      extras: { 'own-runner.mjs': ownVitestRunner },
      files: { alone: `test('leaves a daemon', async () => { note('pid', await leave('obeying')) })` },
    }))

    test('needs no plugin', () => {
      expect(suite().exitCode, suite().output).toBe(0)
      expect(suite().output).toContain('custody  1 runtime, 1 owned, 1 retired, 1 exit observed')
    })

    test('runs the tests by the own runner', () => {
      expect(suite().notes['own runner']).toBe('leaves a daemon')
    })
  })

  describe('with a project for each pool', () => {
    const pools = ['forks', 'threads', 'vmForks', 'vmThreads']
    const suite = shareSuite(runner, () => ({
      config: `
        import { custodyPlugin } from '@custody/vitest/plugin'
        const project = (pool) => ({ extends: true, test: { name: pool, pool, env: { POOL: pool } } })
        export default {
          plugins: [custodyPlugin({ report: { json: 'custody.json' } })],
          test: { include: ['*.check.mjs'], testTimeout: 30_000, projects: ${JSON.stringify(pools)}.map(project) },
        }`,
      files: { pooled: `test('leaves a daemon', async () => { note(process.env.POOL, await leave('obeying')) })` },
    }))

    test.each(pools)('keeps custody in the pool %s', (pool) => {
      expect(suite().exitCode, suite().output).toBe(0)
      const receipts = suite().receipts.filter(({ identity }) => identity?.pid === suite().notes[pool])
      expect(receipts).toMatchObject([{ verdict: 'owned', exit: 'observed', test: 'pooled.check.mjs > leaves a daemon' }])
    })
  })
})

describe.each(runners.filter((runner) => runner === 'jest'))('%s', (runner) => {
  describe('with an asynchronous configuration, and two workers', () => {
    const suite = shareSuite(runner, () => ({
      config: `
        import { withCustody } from '@custody/jest/config'
        const own = async () => ({
          ${plainJest}
          globalSetup: '<rootDir>/own-setup.cjs', globalTeardown: '<rootDir>/own-teardown.cjs', testRunner: '<rootDir>/own-runner.cjs',
        })
        export default withCustody(own, { report: { json: 'custody.json' } })`,
      extras: {
        'own-setup.cjs': `${noteFor('own setup')}\nmodule.exports = () => note()`,
        'own-teardown.cjs': `${noteFor('own teardown')}\nmodule.exports = () => note()`,
        'own-runner.cjs': ownJestRunner,
      },
      args: ['-w', '2'],
      files: {
        a: `test('leaves a daemon', async () => { note('worker of a', process.pid); await leave('obeying') })`,
        b: `test('leaves another', async () => { note('worker of b', process.pid); await leave('obeying') })`,
      },
    }))

    test('keeps custody in both workers', () => {
      const { exitCode, notes, output, receipts } = suite()
      expect(exitCode, output).toBe(0)
      expect(notes['worker of a']).not.toBe(notes['worker of b'])
      expect(receipts.map(({ exit, test, verdict }) => [test, verdict, exit]).sort()).toEqual([
        ['a.check.cjs › leaves a daemon', 'owned', 'observed'],
        ['b.check.cjs › leaves another', 'owned', 'observed'],
      ])
    })

    test.each(['own setup', 'own teardown', 'own runner'])('calls the %s', (name) => {
      expect(suite().notes[name], suite().output).toBe(true)
    })
  })

  describe('with the environment and the global setup alone, and all in one process', () => {
    const suite = shareSuite(runner, () => ({
      config: `export default { ${plainJest} testEnvironment: '@custody/jest/environment', globalSetup: '@custody/jest/global-setup' }`,
      args: ['-i'],
      files: {
        a: `
          ${readLocator}
          test('leaves a daemon', async () => { note('parent', process.ppid); await leave('obeying') })
          test('leaves what proves nothing', async () => {
            await leave('answering-garbage')
            note('left by a test', readLocator(custody.namespace.home))
          })`,
        b: `
          ${readLocator}
          test('is green itself', () => {
            const home = newHome()
            leaveIn(home, 'answering-garbage')
            note('left by a file', readLocator(home))
          })`,
      },
    }))
    const left = () => [suite().notes['left by a test'], suite().notes['left by a file']] as Locator[]
    afterAll(() => suite().release(left()))

    test('needs no more, and retires what is its own', () => {
      expect(suite().notes['parent']).toBe(process.pid)
      expect(suite().test('leaves a daemon').status, suite().output).toBe('passed')
      expect(suite().output).toContain('custody  3 runtimes, 1 owned, 1 retired, 1 exit observed, 2 unproven')
    })

    test('fails the test that leaves what proves nothing', () => {
      const { messages, status } = suite().test('leaves what proves nothing')
      expect(status).toBe('failed')
      expect(messages).toContain(`Could not retire runtime "answering-garbage" (pid ${left()[0]?.pid})`)
    })

    test('fails the file for what belongs to the file', () => {
      expect(suite().exitCode).toBe(1)
      expect(suite().fileMessages, suite().output).toContain(
        `Could not retire runtime "answering-garbage" (pid ${left()[1]?.pid})`,
      )
    })

    test('ends with the run what proves nothing by its locator, by what the kernel shows of its birth', () => {
      expect(left().map(isAlive)).toEqual([false, false])
    })
  })
})
