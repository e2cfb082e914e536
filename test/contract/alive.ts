import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Identity } from '@custody/runtime'

/** Whether the very process is alive: a zombie is not, and neither is another process of the same number. */
export function isAlive({ pid, start }: Pick<Identity, 'pid' | 'start'>): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] !== 'Z' && fields[0] !== 'X' && fields[19] === start
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return false
    throw error
  }
}

/** Whether a process of this number runs: a zombie has no program. */
export function hasProgram(pid: unknown): boolean {
  if (!Number.isInteger(pid)) throw new Error(`No process was noted here: ${pid}`)
  return existsSync(`/proc/${pid}/exe`)
}

/** Which of the processes that a suite has noted, in all of its runs, still run a program. */
export function aliveOf({ directory }: { readonly directory: string }): number[] {
  const notes = readFileSync(join(directory, 'notes.jsonl'), 'utf8').split('\n').filter(Boolean)
  const pids = notes.map((line) => (JSON.parse(line) as [string, unknown])[1]).filter((value) => Number.isInteger(value))
  if (pids.length === 0) throw new Error('The suite has noted no process.')
  return (pids as number[]).filter(hasProgram)
}

/** Resolves when the process is gone. A test's own limit bounds it. */
export async function gone(identity: Pick<Identity, 'pid' | 'start'>): Promise<void> {
  while (isAlive(identity)) await setTimeout(20)
}
