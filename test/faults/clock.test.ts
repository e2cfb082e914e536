import { expect, test } from 'vitest'
import { describeRunners, shareSuite, statusesOf } from '../contract/run-suite.js'
import { unshare } from '../programs/unshare.js'

/** A daemon that publishes, a started runtime, and a test between whose start and end the clock on the wall jumps. */
const body = (jump: string) => `
  test('has one of each', async () => {
    await leave('obeying')
    await custody.start({ name: 'started', command: ['sleep', '301'] })
    ${jump}
  })
  test('leaves something', () => note('left', spawn('sleep', ['302'], { stdio: 'ignore' }).pid))`

/** For the inside of a test file: the time of day is another from there on, as where somebody sets the clock, or a test fakes it. */
const jumpBy = (ms: number) => `
    const now = Date.now.bind(Date)
    Date.now = () => now() + ${ms}
    globalThis.Date = class extends Date { constructor(...args) { args.length === 0 ? super(now() + ${ms}) : super(...args) } }`

const DAY_MS = 24 * 60 * 60 * 1_000

describeRunners('a clock that', (runner) => {
  const files = { ahead: body(jumpBy(DAY_MS)), back: body(jumpBy(-DAY_MS)) }
  const jumping = shareSuite(runner, () => ({ files }))

  test('jumps by a day, ahead or back, does not change what is owned', () => {
    const { exitCode, output, receipts, receiptsOf, tests } = jumping()
    expect(exitCode, output).toBe(1)
    expect(tests.map(({ status, title }) => `${title}: ${status}`).sort()).toEqual([
      ...Array(2).fill('has one of each: passed'),
      ...Array(2).fill('leaves something: failed'),
    ])
    expect(receipts.map(({ forced, left, verdict }) => ({ forced, left, verdict }))).toEqual(
      Array(4).fill({ forced: false, left: [], verdict: 'owned' }),
    )
    for (const receipt of receiptsOf('obeying')) expect(receipt.exit).toBe('observed')
  })

  // What the kernel tells of start times is relative to this clock.
  const shifted = shareSuite(runner, () => ({
    wrapper: unshare('--time', '--boottime', '1000000', '--monotonic', '1000000', '--fork', '--kill-child'),
    files: { shifted: body('') },
  }))

  test('a time namespace shifts is the same for all of a run', () => {
    const { exitCode, output, receiptsOf } = shifted()
    expect([exitCode, statusesOf(shifted())], output).toEqual([1, { 'has one of each': 'passed', 'leaves something': 'failed' }])
    expect(receiptsOf('obeying')).toMatchObject([{ verdict: 'owned', exit: 'observed' }])
    expect(receiptsOf('started')).toMatchObject([{ exit: { code: null, signal: 'SIGTERM' }, forced: false, left: [] }])
  })

  const apart = shareSuite(runner, () => ({
    files: {
      apart: `
        const [unshare, ...flags] = ${JSON.stringify(unshare('--time', '--boottime', '1000000', '--fork', '--kill-child'))}
        test('has a daemon with another clock', async () => { await custody.exec(unshare, [...flags, 'node', ...command('obeying')]) })`,
    },
  }))

  test('only a daemon has does not make another process of it: its exit is told by the kernel, or not claimed', () => {
    const { exitCode, output, receiptsOf, summary, test } = apart()
    const isHeld = summary.level !== 0
    expect([exitCode, test('has a daemon with another clock').status], output).toEqual(isHeld ? [0, 'passed'] : [1, 'failed'])
    expect(receiptsOf('obeying')).toMatchObject([{ verdict: 'owned', exit: isHeld ? 'observed' : 'not observed' }])
  })
})
