import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { describe, expect, test } from 'vitest'
import { allGone, ONE_RED } from './leaks-and-starts.js'
import { noteProcess, until } from './noted.js'
import { runners, shareSuite, statusesOf } from './run-suite.js'

const program = fileURLToPath(new URL('../programs/stopping-a-debuggee.js', import.meta.url))

/** All limits are shorter than that, in milliseconds. */
const STAND_MS = 4_500
const limits = { proofMs: 2_000, readyMs: 2_000, graceMs: 2_000, exitMs: 100, teardownMs: 4_200 }

const WARNING = 'a debugger is attached: readyMs, graceMs and teardownMs do not hold.'

/** A file that is stopped by a debugger, while a runtime is not ready and while another is asked who it is. */
const debugged = `
  import inspector from 'node:inspector'
  ${noteProcess}
  const appears = async (isThere) => { while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 20)) }
  test('leaks', () => { noteProcess(spawn('sleep', ['300'], { stdio: 'ignore' }).pid) })
  test('starts one', async () => {
    fs.writeFileSync('url', inspector.url())
    const script = 'until [ -e resumed-1 ]; do touch up; sleep 0.02; done; touch ready; exec sleep 301'
    const started = custody.start({ name: 'slow', command: ['sh', '-c', script], ready: { file: 'ready' } })
    await appears(() => fs.existsSync('up') && fs.existsSync('attached-1'))
    debugger
    noteProcess((await started).pid)
  })
  let socket
  test.concurrent('leaves one that answers while nothing runs here', async () => {
    const locator = path.join(custody.namespace.dir, 'own.json')
    const pid = await leave('obeying', locator)
    noteProcess(pid)
    process.kill(pid, 'SIGSTOP')
    fs.writeFileSync('stopped', String(pid))
    socket = JSON.parse(fs.readFileSync(locator, 'utf8')).endpoint.replace('unix:', '')
  })
  test.concurrent('is at a breakpoint meanwhile', async () => {
    // A connection that waits to be accepted stands there beside its listener.
    await appears(() => socket !== undefined && fs.readFileSync('/proc/net/unix', 'utf8').split(socket).length > 2)
    debugger
  })`

describe.runIf(runners.includes('vitest')).concurrent('a debugger', () => {
  describe.concurrent('that is attached to a worker', () => {
    const suite = shareSuite('vitest', () => ({
      config: `
        import { version } from 'vitest/node'
        import { custodyPlugin } from '@custody/vitest/plugin'
        const execArgv = ['--inspect=0']
        export default {
          plugins: [custodyPlugin({ report: { json: 'custody.json' }, timeouts: ${JSON.stringify(limits)} })],
          test: { include: ['*.check.mjs'], testTimeout: 30_000, ...(version.startsWith('3') ? { poolOptions: { forks: { execArgv } } } : { execArgv }) },
        }`,
      files: { debugged },
      during: async (running) => {
        const { directory } = running
        const path = (name: string) => join(directory, name)
        let url = ''
        await until(running, () => {
          url = existsSync(path('url')) ? readFileSync(path('url'), 'utf8') : ''
          return url !== ''
        })
        const seen = { attached: 0, paused: 0, resumed: 0 }
        for await (const line of execa(process.execPath, ['--experimental-websocket', program, url, String(STAND_MS)])) {
          const name = line as keyof typeof seen
          writeFileSync(path(`${name}-${++seen[name]}`), '')
          if (name === 'paused' && existsSync(path('stopped')))
            process.kill(Number(readFileSync(path('stopped'), 'utf8')), 'SIGCONT')
        }
      },
    }))

    test('has nothing expire while it stands at a breakpoint', () => {
      const { output, receiptsOf } = suite()
      expect(statusesOf(suite()), output).toEqual({
        ...ONE_RED,
        'leaves one that answers while nothing runs here': 'passed',
        'is at a breakpoint meanwhile': 'passed',
      })
      expect(receiptsOf('obeying'), output).toMatchObject([{ verdict: 'owned', forced: false, left: [] }])
    })

    test('is named with the limits that do not hold', () => {
      expect(suite().output).toContain(`custody  warning: ${WARNING}`)
    })

    test('leaves nothing', () => allGone(suite(), 3))
  })

  describe.concurrent('that is attached to the runner, of which the workers are threads', () => {
    const suite = shareSuite('vitest', () => ({
      env: { NODE_OPTIONS: '--inspect=0' },
      args: ['--pool=threads'],
      options: { timeouts: limits },
      files: {
        thread: `
          test('starts one', () => {
            const script = 'sleep 3; touch ready; exec sleep 301'
            return custody.start({ name: 'slow', command: ['sh', '-c', script], ready: { file: 'ready' } })
          })`,
      },
    }))

    test('is known to them', () => {
      expect(suite().test('starts one').status, suite().output).toBe('passed')
      expect(suite().output).toContain(`custody  warning: ${WARNING}`)
    })
  })
})
