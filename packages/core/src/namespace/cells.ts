import type { AsyncLocalStorage } from 'node:async_hooks'
import { type Birth, birthState, type Cell, newBirth, VARIABLE } from './birth-state.js'
import type { NamespaceId } from './namespace-id.js'
import { newFileId } from './new-file-id.js'

/** Makes the file that runs from here on in this thread the one that stray code belongs to. */
export function enterFile(run: NamespaceId): Cell {
  const cell: Cell = { birth: newBirth(newFileId(run)), countsOn: false, isOver: false }
  const state = birthState()
  state.file = cell
  state.sequential = null
  state.loose = null
  if (state.hasUnseenStarts && state.runDirectory !== null) markUnseen(cell.birth, state.runDirectory)
  return cell
}

/** Has whatever is started without a word inherit the file's mark; so the file has to look, even if nothing was announced. */
function markUnseen(birth: Birth, runDirectory: string): void {
  const state = birthState()
  state.inherited = `${birth.id}:${runDirectory}`
  process.env[VARIABLE] = state.inherited
  birth.spawned++
}

/**
 * Has the code from here on stand in a cell. Before the first await of a hook: later it would not reach what runs after the hook.
 * @param isConcurrent whether other tests run at the same time
 */
export function enterCell(cell: Cell, isConcurrent = false): void {
  const state = birthState()
  const isFollowed = isConcurrent || state.isFollowing
  if (!isConcurrent) state.sequential = isFollowed ? null : cell
  if (isFollowed) state.contexts.enterWith(contextOf(cell))
}

/** Has what is called next stand in a cell: in the context that this gives, or, where contexts are not followed, as it is. */
export function standIn(cell: Cell, isConcurrent: boolean): { contexts: AsyncLocalStorage<object>; context: object } | null {
  const state = birthState()
  const isFollowed = isConcurrent || state.isFollowing
  if (!isConcurrent) state.sequential = isFollowed ? null : cell
  return isFollowed ? { contexts: state.contexts, context: contextOf(cell) } : null
}

/** Runs a function in a cell. */
export function runInCell<T>(cell: Cell, isConcurrent: boolean, run: () => T): T {
  const place = standIn(cell, isConcurrent)
  return place === null ? run() : place.contexts.run(place.context, run)
}

/** Where the running code stands: in its test, or else in the file. Who asks has something to start, so contexts are followed from now on. */
export function currentCell(): Cell | null {
  const state = birthState()
  state.isFollowing = true
  const context = state.contexts.getStore()
  const cell = context && state.cellOf.get(context)
  // What an ended file goes on to do is its own as long as no other file runs.
  const file = state.file !== null && (!state.file.isOver || state.file === cell) ? state.file : null
  if (cell !== undefined) return !cell.isOver || cell.countsOn ? cell : file
  // Code without a context began before contexts were followed: it is not that of a test which has one.
  if (state.loose !== null) return state.loose
  return state.sequential !== null && !state.sequential.isOver ? state.sequential : file
}

/** Notes that a test was cut short by a limit of time. From here on contexts tell what goes on of it from the tests that follow. */
export function noteCutShort(cell: Cell): void {
  const state = birthState()
  if (state.isFollowing) return
  state.loose = cell
  state.isFollowing = true
}

function contextOf(cell: Cell): object {
  const { cellOf, contextOf } = birthState()
  let context = contextOf.get(cell)
  if (context === undefined) {
    context = {}
    contextOf.set(cell, context)
    cellOf.set(context, cell)
  }
  return context
}
