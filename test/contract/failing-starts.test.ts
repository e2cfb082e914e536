import type { Receipt } from '@custody/core'
import { expect, test } from 'vitest'
import { describeRunners, shareSuite } from './run-suite.js'

describeRunners('a start that fails', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      failing: `
        const port = { ports: ['http'], ready: { port: 'http' } }
        const sh = (line) => ['sh', '-c', line]
        test('echoes', async () => { await custody.start({ name: 'echoes', command: ['echo', 'hello'], ...port }) })
        test('leaves well', async () => { await custody.start({ name: 'leaves', command: sh('echo tired; sleep 0.2'), ...port }) })
        test('leaves badly', async () => { await custody.start({ name: 'fails', command: sh('echo broken; exit 1'), ...port }) })
        describe('in beforeAll', () => {
          beforeAll(async () => { await custody.start({ name: 'hook', command: sh('echo broken; exit 1'), ...port }) })
          test('needs what beforeAll starts', () => {})
        })
        const tellsWhy = 'echo starting; echo no disk >&2'
        const apart = { ready: { log: 'up', stream: 'stdout' }, readyMs: 500 }
        test('tells why and exits', async () => { await custody.start({ name: 'exits', command: sh(tellsWhy + '; exit 1'), ...apart }) })
        test('tells why and hangs', async () => { await custody.start({ name: 'hangs', command: sh(tellsWhy + '; exec sleep 100'), ...apart }) })
        test('has a child', async () => {
          const command = sh('echo $$ > first; sleep 100 & echo $! > child; wait')
          const starting = custody.start({ name: 'family', command, ready: { log: 'up' }, readyMs: 500 })
          const states = () => ['first', 'child'].map((file) => isAlive(fs.readFileSync(file, 'utf8').trim()))
          note('family', await starting.catch(({ code }) => [code, ...states()]))
        })`,
      hostile: `
        const text = 'a'.repeat(60) + 'b'
        test('has a pattern without end', async () => {
          const program = 'console.log(process.argv[1]); setInterval(() => {}, 1e3)'
          await custody.start({ name: 'hostile', command: ['node', '-e', program, text], ready: { log: /^(a+)+$/ } })
        })
        test('looks into a log with such a pattern', async () => {
          const { log } = await custody.start({ name: 'read', command: ['sh', '-c', 'echo ' + text + '; sleep 100'], ready: { log: text } })
          note('waitFor', await log.waitFor(/^(a+)+$/).catch(({ code }) => code))
        })
        test('comes after it', async () => {
          await custody.start({ name: 'good', command: ['sh', '-c', 'echo up; exec sleep 100'], ready: { log: /^up$/m } })
        })`,
      beside: `test('stands beside it', async () => {
        await custody.start({ name: 'beside', command: ['sh', '-c', 'echo up; exec sleep 100'], ready: { log: /^up$/m } })
      })`,
    },
  }))
  const failed = (title: string) => {
    const { messages, status } = suite().test(title)
    expect(status, suite().output).toBe('failed')
    return messages
  }

  // B08
  test.each([
    ['echoes', 'echoes', '0', 'hello'],
    ['leaves well', 'leaves', '0', 'tired'],
    ['leaves badly', 'fails', '1', 'broken'],
  ])('makes the run red with exit code and last lines of what has exited: %s', (title, name, code, line) => {
    const message = `Could not start runtime "${name}": it exited with code ${code}\\.\n.*${line}`
    expect(failed(title)).toMatch(new RegExp(message, 's'))
    expect(suite().exitCode).toBe(1)
  })

  test('makes the run red in beforeAll too', () => {
    expect(suite().test('needs what beforeAll starts').status).not.toBe('passed')
    expect(suite().output).toMatch(/Could not start runtime "hook": it exited with code 1\.\n.*broken/s)
  })

  // B75
  test.each([
    ['tells why and exits', 'it exited with code 1'],
    ['tells why and hangs', 'it was not ready after 500 ms'],
  ])('shows the last lines of both streams of what %s', (title, how) => {
    expect(failed(title)).toMatch(new RegExp(`${how}\\.\n.*starting\nno disk`, 's'))
  })

  // B11
  test('leaves neither process nor child when it rejects', () => {
    expect(suite().notes['family'], suite().output).toEqual(['CUSTODY_START_FAILED', false, false])
  })

  test('because of a pattern that backtracks without end says so, and holds up nobody else', () => {
    const message = failed('has a pattern without end')
    expect(message).toContain('Could not start runtime "hostile": a probe failed: Could not look for /^(a+)+$/')
    expect(message).toContain('Hint: the pattern backtracks without end')
    expect(suite().notes['waitFor'], suite().output).toBe('CUSTODY_LOG_TIMEOUT')
    for (const title of ['looks into a log with such a pattern', 'comes after it', 'stands beside it']) {
      expect(suite().test(title).status, suite().output).toBe('passed')
    }
  })
})

describeRunners("a start in beforeAll that the hook's limit cuts short", (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      hook: `
        beforeAll(async () => {
          await custody.start({ name: 'never', command: ['node', '-e', 'console.log("still busy"); setInterval(() => {}, 1e3)'], ready: { log: 'is up' } })
        }, 1_500)
        test('needs it', () => {})`,
    },
  }))

  test('says that its file has ended, and shows its last lines once', () => {
    const { exitCode, output } = suite()
    expect(exitCode, output).toBe(1)
    expect(output).toMatch(/Could not start runtime "never": its file ended while it was not ready, after \d+ ms\./)
    expect(output).toContain("Hint: await it in a hook; where the runner's own limit for hooks is shorter than readyMs, ")
    expect(output).not.toContain('its test ended')
    expect(output).not.toContain('custody  last lines of')
  })
})

describeRunners('a runtime that was killed from outside', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      killed: `
        const start = async () => {
          const runtime = await custody.start({ name: 'killed', command: ['sh', '-c', 'echo up; exec sleep 100'], ready: { log: 'up' }, graceMs: 60_000 })
          process.kill(runtime.pid, 'SIGKILL')
          await runtime.exited
          return runtime
        }
        test('is stopped then', async () => note('stopped', await (await start()).stop()))
        test('is left then', async () => { await start() })`,
    },
  }))

  // B10
  test('is found dead at once when it is stopped, and its test is red', () => {
    const receipt = suite().notes['stopped'] as Receipt
    expect(receipt, suite().output).toMatchObject({
      exit: { code: null, signal: 'SIGKILL' },
      forced: false,
      left: [],
      signals: [],
    })
    // Its time to obey is a minute.
    expect(receipt.steps.at(-1)?.atMs).toBeLessThan(30_000)
    for (const title of ['is stopped then', 'is left then']) {
      const { messages, status } = suite().test(title)
      expect(status, suite().output).toBe('failed')
      expect(messages).toContain('Could not keep runtime "killed"')
      expect(messages).toContain('it was ended by SIGKILL, and nobody had asked it to')
    }
  })
})

// B82
describeRunners("with forced: 'fail', a runtime that ignores its stop signal", (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { forced: 'fail' },
    files: {
      forced: `
        const ignoring = ['sh', path.join(programs, 'trees/ignoring-term.sh'), path.resolve('noted')]
        test('starts it', async () => { await custody.start({ name: 'stubborn', command: ignoring, ready: { log: 'up' }, graceMs: 100 }) })`,
    },
  }))

  test('is killed, and its test is red', () => {
    expect(suite().test('starts it').messages, suite().output).toContain('Could not stop runtime "stubborn" politely')
    expect(suite().receiptsOf('stubborn')).toMatchObject([{ forced: true, signals: ['SIGTERM', 'SIGKILL'], left: [] }])
  })
})
