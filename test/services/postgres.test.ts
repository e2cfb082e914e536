import { afterAll, beforeAll, expect, test } from 'vitest'
import { isAlive } from '../contract/alive.js'
import { readNoted } from '../contract/noted.js'
import { describeRunners, shareSuite } from '../contract/run-suite.js'
import { insideOf } from './inside-of.js'
import { type Prepared, prepareServices } from './prepare-services.js'

let prepared: Prepared
beforeAll(async () => {
  prepared = await prepareServices()
}, 60_000)
afterAll(() => prepared.remove(), 60_000)

describeRunners('PostgreSQL', (runner) => {
  const suite = shareSuite(runner, () => ({
    env: prepared.env,
    files: {
      copied: `
        ${insideOf(runner)}
        test('starts in a copy of a live cluster', async () => {
          const copy = directoryOf('copy')
          execFileSync('cp', ['-a', path.join(home, 'foreign-postgres'), copy])
          const { code, facts, message } = await custody.start(specOf('postgres', true, copy)).catch((error) => error)
          note('copied', { code, exit: facts.code, log: fs.readFileSync(path.join(copy, 'log'), 'utf8'), message })
        })`,
      writing: `
        ${insideOf(runner)}
        const own = directoryOf('writing')
        const writing = "DO 'BEGIN LOOP INSERT INTO lines VALUES (repeat(''x'', 1000)); COMMIT; END LOOP; END'"
        test('ends while it writes', async () => {
          const { pid, ports } = await custody.start({ ...specOf('postgres', true, own), name: 'writing' })
          const table = await say(ports.main, sessionOf('CREATE TABLE lines (line text)'))
          table.socket.destroy()
          for (const _ of [1, 2, 3, 4]) expect((await say(ports.main, sessionOf(writing))).answer[0]).toBe('R')
          noteTree('writing', pid)
        })
        test('has ended', () => note('log', fs.readFileSync(path.join(own, 'log'), 'utf8')))`,
      forced: `
        ${insideOf(runner)}
        const own = directoryOf('forced')
        // It accepts connections earlier than it can serve them.
        const ready = { log: 'ready to accept connections' }
        const start = (spec) => custody.start({ ...specOf('postgres', false, own), name: 'forced', ready, ...spec })
        for (const turn of [1, 2, 3])
          test('waits for its client ' + turn, async () => {
            // By this signal it waits until the last client has left.
            const { pid, ports } = await start({ stopSignal: 'SIGTERM', graceMs: 500 })
            expect((await say(ports.main, sessionOf('SELECT 1'))).answer[0]).toBe('R')
            noteTree('forced', pid)
          })
        // It takes back the shared memory that those before have left.
        test('starts once more', async () => { await start({ name: 'recovered' }) })`,
    },
  }))
  const passed = (title: string) => expect(suite().test(title), suite().output).toMatchObject({ status: 'passed' })

  // B34
  test('does not start in a copy of a live cluster, and the live server is left alone', async () => {
    passed('starts in a copy of a live cluster')
    expect(suite().notes['copied']).toMatchObject({
      code: 'CUSTODY_START_FAILED',
      exit: 1,
      log: expect.stringContaining('lock file "postmaster.pid" already exists'),
      message: expect.stringContaining('Could not start runtime "postgres": it exited with code 1.'),
    })
    await prepared.expectUntouched('postgres')
  })

  test('is shut down in its own order when it has daemonized, while its clients write', () => {
    passed('ends while it writes')
    const log = suite().notes['log'] as string
    expect(log).toContain('database system is shut down')
    expect(log).not.toContain('PANIC')
    expect(suite().receiptsOf('writing')).toMatchObject([{ forced: false, left: [], signals: ['SIGINT'] }])
  })

  // B96
  test('that has to be killed is counted and told each time, and nothing of it is left', () => {
    for (const turn of [1, 2, 3]) passed(`waits for its client ${turn}`)
    passed('starts once more')
    const { exitCode, output, summary } = suite()
    expect([exitCode, summary.forced]).toEqual([0, 3])
    const killed = { exit: { signal: 'SIGKILL' }, forced: true, left: [], signals: ['SIGTERM', 'SIGKILL'] }
    expect(suite().receiptsOf('forced')).toMatchObject([killed, killed, killed])
    expect(suite().receiptsOf('recovered')).toMatchObject([{ exit: { code: 0 }, forced: false }])
    expect(output.match(/Could not stop runtime "forced" politely/g)).toHaveLength(3)
    expect(output).toContain('3 forced')
  })

  test('leaves none of its processes', () => expect(readNoted(suite().directory).filter(isAlive)).toEqual([]))
})
