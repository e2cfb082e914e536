import { describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { runners, shareSuite } from './run-suite.js'

const pools = ['forks', 'threads', 'vmForks', 'vmThreads'] as const
const combinations = pools.flatMap((pool) => [true, false].map((isolate) => [pool, isolate] as const))

// B93
describe.runIf(runners.includes('vitest')).each(combinations)('in the pool %s, with isolation: %s', (pool, isolate) => {
  const start = `custody.start({ name: 'api', command: ['node', '-e', 'setInterval(() => {}, 1e3)'] })`
  const suite = shareSuite('vitest', () => ({
    args: [`--pool=${pool}`, isolate ? '--isolate' : '--no-isolate', '--maxWorkers=1'],
    files: {
      first: `
        const leaving = (name, seconds) => { note(name, spawn('sleep', [seconds], { stdio: 'ignore' }).pid) }
        beforeAll(async () => { note('db', (await ${start}).pid) })
        test('leaves one', async () => { await null; leaving('first', '300') })
        test('starts one', async () => { note('api', (await ${start}).pid) })
        let tries = 0
        retried('is tried again', () => { if (tries++ === 0) { leaving('retried', '301'); throw new Error('on purpose') } })
        test('skips itself', (context) => { leaving('skipped', '302'); context.skip() })
        test('is green', () => {})`,
      second: `
        test('is another file', () => {})
        test.concurrent('runs beside another', () => new Promise((resolve) => setTimeout(resolve, 50)))
        test.concurrent('leaves one beside it', async () => { note('second', spawn('sleep', ['303'], { stdio: 'ignore' }).pid) })`,
    },
  }))

  test('each test is red for its own, and no other is', () => {
    const statuses = Object.fromEntries(suite().tests.map(({ status, title }) => [title, status]))
    expect(statuses, suite().output).toEqual({
      ...{ 'leaves one': 'failed', 'starts one': 'passed', 'is tried again': 'passed', 'is green': 'passed' },
      ...{ 'is another file': 'passed', 'runs beside another': 'passed', 'leaves one beside it': 'failed' },
      'skips itself': expect.stringMatching(/skipped|pending/),
    })
  })

  test('a test that has skipped itself has its file say it', () => {
    expect(suite().exitCode).toBe(1)
    expect(suite().output).toMatch(/pid \d+ {2}sleep 302/)
  })

  test('each is counted once, and nothing of it outlives the run', () => {
    const { notes, summary } = suite()
    expect([summary.leaked, summary.started, summary.exitsObserved], suite().output).toEqual([4, 2, 2])
    const names = ['db', 'first', 'api', 'retried', 'skipped', 'second']
    expect(names.filter((name) => notes[name] === undefined || hasProgram(notes[name]))).toEqual([])
  })
})
