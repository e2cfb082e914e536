import { platform } from './index.js'
import { isHidden } from './is-hidden.js'

/** The start time of a process that is seen alive. Null says only that it was not seen: whether it has ended is for `hasEnded`. */
export function seeStart(pid: number): string | null {
  try {
    return platform.readStart(pid)
  } catch (error) {
    if (isHidden(error)) return null
    throw error
  }
}
