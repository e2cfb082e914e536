import type { AssertionResult } from '@jest/test-result'
import type { Circus } from '@jest/types'

/** The result of a test: by its names, and of several with the same ones by its place among them. */
export function findResult(results: readonly AssertionResult[], entry: Circus.TestEntry): AssertionResult | null {
  const namesake = results.filter((result) => isOf(result, entry))
  const entries = entry.parent.tests.filter(({ name }) => name === entry.name)
  return namesake[Math.max(0, entries.indexOf(entry))] ?? null
}

function isOf({ ancestorTitles, title }: AssertionResult, entry: Circus.TestEntry): boolean {
  const ancestors: string[] = []
  for (let block = entry.parent; block.parent !== undefined; block = block.parent) ancestors.unshift(block.name)
  return (
    title === entry.name &&
    ancestorTitles.length === ancestors.length &&
    ancestorTitles.every((name, at) => name === ancestors[at])
  )
}
