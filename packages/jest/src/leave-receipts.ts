import type { Receipt } from '@custody/core/worker'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type { Circus } from '@jest/types'
import { findResult } from './find-result.js'

/** A result of a test that has started something, as Jest's JSON and reporters have it. */
export interface ResultWithReceipts extends AssertionResult {
  custody?: { readonly receipts: readonly Receipt[] }
}

/** Leaves receipts where reporters find them: in the results of the tests, those of all attempts in one. */
export function leaveReceipts({ testResults }: TestResult, byTest: ReadonlyMap<Circus.TestEntry, readonly Receipt[]>): void {
  for (const [entry, receipts] of byTest) {
    const result: ResultWithReceipts | null = findResult(testResults, entry)
    if (result !== null) result.custody = { receipts }
  }
}
