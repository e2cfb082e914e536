import { expect, test } from 'vitest'
import { aliveOf } from '../contract/alive.js'
import { describeRunners, shareSuite } from '../contract/run-suite.js'

// One that hangs in its drain: test/contract/misbehaving.test.ts.
describeRunners('at its teardown, a daemon that', (runner) => {
  const suite = shareSuite(runner, () => ({
    options: { timeouts: { proofMs: 1_000, graceMs: 2_000, teardownMs: 5_000 } },
    files: {
      stopped: `
        test('is stopped before', async () => { const pid = await leave('obeying'); note('before', pid); process.kill(pid, 'SIGSTOP') })
        test('is stopped in its drain', async () => note('inDrain', await leave('stopping-itself-in-its-drain')))
        test('comes after them', () => {})
        // A leak of the same file, which is ended with it.
        test('leaves its connections to a child', async () => note('left', await leave('leaving-its-connections-to-a-child')))`,
    },
  }))

  test('is stopped before is told not to answer, and left alone until the end of the run', () => {
    const { messages, status } = suite().test('is stopped before')
    expect(status, suite().output).toBe('failed')
    expect(messages).toMatch(/Could not retire runtime "obeying" \(pid \d+\): nobody answers there, and its process is alive\./)
    expect(suite().receiptsOf('obeying')).toMatchObject([{ verdict: 'unreachable', exit: 'not observed', signals: [] }])
    expect(suite().output).toContain(`custody  ended with the run: pid ${suite().notes['before']}  `)
  })

  test('is stopped in its drain is told to be alive, and left alone until the end of the run', () => {
    const { messages, status } = suite().test('is stopped in its drain')
    expect(status, suite().output).toBe('failed')
    expect(messages).toMatch(
      /Could not retire runtime "stopping-itself-in-its-drain" \(pid \d+\): it accepted the shutdown and is still alive after \d+/,
    )
    expect(suite().receiptsOf('stopping-itself-in-its-drain')).toMatchObject([
      { verdict: 'owned', exit: 'not observed', signals: [] },
    ])
    expect(suite().output).toContain(`custody  ended with the run: pid ${suite().notes['inDrain']}  `)
  })

  test('leaves its connections to a child has exited all the same, and the child is a leak', () => {
    const { messages, status } = suite().test('leaves its connections to a child')
    const [receipt, ...more] = suite().receiptsOf('leaving-its-connections-to-a-child')
    expect(more).toEqual([])
    expect(receipt, suite().output).toMatchObject({ verdict: 'owned', exit: 'observed', left: [] })
    // By the kernel: its connection goes on, and says nothing.
    expect(receipt?.steps.map(({ step }) => step)).not.toContain('connection ended')
    expect([status, messages]).toEqual(['failed', expect.stringMatching(/pid \d+ {2}sleep 303 /)])
  })

  test('does so holds up nothing, and is gone in the end', () => {
    expect(suite().test('comes after them').status).toBe('passed')
    expect(aliveOf(suite())).toEqual([])
  })
})
