import { expect } from 'vitest'
import type { Outcome, Row } from './row.js'

/** More than any row may need on a busy machine, in milliseconds. One that waits without a limit never ends. */
const BOUND_MS = 120_000

/** What holds for each row, wherever it was played. */
export function expectOutcome(row: Row, { failures, leaked, receipts, removed, strangers, tookMs }: Outcome): void {
  const shown = receipts.map(({ evidence, exit, name, reason, signals, verdict }) => ({
    name,
    verdict,
    reason,
    evidence,
    exit,
    signals,
  }))
  expect(shown.sort(byName)).toEqual(
    row.expected
      .map(({ evidence, exit, name, reason, verdict }) => ({
        name,
        verdict,
        reason: expect.stringMatching(reason),
        evidence: expect.objectContaining(evidence),
        exit: exit ?? (verdict === 'gone' ? 'observed' : 'not observed'),
        signals: [],
      }))
      .sort(byName),
  )
  expect(failures).toEqual(row.failure === undefined ? [] : [expect.stringMatching(row.failure)])
  for (const { heard, isAlive, name } of strangers) {
    expect([name, isAlive]).toEqual([name, true])
    expect(heard, name).not.toMatch(/SIG[A-Z0-9]+|shutdown/)
  }
  expect([leaked, removed]).toEqual([[], []])
  expect(tookMs).toBeLessThan(BOUND_MS)
}

const byName = (a: { name: string | null }, b: { name: string | null }) => String(a.name).localeCompare(String(b.name))
