import { describeReceipt, type Receipt } from '@custody/core/worker'
import type { RunnerTestCase, RunnerTestFile } from 'vitest'
import type { RunnerHooks } from './base-runner.js'

declare module 'vitest' {
  interface TaskMeta {
    /** What became of the runtimes of this test, or of this file; with none it is not there. */
    custody?: { readonly receipts: readonly Receipt[] }
  }
}

/** Leaves receipts where reporters find them: in the `meta` of a test or a file. */
export function leaveReceipts(task: RunnerTestCase | RunnerTestFile, receipts: readonly Receipt[]): void {
  if (receipts.length > 0) task.meta.custody = { receipts }
}

/** Tells them as annotations of a test, which Vitest's JUnit writes as properties. */
export async function annotate(runner: RunnerHooks, test: RunnerTestCase, receipts: readonly Receipt[]): Promise<void> {
  for (const receipt of receipts) await runner.onTestAnnotate?.(test, { type: 'custody', message: describeReceipt(receipt) })
}
