import { expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { describeRunners, shareSuite } from './run-suite.js'

describeRunners('a started runtime', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      started: `
        const server = path.join(programs, 'servers/answering-http.js')
        const api = { name: 'api', command: ['node', server], ports: ['http'], ready: { http: '/' } }
        const log = { log: /listening on http:\\/\\/127.0.0.1:(?<http>\\d+)/ }
        const ask = async (url) => (await fetch(url)).text()
        test('is ready', async () => {
          const { env, pid, ports, url } = await custody.start(api)
          expect(await ask(url)).toBe(String(pid))
          expect([env.HTTP_PORT, env.PORT]).toEqual([String(ports.http), String(ports.http)])
        })
        test('says its port', async () => {
          const { match, pid, ports } = await custody.start({ name: 'chooses', command: ['node', server], ready: log })
          expect(await ask('http://127.0.0.1:' + ports.http)).toBe(String(pid))
          expect(match.groups.http).toBe(String(ports.http))
        })
        test('is stopped by hand', async () => {
          const { pid, stop, url } = await custody.start(api)
          expect(await stop()).toMatchObject({ verdict: 'owned', forced: false, exit: { signal: 'SIGTERM' } })
          expect(isAlive(pid)).toBe(false)
          await expect(ask(url)).rejects.toThrow()
        })
        test('does not start', async () => {
          const failing = (spec) => custody.start({ name: 'fails', ...spec }).catch(({ code, message }) => code + ' ' + message)
          note('exits', await failing({ command: ['node', '-e', 'console.log("why"); process.exit(3)'], ready: { log: 'x' } }))
          note('missing', await failing({ command: ['no-such-program'] }))
          note('wrong', await failing({ command: ['node', server], ready: { port: 'none' } }))
          note('shell', await failing({ command: 'node | cat' }))
          note('silent', await failing({ command: ['node', '-e', 'setInterval(() => {}, 1e3)'], ready: { log: 'up' }, readyMs: 300 }))
          note('slow', await failing({ command: ['node', '-e', 'setInterval(() => {}, 1e3)'], ports: ['http'], ready: { port: 'http' }, readyMs: 300 }))
        })
        test('is shared', async () => {
          const definition = { scope: 'run', name: 'db', command: ['node', server], ports: ['http'], ready: { port: 'http' } }
          const all = await Promise.all([1, 2, 3, 4].map(() => custody.shared(definition)))
          expect(new Set(all.map(({ pid }) => pid)).size).toBe(1)
          expect(all[0].stop).toBe(undefined)
          await expect(custody.shared({ ...definition, cwd: '/' })).rejects.toMatchObject({ code: 'CUSTODY_SHARED_REFUSED' })
        })
        test('is still shared', async () => {
          const { pid, url } = await custody.shared({ scope: 'run', name: 'db', command: ['node', server], ports: ['http'], ready: { port: 'http' } })
          expect(await ask(url)).toBe(String(pid))
        })
        test('exits by itself', async () => {
          const { exited } = await custody.start({ name: 'leaves', command: ['node', '-e', 'setTimeout(() => process.exit(7), 50)'] })
          expect(await exited).toEqual({ code: 7, signal: null, expected: false })
        })
        test('may exit by itself', async () => {
          const { exited } = await custody.start({ name: 'leaves', command: ['node', '-e', 'process.exit(7)'], onExit: 'ignore' })
          await exited
        })
        const daemonizing = { name: 'daemon', command: ['sh', '-c', 'setsid node ' + server + ' &'], daemonizes: true, ports: ['http'], ready: { http: '/' } }
        test('loses its daemon', async () => {
          const { exited, pid, url } = await custody.start(daemonizing)
          expect(await ask(url)).toBe(String(pid))
          process.kill(pid, 'SIGKILL')
          expect(await exited).toEqual({ code: null, signal: null, expected: false })
        })
        test('ends its daemon', async () => {
          const { exited, kill } = await custody.start(daemonizing)
          await kill('SIGTERM')
          expect(await exited).toEqual({ code: null, signal: null, expected: true })
        })
        test('leaves no daemon', async () => {
          const nothing = { ...daemonizing, name: 'nothing', command: ['true'], ready: { exec: ['true'] } }
          note('nothing', await custody.start(nothing).catch(({ code, message }) => code + ' ' + message))
        })
        test('is paused, resumed and crashed', async () => {
          const { crash, log, pause, resume } = await custody.start({ name: 'ticks', command: ['node', '-e', 'setInterval(() => console.log(process.uptime()), 5)'], ready: { log: /./, count: 3 } })
          await pause()
          const { length } = log.text()
          await resume()
          await log.waitFor(/./, { since: length })
          expect(await crash()).toEqual({ code: null, signal: 'SIGKILL', expected: true })
        })
        test('listens on the other family', async () => {
          const { pid, url } = await custody.start({ ...api, command: ['node', server, '::1'] })
          expect(url.startsWith('http://[::1]:')).toBe(true)
          expect(await ask(url)).toBe(String(pid))
        })
        test('is restarted', async () => {
          const db = await custody.start(api)
          const before = { pid: db.pid, url: db.url }
          await db.restart()
          expect(db.url).toBe(before.url)
          expect(db.pid).not.toBe(before.pid)
          expect(isAlive(before.pid)).toBe(false)
          expect(await ask(db.url)).toBe(String(db.pid))
        })
        let outlived
        test('is kept in a variable', async () => { outlived = await custody.start(api) })
        test('is restarted after its test', async () => {
          await expect(outlived.restart()).rejects.toMatchObject({ code: 'CUSTODY_SCOPE_ENDED' })
        })
        test('is restarted while its test ends', async () => {
          const { restart } = await custody.start({ ...api, name: 'restarting' })
          void restart().catch(() => {})
        })
        test('is stopped, restarted and stopped', async () => {
          const runtime = await custody.start(api)
          const first = runtime.stop()
          const again = runtime.restart()
          const last = runtime.stop()
          await Promise.all([first, again, last])
          expect(isAlive(runtime.pid)).toBe(false)
        })
        test('ignores its stop signal', async () => {
          await custody.start({ name: 'stubborn', graceMs: 100, command: ['sh', '-c', 'trap "" TERM; echo up; sleep 100'], ready: { log: 'up' } })
        })
        limited('outlasts its test', async () => {
          await custody.start({ name: 'never', command: ['node', '-e', 'console.log("still busy"); setInterval(() => {}, 1e3)'], ports: ['http'], ready: { port: 'http' } })
        })
        describe('in beforeAll', () => {
          let shared
          beforeAll(async () => { shared = await custody.start(api) })
          test('serves one test', async () => expect(await ask(shared.url)).toBe(String(shared.pid)))
          test('and the next', async () => expect(await ask(shared.url)).toBe(String(shared.pid)))
        })`,
    },
  }))
  const passed = (title: string) => expect(suite().test(title), suite().output).toMatchObject({ status: 'passed' })

  test('is ready when start resolves, with its ports in its environment', () => passed('is ready'))
  test('may choose its port itself and say it in its output', () => passed('says its port'))
  test('is gone when stop resolves', () => passed('is stopped by hand'))
  test('serves a whole file when it was started in beforeAll', () => {
    passed('serves one test')
    passed('and the next')
  })
  test('of a run is one for all who ask, and refuses another definition of its name', () => passed('is shared'))
  test('of a run serves the next test too', () => passed('is still shared'))
  test('can be paused, resumed and crashed', () => passed('is paused, resumed and crashed'))
  // B65
  test('may listen on either loopback address, and its URL names the one that answered', () =>
    passed('listens on the other family'))
  test('that is a daemon and exits although nobody asked it to makes its test red', () => {
    const { messages } = suite().test('loses its daemon')
    expect(messages).toContain('Could not keep runtime "daemon"')
    expect(messages).toContain('its daemon exited, and nobody had asked it to')
    passed('ends its daemon')
    expect(suite().receiptsOf('daemon')).toMatchObject([{ exit: 'observed' }, { exit: 'observed' }])
  })
  test('that should be a daemon and leaves none does not start', () => {
    passed('leaves no daemon')
    expect(suite().notes['nothing']).toMatch(/^CUSTODY_START_FAILED .*nothing is left of its command/s)
  })
  test('can be restarted, and keeps its ports', () => passed('is restarted'))
  test('may leave by itself where that is said', () => passed('may exit by itself'))

  test('that exits although nobody asked it to makes its test red, at the line that started it', () => {
    const { messages } = suite().test('exits by itself')
    expect(messages).toContain('Could not keep runtime "leaves"')
    expect(messages).toContain('it exited with code 7, and nobody had asked it to')
    expect(messages).toContain(suite().placeOf('setTimeout(() => process.exit(7), 50)'))
  })

  // G05
  test('that is not ready when the runner ends its test is stopped, and the test says what it was waiting for', () => {
    const { messages, status } = suite().test('outlasts its test')
    expect(status).toBe('failed')
    expect(messages).toMatch(/Could not start runtime "never": its test ended while it was not ready, after \d+ ms\./)
    expect(messages).toMatch(/127\.0\.0\.1:\d+ ECONNREFUSED.*still busy/s)
  })

  test('is not restarted when its scope has ended, and ends with it when it is being restarted', () => {
    passed('is restarted after its test')
    expect(suite().receiptsOf('restarting').length).toBeGreaterThan(0)
    for (const { left } of suite().receiptsOf('restarting')) expect(left).toEqual([])
  })
  test('is stopped by the stop that came last', () => passed('is stopped, restarted and stopped'))

  test('that ignores its stop signal is killed, and that is told', () => {
    passed('ignores its stop signal')
    expect(suite().receiptsOf('stubborn')).toMatchObject([{ forced: true, signals: ['SIGTERM', 'SIGKILL'], left: [] }])
    expect(suite().output).toContain('Could not stop runtime "stubborn" politely')
  })

  test('that cannot start rejects with what was seen, and leaves nothing', () => {
    const { notes } = suite()
    expect(notes['exits']).toMatch(
      /^CUSTODY_START_FAILED Could not start runtime "fails": it exited with code 3\.\n.*why\nHint: /s,
    )
    expect(notes['missing']).toMatch(/^CUSTODY_START_FAILED .*no-such-program in .*: ENOENT\./)
    expect(notes['wrong']).toMatch(/^CUSTODY_INVALID_OPTION .*ready\.port is "none"/)
    expect(notes['shell']).toMatch(/^CUSTODY_INVALID_OPTION .*shell: true/s)
    expect(notes['silent']).toMatch(/it was not ready after 300 ms\.\n {2}log .*: no output yet/)
    expect(notes['slow']).toMatch(
      /it was not ready after 300 ms\.\n {2}port "http": 127\.0\.0\.1:\d+ ECONNREFUSED, ::1:\d+ ECONNREFUSED/,
    )
  })

  test('is gone after the run, with its receipt', () => {
    const { receipts, summary } = suite()
    expect(summary.started).toBe(receipts.length)
    expect(summary).toMatchObject({ forced: 1, exitsObserved: receipts.length })
    for (const { identity } of receipts) expect(identity !== null && isAlive(identity)).toBe(false)
  })
})
