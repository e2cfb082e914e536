import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { aliveOf, hasProgram } from './alive.js'
import { majorOf, runInProject, runners, shareSuite, statusesOf } from './run-suite.js'
import { leaving, outcomesOf, startedIn, toldIn } from './told-leaks.js'

const options = { timeouts: { exitMs: 100 } }

const kinds = `
  ${leaving}
  test('is green', () => {})
  test('leaks', () => { leaves(501) })
  test('has ended what it started', () => ends(leaves(502)))
  test('takes a callback', (done) => { setTimeout(() => { leaves(503); done() }, 1) })
  test('is a generator', function* () {
    yield soon()
    try { yield Promise.reject(new Error('is caught')) } catch ({ message }) { note('caught', message) }
    note('generator', [custody.namespace.id, yield soon().then(() => 'a value')])
    leaves(504)
  })
  test('follows the generator', () => { note('after the generator', custody.namespace.id) })
  test.failing('is expected to fail, and leaks', () => { leaves(505); throw new Error('expected') })
  test.failing('is expected to fail', async () => { await ends(leaves(506)); throw new Error('expected') })
  test.failing('is expected to fail, and does not', () => { leaves(507) })
  test.skip('is skipped', () => { leaves(508) })
  test.todo('is yet to be written')
  describe.skip('that is skipped', () => {
    beforeAll(() => { leaves(509) })
    test('is skipped with its block', () => { leaves(510) })
  })
  test.each([[511, 'a'], [null, 'b'], [512, 'c']])('of row %# leaves %i, %s', (seconds) => { if (seconds) leaves(seconds) })
  test.each\`
    seconds | name
    \${513}  | \${'d'}
    \${null} | \${'e'}
  \`('of $name', ({ seconds }) => { if (seconds) leaves(seconds) })
  describe.each([['f', 514], ['g', null]])('block %s', (name, seconds) => {
    test('is in each block', () => { if (seconds) leaves(seconds) })
  })
  test('%s $variable %% %p', () => { leaves(515) })
  test('is long' + 'x'.repeat(5_000), () => { leaves(516) })
  test('has "quotes", \\\\ and\\na second line', () => { leaves(517) })
  describe('around', () => describe('it', () => describe('are others', () => test('is deep', () => { leaves(518) }))))`

const namesakes = `
  ${leaving}
  describe('with three of one name', () => {
    test('is one of three', () => {})
    test('is one of three', () => { note('second', custody.namespace.id); leaves(521) })
    test('is one of three', () => {})
  })
  for (const seconds of [null, 522, null]) {
    describe('one of three blocks of one name', () => { test('is in one of three', () => { if (seconds) leaves(seconds) }) })
  }`

describe.runIf(runners.includes('jest'))('of the tests of Jest', () => {
  const suite = shareSuite('jest', () => ({ options, files: { kinds, namesakes } }))
  const _ofFile = (seconds: number) => outcomesOf(suite()).filter(([, , ...told]) => told.includes(seconds))

  test('each that leaks is red for its own, whatever form it has, and no other is', () => {
    const inOrder = outcomesOf(suite()).filter(([title]) => !title.startsWith('is one of') && !title.startsWith('is in one'))
    expect(inOrder, suite().output).toEqual([
      ['is green', 'passed'],
      ['leaks', 'failed', 501],
      ['has ended what it started', 'passed'],
      ['takes a callback', 'failed', 503],
      ['is a generator', 'failed', 504],
      ['follows the generator', 'passed'],
      ['is expected to fail, and leaks', 'failed', 505],
      ['is expected to fail', 'passed'],
      ['is expected to fail, and does not', 'failed'],
      ['is skipped', 'pending'],
      ['is yet to be written', 'todo'],
      ['is skipped with its block', 'pending'],
      ['of row 0 leaves 511, a', 'failed', 511],
      ['of row 1 leaves NaN, b', 'passed'],
      ['of row 2 leaves 512, c', 'failed', 512],
      ['of d', 'failed', 513],
      ['of e', 'passed'],
      ['is in each block', 'failed', 514],
      ['is in each block', 'passed'],
      ['%s $variable %% %p', 'failed', 515],
      [`is long${'x'.repeat(5_000)}`, 'failed', 516],
      ['has "quotes", \\ and\na second line', 'failed', 517],
      ['is deep', 'failed', 518],
    ])
  })

  test('a generator is driven as Jest does, each step in its own scope', () => {
    const { notes, output } = suite()
    expect(notes['caught'], output).toBe('is caught')
    expect(notes['generator']).toEqual([expect.stringMatching(/\.\d+$/), 'a value'])
    expect(notes['after the generator']).not.toBe((notes['generator'] as string[])[0])
  })

  test('the right one of several of one name is red, in one block and in blocks of one name', () => {
    const inOrder = outcomesOf(suite()).filter(([title]) => title.startsWith('is one of') || title.startsWith('is in one'))
    expect(inOrder, suite().output).toEqual([
      ['is one of three', 'passed'],
      ['is one of three', 'failed', 521],
      ['is one of three', 'passed'],
      ['is in one of three', 'passed'],
      ['is in one of three', 'failed', 522],
      ['is in one of three', 'passed'],
    ])
  })

  test('none that is skipped is run, and nothing is left', () => {
    const { output } = suite()
    const started = [501, 502, 503, 504, 505, 506, 507, 511, 512, 513, 514, 515, 516, 517, 518, 521, 522]
    expect(startedIn(suite()), output).toEqual(started)
    expect(aliveOf(suite())).toEqual([])
  })
})

describe.runIf(runners.includes('jest')).each(['3', '5'])('in any order (seed %s)', (seed) => {
  const suite = shareSuite('jest', () => ({ options, args: ['--randomize', `--seed=${seed}`], files: { namesakes } }))

  test('one of several of one name is red, and the run tells whose place that is', () => {
    const { output } = suite()
    const red = outcomesOf(suite()).filter(([, status]) => status === 'failed')
    expect(red.sort(), output).toEqual([
      ['is in one of three', 'failed', 522],
      ['is one of three', 'failed', 521],
    ])
    // Scopes are numbered in the order in which tests run.
    const ran = outcomesOf(suite()).findIndex(([, , seconds]) => seconds === 521)
    expect(String(suite().notes['second']).split('.').at(-1)).toBe(String(ran + 1))
  })
})

describe.runIf(runners.includes('jest'))('with tests that are chosen, of Jest', () => {
  const suite = shareSuite('jest', () => ({
    options,
    files: {
      chosen: `
        ${leaving}
        test('is not chosen', () => { leaves(531) })
        test.only('is chosen', () => { leaves(532) })
        test.only.each([[533], [null]])('is chosen with %s', (seconds) => { if (seconds) leaves(seconds) })
        describe.only('that is chosen', () => { test('is in a chosen block', () => { leaves(534) }) })`,
    },
  }))

  test('those that run are judged, and those that do not are as they were', () => {
    expect(outcomesOf(suite()), suite().output).toEqual([
      ['is not chosen', 'pending'],
      ['is chosen', 'failed', 532],
      ['is chosen with 533', 'failed', 533],
      ['is chosen with null', 'passed'],
      ['is in a chosen block', 'failed', 534],
    ])
  })
})

const server = `
  const http = require('node:http')
  const listening = (server) => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)))
  const ask = async (port) => { const answer = await fetch('http://127.0.0.1:' + port, { headers: { connection: 'close' } }); await answer.text() }`

describe.runIf(runners.includes('jest'))('what a test starts for others, in Jest,', () => {
  const suite = shareSuite('jest', () => ({
    options,
    files: {
      asked: `
        ${leaving}${server}
        let server, port
        beforeAll(async () => {
          custody.namespace.id
          server = http.createServer((_, response) => { leaves(541); response.end() })
          port = await listening(server)
        })
        afterAll(() => new Promise((resolve) => server.close(resolve)))
        test('asks the server of beforeAll', () => ask(port))
        test('asks nobody', () => {})`,
      // G02
      lazy: `
        ${leaving}
        const started = {}
        const lazily = (seconds, start) => (started[seconds] ??= start())
        const all = {
          551: () => leaves(551),
          552: () => custody.inScope('file', () => leaves(552)),
          553: () => custody.inScope('file', () => custody.start({ name: 'of-file', command: ['sleep', '553'] })),
          554: () => custody.inScope('run', () => leaves(554)),
          555: () => custody.inScope('worker', () => custody.start({ name: 'of-worker', command: ['sleep', '555'] })),
        }
        const use = async () => { for (const [seconds, start] of Object.entries(all)) note('pid of ' + seconds, (await lazily(seconds, start)).pid) }
        test('starts them', use)
        test('uses them', async () => {
          await use()
          for (const child of Object.values(started)) expect(isAlive((await child).pid)).toBe(true)
        })
        afterAll(() => ends(started[551]))`,
      inside: `
        ${leaving}
        test('starts for its file', () => custody.inScope('file', () => { leaves(561); note('inside', custody.namespace.id) }))
        test('is another', () => {})
        note('file', custody.namespace.id)`,
    },
  }))

  test('by a server of beforeAll is red at its file, and neither at the test that asks nor at another', () => {
    const { output, placeOf } = suite()
    expect(statusesOf(suite()), output).toMatchObject({ 'asks the server of beforeAll': 'passed', 'asks nobody': 'passed' })
    expect(outcomesOf(suite()).filter(([, , ...told]) => told.includes(541))).toEqual([
      ['leaves no process behind', 'failed', 541],
    ])
    expect(output).toContain(placeOf('leaves(541)'))
  })

  test('serves them until it ends with its file, in each of its scopes', () => {
    expect(statusesOf(suite()), suite().output).toMatchObject({ 'starts them': 'passed', 'uses them': 'passed' })
    const pids = [551, 552, 553, 554, 555].map((seconds) => suite().notes[`pid of ${seconds}`])
    expect(pids.filter((pid) => pid === undefined || hasProgram(pid))).toEqual([])
  })

  test('and for the whole file is the file’s, which is red for it', () => {
    const { notes, output } = suite()
    expect(statusesOf(suite()), output).toMatchObject({ 'starts for its file': 'passed', 'is another': 'passed' })
    expect(notes['inside'], output).toBe(notes['file'])
    const told = suite().tests.filter(({ title }) => title === 'leaves no process behind')
    expect(told.flatMap(({ messages }) => toldIn(messages)).sort(), output).toEqual([541, 552, 561])
  })

  test('is told under a title of its own, with the lines around the place', () => {
    expect(suite().output).toMatch(/● Custody › leaves no process behind\n\n {4}CustodyLeakError: [\s\S]*?\n +> \d+ \|/)
  })
})

describe.runIf(runners.includes('jest'))('a test of Jest that leaks and has snapshots', () => {
  const snapshots = join('__snapshots__', 'pictures.check.cjs.snap')
  const guide = majorOf('jest') < 30 ? 'https://goo.gl/fbAQLP' : 'https://jestjs.io/docs/snapshot-testing'
  const known = (name: string) => `exports[\`${name} 1\`] = \`"as it was"\`;\n`
  const suite = shareSuite('jest', () => ({
    options: { ...options, leakScope: 'test' },
    extras: { [snapshots]: `// Jest Snapshot v1, ${guide}\n\n${known('is not there any more')}\n${known('leaks')}` },
    files: {
      pictures: `
        ${leaving}
        test('leaks', () => { leaves(571); expect('as it was').toMatchSnapshot() })
        if (fs.existsSync('results.json')) test('is new and leaks', () => { leaves(572); expect('new').toMatchSnapshot() })`,
    },
  }))

  test('is red, and its snapshots are not obsolete', () => {
    expect(outcomesOf(suite()), suite().output).toEqual([['leaks', 'failed', 571]])
    expect(suite().output).toMatch(/1 snapshot obsolete/)
    expect(suite().output).toMatch(/is not there any more 1/)
    expect(suite().output).not.toMatch(/• leaks 1/)
  })

  test('has its new snapshots written, and loses none', async () => {
    const { output } = await runInProject('jest', suite(), ['--ci=false'])
    expect(output).toMatch(/1 snapshot written/)
    const text = readFileSync(join(suite().directory, snapshots), 'utf8')
    for (const name of ['leaks 1', 'is new and leaks 1']) expect(text, output).toContain(`exports[\`${name}\`]`)
  })
})
