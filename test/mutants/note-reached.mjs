import { afterEach } from 'vitest'

/** The numbers of the checks that were looked at since the last test; see `markChecks`. */
globalThis.reachedChecks = new Set()

afterEach(({ task }) => {
  task.meta.reached = [...globalThis.reachedChecks]
  globalThis.reachedChecks.clear()
})
