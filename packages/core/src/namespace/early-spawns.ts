import { type BornChild, birthState, newBirth, type SetupWatch } from './birth-state.js'
import { markChildren } from './mark-children.js'

/** The id of what no run marks; the ids of runs are longer. */
const EARLY = 'early'

/**
 * Notes what the runner's main process starts before the run is open: a project may have its global setup run before ours. Such processes
 * carry no mark. `GlobalSetups.watch` takes over those whose stack leads to a global setup.
 */
export function noteEarlySpawns(): void {
  if (earlyWatch() !== undefined) return
  const cell = { birth: newBirth(EARLY), countsOn: true, isOver: false }
  birthState().setups.add({ cell, runDirectory: null, accepts: () => true })
  markChildren()
}

/** What was noted so far; from now on nothing more is. */
export function takeEarlySpawns(): readonly BornChild[] {
  const watch = earlyWatch()
  if (watch === undefined) return []
  birthState().setups.delete(watch)
  return watch.cell.birth.children
}

function earlyWatch(): SetupWatch | undefined {
  return [...birthState().setups].find(({ cell }) => cell.birth.id === EARLY)
}
