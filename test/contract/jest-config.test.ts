import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runners, runSuite, shareSuite, statusesOf } from './run-suite.js'

const common = `testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000`
const report = `{ report: { json: 'custody.json' } }`

/** A hook, or the beginning of a runner, that notes how often it was called in this process. */
const counting = (name: string) => `
const { appendFileSync } = require('node:fs')
const count = () => {
  const calls = (process.calls ??= {})
  calls['${name}'] = (calls['${name}'] ?? 0) + 1
  appendFileSync('notes.jsonl', JSON.stringify(['${name}', calls['${name}']]) + '\\n')
}`
const hook = (name: string) => `${counting(name)}\nmodule.exports = () => count()`

const runner = `
${counting('own runner')}
const { createRequire } = require('node:module')
const jest = ['jest', '@jest/core', 'jest-config'].reduce((from, name) => createRequire(from.resolve(name + '/package.json')), require)
const circus = jest('jest-circus/runner')
module.exports = (...args) => {
  count()
  return (circus.default ?? circus)(...args)
}`

/** The program and the hooks of a user who has set everything that Custody sets too. */
const own = {
  'own-setup.cjs': hook('own setup'),
  'own-teardown.cjs': hook('own teardown'),
  'own-runner.cjs': runner,
}
const hooks = (name: string) => `globalSetup: '<rootDir>/${name}-setup.cjs', globalTeardown: '<rootDir>/${name}-teardown.cjs'`

const leaving = `test('leaves a daemon', async () => { await leave('obeying') })`

describe.runIf(runners.includes('jest'))('jest', () => {
  describe('with projects, of which each and the root have hooks, and one is wrapped itself', () => {
    const suite = shareSuite('jest', () => ({
      config: `
        import { withCustody } from '@custody/jest/config'
        const project = (name) => ({
          ${common}, rootDir: import.meta.dirname, displayName: name, testMatch: ['**/' + name + '.check.cjs'],
          globalSetup: '<rootDir>/' + name + '-setup.cjs', globalTeardown: '<rootDir>/' + name + '-teardown.cjs',
        })
        const a = { ...project('a'), testRunner: '<rootDir>/own-runner.cjs' }
        export default withCustody({ ${hooks('own')}, projects: [withCustody(a, { keep: 'always' }), project('b')] }, ${report})`,
      extras: {
        ...own,
        ...Object.fromEntries(
          ['a', 'b'].flatMap((name) =>
            ['setup', 'teardown'].map((kind) => [`${name}-${kind}.cjs`, hook(`${kind} of ${name}`)] as const),
          ),
        ),
      },
      args: ['-i'],
      files: { a: leaving, b: leaving },
    }))

    test('keeps custody in each, by the options of the root', () => {
      const { exitCode, output, receipts, summary } = suite()
      expect(exitCode, output).toBe(0)
      expect(receipts.map(({ test }) => test).sort()).toEqual(['a.check.cjs › leaves a daemon', 'b.check.cjs › leaves a daemon'])
      expect(summary).toMatchObject({ retired: 2 })
      expect(output).not.toContain('kept')
    })

    test.each(['own setup', 'own teardown'])("calls the root's %s once", (name) => {
      expect(suite().notes[name], suite().output).toBe(1)
    })

    test.each(['setup of a', 'teardown of a', 'setup of b', 'teardown of b'])('calls the %s once', (name) => {
      expect(suite().notes[name], suite().output).toBe(1)
    })

    test('runs the wrapped one by its own runner', () => {
      expect(suite().notes['own runner'], suite().output).toBe(1)
    })
  })

  describe('with projects that are named by a directory, a file, a pattern and an object', () => {
    const project = (name: string) => `{ ${common}, displayName: '${name}' }`
    const body = (name: string) => `
      const { custody } = require('@custody/jest')
      test('${name} has a scope', () => expect(custody.namespace.id).toBeDefined())
      test('${name} leaks', () => { require('node:child_process').spawn('sleep', ['300'], { stdio: 'ignore' }) })`
    const names = ['by-directory', 'by-file', 'by-pattern', 'by-object']
    const suite = shareSuite('jest', () => ({
      config: `
        import { withCustody } from '@custody/jest/config'
        const projects = [
          '<rootDir>/by-directory', '<rootDir>/by-file/own.config.cjs', 'packages/*',
          { ...${project('by-object')}, rootDir: import.meta.dirname + '/by-object' },
        ]
        export default withCustody({ projects }, ${report})`,
      extras: {
        'by-directory/package.json': `{ "jest": { "testMatch": ["**/*.check.cjs"], "transform": {}, "displayName": "by-directory" } }`,
        'by-directory/a.check.cjs': body('by-directory'),
        'by-file/own.config.cjs': `module.exports = () => (${project('by-file')})`,
        'by-file/a.check.cjs': body('by-file'),
        'packages/b/jest.config.mjs': `export default async () => (${project('by-pattern')})`,
        'packages/b/a.check.cjs': body('by-pattern'),
        'packages/notes.txt': 'no project',
        'by-object/a.check.cjs': body('by-object'),
      },
      files: {},
    }))

    test('keeps custody in each', () => {
      const each = (name: string) => [`${name} has a scope`, 'passed']
      const leaks = (name: string) => [`${name} leaks`, 'failed']
      expect(statusesOf(suite()), suite().output).toEqual(Object.fromEntries([...names.map(each), ...names.map(leaks)]))
    })
  })

  test.each([
    ['that is not there', 'nowhere', 'find'],
    ['whose configuration throws', 'broken', 'a fault of the project'],
  ])('a project %s is refused by name', async (_, name, reason) => {
    const { exitCode, output } = await runSuite('jest', {
      config: `
        import { withCustody } from '@custody/jest/config'
        export default withCustody({ projects: ['<rootDir>/${name}'] })`,
      extras: { 'broken/jest.config.cjs': `throw new Error('a fault of the project')` },
      files: {},
    })
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(
      new RegExp(`Could not put the project \\S*/${name} under custody: its configuration cannot be read \\(.*${reason}`),
    )
    expect(output).toContain('Hint: see whether Jest itself can read it, or give the project as an object.')
  })

  describe.each([
    ['by its name', 'own-preset', 'node_modules/own-preset/jest-preset.mjs', (preset: string) => `export default ${preset}`],
    ['by its file', './preset/jest-preset.cjs', 'preset/jest-preset.cjs', (preset: string) => `module.exports = ${preset}`],
  ])("with a user's preset that has a setup, a teardown, a reporter and a runner, %s", (_, preset, path, exported) => {
    const own = `{
      globalSetup: '<rootDir>/hook.cjs', globalTeardown: '<rootDir>/hook.cjs', testRunner: '<rootDir>/own-runner.cjs',
      reporters: ['default', '<rootDir>/own-reporter.cjs'] }`
    const suite = shareSuite('jest', () => ({
      config: `
        import { withCustody } from '@custody/jest/config'
        export default withCustody({ ${common}, rootDir: import.meta.dirname, preset: ${JSON.stringify(preset)} }, ${report})`,
      extras: {
        [path]: exported(own),
        'hook.cjs': `
          const { appendFileSync } = require('node:fs')
          module.exports = () => appendFileSync('notes.jsonl', '["hooks",' + (globalThis.hooks = (globalThis.hooks ?? 0) + 1) + ']\\n')`,
        'own-reporter.cjs': `
          const { appendFileSync } = require('node:fs')
          module.exports = class { onRunComplete() { appendFileSync('notes.jsonl', '["own reporter",true]\\n') } }`,
        'own-runner.cjs': `
          const { createRequire } = require('node:module')
          const { appendFileSync } = require('node:fs')
          const jest = ['jest', '@jest/core', 'jest-config'].reduce((from, name) => createRequire(from.resolve(name + '/package.json')), require)
          const circus = jest('jest-circus/runner')
          module.exports = (...args) => {
            appendFileSync('notes.jsonl', '["own runner",true]\\n')
            return (circus.default ?? circus)(...args)
          }`,
      },
      files: { any: leaving },
    }))

    test('chains all that it says', () => {
      expect(suite().exitCode, suite().output).toBe(0)
      expect(suite().notes, suite().output).toEqual({ hooks: 2, 'own reporter': true, 'own runner': true })
      expect(suite().receipts).toHaveLength(1)
    })
  })

  describe('with the preset', () => {
    const suite = shareSuite('jest', () => ({
      config: `export default { preset: '@custody/jest', ${common}, rootDir: import.meta.dirname }`,
      files: { leaking: `test('leaks', () => { spawn('sleep', ['300'], { stdio: 'ignore' }) })`, green: leaving },
    }))

    test('keeps custody by the default options', () => {
      expect(statusesOf(suite()), suite().output).toEqual({ leaks: 'failed', 'leaves a daemon': 'passed' })
      expect(suite().output).toMatch(/custody {2}1 runtime, 1 owned, 1 retired, .*1 leaked/)
    })
  })

  describe('with a configuration that is wrapped twice, in a directory whose name is a pattern of replacements', () => {
    const suite = shareSuite('jest', () => ({
      config: `
        import { cpSync, mkdirSync } from 'node:fs'
        import { withCustody } from '@custody/jest/config'
        const rootDir = import.meta.dirname + "/$&$'"
        mkdirSync(rootDir, { recursive: true })
        for (const name of ['own-setup.cjs', 'own-teardown.cjs', 'own-runner.cjs']) cpSync(name, rootDir + '/' + name)
        const own = { ${common}, roots: [import.meta.dirname], rootDir, ${hooks('own')}, testRunner: '<rootDir>/own-runner.cjs' }
        export default withCustody(withCustody(own, { report: { json: '../custody.json' } }))`,
      extras: own,
      args: ['-i'],
      files: { twice: leaving },
    }))

    test('keeps custody, by the options that were given', () => {
      expect(suite().exitCode, suite().output).toBe(0)
      expect(suite().receipts).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    })

    test.each(['own setup', 'own teardown', 'own runner'])('calls the %s once', (name) => {
      expect(suite().notes[name], suite().output).toBe(1)
    })
  })

  describe("with errors and an environment of the test's own", () => {
    const suite = shareSuite('jest', () => ({
      env: { REMOVED: 'is here', CHANGED: 'before' },
      files: {
        errors: `
          test('throws what is frozen', () => { throw Object.freeze(new Error('cannot be changed')) })
          test('throws what only tells its stack', () => {
            throw Object.defineProperty(new Error('cannot be set'), 'stack', { get: () => 'Error: cannot be set\\n    at only (told.js:1:1)' })
          })
          test('throws what must not be touched', () => {
            const set = () => { throw new Error('was touched') }
            throw Object.defineProperty(new Error('untouched'), 'stack', { get: () => 'Error: untouched', set })
          })
          test('is green beside them', () => {})`,
        environment: `
          const script = 'console.log([process.env.CHANGED, process.env.REMOVED, process.env.HOME].join()); setInterval(() => {}, 1_000)'
          const once = [process.execPath, ['-p', '[process.env.CHANGED, process.env.REMOVED, process.env.HOME].join()']]
          const running = { command: ['node', '-e', script], ready: { log: /(.*),(.*),(.*)/ } }
          beforeEach(() => {
            process.env.CHANGED = 'by the test'
            delete process.env.REMOVED
          })
          test('runs commands', async () => {
            note('home', custody.namespace.home)
            note('exec', (await custody.exec(...once)).stdout.trim().split(','))
            const given = await custody.exec(...once, { env: { CHANGED: 'by the call' } })
            note('exec with its own', given.stdout.split(',')[0])
            const opened = custody.openNamespace('second')
            note('opened home', opened.home)
            note('opened exec', (await opened.exec(...once)).stdout.trim().split(','))
          })
          test('runs commands without a process', async () => {
            const { process } = globalThis
            delete globalThis.process
            const running = custody.exec(...once)
            globalThis.process = process
            note('exec without a process', (await running).stdout.split(',')[0])
          })
          test('starts runtimes', async () => {
            const starting = custody.start({ name: 'started', ...running })
            process.env.CHANGED = 'too late'
            note('start', (await starting).match.slice(1, 3))
            process.env.CHANGED = 'by the test'
            note('shared', (await custody.shared({ name: 'shared', scope: 'file', ...running })).match.slice(1, 3))
          })
          test('finds the same definition after a change of the environment', async () => {
            process.env.CHANGED = 'later'
            note('found', (await custody.shared({ name: 'shared', scope: 'file', ...running })).match[1])
          })`,
        realm: `
          test('lives in a realm without Symbol.asyncDispose', async () => {
            const { Symbol } = globalThis
            globalThis.Symbol = Object.create(Symbol, { asyncDispose: { value: undefined } })
            try {
              const opened = custody.openNamespace('second')
              const started = await custody.start({ name: 'started', command: ['sleep', '100'] })
              note('keys', [opened, started].flatMap(Object.keys))
            } finally {
              globalThis.Symbol = Symbol
            }
          })`,
      },
    }))

    test.each([
      ['throws what is frozen', 'cannot be changed'],
      ['throws what only tells its stack', 'told.js:1:1'],
      ['throws what must not be touched', 'untouched'],
    ])('fails the test that %s alone, with its message', (title, message) => {
      expect(suite().test(title).status, suite().output).toBe('failed')
      expect(suite().test(title).messages).toContain(message)
      expect(suite().test('is green beside them').status).toBe('passed')
    })

    test('gives commands what a test has set and removed, and the home of the namespace', () => {
      const { notes, output } = suite()
      expect(notes['exec'], output).toEqual(['by the test', '', notes['home']])
      expect(notes['opened exec']).toEqual(['by the test', '', notes['opened home']])
      expect(notes['exec with its own']).toBe('by the call')
      expect(notes['exec without a process']).toBe('before')
    })

    test('gives runtimes what a test has set and removed at the call', () => {
      expect(suite().notes['start'], suite().output).toEqual(['by the test', ''])
      expect(suite().notes['shared']).toEqual(['by the test', ''])
      expect(suite().notes['found']).toBe('by the test')
    })

    test('has no member of the name "undefined" where the realm does not know Symbol.asyncDispose', () => {
      const keys = suite().notes['keys'] as string[]
      expect(keys, suite().output).toContain('close')
      expect(keys).not.toContain('undefined')
    })
  })

  describe('with a report that cannot be written', () => {
    const suite = shareSuite('jest', () => ({
      config: `
        import { withCustody } from '@custody/jest/config'
        export default withCustody({ ${common}, rootDir: import.meta.dirname }, { report: { json: '.' } })`,
      files: { green: `test('is green', () => {})` },
    }))

    test('is red, and says why', () => {
      expect(suite().exitCode).toBe(1)
      expect(suite().output).toContain('EISDIR')
    })

    test('leaves nothing of the run behind', () => {
      const runs = readdirSync(suite().base).filter((name) => name.startsWith('custody-'))
      expect(runs.flatMap((name) => readdirSync(`${suite().base}/${name}`))).toEqual([])
    })
  })

  describe('with the environment in a project that does not see the current directory', () => {
    const suite = shareSuite('jest', () => ({
      config: `
        import { mkdtempSync } from 'node:fs'
        import { tmpdir } from 'node:os'
        process.chdir(mkdtempSync(tmpdir() + '/elsewhere-'))
        export default {
          ${common}, rootDir: import.meta.dirname,
          testEnvironment: '<rootDir>/own-environment.mjs', globalSetup: '@custody/jest/global-setup',
        }`,
      extras: {
        'own-environment.mjs': `
          import Environment from '@custody/jest/environment'
          export default class extends Environment {
            async setup() {
              await super.setup()
              this.global.own = 'of the subclass'
            }
          }`,
      },
      args: ['-i'],
      files: {
        elsewhere: `
          process.chdir(__dirname)
          test('leaves a daemon', async () => { note('environment', own); await leave('obeying') })`,
      },
    }))

    test('finds the environment of Jest from the root of the project', () => {
      expect(suite().output).toContain('custody  1 runtime, 1 owned, 1 retired, 1 exit observed')
      expect(suite().test('leaves a daemon').status, suite().output).toBe('passed')
    })

    test('can be extended', () => {
      expect(suite().notes['environment'], suite().output).toBe('of the subclass')
    })
  })
})
