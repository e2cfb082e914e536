import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { allGone, leaksAndStarts } from './leaks-and-starts.js'
import { readNoted, until } from './noted.js'
import { majorOf, pathOfTool, runInProject, runners, shareSuite, statusesOf } from './run-suite.js'

const common = `testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: import.meta.dirname`
const parts = `globalSetup: '@custody/jest/global-setup', globalTeardown: '@custody/jest/global-teardown'`
const report = `{ report: { json: 'custody.json' } }`

/** Whether Jest reads a configuration in TypeScript with nothing else: Jest 30, where Node takes the types away. */
const readsTypes =
  runners.includes('jest') &&
  majorOf('jest') >= 30 &&
  execFileSync(process.env['CUSTODY_CONTRACT_ENGINE'] ?? process.execPath, ['-p', 'process.features.typescript ?? false'], {
    encoding: 'utf8',
  }).trim() !== 'false'

/** For a module of a suite: the environments of Jest, which a project under pnpm does not see, and what notes something. */
const inEnvironment = `
  import { spawn } from 'node:child_process'
  import { once } from 'node:events'
  import { appendFileSync } from 'node:fs'
  import { createRequire } from 'node:module'
  import { withCustody } from '@custody/jest/environment'
  const link = (from, name) => createRequire(from.resolve(name + '/package.json'))
  const jest = ['jest', '@jest/core', 'jest-config'].reduce(link, createRequire(import.meta.url))
  const note = (name, value) => appendFileSync('notes.jsonl', JSON.stringify([name, value]) + '\\n')
  const { TestEnvironment } = jest('jest-environment-node')`

/** An environment that serves its file. */
const serving = (name: string, Base: string, isLeft: boolean) => `
  ${inEnvironment}
  const Base = ${Base}
  class Serving extends Base {
    events = []
    async setup() {
      await super.setup()
      this.server = spawn('sh', ['-c', 'echo up; exec sleep 300'], { stdio: ['ignore', 'pipe', 'ignore'] })
      await once(this.server.stdout, 'data')
      this.global.server = this.server.pid
      note('server of ${name}', this.server.pid)
    }
    async teardown() {
      note('events of ${name}', this.events)
      if (!${isLeft}) {
        const exited = once(this.server, 'exit')
        this.server.kill()
        await exited
      }
      await super.teardown()
    }
    async handleTestEvent(event) {
      await null
      this.events.push(event.name)
    }
  }
  export default withCustody(Serving)`

const jsdom = () => `createRequire(import.meta.url)(${JSON.stringify(pathOfTool('jest-environment-jsdom'))}).TestEnvironment`

describe.runIf(runners.includes('jest'))('jest', () => {
  describe('with the runner and the environment at once', () => {
    const suite = shareSuite('jest', () => ({
      config: `
        import { withCustody } from '@custody/jest/config'
        export default withCustody({ ${common}, testEnvironment: '@custody/jest/environment', setupFiles: ['<rootDir>/early.cjs'] }, ${report})`,
      // Between the making of the environment and the call of the runner.
      extras: { 'early.cjs': `require('node:child_process').spawn('sleep', ['303'], { stdio: 'ignore' })` },
      files: {
        both: `
          beforeAll(() => { spawn('sleep', ['302'], { stdio: 'ignore' }) })
          test('leaks', () => { spawn('sleep', ['301'], { stdio: 'ignore' }) })
          test('leaves a daemon', async () => { await leave('obeying') })
          test('starts', async () => { await custody.start({ name: 'api', command: ['sleep', '300'] }) })`,
      },
    }))

    test('settles each once', () => {
      const { output, receipts, summary } = suite()
      expect(statusesOf(suite()), output).toEqual({
        leaks: 'failed',
        'leaves a daemon': 'passed',
        starts: 'passed',
        'leaves no process behind': 'failed',
      })
      expect(receipts.map(({ name }) => name).sort()).toEqual(['api', 'obeying'])
      expect(summary).toMatchObject({ leaked: 3, retired: 2 })
    })

    test('tells each once', () => {
      const { output } = suite()
      expect(output.match(/pid \d+ {2}sleep 301/g), output).toHaveLength(1)
      expect(output.match(/pid \d+ {2}sleep 302/g), output).toHaveLength(1)
      expect(output.match(/pid \d+ {2}sleep 303/g), output).toHaveLength(1)
    })
  })

  describe.each([
    ['with the runner', true, (projects: string) => `withCustody({ testTimeout: 30_000, projects: ${projects} }, ${report})`],
    ['alone', false, (projects: string) => `{ testTimeout: 30_000, ${parts}, projects: ${projects} }`],
  ])('with environments of a user under custody, %s,', (_, isWhole, configured) => {
    const suite = shareSuite('jest', () => {
      const environments = { serving: 'TestEnvironment', leaving: 'TestEnvironment', jsdom: jsdom() }
      return {
        config: `
          import { withCustody } from '@custody/jest/config'
          const project = (name) => ({
            transform: {}, rootDir: import.meta.dirname, displayName: name, testMatch: ['**/' + name + '.check.cjs'],
            testEnvironment: '<rootDir>/' + name + '.mjs',
          })
          export default ${configured(`['serving', 'leaving', 'jsdom'].map(project)`)}`,
        extras: Object.fromEntries(
          Object.entries(environments).map(([name, Base]) => [`${name}.mjs`, serving(name, Base, name === 'leaving')]),
        ),
        files: Object.fromEntries(
          Object.keys(environments).map((name) => [
            name,
            `test('${name}: is served', async () => {
              expect(isAlive(server)).toBe(true)
              await custody.start({ name: '${name}', command: ['sleep', '300'] })
              note('window of ${name}', typeof window)
            })`,
          ]),
        ),
      }
    })
    const tests = () => statusesOf(suite())

    test('what an environment starts and stops is no leak', () => {
      const { notes, output, receiptsOf } = suite()
      expect(tests(), output).toMatchObject({ 'serving: is served': 'passed', 'jsdom: is served': 'passed' })
      expect([notes['window of serving'], notes['window of jsdom']]).toEqual(['undefined', 'object'])
      expect(output).not.toContain('started by serving')
      expect(output).not.toContain('started by jsdom')
      if (isWhole) expect(['serving', 'jsdom'].flatMap(receiptsOf)).toMatchObject([{ left: [] }, { left: [] }])
    })

    test('what it starts and leaves makes its file red, at the line, and is gone after it', () => {
      const { exitCode, notes, output } = suite()
      expect(exitCode, output).toBe(1)
      expect(output).toContain('A process that this file started is still alive.')
      expect(output).toContain(`pid ${notes['server of leaving']}  sleep 300`)
      expect(output).toMatch(/> \d+ \| +this\.server = spawn\(/)
      expect(output).toMatch(/at Serving\.setup \(\S*leaving\.mjs:\d+:\d+\)/)
      expect(hasProgram(notes['server of leaving'])).toBe(false)
      // Without the runner the results of the file are lost.
      expect(tests()).toMatchObject(isWhole ? { 'leaving: is served': 'passed', 'leaves no process behind': 'failed' } : {})
    })

    test('its own handler is called for all events', () => {
      const events = suite().notes['events of serving']
      expect(events, suite().output).toEqual(
        expect.arrayContaining(['setup', 'run_start', 'test_start', 'test_done', 'teardown']),
      )
    })
  })

  describe('with the environment, the global setup and the global teardown alone', () => {
    let home: string
    let foreign: number
    const suite = shareSuite('jest', () => {
      const program = join(dirname(fileURLToPath(import.meta.url)), '../programs/left-by-a-command.js')
      home = mkdtempSync(join(tmpdir(), 'home-'))
      const locator = join(home, 'foreign.json')
      foreign = Number(execFileSync(process.execPath, [program, 'obeying', locator], { encoding: 'utf8' }))
      return {
        env: { LOCATOR: locator },
        config: `export default { ${common}, testEnvironment: '@custody/jest/environment', ${parts} }`,
        files: {
          leaking: `
            test('is green beside it', () => {})
            test('leaks', () => { note('leaked', spawn('sleep', ['301'], { stdio: 'ignore' }).pid) })`,
          owned: `test('leaves a daemon', async () => { note('owned', await leave('obeying')) })`,
          foreign: `
            test('has what is foreign in its home', async () => {
              const copied = path.join(custody.namespace.home, 'foreign.json')
              fs.copyFileSync(process.env.LOCATOR, copied)
              expect(await custody.inspect(copied)).toMatchObject({ verdict: 'foreign' })
              await expect(custody.retire(copied)).rejects.toMatchObject({ code: 'CUSTODY_NOT_OWNED' })
            })`,
        },
      }
    })
    afterAll(() => {
      process.kill(foreign)
      rmSync(home, { recursive: true })
    })

    test('fails the file of a leak, and names its test and its line', () => {
      const { exitCode, fileMessages, notes, output } = suite()
      expect(exitCode, output).toBe(1)
      expect(fileMessages).toContain('A process that this test started is still alive.')
      expect(fileMessages).toContain('started by leaking.check.cjs › leaks')
      expect(output).toContain(`${suite().placeOf("note('leaked'")}:`)
      expect(hasProgram(notes['leaked'])).toBe(false)
    })

    test('retires what is owned', () => {
      expect(suite().test('leaves a daemon').status, suite().output).toBe('passed')
      expect(hasProgram(suite().notes['owned'])).toBe(false)
    })

    test('leaves alone what is foreign', () => {
      expect(suite().test('has what is foreign in its home').status, suite().output).toBe('passed')
      expect(suite().output).toMatch(/custody {2}1 runtime, 1 owned, 1 retired, 1 exit observed, 1 leaked/)
      expect(hasProgram(foreign)).toBe(true)
    })
  })

  describe('with the same, and a runner that is killed', () => {
    const suite = shareSuite('jest', () => ({
      config: `export default { ${common}, testEnvironment: '@custody/jest/environment', ${parts} }`,
      args: ['-w', '2'],
      files: { killed: leaksAndStarts('await new Promise(() => {})'), other: `test('is green', () => {})` },
      during: async (running) => {
        await until(running, () => readNoted(running.directory).length === 2)
        running.runner.kill('SIGKILL')
      },
    }))

    test('leaves nothing', async () => {
      expect(suite().signal).toBe('SIGKILL')
      await allGone(suite(), 2)
    })
  })

  describe('with environments that docblocks name', () => {
    const named = {
      ours: '@custody/jest/environment',
      own: './own.mjs',
      plain: './plain.mjs',
      node: 'node',
    }
    const extras = {
      'own.mjs': serving('own', 'TestEnvironment', false),
      'plain.mjs': `${inEnvironment}\nexport default class extends TestEnvironment {\n  handleTestEvent() {}\n}`,
    }
    const docblock = (name: string, rest: string) =>
      `/** @jest-environment ${name} */\nconst { custody } = require('@custody/jest')\n${rest}`
    const withRunner = shareSuite('jest', () => ({
      args: ['-w', '2'],
      config: `
        import { withCustody } from '@custody/jest/config'
        export default withCustody({ ${common} }, ${report})`,
      files: {},
      extras: {
        ...extras,
        ...Object.fromEntries(
          Object.entries(named).map(([name, environment]) => [
            `${name}.check.cjs`,
            docblock(
              environment,
              `test('${name}: starts', () => custody.start({ name: '${name}', command: ['sleep', '300'] }))
              test('${name}: leaks', () => { require('node:child_process').spawn('sleep', ['301'], { stdio: 'ignore' }) })`,
            ),
          ]),
        ),
      },
    }))
    const alone = shareSuite('jest', () => ({
      config: `export default { ${common}, testEnvironment: '@custody/jest/environment', ${parts} }`,
      files: {},
      extras: {
        ...extras,
        'default.check.cjs': `
          const { custody } = require('@custody/jest')
          test('default: starts', () => custody.start({ name: 'default', command: ['sleep', '300'] }))`,
        'own.check.cjs': docblock(
          './own.mjs',
          `test('own: starts', () => custody.start({ name: 'own', command: ['sleep', '300'] }))`,
        ),
        'plain.check.cjs': docblock(
          './plain.mjs',
          `test('plain: is told', () => expect(custody.exec('true')).rejects.toMatchObject({ code: 'CUSTODY_NOT_SET_UP' }))`,
        ),
      },
    }))

    test('keeps custody in each, by the runner', () => {
      const each = (what: string, status: string) => Object.keys(named).map((name) => [`${name}: ${what}`, status])
      expect(statusesOf(withRunner()), withRunner().output).toEqual(
        Object.fromEntries([...each('starts', 'passed'), ...each('leaks', 'failed')]),
      )
      expect(withRunner().receipts).toHaveLength(4)
      expect(withRunner().summary.leaked).toBe(4)
    })

    test('without the runner, keeps it in those that are under custody, and says so in the others', () => {
      expect(alone().exitCode, alone().output).toBe(0)
      expect(statusesOf(alone())).toEqual({ 'default: starts': 'passed', 'own: starts': 'passed', 'plain: is told': 'passed' })
      expect(alone().output).toContain('custody  2 runtimes, 2 owned')
    })
  })

  const leakingAndStarting = {
    both: `
      test('leaks', () => { note('leaked', spawn('sleep', ['301'], { stdio: 'ignore' }).pid) })
      test('starts', () => custody.start({ name: 'api', command: ['sleep', '300'] }))
      test('leaves a daemon', async () => { note('owned', await leave('obeying')) })`,
  }

  describe.each([
    ['the parts by name', `{ ${common}, testRunner: '@custody/jest/runner', ${parts} }`],
    [
      'the parts by name in a project',
      `{ testTimeout: 30_000, ${parts}, projects: [{ transform: {}, rootDir: import.meta.dirname, testMatch: ['**/*.check.cjs'], testRunner: '@custody/jest/runner' }] }`,
    ],
    [
      'the preset beside keys of its own',
      `{ preset: '@custody/jest', ${common}, globals: { OWN: 'of the user' }, setupFiles: ['<rootDir>/own.cjs'], testEnvironment: '@custody/jest/environment' }`,
    ],
  ])('with %s', (title, config) => {
    const isPreset = title.startsWith('the preset')
    const suite = shareSuite('jest', () => ({
      config: `export default ${config}`,
      extras: { 'own.cjs': `globalThis.isSetUp = true` },
      files: {
        ...leakingAndStarting,
        own: `test('has the own keys', () => note('own', [typeof OWN === 'string' && OWN, globalThis.isSetUp]))`,
      },
    }))

    test('keeps custody', () => {
      const { exitCode, notes, output } = suite()
      expect(exitCode, output).toBe(1)
      expect(statusesOf(suite())).toMatchObject({ leaks: 'failed', starts: 'passed', 'leaves a daemon': 'passed' })
      expect(output).toMatch(/custody {2}2 runtimes, 2 owned, 2 retired, 2 exits observed, 1 leaked/)
      expect([notes['leaked'], notes['owned']].filter(hasProgram)).toEqual([])
    })

    test('keeps the keys of the user', () => {
      expect(suite().notes['own'], suite().output).toEqual(isPreset ? ['of the user', true] : [false, null])
    })
  })

  describe('with configurations', () => {
    const own = `{ testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: __dirname }`
    const wrap = `const { withCustody } = require('@custody/jest/config')`
    const configurations: Readonly<Record<string, string>> = {
      'object.config.cjs': `${wrap}\nmodule.exports = withCustody(${own})`,
      'function.config.cjs': `${wrap}\nmodule.exports = withCustody(() => (${own}))`,
      'async.config.cjs': `${wrap}\nmodule.exports = async () => withCustody(await (async () => (${own}))())`,
      'object.config.js': `${wrap}\nmodule.exports = withCustody(${own})`,
      'async.config.mjs': `
        import { withCustody } from '@custody/jest/config'
        const __dirname = import.meta.dirname
        export default withCustody(async () => (${own}))`,
      'default.config.mjs': `
        import config from '@custody/jest/config'
        const __dirname = import.meta.dirname
        export default config.withCustody(${own})`,
      'package.json': JSON.stringify({
        jest: { preset: '@custody/jest', testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000 },
      }),
      ...(readsTypes && {
        'typed.config.ts': `
          import { withCustody } from '@custody/jest/config'
          const options: { leaks: 'fail' } = { leaks: 'fail' }
          export default withCustody({ testMatch: ['**/*.check.cjs'], transform: {}, testTimeout: 30_000, rootDir: process.cwd() }, options)`,
      }),
    }
    const suite = shareSuite('jest', () => ({
      args: ['--config', 'object.config.cjs'],
      extras: configurations,
      files: { green: `test('starts', () => custody.start({ name: 'api', command: ['sleep', '300'] }))` },
    }))

    test.each(Object.keys(configurations))('in %s keeps custody', async (name) => {
      const { exitCode, output } = await runInProject('jest', suite(), ['--config', name])
      expect(exitCode, output).toBe(0)
      expect(output).toContain('custody  1 runtime, 1 owned, 1 retired, 1 exit observed')
    })
  })

  describe('with files that leave what was started before their tests', () => {
    const spawning = (name: string) => `
      const child = require('node:child_process').spawn('sleep', ['303'], { stdio: 'ignore', detached: true })
      child.unref()
      require('node:fs').appendFileSync('notes.jsonl', JSON.stringify(['${name}', child.pid]) + '\\n')`
    const environment = (name: string) => `
      const { createRequire } = require('node:module')
      const link = (from, name) => createRequire(from.resolve(name + '/package.json'))
      const jest = ['jest', '@jest/core', 'jest-config'].reduce(link, require)
      const { TestEnvironment } = jest('jest-environment-node')
      const fail = () => {
        ${spawning(name)}
        throw new Error('${name} fails')
      }
      module.exports = class extends TestEnvironment {
        constructor(...args) { super(...args); if ('${name}' === 'construction') fail() }
        async setup() { await super.setup(); if ('${name}' === 'setup') fail() }
      }`
    /** Where each starts its process, with the project that has it, and whether its file comes to run. */
    const places: Readonly<Record<string, readonly [string, 'runs' | 'fails']>> = {
      construction: [`testEnvironment: '<rootDir>/construction.cjs'`, 'fails'],
      setup: [`testEnvironment: '<rootDir>/setup.cjs'`, 'fails'],
      'broken-setupFiles': [`setupFiles: ['<rootDir>/broken-setupFiles.cjs']`, 'fails'],
      'broken-setupFilesAfterEnv': [`setupFilesAfterEnv: ['<rootDir>/broken-setupFilesAfterEnv.cjs']`, 'fails'],
      setupFiles: [`setupFiles: ['<rootDir>/setupFiles.cjs']`, 'runs'],
      setupFilesAfterEnv: [`setupFilesAfterEnv: ['<rootDir>/setupFilesAfterEnv.cjs']`, 'runs'],
    }
    const those = (which: 'runs' | 'fails') => Object.keys(places).filter((name) => places[name]?.[1] === which)
    const project = (name: string, own: string) =>
      `{ ${own}, transform: {}, rootDir: import.meta.dirname, displayName: '${name}', testMatch: ['**/${name}.check.cjs'] }`
    const suite = shareSuite('jest', () => ({
      // In one process, and the innocent after each: Jest begins with the longest.
      args: ['-i'],
      config: `
        import { withCustody } from '@custody/jest/config'
        const projects = [
          ${Object.entries(places).map(([name, [own]]) => project(name, own))},
          ${Object.keys(places).map((name) => project(`after-${name}`, 'automock: false'))}
        ]
        export default withCustody({ testTimeout: 30_000, projects }, ${report})`,
      extras: {
        'construction.cjs': environment('construction'),
        'setup.cjs': environment('setup'),
        ...Object.fromEntries(['setupFiles', 'setupFilesAfterEnv'].map((name) => [`${name}.cjs`, spawning(name)])),
        ...Object.fromEntries(
          ['broken-setupFiles', 'broken-setupFilesAfterEnv'].map((name) => [
            `${name}.cjs`,
            `${spawning(name)}\nthrow new Error('${name} fails')`,
          ]),
        ),
      },
      files: Object.fromEntries(
        Object.keys(places).flatMap((name, at) => [
          [name, `// ${'-'.repeat(4_000 - at * 200)}\ntest('${name} runs', () => {})`],
          [
            `after-${name}`,
            `// ${'-'.repeat(3_900 - at * 200)}\ntest('after ${name}', async () => { await custody.exec('true') })`,
          ],
        ]),
      ),
    }))
    const failuresOf = (name: string) =>
      suite()
        .output.split(`FAIL ${name} `)[1]
        ?.split(/^(?:FAIL|PASS) /m)[0] ?? ''

    test.each(those('fails'))('a file whose %s fails is red by itself, and what it has left is ended with the run', (name) => {
      const { exitCode, notes, output } = suite()
      expect(exitCode, output).toBe(1)
      expect(failuresOf(name), output).toContain(`${name} fails`)
      expect(output).toMatch(new RegExp(`^custody .*pid ${notes[name]}\\b`, 'm'))
      expect(hasProgram(notes[name])).toBe(false)
    })

    test.each(those('runs'))('a file is red for what its %s have left', (name) => {
      const { notes, output } = suite()
      expect(suite().test(`${name} runs`).status, output).toBe('passed')
      expect(failuresOf(name), output).toContain('Custody › leaves no process behind')
      expect(failuresOf(name)).toContain('A process that this file started is still alive.')
      expect(failuresOf(name)).toContain(`pid ${notes[name]}  sleep 303`)
      expect(failuresOf(name)).toMatch(new RegExp(`at \\S+ \\(${name}\\.cjs:2:`))
      expect(hasProgram(notes[name])).toBe(false)
    })

    test.each(Object.keys(places))('the file after it is green: %s', (name) => {
      expect(suite().test(`after ${name}`).status, suite().output).toBe('passed')
      expect(suite().output).toContain(`PASS after-${name} `)
      expect(suite().output).not.toContain(`started by after-${name}`)
    })
  })
})
