import type { Identity } from '../identity.js'
import { ownIdentity, platform } from './index.js'
import { isHidden } from './is-hidden.js'

/**
 * Whether a process has ended, as this kernel knows; null when it cannot know, as of a process of another container or one that it
 * hides. The one rule for an end: nothing else is proof of it.
 */
export function hasEnded(found: Identity): boolean | null {
  const here = ownIdentity()
  if (found.boot !== null && here.boot !== null && found.boot !== here.boot) return true
  const isComparable = found.start !== null && found.pidns === here.pidns && found.timens === here.timens
  if (!isComparable) return null
  try {
    return platform.readStart(found.pid) !== found.start
  } catch (error) {
    if (isHidden(error)) return null
    throw error
  }
}
