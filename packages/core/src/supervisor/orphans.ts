import type { ChildProcess } from 'node:child_process'
import { clock } from '@custody/runtime/internals'
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

/** Milliseconds from an exit to the look at what else there is to reap: whoever waits for the exit comes first. */
const REAP_MS = 50

/** Reaps orphans that have exited: they would stay zombies as long as this process lives. */
export function reapOrphans(native: Native): void {
  let isDue = false
  process.on('SIGCHLD', () => {
    if (isDue) return
    isDue = true
    const reap = () => {
      isDue = false
      for (const pid of listOrphans()) if (platform.readProcess(pid) === null) native.reap(pid)
    }
    clock.setTimeout(reap, REAP_MS).unref()
  })
}
