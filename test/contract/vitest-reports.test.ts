import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runners, shareSuite } from './run-suite.js'

const api = `custody.start({ name: 'api', command: ['node', '-e', 'setInterval(() => {}, 1e3)'] })`

describe.runIf(runners.includes('vitest'))('what reporters of Vitest are given', () => {
  const suite = shareSuite('vitest', () => ({
    args: ['--reporter=junit', '--outputFile.junit=junit.xml'],
    files: {
      reported: `
        beforeAll(() => custody.start({ name: 'db', command: ['node', '-e', 'setInterval(() => {}, 1e3)'] }))
        test('starts one', () => ${api})
        test('starts none', () => {})`,
    },
  }))
  const json = () =>
    JSON.parse(readFileSync(join(suite().directory, 'results.json'), 'utf8')) as {
      testResults: { assertionResults: { title: string; meta: { custody?: { receipts: object[] } } }[] }[]
    }

  test('a test has its receipts in its meta, and one that started nothing has none', () => {
    const results = json().testResults.flatMap(({ assertionResults }) => assertionResults)
    const metaOf = (title: string) => results.find((result) => result.title === title)?.meta
    expect(metaOf('starts one'), suite().output).toMatchObject({
      custody: { receipts: [{ version: 1, name: 'api', verdict: 'owned', forced: false, left: [] }] },
    })
    expect(metaOf('starts none')).toEqual({})
  })

  test('JUnit has them as properties of the test', () => {
    const xml = readFileSync(join(suite().directory, 'junit.xml'), 'utf8')
    expect(xml).toMatch(/<property name="custody" value="&quot;api&quot; \(pid \d+\): owned, /)
    expect(xml.match(/<property /g)).toHaveLength(1)
  })

  test('nothing is printed of it', () => expect(suite().output).not.toContain('"api" (pid'))
})

describe.runIf(runners.includes('vitest'))('a project that runs without Custody', () => {
  const suiteWith = (options: string) =>
    shareSuite('vitest', () => ({
      config: `
        import { custodyPlugin } from '@custody/vitest/plugin'
        const project = (name) => ({ test: { name, include: [name + '.check.mjs'] } })
        export default { plugins: [custodyPlugin(${options})], test: { projects: [project('kept'), project('lost')], globalSetup: ['./takes-the-runner.mjs'] } }`,
      extras: {
        'takes-the-runner.mjs': `export default ({ vitest }) => { vitest.projects.find(({ name }) => name === 'lost').config.runner = undefined }`,
      },
      files: { kept: `test('is under it', () => {})`, lost: `test('is not', () => {})` },
    }))
  const [warned, failed] = [suiteWith('{}'), suiteWith(`{ unmanaged: 'fail' }`)]

  test('is named at the end of the run, and only that one', () => {
    expect(warned().exitCode, warned().output).toBe(0)
    expect(warned().output).toContain('warning: Could not keep custody of the project "lost": it has run without it.')
    expect(warned().output).not.toContain('project "kept"')
  })

  test('makes it red where that is wanted', () => expect(failed().exitCode, failed().output).toBe(1))
})
