import type { TestResult } from '@jest/test-result'

interface Marked {
  isUnderCustody?: boolean
}

/** Marks a file's result as that of a file under custody: a project may have a runner that asks for no test runner. */
export function markManaged<R extends TestResult>(result: R): R {
  return Object.assign(result, { isUnderCustody: true } satisfies Marked)
}

/** Whether a file was under custody by our runner. One that could not run at all has left nothing. */
export function isManaged(result: TestResult & Marked): boolean {
  return result.isUnderCustody === true || result.testExecError != null
}
