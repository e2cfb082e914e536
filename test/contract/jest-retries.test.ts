import { describe, expect, test } from 'vitest'
import { aliveOf } from './alive.js'
import { majorOf, runners, type SuiteResult, shareSuite } from './run-suite.js'
import { leaving, outcomesOf, warningsOf } from './told-leaks.js'

const isModern = runners.includes('jest') && majorOf('jest') >= 30
/** Jest 29 knows `logErrorsBeforeRetry` alone, and takes no notice of the others. */
const kinds: Readonly<Record<string, string>> = {
  plain: '{}',
  logged: '{ logErrorsBeforeRetry: true }',
  waiting: '{ waitBeforeRetry: 20 }',
  immediate: '{ retryImmediately: true }',
}

/** For the inside of a test file: which attempt of a test this is. */
const attempts = `
  const counts = {}
  const attempt = (title) => {
    counts[title] = (counts[title] ?? 0) + 1
    note(title + ' ' + counts[title], custody.namespace.id)
    return counts[title]
  }`

const leakingAtFirst = (from: number) => `
  ${leaving}${attempts}
  let first
  test('leaks at first', () => { if (attempt('leaks at first') === 1) first = leaves(${from}); else note('first is alive', isAlive(first.pid)) })
  test('leaks each time', () => { leaves(${from} + attempt('leaks each time')) })
  test('fails at first and leaks then', () => { if (attempt('fails at first and leaks then') === 1) throw new Error('on purpose'); leaves(${from} + 4) })
  test('leaks at first and fails then', () => {
    if (attempt('leaks at first and fails then') === 1) leaves(${from} + 5)
    else throw new Error('fails then')
  })
  test('is green at once', () => { attempt('is green at once') })`

/** The namespaces of the attempts of a test. */
function namespacesOf({ notes }: SuiteResult, title: string): unknown[] {
  return [1, 2, 3, 4, 5].flatMap((at) => notes[`${title} ${at}`] ?? [])
}

describe.runIf(runners.includes('jest')).concurrent.each(Object.entries(kinds))(
  "with leakScope: 'test', an attempt of Jest's retryTimes (%s)",
  (kind, retrying) => {
    const suite = shareSuite('jest', () => ({
      options: { leakScope: 'test', timeouts: { exitMs: 100 } },
      files: { [kind]: `jest.retryTimes(2, ${retrying})\n${leakingAtFirst(501)}` },
    }))

    test('fails by a leak, which is gone before the next, and the retry that leaks nothing is green', () => {
      expect(suite().test('leaks at first').status, suite().output).toBe('passed')
      expect(suite().notes['first is alive']).toBe(false)
    })

    test('is red where the last one leaks, by that leak alone', () => {
      const outcomes = Object.fromEntries(outcomesOf(suite()).map(([title, ...rest]) => [title, rest]))
      expect(outcomes, suite().output).toEqual({
        'leaks at first': ['passed'],
        'leaks each time': ['failed', 504],
        'fails at first and leaks then': ['failed', 505],
        'leaks at first and fails then': ['failed'],
        'is green at once': ['passed'],
      })
    })

    test('has a namespace of its own', () => {
      const counts = ['leaks at first', 'leaks each time', 'fails at first and leaks then', 'leaks at first and fails then']
      for (const title of counts)
        expect(new Set(namespacesOf(suite(), title)).size, title).toBe(title === 'leaks at first' ? 2 : 3)
      expect(namespacesOf(suite(), 'is green at once')).toHaveLength(1)
    })

    test('is told where Jest logs the errors of attempts, and nothing is left', () => {
      const { notes, output } = suite()
      expect(output.includes('LOGGING RETRY ERRORS'), output).toBe(kind === 'logged')
      if (kind === 'logged') expect(output).toMatch(new RegExp(`RETRY 1[\\s\\S]*pid ${notes['501']} {2}sleep 501`))
      expect(aliveOf(suite())).toEqual([])
    })
  },
)

// G06
describe.runIf(runners.includes('jest'))("an attempt of Jest's retryTimes whose file judges", () => {
  const suite = shareSuite('jest', () => ({
    options: { timeouts: { exitMs: 100 } },
    files: {
      file: `
        jest.retryTimes(2)
        ${leaving}${attempts}
        test('fails and leaks at first', () => { if (attempt('fails and leaks at first') === 1) { leaves(511); throw new Error('on purpose') } })
        test('fails at first and leaks then', () => { if (attempt('fails at first and leaks then') === 1) throw new Error('on purpose'); leaves(512) })
        test('passes and leaks', () => { attempt('passes and leaks'); leaves(513) })
        test('fails each time and leaks', () => { leaves(513 + attempt('fails each time and leaks')); throw new Error('on purpose') })
        describe('whose beforeEach fails at first', () => {
          beforeEach(() => { leaves(517); if (attempt('beforeEach') === 1) throw new Error('on purpose') })
          test('has a beforeEach that leaks', () => {})
        })`,
    },
  }))

  test('is green where a failed one leaks, and red where the one that passes does', () => {
    expect(outcomesOf(suite()), suite().output).toEqual([
      ['fails and leaks at first', 'passed'],
      ['fails at first and leaks then', 'failed', 512],
      ['passes and leaks', 'failed', 513],
      ['fails each time and leaks', 'failed'],
      ['has a beforeEach that leaks', 'failed', 517],
    ])
    expect(namespacesOf(suite(), 'passes and leaks')).toHaveLength(1)
  })

  test('has a line at the end for what a failed one has left, and nothing is left', () => {
    expect(warningsOf(suite()), suite().output).toEqual([
      'fails and leaks at first: 511',
      ...[514, 515, 516].map((seconds) => `fails each time and leaks: ${seconds}`),
      'has a beforeEach that leaks: 517',
    ])
    expect(aliveOf(suite())).toEqual([])
  })
})

// Jest 29 has no retries of a whole block.
describe.runIf(isModern)('a block of Jest that is retried as a whole', () => {
  const suite = shareSuite('jest', () => ({
    options: { leakScope: 'test', timeouts: { exitMs: 100 } },
    files: {
      block: `
        ${leaving}${attempts}
        describe('block', () => {
          jest.retryTimes(1, { entireDescribe: true })
          let child
          beforeAll(() => { child = leaves(521) })
          afterAll(() => ends(child))
          test('leaks at first', () => { if (attempt('leaks at first') === 1) leaves(522) })
          test('is green both times', () => { attempt('is green both times') })
        })
        describe('another', () => {
          jest.retryTimes(1, { entireDescribe: true })
          test('leaks both times', () => { leaves(522 + attempt('leaks both times')) })
        })`,
    },
  }))

  test('has a namespace for each attempt of each test, and is red by the leak of the last one alone', () => {
    expect(outcomesOf(suite()), suite().output).toEqual([
      ['leaks at first', 'passed'],
      ['is green both times', 'passed'],
      ['leaks both times', 'failed', 524],
    ])
    for (const title of ['leaks at first', 'is green both times', 'leaks both times']) {
      expect(new Set(namespacesOf(suite(), title)).size, title).toBe(2)
    }
    expect(aliveOf(suite())).toEqual([])
  })
})
