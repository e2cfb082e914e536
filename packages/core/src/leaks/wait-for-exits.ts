import type { Identity } from '@custody/runtime'
import { type Deadline, hasEnded, pause } from '@custody/runtime/internals'

/** Resolves when all of them have exited, or the time is over. */
export async function waitForExits(identities: readonly Identity[], deadline: Deadline): Promise<void> {
  for (let waitMs = 1; identities.some(isAlive) && !deadline.hasPassed; waitMs = Math.min(waitMs * 2, 50)) {
    await pause(Math.min(waitMs, deadline.leftMs))
  }
}

export function isAlive(identity: Identity): boolean {
  return hasEnded(identity) !== true
}
