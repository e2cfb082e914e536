import type { Receipt } from '@custody/core'
import { afterAll, expect, test } from 'vitest'
import { isAlive } from './alive.js'
import { describeRunners, leftOf, shareSuite } from './run-suite.js'

const GRACE_MS = 700
/** What the event loop of a busy machine may add to a limit, in milliseconds. */
const SLACK_MS = 1_000

describeRunners('with little time, a daemon that', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { timeouts: { proofMs: 500, graceMs: GRACE_MS } },
    files: {
      first: `
        test('ignores the shutdown', async () => { await leave('ignoring-the-shutdown') })
        test('hangs in its drain', async () => { await leave('hanging-in-its-drain') })
        test('answers garbage', async () => { await leave('answering-garbage') })
        failing('is expected to fail', async () => { await leave('hanging-in-its-drain', path.join(custody.namespace.dir, 'expected.json')); throw new Error('expected') })
        test('follows them', () => expect(1 + 1).toBe(2))`,
      second: `test('is in the next file', () => expect(1 + 1).toBe(2))`,
    },
  }))
  afterAll(() => suite().release(leftOf(suite().receipts)))

  test('does not answer the shutdown makes its test red, and is told by name, pid, time and line', () => {
    const { placeOf, receiptsOf, test } = suite()
    const [receipt] = receiptsOf('ignoring-the-shutdown')
    const { messages, status } = test('ignores the shutdown')
    expect(status).toBe('failed')
    expect(messages).toContain(
      `Could not retire runtime "ignoring-the-shutdown" (pid ${receipt?.identity?.pid}): it did not answer`,
    )
    expectInTime(/did not answer the shutdown within ([\d ]+) ms/.exec(messages))
    expect(messages).toContain('Hint: see what holds its drain, or raise timeouts.graceMs. What was born here ends with the run.')
    expect(messages).toContain(placeOf("await leave('ignoring-the-shutdown')"))
    expect(receipt).toMatchObject({ verdict: 'owned', exit: 'not observed', signals: [], forced: false })
    expect(stepsOf(receipt)).toEqual(['captured', 'proven', 'shutdown requested'])
  })

  test('hangs in its drain makes its test red, and is told by name, pid, time and line', () => {
    const { placeOf, receiptsOf, test } = suite()
    const [receipt] = receiptsOf('hanging-in-its-drain')
    const { messages, status } = test('hangs in its drain')
    expect(status).toBe('failed')
    expect(messages).toContain(
      `Could not retire runtime "hanging-in-its-drain" (pid ${receipt?.identity?.pid}): it accepted the shutdown`,
    )
    expectInTime(/is still alive after ([\d ]+) ms/.exec(messages))
    expect(messages).toContain('Hint: see what holds its drain, or raise timeouts.graceMs. What was born here ends with the run.')
    expect(messages).toContain(placeOf("test('hangs in its drain'"))
    expect(receipt).toMatchObject({ verdict: 'owned', exit: 'not observed', signals: [], forced: false })
    expect(stepsOf(receipt)).toEqual(['captured', 'proven', 'shutdown requested', 'accepted', 'draining'])
  })

  test('answers garbage is unproven and makes its test red', () => {
    const { placeOf, receiptsOf, test } = suite()
    const [receipt] = receiptsOf('answering-garbage')
    const { messages, status } = test('answers garbage')
    expect(status).toBe('failed')
    expect(messages).toContain(`Could not retire runtime "answering-garbage" (pid ${receipt?.identity?.pid})`)
    expect(messages).toContain('what listens there does not know its token, and its process is alive')
    expect(messages).toContain('By this locator it is left alone')
    expect(messages).toContain(placeOf("await leave('answering-garbage')"))
    expect(receipt).toMatchObject({ verdict: 'unproven', exit: 'not observed', signals: [] })
    expect(stepsOf(receipt)).toEqual(['captured'])
  })

  test('cannot be retired makes a test red that is expected to fail', () => {
    const { messages, status } = suite().test('is expected to fail')
    expect(status).toBe('failed')
    expect(messages).toContain('Could not retire runtime "hanging-in-its-drain"')
    expect(messages).not.toContain('Error: expected')
  })

  test('cannot be retired ends with the run, and holds up neither the next test nor the next file', () => {
    const { exitCode, receipts, test } = suite()
    expect(exitCode).toBe(1)
    expect(test('follows them').status).toBe('passed')
    expect(test('is in the next file').status).toBe('passed')
    expect(leftOf(receipts).map(isAlive)).toEqual([false, false, false, false])
  })
})

describeRunners('with the limits as they are, a daemon that', (runner) => {
  const suite = shareSuite(runner, () => ({
    files: {
      slow: `
        test('needs three seconds', async () => { await leave('needing-three-seconds') })
        test('leaves its locator', async () => { await leave('leaving-its-locator') })`,
    },
  }))

  test('needs three seconds is waited for, and its test is green', () => {
    const [receipt] = suite().receiptsOf('needing-three-seconds')
    expect(suite().test('needs three seconds').status).toBe('passed')
    expect(receipt).toMatchObject({ verdict: 'owned', exit: 'observed', left: [] })
    expect(stepsOf(receipt)).toEqual(
      expect.arrayContaining(['accepted', 'draining', 'drained', 'exit observed', 'locator removed']),
    )
    expect(momentOf(receipt, 'exit observed') - momentOf(receipt, 'accepted')).toBeGreaterThan(2_900)
  })

  test('leaves its locator behind is green, and the receipt says so', () => {
    const [receipt] = suite().receiptsOf('leaving-its-locator')
    expect(suite().test('leaves its locator').status).toBe('passed')
    expect(receipt).toMatchObject({ verdict: 'owned', exit: 'observed', left: [] })
    expect(stepsOf(receipt).slice(-2)).toEqual(['exit observed', 'locator left behind'])
    expect(suite().exitCode, suite().output).toBe(0)
  })
})

/** Whether the milliseconds that a message states are the time of grace, and no more. */
function expectInTime(stated: RegExpExecArray | null): void {
  const afterMs = Number(stated?.[1]?.replaceAll(' ', ''))
  expect(afterMs).toBeGreaterThanOrEqual(GRACE_MS - 1)
  expect(afterMs).toBeLessThan(GRACE_MS + SLACK_MS)
}

function stepsOf(receipt: Receipt | undefined): string[] {
  return (receipt?.steps ?? []).map(({ step }) => step)
}

function momentOf(receipt: Receipt | undefined, step: string): number {
  return receipt?.steps.find((each) => each.step === step)?.atMs ?? Number.NaN
}
