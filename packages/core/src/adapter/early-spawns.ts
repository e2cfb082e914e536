import { type BornChild, birthState, newBirth } from '../namespace/birth-state.js'
import { markChildren } from '../namespace/mark-children.js'

/** No run has this id. */
const EARLY = 'early'

/**
 * Notes what the runner's main process starts before the run is open: a project may have its global setup run before ours. Such processes
 * carry no mark; the run takes those that a global setup has started by Node's own handle of them.
 */
export function noteEarlySpawns(): void {
  const state = birthState()
  if (state.setup !== null) return
  state.setup = { cell: { birth: newBirth(EARLY), countsOn: true, isOver: false }, accepts: () => true }
  markChildren()
}

/** What was noted so far. */
export function earlySpawns(): readonly BornChild[] {
  const { birth } = birthState().setup?.cell ?? {}
  return birth?.id === EARLY ? birth.children : []
}
