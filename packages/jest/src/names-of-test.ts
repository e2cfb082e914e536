import type { Circus } from '@jest/types'

/** The title of a test below those of the blocks around it. */
export function namesOfTest(test: Circus.TestEntry): string[] {
  const names = [test.name]
  for (let block = test.parent; block.parent !== undefined; block = block.parent) names.unshift(block.name)
  return names
}
