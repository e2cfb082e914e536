import { describe, expect, test } from 'vitest'
import type { Receipt } from '../retire/receipt.js'
import type { RunEvent } from './events.js'
import { formatSummary, summarize } from './summary.js'

const evidence = { path: '/tmp/copy.json' } as Receipt['evidence']

function receipt(changes: Partial<Receipt> = {}): RunEvent {
  const whole: Receipt = {
    ...{ version: 1, name: 'db', identity: null, scope: 'aa', verdict: 'owned', reason: 'it was born here', evidence },
    ...{ steps: [], signals: [], forced: false, exit: 'observed', left: [] },
    ...changes,
  }
  return { type: 'receipt', receipt: whole, instance: null }
}

const started = { evidence: null, exit: { code: 0, signal: null } } as const

describe('the counts of a run', () => {
  test('are all zero without events', () => {
    const { level, ...counts } = summarize([])
    expect(level).toBeNull()
    expect(new Set(Object.values(counts))).toEqual(new Set([0]))
  })

  test('count each verdict', () => {
    const verdicts = ['owned', 'foreign', 'unproven', 'unreachable', 'gone', 'invalid'] as const
    const events = verdicts.flatMap((verdict, at) =>
      Array.from({ length: at + 1 }, () => receipt({ verdict, exit: 'not observed' })),
    )
    expect(summarize(events)).toEqual({
      ...{ runtimes: 21, started: 0, owned: 1, foreign: 2, unproven: 3, unreachable: 4, gone: 5, invalid: 6 },
      ...{ retired: 0, exitsObserved: 0, forced: 0, leaked: 0, level: null },
    })
  })

  test('count as retired what was owned and has exited, observed or with a status', () => {
    const events = [receipt(), receipt(started), receipt({ exit: 'not observed' }), receipt({ verdict: 'gone' })]
    expect(summarize(events)).toMatchObject({ runtimes: 4, started: 1, owned: 3, retired: 2, exitsObserved: 3 })
  })

  test('count what had to be forced', () => expect(summarize([receipt({ ...started, forced: true }), receipt()]).forced).toBe(1))
})

describe('what is printed at the end', () => {
  test('is nothing when nothing was started', () => expect(formatSummary([])).toBe(''))

  test('is one line when all is well', () => {
    expect(formatSummary([receipt(started)])).toBe('custody  1 runtime, 1 owned, 1 retired, 1 exit observed')
    expect(formatSummary([receipt(), receipt()])).toBe('custody  2 runtimes, 2 owned, 2 retired, 2 exits observed')
  })

  test('names the other verdicts, and what was forced, only where there were any', () => {
    const events = [receipt({ ...started, forced: true }), receipt({ verdict: 'unproven', exit: 'not observed' })]
    expect(formatSummary(events)).toBe('custody  2 runtimes, 1 owned, 1 retired, 1 exit observed, 1 forced, 1 unproven')
  })

  test('says what was left alone, by which locator, and why', () => {
    const [, line] = formatSummary([receipt({ verdict: 'foreign', reason: 'it was there before this run' })]).split('\n')
    expect(line).toBe('custody  left alone: "db" by /tmp/copy.json: it was there before this run')
  })

  test('says what warns, and what was kept', () => {
    const events: RunEvent[] = [
      { type: 'kept', path: '/tmp/ns/1', by: 'a test' },
      { type: 'warning', text: 'the walk was cut short.' },
    ]
    expect(formatSummary(events)).toBe('custody  warning: the walk was cut short.\ncustody  kept /tmp/ns/1  (a test)')
  })
})
