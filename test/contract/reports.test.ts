import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeRunners, shareSuite } from './run-suite.js'

const leaking = `
  beforeAll(() => { spawn('sleep', ['302'], { stdio: 'ignore' }) })
  describe('of a kind', () => {
    test('leaks', () => { spawn('sleep', ['301'], { stdio: 'ignore' }) })
    test('starts', async () => { await custody.start({ name: 'api', command: ['sleep', '300'] }) })
  })`

describeRunners('a JUnit report', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { report: { junit: 'reports/custody.xml' } },
    files: { leaking, green: `test('is green', () => {})` },
  }))
  const report = () => readFileSync(join(suite().directory, 'reports/custody.xml'), 'utf8')
  const cases = () => [...report().matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(\/?)>/g)]

  test('has a test case for the run, and one for each test and file that a leak has made red', () => {
    const [, file] = /^(.*):/.exec(suite().placeOf(`'301'`)) ?? []
    const separator = runner === 'jest' ? '›' : '>'
    expect(
      cases().map(([, classname, name, empty]) => [classname, name, empty === '/' ? 'green' : 'red']),
      suite().output,
    ).toEqual([
      ['Custody', 'the run leaves no process behind', 'green'],
      [file, 'leaves no process behind', 'red'],
      [file, `of a kind ${separator} leaks`.replace('>', '&gt;'), 'red'],
    ])
  })

  test('says what is alive and where it was started', () => {
    const [, failure] = /name="of a kind[^>]*>\s*<failure ([\s\S]*?)<\/failure>/.exec(report()) ?? []
    expect(failure, report()).toContain('message="A process that this test started is still alive." type="CUSTODY_LEAK"')
    expect(failure).toContain('sleep 301')
    expect(failure).toContain(suite().placeOf(`'301'`))
  })

  test('has a property for each runtime', () => {
    const [, value] = /<property name="custody" value="([^"]*)"\/>/.exec(report()) ?? []
    expect(value).toMatch(/^&quot;api&quot; \(pid \d+\): owned, ended by SIGTERM$/)
  })
})

describeRunners('a run that nothing was started in', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { report: { junit: 'custody.xml' } },
    files: { green: `test('is green', () => {})` },
  }))

  test('has a JUnit report that is green', () => {
    const report = readFileSync(join(suite().directory, 'custody.xml'), 'utf8')
    expect(report).toContain('<testsuites name="Custody" tests="1" failures="0"')
  })
})

describeRunners('a test that leaves something at first, and passes when it is tried again,', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { leakScope: 'test', report: { junit: 'custody.xml' }, timeouts: { exitMs: 100 } },
    files: {
      retried: `
        let attempts = 0
        retried('leaks once', () => {
          if (attempts++ > 0) return
          spawn('sleep', ['303'], { stdio: 'ignore' })
          throw new Error('on purpose')
        })`,
    },
  }))

  test('is green in the report too', () => {
    expect(suite().exitCode, suite().output).toBe(0)
    const report = readFileSync(join(suite().directory, 'custody.xml'), 'utf8')
    expect(report).toContain('<testsuites name="Custody" tests="1" failures="0"')
  })
})
