import type { Identity } from '@custody/runtime'
import { type Deadline, hasEnded, pause } from '@custody/runtime/internals'

/** How often a process is looked at while nothing says that it is leaving, in milliseconds. */
const BACKSTOP_MS = 250

/**
 * Waits until the kernel no longer has the process: its number is free, is another's, or is a zombie's. The end of its connection is
 * when to look; it proves nothing, as a process may close it and live on, or leave a copy of it to a child.
 *
 * @param identity a process that was seen alive; for any other an exit could be claimed that never was
 * @returns whether the exit was observed before the deadline
 */
export async function observeExit(identity: Identity, connectionEnded: Promise<void>, deadline: Deadline): Promise<boolean> {
  let isLeaving = false
  const leaving = connectionEnded.then(() => {
    isLeaving = true
  })
  for (let waitMs = 1; ; ) {
    if (hasEnded(identity) === true) return true
    if (deadline.hasPassed) return false
    if (isLeaving) {
      await pause(Math.min(waitMs, deadline.leftMs))
      waitMs = Math.min(waitMs * 2, 50)
    } else {
      await Promise.race([leaving, pause(Math.min(BACKSTOP_MS, deadline.leftMs))])
    }
  }
}

/** The same for a process that is held: the kernel tells of its exit by itself, wherever it runs. */
export async function observeHeldExit(exited: Promise<void>, deadline: Deadline): Promise<boolean> {
  let cancel = () => {}
  const late = new Promise<boolean>((resolve) => {
    cancel = deadline.onPassed(() => resolve(false))
  })
  return Promise.race([exited.then(() => true), late]).finally(cancel)
}
