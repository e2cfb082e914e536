import { describe, expect, test } from 'vitest'
import { aliveOf, hasProgram } from './alive.js'
import { runners, type SuiteResult, shareSuite } from './run-suite.js'

const isVitest = runners.includes('vitest')
/** For the inside of a test file: `leaves` starts what is told by its seconds, `starts` what ends with its scope. */
const header = `
  const leaves = (seconds) => {
    const child = spawn('sleep', [String(seconds)], { stdio: 'ignore' })
    note(String(seconds), child.pid)
    return child
  }
  const starts = (seconds) => custody.start({ name: 'of-' + seconds, command: ['sleep', String(seconds)] })
  const ends = (child) => new Promise((resolve) => { child.once('exit', resolve); child.kill() })`

const everything = `
  ${header}
  test('is green', () => {})
  test('leaks', () => { leaves(401) })
  test('starts one', () => starts(402))
  describe('whose hooks start and stop', () => {
    let child
    beforeEach(() => { child = leaves(403) })
    beforeEach(async () => { await starts(404) })
    afterEach(() => ends(child))
    afterEach(() => starts(405))
    test('is left clean by its hooks', () => {})
  })
  describe('whose afterEach leaves', () => {
    afterEach(() => { leaves(406) })
    test('has one left by its afterEach', () => {})
  })
  describe('whose afterEach fails', () => {
    afterEach(() => { leaves(407); throw new Error('afterEach on purpose') })
    test('has a failing afterEach', () => starts(408))
  })
  describe('whose beforeEach fails', () => {
    beforeEach(() => { leaves(409); throw new Error('beforeEach on purpose') })
    test('has a failing beforeEach', () => { leaves(410) })
  })
  describe('whose beforeAll fails', () => {
    beforeAll(async () => { await starts(411); leaves(412); throw new Error('beforeAll on purpose') })
    test('is never run', () => { leaves(413) })
  })
  describe('whose afterAll fails', () => {
    afterAll(() => { leaves(414); throw new Error('afterAll on purpose') })
    test('is before a failing afterAll', () => starts(415))
  })
  const broken = test.extend({
    early: async ({}, use) => { leaves(416); throw new Error('fixture on purpose') },
    late: async ({}, use) => { await use(await starts(417)); leaves(418); throw new Error('its end on purpose') },
  })
  broken('has a failing fixture', ({ early }) => {})
  broken('has a fixture whose end fails', ({ late }) => {})
  test('skips itself', (context) => { leaves(419); context.skip() })
  test('skips itself and has left nothing', async (context) => { await starts(420); context.skip() })
  test.fails('is expected to fail, and leaks', () => { leaves(421); throw new Error('expected') })
  test.fails('is expected to fail', async () => { await starts(422); throw new Error('expected') })
  test.todo('is yet to be written')
  describe.skip('that is skipped', () => {
    beforeAll(() => { leaves(423) })
    test('is not run', () => { leaves(424) })
  })
  let tries = 0
  test('is repeated and tried again', { retry: 1, repeats: 1 }, async () => {
    note('try ' + ++tries, (await starts(425)).pid)
    if (tries % 2 === 1) throw new Error('tried again on purpose')
  })
  let leakingTries = 0
  test('is repeated and tried again, and leaks once', { retry: 1, repeats: 1 }, () => {
    if (++leakingTries === 2) leaves(426)
    if (leakingTries % 2 === 1) throw new Error('tried again on purpose')
  })`

/** Each test with its status and what its errors say was left, by its seconds: a test that has failed by itself says nothing of that. */
const expected = {
  'is green': ['passed'],
  leaks: ['failed', 401],
  'starts one': ['passed'],
  'is left clean by its hooks': ['passed'],
  'has one left by its afterEach': ['failed', 406],
  'has a failing afterEach': ['failed'],
  'has a failing beforeEach': ['failed'],
  'is never run': ['skipped'],
  'is before a failing afterAll': ['passed'],
  'has a failing fixture': ['failed'],
  'has a fixture whose end fails': ['failed'],
  'skips itself': ['skipped'],
  'skips itself and has left nothing': ['skipped'],
  'is expected to fail, and leaks': ['failed', 421],
  'is expected to fail': ['passed'],
  'is yet to be written': ['todo'],
  'is not run': ['skipped'],
  'is repeated and tried again': ['passed'],
  'is repeated and tried again, and leaks once': ['failed', 426],
}

describe.runIf(isVitest).concurrent.each([
  ['as a stack', ['--sequence.hooks=stack']],
  ['as a list', ['--sequence.hooks=list']],
  ['side by side', ['--sequence.hooks=parallel']],
  ['as a stack, and tests concurrently and in any order', ['--sequence.concurrent', '--sequence.shuffle']],
] as const)('when Vitest runs hooks %s', (_, args) => {
  const suite = shareSuite('vitest', () => ({ args, options: { timeouts: { exitMs: 100 } }, files: { everything } }))

  test('each test is red for its own, and no other is', () => {
    expect(outcomesOf(suite()), suite().output).toEqual(expected)
  })

  test('what skipped tests leave is told by their file, and of its hooks that have failed nothing more is said', () => {
    expect(suite().exitCode).toBe(1)
    const errors = suite()
      .output.split(' FAIL ')
      .filter((text) => text.trimStart().startsWith('everything.check.mjs ['))
    expect(toldIn(errors.join('')), suite().output).toEqual([419])
  })

  test('what is left by tests and hooks that have failed anyhow is told at the end of the run', () => {
    const warnings = suite()
      .output.split('\n')
      .filter((line) => line.startsWith('custody  warning: '))
    const left = warnings.map((line) => /: (?:.* > )?(.+) left pid \d+: sleep (\d+)$/.exec(line)?.slice(1).join(': '))
    expect(left.sort(), suite().output).toEqual([
      ...['everything.check.mjs: 412', 'everything.check.mjs: 414'],
      ...['has a failing afterEach: 407', 'has a failing beforeEach: 409'],
      ...['has a failing fixture: 416', 'has a fixture whose end fails: 418'],
    ])
  })

  test('nothing outlives the run, and nothing more was started', () => {
    const { notes, output } = suite()
    const left = Object.keys(notes).filter((name) => /^4\d\d$/.test(name))
    expect(left.map(Number).sort(), output).toEqual([401, 403, 406, 407, 409, 412, 414, 416, 418, 419, 421, 426])
    expect(aliveOf(suite())).toEqual([])
    const tries = ['try 1', 'try 2', 'try 3', 'try 4'].map((name) => notes[name])
    expect(new Set(tries).size, output).toBe(tries.length)
  })
})

describe.runIf(isVitest)('a setup file of Vitest that fails', () => {
  const suite = shareSuite('vitest', () => ({
    config: `
      import { custodyPlugin } from '@custody/vitest/plugin'
      const options = { report: { json: 'custody.json' }, timeouts: { exitMs: 100 } }
      export default { plugins: [custodyPlugin(options)], test: { include: ['*.check.mjs'], testTimeout: 30_000, setupFiles: ['./setup.mjs'] } }`,
    extras: {
      'setup.mjs': `
        import { spawn } from 'node:child_process'
        import fs from 'node:fs'
        import { custody } from '@custody/vitest'
        const note = (name, pid) => fs.appendFileSync('notes.jsonl', JSON.stringify([name, pid]) + '\\n')
        note('started', (await custody.start({ name: 'api', command: ['sleep', '401'] })).pid)
        note('left', spawn('sleep', ['402'], { stdio: 'ignore' }).pid)
        throw new Error('on purpose')`,
    },
    files: { page: `test('is not run', () => {})` },
  }))

  test('makes its file red by its own error alone, and leaves nothing', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode).toBe(1)
    expect(output).toContain('Error: on purpose')
    expect(output).not.toContain('is still alive')
    expect(output).toContain(`page.check.mjs left pid ${notes['left']}: sleep 402`)
    expect(['started', 'left'].filter((name) => notes[name] === undefined || hasProgram(notes[name]))).toEqual([])
  })
})

function outcomesOf({ tests }: SuiteResult): Record<string, unknown> {
  return Object.fromEntries(tests.map(({ messages, status, title }) => [title, [status, ...toldIn(messages)]]))
}

/** The seconds of all that is told as left. */
function toldIn(text: string): number[] {
  const told = [...text.matchAll(/pid \d+ {2}sleep (\d+) /g)].map(([, seconds]) => Number(seconds))
  return [...new Set(told)].sort()
}
