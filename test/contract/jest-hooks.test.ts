import { describe, expect, test } from 'vitest'
import { aliveOf } from './alive.js'
import { runners, shareSuite } from './run-suite.js'
import { leaving, outcomesOf, startedIn, warningsOf } from './told-leaks.js'

const options = { timeouts: { exitMs: 100 } }
const fail = (name: string) => `throw new Error('${name} on purpose')`

const each = `
  ${leaving}
  describe('beforeEach', () => {
    describe('leaves', () => {
      beforeEach(() => { leaves(501) })
      test('has one left by its beforeEach', () => {})
    })
    describe('fails', () => {
      beforeEach((done) => { leaves(502); done(new Error('beforeEach on purpose')) })
      afterEach(() => { leaves(503) })
      test('has a failing beforeEach', () => { leaves(504) })
    })
    describe('times out', () => {
      beforeEach(() => { leaves(505); return never() }, 50)
      test('has a beforeEach that never ends', () => { leaves(506) })
    })
  })
  describe('afterEach', () => {
    describe('leaves', () => {
      afterEach((done) => { setTimeout(() => { leaves(507); done() }, 1) })
      test('has one left by its afterEach', () => {})
    })
    describe('fails', () => {
      afterEach(() => { leaves(508); ${fail('afterEach')} })
      test('has a failing afterEach', () => { leaves(509) })
    })
    describe('times out', () => {
      afterEach(() => { leaves(510); return never() }, 50)
      test('has an afterEach that never ends', () => { leaves(511) })
    })
  })
  describe('whose hooks are generators', () => {
    let child
    beforeEach(function* () { yield soon(); child = leaves(512); yield soon() })
    afterEach(function* () { yield ends(child); leaves(513) })
    test('has hooks that are generators', () => {})
  })
  describe('whose hooks start and stop', () => {
    let child
    beforeEach(() => { child = leaves(514) })
    afterEach(() => ends(child))
    test('is left clean by its hooks', () => {})
  })
  test('comes after them', () => {})`

/** Each hook for all in a file of its own: of several the first that fails would speak for all. */
const all = {
  'before-leaves': `describe('block', () => { beforeAll((done) => { leaves(521); done() }); test('after a leaking beforeAll', () => {}) })`,
  'before-fails': `
    describe('block', () => { beforeAll(() => { leaves(522); ${fail('beforeAll')} }); test('after a failing beforeAll', () => { leaves(523) }) })
    test('beside a failing beforeAll', () => { leaves(524) })`,
  'before-times-out': `beforeAll(() => { leaves(525); return never() }, 50); test('after a beforeAll that never ends', () => { leaves(526) })`,
  'after-leaves': `afterAll(function* () { yield soon(); leaves(527) }); test('before a leaking afterAll', () => {})`,
  'after-fails': `afterAll(() => { leaves(528); ${fail('afterAll')} }); test('before a failing afterAll', () => { leaves(529) })`,
  'after-times-out': `afterAll(() => { leaves(530); return never() }, 50); test('before an afterAll that never ends', () => {})`,
}

describe.runIf(runners.includes('jest'))('hooks of Jest that leave something', () => {
  const files = Object.fromEntries(Object.entries(all).map(([name, body]) => [name, `${leaving}\n${body}`]))
  const suite = shareSuite('jest', () => ({ options, files: { each, ...files } }))
  const outcomes = () => Object.fromEntries(outcomesOf(suite()).map(([title, ...rest]) => [title, rest]))

  test('make their tests red, which say nothing more where a hook has failed', () => {
    expect(outcomes(), suite().output).toMatchObject({
      'has one left by its beforeEach': ['failed', 501],
      'has a failing beforeEach': ['failed'],
      'has a beforeEach that never ends': ['failed'],
      'has one left by its afterEach': ['failed', 507],
      'has a failing afterEach': ['failed'],
      'has an afterEach that never ends': ['failed'],
      'has hooks that are generators': ['failed', 513],
      'is left clean by its hooks': ['passed'],
      'comes after them': ['passed'],
    })
  })

  test('make their files red once, by a result of its own, and the tests in them stay as they are', () => {
    expect(outcomes(), suite().output).toMatchObject({
      'after a leaking beforeAll': ['passed'],
      'after a failing beforeAll': ['failed'],
      'beside a failing beforeAll': ['failed', 524],
      'after a beforeAll that never ends': ['failed'],
      'before a leaking afterAll': ['passed'],
      'before a failing afterAll': ['failed', 529],
      'before an afterAll that never ends': ['passed'],
    })
    const files = outcomesOf(suite()).filter(([title]) => title === 'leaves no process behind')
    expect(files.sort()).toEqual([
      ['leaves no process behind', 'failed', 521],
      ['leaves no process behind', 'failed', 527],
    ])
  })

  test.each([
    ...['beforeEach on purpose', 'afterEach on purpose', 'beforeAll on purpose', 'afterAll on purpose'],
    'Exceeded timeout of 50 ms for a hook',
  ])('still have their own errors told: %s', (error) => expect(suite().output).toContain(error))

  test('and have failed, have a line at the end of the run', () => {
    expect(warningsOf(suite()), suite().output).toEqual([
      ...['after-fails.check.cjs: 528', 'after-times-out.check.cjs: 530'],
      ...['before-fails.check.cjs: 522', 'before-times-out.check.cjs: 525'],
      ...['has a beforeEach that never ends: 505', 'has a failing afterEach: 508', 'has a failing afterEach: 509'],
      ...['has a failing beforeEach: 502', 'has a failing beforeEach: 503'],
      ...['has an afterEach that never ends: 510', 'has an afterEach that never ends: 511'],
    ])
  })

  test('leave nothing, and nothing ran that Jest does not run', () => {
    const { output } = suite()
    expect(startedIn(suite()), output).toEqual([
      ...[501, 502, 503, 505, 507, 508, 509, 510, 511, 512, 513, 514],
      ...[521, 522, 524, 525, 527, 528, 529, 530],
    ])
    expect(aliveOf(suite())).toEqual([])
  })
})

describe.runIf(runners.includes('jest'))('a test of Jest that leaks and fails by what is no plain error', () => {
  const thrown = {
    null: 'null',
    undefined: 'undefined',
    'a text': `'a text'`,
    'a number': '0',
    'a symbol': `Symbol('of its own')`,
    'a list': `[new Error('in a list'), 1]`,
    'a function': '() => {}',
    'an object of no class': 'Object.create(null)',
    'an object whose message is no text': '{ message: Object.create(null) }',
    'a frozen error': `Object.freeze(new Error('frozen'))`,
    'an aggregate of errors': `new AggregateError([new Error('one of them'), null], 'together')`,
    'an assertion': `new (require('node:assert').AssertionError)({ actual: 1, expected: 2, operator: 'strictEqual' })`,
  }
  const suite = shareSuite('jest', () => ({
    options,
    files: {
      thrown: `
        ${leaving}
        ${Object.entries(thrown)
          .map(
            ([name, value], at) => `test('rejects with ${name}', () => { leaves(${541 + at}); return Promise.reject(${value}) })`,
          )
          .join('\n')}
        describe('around', () => {
          afterEach(() => Promise.reject(null))
          test('has a finalizer that rejects with null', () => { leaves(561) })
        })
        test('is green beside them', () => {})`,
    },
  }))

  test.each(Object.keys(thrown))('is red for %s alone, and no other is', (name) => {
    const at = Object.keys(thrown).indexOf(name)
    const result = outcomesOf(suite()).find(([title]) => title === `rejects with ${name}`)
    expect(result, suite().output).toEqual([`rejects with ${name}`, 'failed'])
    expect(warningsOf(suite())).toContain(`rejects with ${name}: ${541 + at}`)
  })

  test('is red for what its finalizer rejects with', () => {
    expect(suite().test('has a finalizer that rejects with null').status, suite().output).toBe('failed')
    expect(warningsOf(suite())).toContain('has a finalizer that rejects with null: 561')
  })

  test('costs no other test, and leaves nothing', () => {
    expect(suite().test('is green beside them').status, suite().output).toBe('passed')
    expect(aliveOf(suite())).toEqual([])
  })
})

describe.runIf(runners.includes('jest'))('a finalizer of Jest that runs after a failing beforeEach', () => {
  const suite = shareSuite('jest', () => ({
    options: { ...options, locators: ['found/*.json'] },
    files: {
      removing: `
        let found
        beforeEach(async () => {
          found = path.join(custody.namespace.dir, 'found')
          fs.mkdirSync(found)
          await leave('published-without-a-namespace', path.join(found, 'it.json'))
          throw new Error('not set up')
        })
        afterEach(() => fs.rmSync(found, { recursive: true }))
        test('has what was published removed', () => {})`,
    },
  }))

  test('may remove what was published: it is retired all the same', () => {
    expect(suite().test('has what was published removed').messages, suite().output).toContain('not set up')
    expect(suite().receipts).toMatchObject([{ verdict: 'owned', exit: 'observed', evidence: { source: 'glob' } }])
  })
})

describe.runIf(runners.includes('jest')).each([
  ['throws', `throw new Error('of the handler')`],
  ['rejects', `return Promise.reject(new Error('of the handler'))`],
])('an environment of Jest whose handler of events %s at the end of a test', (_, act) => {
  const suite = shareSuite('jest', () => ({
    options,
    config: `
      import { withCustody } from '@custody/jest/config'
      export default withCustody(
        { testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname, testEnvironment: '<rootDir>/environment.cjs' },
        ${JSON.stringify({ ...options, report: { json: 'custody.json' } })},
      )`,
    extras: { 'environment.cjs': environment(`if (name === 'test_done') { ${act} }`) },
    files: {
      handled: `${leaving}\ntest('leaks', () => { leaves(571) })\ntest('comes too late', () => { leaves(572) })`,
    },
  }))

  test('has its error told, and nothing is left', () => {
    const { exitCode, output } = suite()
    expect(exitCode).toBe(1)
    expect(output).toContain('of the handler')
    expect(startedIn(suite()), output).toEqual([571])
    expect(aliveOf(suite())).toEqual([])
  })
})

describe.runIf(runners.includes('jest'))('an environment of Jest whose handler of events is slow', () => {
  const suite = shareSuite('jest', () => ({
    config: `
      import { withCustody } from '@custody/jest/config'
      export default withCustody(
        { testMatch: ['**/*.check.cjs'], transform: {}, rootDir: import.meta.dirname, testEnvironment: '<rootDir>/environment.cjs' },
        ${JSON.stringify({ leakScope: 'test', ...options, report: { json: 'custody.json' } })},
      )`,
    extras: {
      'environment.cjs': environment(`
        // What it is told at once is not waited for.
        if (['add_hook', 'add_test', 'error'].includes(name)) return
        await new Promise((resolve) => setTimeout(resolve, 20))
        if (name === 'test_done') require('node:fs').appendFileSync('notes.jsonl', JSON.stringify(['errors of ' + test.name, test.errors.length]) + '\\n')`),
    },
    files: {
      slow: `
        ${leaving}
        let child
        beforeEach(() => { child = leaves(581) })
        afterEach(() => ends(child))
        test('is clean', () => {})
        test('leaks', () => { leaves(582) })
        test('is clean too', () => {})`,
    },
  }))

  test('is waited for, and each test is red for its own', () => {
    expect(outcomesOf(suite()), suite().output).toEqual([
      ['is clean', 'passed'],
      ['leaks', 'failed', 582],
      ['is clean too', 'passed'],
    ])
    expect(suite().notes, suite().output).toMatchObject({ 'errors of is clean': 0, 'errors of leaks': 0 })
    expect(aliveOf(suite())).toEqual([])
  })
})

function environment(body: string): string {
  return `
    const { createRequire } = require('node:module')
    const { TestEnvironment } = createRequire(require.resolve('jest/package.json'))('jest-environment-node')
    module.exports = class extends TestEnvironment {
      ${body.includes('await') ? 'async ' : ''}handleTestEvent({ name, test }) { ${body} }
    }`
}
