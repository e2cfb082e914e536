import { describe, expect, test } from 'vitest'
import { hasProgram } from './alive.js'
import { leftOf, runners, shareSuite, statusesOf } from './run-suite.js'
import { leaving, outcomesOf, startedIn, toldIn } from './told-leaks.js'

const isJest = runners.includes('jest')
const options = { timeouts: { exitMs: 100 } }

/** What goes on after its time is over, and starts something while the next test runs; nothing else was started in its worker. */
const late = {
  'a body': `test('is out of time', async () => { await asked.opened; leaves(501); started.open() }, 50)`,
  'a body that takes a callback': `test('is out of time', (done) => { asked.opened.then(() => { leaves(501); started.open(); done() }) }, 50)`,
  'a generator': `test('is out of time', function* () { yield asked.opened; leaves(501); started.open() }, 50)`,
  'a beforeEach': `describe('block', () => {
    beforeEach(async () => { await asked.opened; leaves(501); started.open() }, 50)
    test('is out of time', () => {})
  })`,
  'an afterEach': `describe('block', () => {
    afterEach(async () => { await asked.opened; leaves(501); started.open() }, 50)
    test('is out of time', () => {})
  })`,
}

describe.runIf(isJest).concurrent.each(Object.entries(late))('%s of Jest that goes on when its time is over', (_, body) => {
  const suite = shareSuite('jest', () => ({
    options,
    files: {
      late: `
        ${leaving}
        const [asked, started] = [gate(), gate()]
        ${body}
        test('runs while it goes on', async () => { asked.open(); await started.opened; note('other', custody.namespace.id) })
        test('comes after both', () => { leaves(502) })`,
    },
  }))

  test('is told for what it starts then, at its file, and no other test is', () => {
    const { notes, output } = suite()
    expect(outcomesOf(suite()), output).toEqual([
      ['is out of time', 'failed'],
      ['runs while it goes on', 'passed'],
      ['comes after both', 'failed', 502],
      ['leaves no process behind', 'failed', 501],
    ])
    const { messages } = suite().test('leaves no process behind')
    expect(messages).toMatch(
      /code of a test started after its end[\s\S]*started by late\.check\.cjs › (?:block › )?is out of time/,
    )
    expect([501, 502].map((seconds) => notes[seconds]).filter(hasProgram)).toEqual([])
  })
})

describe.runIf(isJest)('a beforeAll of Jest that goes on when its time is over', () => {
  const suite = shareSuite('jest', () => ({
    options,
    files: {
      late: `
        ${leaving}
        const [asked, started] = [gate(), gate()]
        describe('block', () => {
          beforeAll(async () => { await asked.opened; leaves(511); started.open() }, 50)
          test('has a beforeAll that is out of time', () => {})
        })
        test('runs while it goes on', async () => { asked.open(); await started.opened })`,
    },
  }))

  test('starts for its file, and makes no test red', () => {
    const { notes, output } = suite()
    expect(statusesOf(suite()), output).toEqual({
      'has a beforeAll that is out of time': 'failed',
      'runs while it goes on': 'passed',
    })
    expect(output).toContain(`warning: late.check.cjs left pid ${notes['511']}: sleep 511`)
    expect(hasProgram(notes['511'])).toBe(false)
  })
})

describe.runIf(isJest)('code of a test of Jest that goes on', () => {
  const suite = shareSuite('jest', () => ({
    options,
    args: ['-i'],
    files: {
      // Jest begins with the longest file.
      a: `
        // ${'-'.repeat(9_000)}
        ${leaving}
        const asked = gate()
        test('never ends', async () => { leaves(521); await never() }, 50)
        test('calls back twice', (done) => { done(); leaves(522); try { done() } catch {} })
        test('goes on after its file', async () => {
          note('file', custody.namespace.id)
          while (!fs.existsSync('second-file')) await soon()
          leaves(523)
          const call = (name, run) => Promise.resolve().then(run).then(() => 'done', ({ code }) => code).then((code) => note('late ' + name, code))
          await call('start', () => custody.start({ name: 'late', command: ['sleep', '524'] }))
          await call('exec', () => custody.exec('sleep', ['524']))
          await call('shared', () => custody.shared({ name: 'late', scope: 'file', command: ['sleep', '524'] }))
          await call('namespace', () => custody.namespace.id)
          await call('openNamespace', () => custody.openNamespace('late'))
          await call('allow', () => custody.allow({ argv: ['sleep', '**'], reason: 'too late', until: 'forever' }))
          await call('inScope', () => custody.inScope('run', () => leaves(524)))
          await call('configure', () => custody.configure({ leaks: 'off' }))
          await call('runtimes', () => custody.runtimes())
          fs.writeFileSync('all-called', '')
        }, 50)
        test('comes after them', () => {})`,
      b: `
        test('is in the next file', async () => {
          fs.writeFileSync('second-file', '')
          while (!fs.existsSync('all-called')) await new Promise((resolve) => setTimeout(resolve, 5))
        })`,
    },
  }))

  test('holds up no other test, and is red by itself', () => {
    expect(outcomesOf(suite()), suite().output).toEqual(
      expect.arrayContaining([
        ['never ends', 'failed'],
        ['calls back twice', 'failed'],
        ['goes on after its file', 'failed'],
        ['comes after them', 'passed'],
        ['is in the next file', 'passed'],
      ]),
    )
    expect(suite().test('calls back twice').messages).toMatch(/called multiple times/)
  })

  test('and starts something when its file has ended makes the run red, by name and line', () => {
    const { exitCode, notes, output, placeOf } = suite()
    expect(exitCode).toBe(1)
    const [, told] = output.split('Ran all test suites')
    expect(toldIn(told as string), output).toEqual([523])
    expect(told).toContain('started by a.check.cjs › goes on after its file')
    expect(told).toContain(placeOf('leaves(523)'))
    expect([521, 522, 523].map((seconds) => notes[seconds]).filter(hasProgram)).toEqual([])
  })

  const calls = ['start', 'exec', 'shared', 'namespace', 'openNamespace', 'allow', 'inScope', 'configure', 'runtimes']
  test.each(calls)('is refused custody.%s when its test has ended', (name) => {
    expect(suite().notes[`late ${name}`], suite().output).toBe('CUSTODY_SCOPE_ENDED')
  })

  test('starts nothing by what it is refused', () => {
    expect(startedIn(suite()), suite().output).toEqual([521, 522, 523])
  })
})

describe.runIf(isJest).each([
  ['fail', 'never', 1],
  ['fail', 'always', 1],
  ['warn', 'never', 0],
] as const)('with leaks: %j and keep: %j, code of a test that goes on in the process of Jest', (leaks, keep, code) => {
  const suite = shareSuite('jest', () => ({
    args: ['-i'],
    options: { ...options, keep, leaks },
    files: {
      lasting: `
        ${leaving}
        const registry = path.join(path.dirname(path.dirname(custody.namespace.dir)), 'registry')
        note('registry', fs.existsSync(registry))
        test('does not wait for its code', () => {
          const goOn = async () => {
            while (fs.existsSync(registry)) await soon()
            leaves(531)
            await ends(leaves(532))
            note('late call', await custody.exec('true').catch(({ code }) => code))
          }
          void goOn()
        })`,
    },
  }))

  test('and starts something when the run has ended is told, and that ends with the process', () => {
    const { exitCode, notes, output, signal } = suite()
    expect(notes['registry'], output).toBe(true)
    expect([exitCode, signal], output).toEqual([code, undefined])
    expect(statusesOf(suite())).toEqual({ 'does not wait for its code': 'passed' })
    const told = `does not wait for its code left pid ${notes['531']}, which it started when the run had ended: sleep 531`
    expect(output).toContain(`custody  warning: lasting.check.cjs › ${told}`)
    expect(output).not.toContain('sleep 532')
    expect(notes['late call']).toBe('CUSTODY_SCOPE_ENDED')
    expect([531, 532].map((seconds) => notes[seconds]).filter(hasProgram)).toEqual([])
  })
})

describe.runIf(isJest)('with a shorter limit for a whole teardown than for an exit, a runtime in Jest', () => {
  const suite = shareSuite('jest', () => ({
    args: ['-i'],
    options: { timeouts: { proofMs: 100_000, graceMs: 100_000, teardownMs: 700, exitMs: 100 } },
    files: {
      deaf: `
        test('has one that does not end', async () => { await leave('hanging-in-its-drain') })
        test('has one that does not answer', async () => { await leave('ignoring-the-shutdown') })
        afterAll(async () => { await leave('hanging-in-its-drain', path.join(custody.namespace.dir, 'of-file.json')) })
        test('comes after them', () => {})`,
      next: `test('is in the next file', () => {})`,
    },
  }))

  test.each([
    ['does not end', 'has one that does not end', 'is still alive after'],
    ['does not answer', 'has one that does not answer', 'did not answer the shutdown within'],
    ['does not end with its file', 'leaves no process behind', 'is still alive after'],
  ])('that %s is red, and told with the limit that has passed', (_, title, observed) => {
    const { messages, status } = suite().test(title)
    expect(status, suite().output).toBe('failed')
    expect(messages).toContain(observed)
    expect(messages).toContain('raise timeouts.teardownMs')
    expect(messages).not.toContain('graceMs')
  })

  test('holds up neither the next test nor the next file, and ends with the run', () => {
    expect(statusesOf(suite()), suite().output).toMatchObject({ 'comes after them': 'passed', 'is in the next file': 'passed' })
    const left = leftOf(suite().receipts)
    expect(left).toHaveLength(3)
    expect(left.filter(({ pid }) => hasProgram(pid))).toEqual([])
  })
})
