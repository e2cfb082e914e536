import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Identity } from '@custody/runtime'
import type { RunningSuite } from './run-suite.js'

/** A process of a suite. */
export type Noted = Pick<Identity, 'pid' | 'start'>

/** The processes that have noted themselves in a project, each by a line of pid and start time: see test/programs/trees. */
export function readNoted(directory: string): Noted[] {
  const names = readdirSync(directory).filter((name) => name.startsWith('noted'))
  const lines = names.flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').filter(Boolean))
  return lines.map((line) => {
    const [pid, start = null] = line.split(' ')
    return { pid: Number(pid), start }
  })
}

/** For the inside of a test file: notes any process. */
export const noteProcess = `
  const noteProcess = (pid) => {
    const stat = fs.readFileSync('/proc/' + pid + '/stat', 'latin1')
    fs.appendFileSync('noted', pid + ' ' + stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] + '\\n')
  }`

/** Resolves when something holds. Rejects when the runner has ended without it. */
export async function until({ runner }: RunningSuite, holds: () => boolean): Promise<void> {
  while (!holds()) {
    if (runner.exitCode !== null || runner.signalCode !== null) throw new Error('The runner has ended before that.')
    await setTimeout(20)
  }
}
