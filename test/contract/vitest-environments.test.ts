import { describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { runners, shareSuite, statusesOf } from './run-suite.js'

const combinations = ['jsdom', 'happy-dom'].flatMap((environment) =>
  ['forks', 'vmThreads'].map((pool) => [environment, pool] as const),
)

// These put classes of their own in the place of Node's: events, signals that abort, addresses.
describe.runIf(runners.includes('vitest')).concurrent.each(combinations)(
  'in the environment %s and the pool %s',
  (environment, pool) => {
    const suite = shareSuite('vitest', () => ({
      args: [`--environment=${environment}`, `--pool=${pool}`],
      options: { timeouts: { exitMs: 100 } },
      files: {
        page: `
        const server = ['node', path.join(programs, 'servers/answering-http.js')]
        test('leaks', () => {
          document.body.textContent = 'a'
          note('left', spawn('sleep', ['300'], { stdio: 'ignore' }).pid)
        })
        test('starts one', async () => {
          const api = await custody.start({ name: 'api', command: server, ports: ['http'], ready: [{ http: '/' }, { port: 'http' }] })
          expect(document.body.textContent + typeof api.pid).toBe('anumber')
          note('api', api.pid)
        })
        test('waits for what one says', async () => {
          const script = 'echo up; exec sleep 301'
          const api = await custody.start({ name: 'saying', command: ['sh', '-c', script], ready: { log: 'up' } })
          expect((await api.log.waitFor('up', { timeoutMs: 10_000 })).toString()).toContain('up')
          note('saying', api.pid)
        })
        test('runs a command', async () => {
          const { stdout } = await custody.exec('sh', ['-c', 'echo done'], { timeout: 10_000 })
          expect(stdout).toBe('done\\n')
        })
        test('publishes one', async () => { note('published', await leave('obeying')) })
        // The timers of a window end with it.
        test('closes its window', () => { window.close() })`,
      },
    }))

    test('tests are judged as anywhere', () => {
      expect(statusesOf(suite()), suite().output).toEqual({
        ...{ leaks: 'failed', 'starts one': 'passed', 'waits for what one says': 'passed' },
        ...{ 'runs a command': 'passed', 'publishes one': 'passed', 'closes its window': 'passed' },
      })
      expect(suite().test('leaks').messages).toContain('still alive')
    })

    test('nothing outlives the run', () => {
      const { notes, summary } = suite()
      const names = ['left', 'api', 'saying', 'published']
      expect(names.filter((name) => notes[name] === undefined || hasProgram(notes[name]))).toEqual([])
      expect([summary.leaked, summary.runtimes, summary.exitsObserved], suite().output).toEqual([1, 3, 3])
    })
  },
)
