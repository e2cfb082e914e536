import type { ChildProcess } from 'node:child_process'
import { type Native, platform } from '../platform/index.js'

/** Children that Node has started: it reaps them itself, and would miss the exit of one that somebody else has reaped. */
const own = new Set<number>()

/** Notes a child of this process. To be called in the turn that starts it. */
export function noteChild(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return
  own.add(pid)
  child.once('exit', () => own.delete(pid))
}

/** Those who have come to this process because it adopts orphans. */
export function listOrphans(): number[] {
  return (platform.listChildren() ?? []).filter((pid) => !own.has(pid))
}

/** Reaps orphans that have exited: they would stay zombies as long as this process lives. */
export function reapOrphans(native: Native): void {
  process.on('SIGCHLD', () => {
    for (const pid of listOrphans()) if (platform.readProcess(pid) === null) native.reap(pid)
  })
}
