import type { CustodyError } from '@custody/core/worker'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type { Circus } from '@jest/types'
import type { Configs } from './file-outcome.js'
import { messageUtil } from './message-util.js'
import { resultsOfTests } from './results-of-tests.js'

/**
 * Makes tests red that have ended: their results, the counts, and the text of the whole. What reporters were told of single tests cannot be
 * recalled; everything that is printed at the end is right.
 * @returns what belongs to no test of the result
 */
export function failTests(
  result: TestResult,
  { config, globalConfig }: Configs,
  byTest: ReadonlyMap<Circus.TestEntry, readonly CustodyError[]>,
): CustodyError[] {
  const { formatResultsErrors } = messageUtil(config.rootDir)
  const format = () => formatResultsErrors(result.testResults, config, globalConfig, result.testFilePath) ?? ''
  const before = format()
  const rest: CustodyError[] = []
  const results = resultsOfTests(result.testResults, byTest.keys())
  for (const [entry, errors] of byTest) {
    const found = results.get(entry)
    if (found === undefined) rest.push(...errors)
    else failTest(result, found, errors)
  }
  // What was said of the file besides its tests, as of errors that nobody caught, stands behind them.
  const { failureMessage } = result
  const tail = failureMessage?.startsWith(before) ? failureMessage.slice(before.length) : ''
  result.failureMessage = `${format()}${tail}` || null
  return rest
}

function failTest(result: TestResult, test: AssertionResult, errors: readonly CustodyError[]): void {
  // Parallel lists.
  test.failureMessages.push(...errors.map(({ message, name, stack }) => stack ?? `${name}: ${message}`))
  test.failureDetails.push(...errors.map(() => ({})))
  if (test.status === 'failed') return
  if (test.status === 'passed') result.numPassingTests--
  if (test.status === 'pending') result.numPendingTests--
  if (test.status === 'todo') result.numTodoTests--
  test.status = 'failed'
  result.numFailingTests++
  result.skipped = false
}
