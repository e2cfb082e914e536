import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { describeRunners, runners, runSuite, shareSuite } from './run-suite.js'

const server = join(resolve(import.meta.dirname, '../programs'), 'servers/answering-http.js')
const answering = { command: ['node', server] as [string, string], ports: ['http'], ready: { http: '/' } }

const asking = `
  const server = path.join(programs, 'servers/answering-http.js')
  const answering = { command: ['node', server], ports: ['http'], ready: { http: '/' } }
  const ask = async (url) => Number(await (await fetch(url)).text())
  const refused = (definition) => custody.shared(definition).then(() => 'was shared', ({ code, message }) => code + ' ' + message)`

describeRunners('runtimes of the configuration', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: {
      runtimes: [
        { name: 'lazy', ...answering },
        { name: 'search-index', ...answering, eager: true },
        { name: 'unused', ...answering },
      ],
    },
    files: Object.fromEntries(
      ['one', 'two'].map((file) => [
        file,
        `
        ${asking}
        test('${file}: has them by name', async () => {
          const { pid, url } = await custody.shared('lazy')
          expect(await ask(url)).toBe(pid)
          note('${file} lazy', pid)
        })
        test('${file}: has the URL of an eager one', async () => {
          const { pid, url } = await custody.shared('search-index')
          expect(process.env.SEARCH_INDEX_URL).toBe(url)
          expect(await ask(process.env.SEARCH_INDEX_URL)).toBe(pid)
          note('${file} eager', pid)
        })
        test('${file}: has no other', async () => note('${file} other', await refused('lasy')))`,
      ]),
    ),
  }))

  test('are there by name, one for all files, and started by the first that asks', () => {
    const { exitCode, notes, output, receiptsOf } = suite()
    expect(exitCode, output).toBe(0)
    expect(notes['one lazy']).toBe(notes['two lazy'])
    expect(receiptsOf('lazy')).toHaveLength(1)
    expect(receiptsOf('unused')).toEqual([])
  })

  test('are there before the first file where they are eager, with their URL in the environment', () => {
    const { notes, receiptsOf } = suite()
    expect(notes['one eager']).toBe(notes['two eager'])
    expect(receiptsOf('search-index')).toMatchObject([{ forced: false, left: [] }])
  })

  test('are named when another is asked for', () => {
    expect(suite().notes['one other']).toMatch(/^CUSTODY_INVALID_OPTION .*"lasy".*\n?.*it has "lazy", "search-index", "unused"/s)
  })

  test('end with the run', () => {
    for (const { identity } of suite().receipts) expect(identity !== null && isAlive(identity)).toBe(false)
  })
})

describe.each(runners)('an eager runtime under %s', (runner) => {
  const body = { any: `test('any', () => {})` }

  test('that does not start makes the run red, with the reason, and leaves nothing', async () => {
    const broken = {
      name: 'broken',
      command: ['node', '-e', 'console.log("why"); process.exit(3)'] as [string, string, string],
      eager: true,
    }
    const ready = { ready: { log: 'never' } }
    const { exitCode, output } = await runSuite(runner, { options: { runtimes: [{ ...broken, ...ready }] }, files: body })
    expect(exitCode).not.toBe(0)
    expect(output).toContain('Could not start runtime "broken": it exited with code 3.')
    expect(output).toContain('why')
  })

  test('that exits by itself makes the run red', async () => {
    const script = 'fs.writeFileSync("pid", String(process.pid)); setInterval(() => fs.existsSync("go") && process.exit(4), 20)'
    const command: [string, ...string[]] = ['node', '-e', script]
    const leaving = { name: 'leaving', command, eager: true, ready: { file: 'pid' } }
    // Until its parent has reaped it: its program is gone from /proc while its memory is still being freed.
    const seen = `
      test('sees it leave', async () => {
        fs.writeFileSync('go', '')
        while (fs.existsSync('/proc/' + fs.readFileSync('pid', 'utf8'))) await new Promise((resolve) => setTimeout(resolve, 20))
      })`
    const { exitCode, output } = await runSuite(runner, { options: { runtimes: [leaving] }, files: { seen } })
    expect(exitCode).not.toBe(0)
    expect(output).toContain('Could not keep runtime "leaving" for the run: it exited with code 4')
  })

  test('may do so where the option says that it may', async () => {
    const leaving = { name: 'leaving', command: ['node', '-e', 'process.exit(4)'] as [string, string, string], eager: true }
    const options = { runtimes: [leaving], unexpectedExit: 'ignore' as const }
    const { exitCode, output } = await runSuite(runner, { options, files: body })
    expect(exitCode, output).toBe(0)
  })

  test('that is wrong makes the run red, and names what is wrong', async () => {
    const wrong = { name: 'wrong', command: 'node', ports: ['http'], ready: { port: 'htpp' }, eager: true }
    const { exitCode, output } = await runSuite(runner, { options: { runtimes: [wrong] }, files: body })
    expect(exitCode).not.toBe(0)
    expect(output).toContain('ready.port is "htpp"')
  })
})

describeRunners('a definition', (runner) => {
  let foreign: ChildProcess
  beforeAll(async () => {
    foreign = spawn(process.execPath, [server], { env: { ...process.env, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(foreign.stdout as NodeJS.ReadableStream, 'data')
    externalUrl = /http:\S+/.exec(String(line))?.[0] ?? ''
  })
  let externalUrl = ''
  afterAll(async () => {
    const exited = once(foreign, 'exit')
    foreign.kill()
    await exited
  })
  const suite = shareSuite(runner, () => ({
    env: { EXTERNAL_URL: externalUrl },
    files: {
      definitions: `
        ${asking}
        const db = { scope: 'run', name: 'db', ...answering }
        const api = { scope: 'run', name: 'api', spec: async ({ shared }) => {
          const needed = await shared(db)
          return { ...answering, env: { DB_URL: needed.url }, needs: [needed] }
        } }
        test('depends on another', async () => {
          const runtime = await custody.shared(api)
          const needed = await custody.shared(db)
          expect(runtime.env.DB_URL).toBe(needed.url)
          expect(await ask(runtime.url)).toBe(runtime.pid)
        })
        test('names what it needs', async () => {
          await custody.shared({ scope: 'file', name: 'web', ...answering, needs: [{ scope: 'run', name: 'queue', ...answering }] })
        })
        test('is wrong', async () => {
          const narrow = { scope: 'file', name: 'narrow', ...answering }
          note('narrow', await refused({ scope: 'run', name: 'wide', ...answering, needs: [narrow] }))
          note('narrow in spec', await refused({ scope: 'worker', name: 'wide', spec: async ({ shared }) => ({ ...answering, needs: [await shared(narrow)] }) }))
          const own = await custody.start({ name: 'own', ...answering })
          note('of a test', await refused({ scope: 'file', name: 'wide', ...answering, needs: [own] }))
          const a = { scope: 'run', name: 'a', spec: ({ shared }) => shared(b).then(() => answering) }
          const b = { scope: 'run', name: 'b', spec: ({ shared }) => shared(a).then(() => answering) }
          note('circle', await refused(a))
          note('self', await refused({ scope: 'run', name: 'self', ...answering, get needs() { return [this] } }))
          note('width', await refused({ scope: 'galaxy', name: 'x', ...answering }))
          note('kept', await refused({ scope: 'file', name: 'x', keepAcrossReruns: true, ...answering }))
          note('beside spec', await refused({ scope: 'file', name: 'x', command: ['node'], spec: () => answering }))
          note('no url', await refused({ scope: 'file', name: 'x', external: 'localhost', ...answering, ready: [] }))
        })
        test('is external', async () => {
          const runtime = await custody.shared({ scope: 'run', name: 'outside', external: process.env.EXTERNAL_URL, ...answering })
          expect([runtime.url, runtime.isExternal]).toEqual([process.env.EXTERNAL_URL, true])
          expect(runtime.ports.http).toBe(Number(new URL(runtime.url).port))
          note('external pid', await ask(runtime.url))
          for (const use of [() => runtime.pid, () => runtime.kill('SIGTERM'), () => runtime.crash(), () => runtime.log.waitFor('x')])
            await expect((async () => use())()).rejects.toMatchObject({ code: 'CUSTODY_EXTERNAL' })
          await custody.start({ name: 'uses-it', ...answering, needs: [runtime] })
        })
        test('is external and not there', async () => {
          note('not there', await refused({ scope: 'run', name: 'gone', external: 'http://127.0.0.1:9', ...answering, readyMs: 300 }))
          note('log', await refused({ scope: 'run', name: 'gone', external: 'http://127.0.0.1:9', command: 'node', ready: { log: 'x' } }))
        })
        test('is of this project', async () => expect((await custody.shared(db)).isExternal).toBe(false))`,
    },
  }))
  const passed = (title: string) => expect(suite().test(title), suite().output).toMatchObject({ status: 'passed' })

  test('may depend on others, which are started first and stopped last', () => {
    passed('depends on another')
    const names = suite().receipts.map(({ name }) => name)
    expect(names.indexOf('api')).toBeLessThan(names.indexOf('db'))
  })

  test('may name definitions among what it needs', () => {
    passed('names what it needs')
    expect(suite().receiptsOf('queue')).toHaveLength(1)
  })

  test.each([
    ['narrow', '"wide" is for the run, and needs "narrow", which is for one file'],
    ['narrow in spec', '"wide" is for one worker, and needs "narrow", which is for one file'],
    ['of a test', '"wide" is for one file, and needs "own", which is for one test'],
    ['circle', '"a" needs "b" needs "a"'],
    ['self', '"self" needs "self"'],
    ['width', 'scope is "galaxy"'],
    ['kept', 'keepAcrossReruns is true'],
    ['beside spec', 'command is ["node"]'],
    ['no url', 'external is "localhost"'],
  ])('that is wrong is refused by name: %s', (name, message) => {
    passed('is wrong')
    expect(suite().notes[name]).toMatch(/^CUSTODY_INVALID_OPTION /)
    expect(suite().notes[name]).toContain(message)
  })

  test('may name a service that runs already: it is waited for, and left alone', () => {
    passed('is external')
    expect(suite().notes['external pid']).toBe(foreign.pid)
    expect([foreign.exitCode, foreign.signalCode]).toEqual([null, null])
    expect(suite().receiptsOf('outside')).toEqual([])
  })

  test('of a service that is not there says what was seen', () => {
    passed('is external and not there')
    const { notes } = suite()
    expect(notes['not there']).toMatch(
      /^CUSTODY_START_FAILED .*"gone" at http:\/\/127\.0\.0\.1:9: it was not ready after 300 ms.*ECONN/s,
    )
    expect(notes['log']).toMatch(/^CUSTODY_INVALID_OPTION .*log/)
  })
})

describe.each(runners)('the output of a runtime under %s', (runner) => {
  const talking = (name: string, said: string) =>
    `await custody.start({ name: '${name}', command: ['node', '-e', 'console.log("${said}"); setInterval(() => {}, 1e3)'], ready: { log: '${said}' } })`

  test('is shown as it comes where that is asked for, and the last lines where a test fails', async () => {
    const { output } = await runSuite(runner, {
      env: { CUSTODY_LOGS: 'web, queue' },
      files: {
        logs: `
          test('passes', async () => { ${talking('web', 'web is up')}; ${talking('quiet', 'nobody reads this')} })
          test('fails', async () => { ${talking('queue', 'queue is up')}; ${talking('api', 'the reason')}; throw new Error('on purpose') })
          test('shows it itself', async () => {
            const { log } = await custody.start({ name: 'told', command: ['node', '-e', 'console.log("said once"); setInterval(() => {}, 1e3)'], ready: { log: 'said' } })
            await log.waitFor('never', { timeoutMs: 10 })
          })
          test('has one that leaves', async () => {
            const { exited } = await custody.start({ name: 'leaver', command: ['node', '-e', 'console.log("its last words")'] })
            await exited
          })
          test('fails too', async () => {
            await custody.start({ name: 'secret', logs: 'never', command: ['node', '-e', 'console.log("hush")'], onExit: 'ignore' })
            throw new Error('on purpose')
          })`,
      },
    })
    expect(output).toContain('[web] web is up\n')
    expect(output).toContain('[queue] queue is up\n')
    expect(output).toMatch(/custody {2}last lines of "api" {2}\(logs\.check\.\S+ . fails\)\n {4}the reason\n/)
    for (const name of ['queue', 'told', 'leaver']) expect(output).not.toContain(`last lines of "${name}"`)
    expect(output).toMatch(/Could not wait for never .*\n\s*said once\n/)
    expect(output).toMatch(/Could not keep runtime "leaver" .*\n\s*its last words\n/)
    for (const hidden of ['nobody reads this', 'hush']) {
      const told = output.split('\n').filter((line) => line.includes(hidden) && !line.includes('console.log'))
      expect(told).toEqual([])
    }
  })

  test('is shown as it comes for all, where the option says so', async () => {
    const { output } = await runSuite(runner, {
      options: { logs: 'stream' },
      files: { logs: `test('passes', async () => { ${talking('web', 'web is up')}; ${talking('db', 'db is up')} })` },
    })
    expect(output).toContain('[web] web is up\n')
    expect(output).toContain('[db] db is up\n')
  })
})
