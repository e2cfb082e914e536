// Shared by the runner, which Jest loads with require, and the environment, which it imports: one copy, and all state on `process`.
import { type BirthState, birthState, enterFile, markChildren } from '@custody/core/birth'
import type { RunHandle } from '@custody/core/worker' with { 'resolution-mode': 'import' }

export const RUN_VARIABLE = 'CUSTODY_RUN'

const RUN = Symbol.for('@custody/jest/run.1')

/** The run that this process works for, or null without our global setup. */
export function currentRun(): RunHandle | null {
  const shared = process as unknown as Record<symbol, RunHandle | null | undefined>
  const announced = process.env[RUN_VARIABLE]
  if (announced !== undefined) {
    // Tests see their environment as it would be without Custody.
    delete process.env[RUN_VARIABLE]
    shared[RUN] = { ...(JSON.parse(announced) as RunHandle), slot: process.env['JEST_WORKER_ID'] ?? '0' }
  }
  return shared[RUN] ?? null
}

/**
 * The next file begins: from here on this thread's processes are that file's, also those of an environment's constructor and of setup
 * files. A file that never came to run does not leave its own to the next one.
 */
export function beginFile(): BirthState {
  const run = currentRun()
  const state = birthState()
  if (run === null) return state
  state.runDirectory = run.options.markChildren ? run.directory : null
  markChildren()
  enterFile(run.id)
  return state
}
