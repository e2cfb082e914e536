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
  const answers = [platform.holdsSocket(leader.pid, sockets)]
  if (answers[0] !== true) answers.push(...findBornHere(mark, []).map(({ pid }) => platform.holdsSocket(pid, sockets)))
  if (answers.includes(true)) return true
  // One that lets nobody look, a setuid program for one, may be it.
  return answers.includes(null) ? null : false
}
