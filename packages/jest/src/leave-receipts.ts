import type { Receipt } from '@custody/core/worker'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type { Circus } from '@jest/types'
import { resultsOfTests } from './results-of-tests.js'

/** A result of a test that has started something, as Jest's JSON and reporters have it. */
export interface ResultWithReceipts extends AssertionResult {
  custody?: { readonly receipts: readonly Receipt[] }
}

/** Leaves receipts where reporters find them: in the results of the tests, those of all attempts in one. */
export function leaveReceipts({ testResults }: TestResult, byTest: ReadonlyMap<Circus.TestEntry, readonly Receipt[]>): void {
  if (byTest.size === 0) return
  const results: Map<Circus.TestEntry, ResultWithReceipts> = resultsOfTests(testResults, byTest.keys())
  for (const [entry, receipts] of byTest) {
    const result = results.get(entry)
    if (result !== undefined) result.custody = { receipts }
  }
}
