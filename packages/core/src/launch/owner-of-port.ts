import type { Identity } from '@custody/runtime'
import { platform } from '../platform/index.js'
import type { Birthmark } from '../tree/birthmark.js'
import { findBornHere } from '../tree/find-born-here.js'

/** Whether one of a runtime's processes listens on a port; null where the platform does not tell. */
export function ownsPort(port: number, mark: Birthmark, leader: Identity): boolean | null {
  const sockets = platform.listListeners(port)
  if (sockets === null) return null
  if (sockets.length === 0) return false
  // Most servers listen themselves: the search through all processes is for the others.
  if (platform.holdsSocket(leader.pid, sockets)) return true
  return findBornHere(mark, []).some(({ pid }) => platform.holdsSocket(pid, sockets))
}
