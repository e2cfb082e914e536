import type { Identity } from '../identity.js'
import { ownIdentity, platform } from './index.js'

/** Whether a process has ended, as this kernel knows; null when it cannot know, as of a process of another container. */
export function hasEnded(found: Identity): boolean | null {
  const here = ownIdentity()
  if (found.boot !== null && here.boot !== null && found.boot !== here.boot) return true
  const isComparable = found.start !== null && found.pidns === here.pidns && found.timens === here.timens
  return isComparable ? platform.readStart(found.pid) !== found.start : null
}
