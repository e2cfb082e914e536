import type { AssertionResult } from '@jest/test-result'
import type { Circus } from '@jest/types'
import { namesOfTest } from './names-of-test.js'

/**
 * The results of tests: by their names, and of several with the same ones by their places among them.
 * @param some of the tests of one file
 */
export function resultsOfTests(
  results: readonly AssertionResult[],
  some: Iterable<Circus.TestEntry>,
): Map<Circus.TestEntry, AssertionResult> {
  const byNames = new Map<string, AssertionResult[]>()
  for (const result of results) {
    const names = JSON.stringify([...result.ancestorTitles, result.title])
    byNames.set(names, [...(byNames.get(names) ?? []), result])
  }
  const found = new Map<Circus.TestEntry, AssertionResult>()
  for (const test of testsBeside(some)) {
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
