import { describe, expect, test } from 'vitest'
import { aliveOf } from './alive.js'
import { majorOf, runners, shareSuite, statusesOf } from './run-suite.js'
import { leaving, outcomesOf, startedIn, toldIn, warningsOf } from './told-leaks.js'

const isJest = runners.includes('jest')
const options = { timeouts: { exitMs: 100 } }

const overlapping = `
  ${leaving}
  const [first, second] = [gate(), gate()]
  test.concurrent('leaks while another runs', async () => {
    note('one', custody.namespace.id)
    first.open()
    await second.opened
    leaves(501)
    note('one again', custody.namespace.id)
  })
  test.concurrent('leaks while one runs', async () => { await first.opened; leaves(502); note('another', custody.namespace.id); second.open() })
  test.concurrent('is clean while both run', async () => { await second.opened; await ends(leaves(503)) })
  test.concurrent.each([[504], [null], [505]])('leaks in a row (%s)', async (seconds) => { await second.opened; if (seconds) leaves(seconds) })`

/** All that need not overlap. */
const kinds = `
  ${leaving}
  test.concurrent.failing('is expected to fail, and leaks', async () => { await soon(); leaves(511); throw new Error('expected') })
  test.concurrent.failing('is expected to fail', async () => { await ends(leaves(512)); throw new Error('expected') })
  test.concurrent.skip('is skipped', async () => { leaves(513) })
  test.concurrent('fails by itself', async () => { leaves(514); throw new Error('on purpose') })
  const overdue = gate()
  test.concurrent('times out', async () => { leaves(515); await overdue.opened }, 100)
  // On Jest 29 it holds its place until its body ends.
  test('is after the one that times out', () => overdue.open())
  describe('block', () => {
    let child
    beforeAll(() => { leaves(516) })
    beforeEach(() => { child = leaves(517) })
    afterEach(() => ends(child))
    test('is no concurrent one, and leaks', () => { leaves(518) })
    test('is no concurrent one', () => soon())
    test.concurrent('is concurrent in a block', async () => { await soon(); leaves(519) })
    test.concurrent('is concurrent in a block, and leaks nothing', async () => { await soon(); await ends(leaves(520)) })
  })
  test('is the last, and leaks', () => { leaves(521) })`

const chosen = `
  ${leaving}
  test.concurrent('is not chosen', async () => { leaves(531) })
  test('is not chosen either', () => { leaves(532) })
  test.concurrent.only('is chosen', async () => { await soon(); leaves(533) })
  test.concurrent.only.each([[534], [null]])('is chosen with %s', async (seconds) => { await soon(); if (seconds) leaves(seconds) })`

describe.runIf(isJest).each(['1', '5'])('concurrent tests of Jest, of which %s may run at once,', (most) => {
  const suite = shareSuite('jest', () => ({
    options,
    args: [`--maxConcurrency=${most}`],
    // Of tests that wait for each other two have to run at once.
    files: { kinds, chosen, ...(most !== '1' && { overlapping }) },
  }))
  const outcomes = () => Object.fromEntries(outcomesOf(suite()).map(([title, ...rest]) => [title, rest]))

  test('are red for their own, and so are those that are not concurrent beside them', () => {
    expect(outcomes(), suite().output).toMatchObject({
      'is expected to fail, and leaks': ['failed', 511],
      'is expected to fail': ['passed'],
      'is skipped': ['pending'],
      'fails by itself': ['failed'],
      'times out': ['failed'],
      'is no concurrent one, and leaks': ['failed', 518],
      'is no concurrent one': ['passed'],
      'is concurrent in a block': ['failed', 519],
      'is concurrent in a block, and leaks nothing': ['passed'],
      'is the last, and leaks': ['failed', 521],
      'leaves no process behind': ['failed', 516],
    })
    expect(warningsOf(suite())).toEqual(['fails by itself: 514', 'times out: 515'])
  })

  test('may be chosen', () => {
    expect(outcomes(), suite().output).toMatchObject({
      'is not chosen': ['pending'],
      'is not chosen either': ['pending'],
      'is chosen': ['failed', 533],
      'is chosen with 534': ['failed', 534],
      'is chosen with null': ['passed'],
    })
  })

  test.runIf(most !== '1')('are red for their own while they overlap, with a namespace each', () => {
    const { notes, output } = suite()
    expect(outcomes(), output).toMatchObject({
      'leaks while another runs': ['failed', 501],
      'leaks while one runs': ['failed', 502],
      'is clean while both run': ['passed'],
      'leaks in a row (504)': ['failed', 504],
      'leaks in a row (null)': ['passed'],
      'leaks in a row (505)': ['failed', 505],
    })
    expect(notes['one again']).toBe(notes['one'])
    expect(notes['another']).not.toBe(notes['one'])
  })

  test('leave nothing', () => {
    const { output } = suite()
    expect(
      startedIn(suite()).filter((seconds) => [513, 531, 532].includes(seconds)),
      output,
    ).toEqual([])
    expect(aliveOf(suite())).toEqual([])
  })
})

// On Jest 29 the bodies run all the same, and their tests have ended before them; Jest 30 does not begin them.
const isRunAnyhow = isJest && majorOf('jest') < 30
describe.runIf(isJest).each([
  ['in the process of Jest', ['-i']],
  ['in workers', ['-w=2']],
] as const)('a concurrent test of Jest whose beforeAll has failed, %s,', (_, args) => {
  const suite = shareSuite('jest', () => ({
    options,
    args,
    files: {
      failing: `
        ${leaving}
        const ended = gate()
        beforeAll(() => { throw new Error('beforeAll on purpose') })
        test.concurrent('is not waited for', async () => {
          leaves(541)
          await ended.opened
          leaves(542)
          note('late call', await custody.exec('true').then(() => 'ran', ({ code }) => code))
        })
        // Its end is that of both of them.
        test('comes after it', () => {})
        afterAll(async () => {
          ended.open()
          while (${isRunAnyhow} && !fs.readFileSync('notes.jsonl', 'utf8').includes('late call')) await soon()
        })`,
      other: `test('is in another file', () => {})`,
    },
  }))

  test('hangs nothing, and what its body starts is told as late and ended', () => {
    const { exitCode, notes, output } = suite()
    expect(exitCode).toBe(1)
    expect(output).toContain('beforeAll on purpose')
    expect(statusesOf(suite()), output).toMatchObject({ 'is not waited for': 'failed', 'is in another file': 'passed' })
    expect(startedIn(suite())).toEqual(isRunAnyhow ? [541, 542] : [])
    if (!isRunAnyhow) return
    expect(aliveOf(suite())).toEqual([])
    expect(notes['late call']).toBe('CUSTODY_SCOPE_ENDED')
    const late = suite().test('leaves no process behind').messages
    expect(toldIn(late), output).toEqual([542])
    expect(late).toMatch(/code of a test started after its end[\s\S]*started by failing\.check\.cjs › is not waited for/)
    expect(warningsOf(suite())).toEqual(['is not waited for: 541'])
  })
})
