import type { CustodyError } from '@custody/core/worker'
import type { AssertionResult, TestResult } from '@jest/test-result'
import type { Circus } from '@jest/types'
import { messageUtil } from './fail-file.js'
import { namesOfTest } from './names-of-test.js'
import type { Configs } from './session.js'

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
  const results = resultsOf(result.testResults, testsBeside(byTest.keys()))
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

/** The result of each test of a file: by its names, and of several with the same ones by its place among them. */
function resultsOf(
  results: readonly AssertionResult[],
  tests: readonly Circus.TestEntry[],
): Map<Circus.TestEntry, AssertionResult> {
  const byNames = new Map<string, AssertionResult[]>()
  for (const result of results) {
    const names = JSON.stringify([...result.ancestorTitles, result.title])
    byNames.set(names, [...(byNames.get(names) ?? []), result])
  }
  const found = new Map<Circus.TestEntry, AssertionResult>()
  for (const test of tests) {
    const result = byNames.get(JSON.stringify(namesOfTest(test)))?.shift()
    if (result !== undefined) found.set(test, result)
  }
  return found
}

/** All tests of the file of one of them, in the order in which Jest tells their results. */
function testsBeside([first]: Iterable<Circus.TestEntry>): Circus.TestEntry[] {
  let root = first?.parent
  while (root?.parent !== undefined) root = root.parent
  return root === undefined ? [] : testsIn(root)
}

function testsIn({ children }: Circus.DescribeBlock): Circus.TestEntry[] {
  return children.flatMap((child) => (child.type === 'test' ? child : testsIn(child)))
}
