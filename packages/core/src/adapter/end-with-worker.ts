import { birthState } from '../namespace/birth-state.js'
import { inUseIfLoaded } from '../scope/load-in-use.js'
import type { Scope } from '../scope/scope.js'

let isArmed = false

/**
 * Has this worker end what its file has left when it exits after its runner. Jest's workers do: they run on, and break off at the end of
 * a test, as nobody hears of it.
 */
export function endWithWorker(): void {
  // A thread, and the runner itself, end with the process that the supervisor waits for.
  if (isArmed || process.connected === undefined) return
  isArmed = true
  process.once('exit', () => {
    const scope = birthState().file?.birth.scope
    // Where something was started, the look after the test's body has loaded it.
    if (!process.connected && scope != null) inUseIfLoaded()?.endNow(scope as Scope)
  })
}
