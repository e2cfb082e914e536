import { expect } from 'vitest'
import { gone } from './alive.js'
import { noteProcess, readNoted } from './noted.js'
import type { SuiteResult } from './run-suite.js'

/** Two tests: one leaves a process, the other starts one and does the rest. Each process notes itself. */
export const leaksAndStarts = (rest = '') => `
  ${noteProcess}
  test('leaks', () => { noteProcess(spawn('sleep', ['300'], { stdio: 'ignore' }).pid) })
  test('starts one', async () => {
    const { pid } = await custody.start({ name: 'api', command: ['sleep', '301'] })
    noteProcess(pid)
    ${rest}
  })`

/** What such a file comes to. */
export const ONE_RED = { leaks: 'failed', 'starts one': 'passed' }

/** What is left when a runner was ended from outside is ended by its supervisor. */
export async function allGone({ directory, output }: Pick<SuiteResult, 'directory' | 'output'>, count: number): Promise<void> {
  const noted = readNoted(directory)
  expect(noted, output).toHaveLength(count)
  await Promise.all(noted.map(gone))
}
