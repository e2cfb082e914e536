import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { majorOf, pathOfTool, runners, type Suite, type SuiteResult, shareSuite } from './run-suite.js'

const common = `testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname`

/** The configuration of a suite that is wrapped. */
const wrapped = (config: string, options = '{}') => `
  import { withCustody } from '@custody/jest/config'
  export default withCustody({ ${common}, ${config} }, ${options})`

interface Json {
  readonly custody?: { version: number; summary: Record<string, unknown>; events: { type: string; file?: string | null }[] }
  readonly testResults: {
    assertionResults: { title: string; custody?: { receipts: { name: string; verdict: string }[] } }[]
  }[]
}

function jsonOf({ directory }: SuiteResult): Json {
  return JSON.parse(readFileSync(join(directory, 'results.json'), 'utf8')) as Json
}

const setup = `module.exports = () => { require('node:child_process').spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref() }`

describe.runIf(runners.includes('jest'))('what Jest writes with --json', () => {
  const suite = shareSuite('jest', () => ({
    config: wrapped(`globalSetup: './leaves-one.cjs'`),
    extras: { 'leaves-one.cjs': setup },
    args: ['-w', '2'],
    files: {
      starting: `
        const api = () => custody.start({ name: 'api', command: ['sleep', '300'] })
        beforeAll(() => custody.start({ name: 'db', command: ['sleep', '300'] }))
        test('starts one', api)
        test('starts none', () => {})
        let [attempts, others] = [0, 0]
        retried('starts one in each attempt', async () => { await api(); expect(++attempts).toBe(2) })
        test.concurrent('starts one beside another', api)
        test.each(['a', 'a'])('has the name of another', async (_) => { if (++others === 1) await api() })`,
      green: `test('is green', () => {})`,
    },
  }))
  const results = () => jsonOf(suite()).testResults.flatMap(({ assertionResults }) => assertionResults)
  const namesOf = (title: string) =>
    results().flatMap((result) => (result.title === title ? [result.custody?.receipts.map(({ name }) => name) ?? []] : []))

  test('has the receipts of a test in its result, of all its attempts, and none where nothing was started', () => {
    expect(namesOf('starts one'), suite().output).toEqual([['api']])
    expect(namesOf('starts one in each attempt')).toEqual([['api', 'api']])
    expect(namesOf('starts one beside another')).toEqual([['api']])
    expect(namesOf('has the name of another')).toEqual([['api'], []])
    expect(results().filter((result) => 'custody' in result)).toHaveLength(4)
  })

  test('has the whole report of the run, also what files and the global setup have left', () => {
    const { events = [], summary, version } = jsonOf(suite()).custody ?? {}
    expect(version, suite().output).toBe(1)
    expect(summary).toMatchObject({ runtimes: 6, owned: 6, retired: 6, leaked: 1 })
    expect(events.filter(({ type }) => type === 'receipt')).toHaveLength(6)
    expect(events.filter(({ type }) => type === 'failure')).toMatchObject([{ file: null, code: 'CUSTODY_LEAK' }])
  })
})

describe.runIf(runners.includes('jest'))('what Jest writes with --json of a run that nothing was started in', () => {
  const suite = shareSuite('jest', () => ({ files: { green: `test('is green', () => {})` } }))

  test('is as it would be without Custody', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    expect(JSON.stringify(jsonOf(suite()))).not.toContain('custody"')
  })
})

describe.runIf(runners.includes('jest'))('beside jest-junit', () => {
  const suite = shareSuite('jest', () => ({
    config: wrapped(
      `globalSetup: './leaves-one.cjs', reporters: ['default', [${JSON.stringify(pathOfTool('jest-junit'))}, { outputFile: 'junit.xml' }]]`,
      `{ report: { junit: 'custody.xml' } }`,
    ),
    extras: { 'leaves-one.cjs': setup },
    files: {
      leaking: `
        beforeAll(() => { spawn('sleep', ['302'], { stdio: 'ignore' }) })
        test('leaks', () => { spawn('sleep', ['301'], { stdio: 'ignore' }) })`,
    },
  }))
  const read = (name: string) => readFileSync(join(suite().directory, name), 'utf8')
  /** The red test cases of a report, by name. */
  const redOf = (report: string) =>
    [...report.matchAll(/<testcase [^>]*name="([^"]*)"[^>]*[^/]>\s*<failure/g)].map(([, name]) => name)

  test('both have what belongs to a test or a file, and ours has the rest of the run', () => {
    expect(redOf(read('junit.xml')), suite().output).toEqual(
      ['leaks', 'Custody leaves no process behind'].map((name) => expect.stringContaining(name)),
    )
    expect(redOf(read('custody.xml')).sort()).toEqual(['leaks', 'leaves no process behind', 'the run leaves no process behind'])
  })

  test('both have a root of the same kind, and suites of other names, so that they can be put into one', () => {
    const [theirs, ours] = ['junit.xml', 'custody.xml'].map((name) => read(name).match(/<testsuites? name="[^"]*"/g) ?? [])
    expect(theirs?.[0]).toMatch(/^<testsuites /)
    expect(ours).toEqual(['<testsuites name="Custody"', '<testsuite name="Custody"'])
    expect(theirs).not.toContain('<testsuite name="Custody"')
  })
})

/** A reporter that notes that it was there. */
const ownReporter = `
  const { appendFileSync } = require('node:fs')
  module.exports = class { onRunComplete() { appendFileSync('notes.jsonl', '["own reporter",true]\\n') } }`

describe.runIf(runners.includes('jest'))('the reporters of a configuration', () => {
  const leaving = { files: { leaving: `test('leaves a daemon', async () => { await leave('obeying') })` } }
  const suiteWith = (reporters: string, more: Partial<Suite> = {}) =>
    shareSuite('jest', () => ({ ...leaving, ...more, config: wrapped(reporters), extras: { 'own-reporter.cjs': ownReporter } }))
  const [own, none, forAgent] = [
    suiteWith(`reporters: ['default', '<rootDir>/own-reporter.cjs']`),
    suiteWith('reporters: []'),
    suiteWith('', { env: { AI_AGENT: 'any' } }),
  ]

  test('stay, and ours comes after them', () => {
    expect(own().notes['own reporter'], own().output).toBe(true)
    expect(own().output).toContain('Tests:       1 passed, 1 total')
    expect(jsonOf(own()).custody?.summary).toMatchObject({ runtimes: 1, retired: 1 })
  })

  test('stay away where there are none', () => {
    expect(none().output).not.toContain('Tests:')
    expect(none().output).toContain('custody  1 runtime, 1 owned, 1 retired')
  })

  test("are Jest's own for an agent where none is named, if it has one", () => {
    expect(forAgent().output.includes('PASS'), forAgent().output).toBe(majorOf('jest') < 30)
    expect(forAgent().output).toContain('custody  1 runtime, 1 owned, 1 retired')
  })
})

describe.runIf(runners.includes('jest'))('a project that runs without Custody', () => {
  const projects = (unmanaged: string) => `
    import { withCustody } from '@custody/jest/config'
    const project = (name, more) => ({ ${common}, displayName: name, testMatch: ['**/' + name + '.check.cjs'], ...more })
    const { projects, ...config } = withCustody({
      rootDir: import.meta.dirname,
      projects: [project('kept'), project('lost'), project('kept-by-environment', { testEnvironment: './extends-ours.mjs' })],
    }, ${unmanaged})
    for (const project of projects.slice(1)) delete project.testRunner
    export default { ...config, projects }`
  const suiteWith = (unmanaged: string) =>
    shareSuite('jest', () => ({
      config: projects(unmanaged),
      extras: {
        'extends-ours.mjs': `import Environment from '@custody/jest/environment'\nexport default class extends Environment {}`,
      },
      args: ['-w', '2'],
      files: Object.fromEntries(['kept', 'lost', 'kept-by-environment'].map((name) => [name, `test('${name}', () => {})`])),
    }))
  const [warned, failed] = [suiteWith('{}'), suiteWith(`{ unmanaged: 'fail' }`)]

  test('is named at the end of the run, and only that one', () => {
    expect(warned().exitCode, warned().output).toBe(0)
    expect(warned().output).toContain('warning: Could not keep custody of the project "lost": it has run without it.')
    expect(warned().output).not.toContain('project "kept')
  })

  test("makes the run red with unmanaged: 'fail'", () => {
    expect(failed().exitCode, failed().output).toBe(1)
    expect(failed().output).toContain('Could not keep custody of the project "lost"')
    expect(failed().output).not.toContain('project "kept')
  })
})

describe.runIf(runners.includes('jest'))("a global setup that takes the place of the preset's", () => {
  const suiteWith = (more: string) =>
    shareSuite('jest', () => ({
      config: `export default { ${common}, preset: '@custody/jest', globalSetup: './own-setup.cjs'${more} }`,
      extras: { 'own-setup.cjs': 'module.exports = () => {}' },
      files: { green: `test('is green', () => {})` },
    }))
  const [alone, withRunner] = [suiteWith(''), suiteWith(`, testRunner: 'jest-circus/runner'`)]

  test('makes each file red, as nothing is under custody then', () => {
    expect(alone().exitCode, alone().output).toBe(1)
    expect(alone().output).toContain('its runner is set, and its global setup is not')
    expect(alone().output).toContain('wrap the configuration with withCustody')
  })

  test('is told where a runner has taken the place of ours too', () => {
    expect(withRunner().exitCode, withRunner().output).toBe(0)
    expect(withRunner().output).toContain('custody  warning: nothing was under custody')
  })
})
