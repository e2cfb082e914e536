import { openRun, type Run } from '@custody/core'
import type { Config } from '@jest/types'
import { type CustodyGlobals, custodyGlobals } from './base-runner.cjs'
import { RUN_VARIABLE } from './run-in-worker.cjs'

interface MainState {
  run: Run | null
  /** Whether Jest watches: it calls setup and teardown for each of its runs. */
  isWatching: boolean
  ending: Promise<boolean> | null
}

const slot = Symbol.for('@custody/jest/main.1')

/** Global setup and teardown may be loaded as two copies; what they share stands on `process`. */
function mainState(): MainState {
  const shared = process as unknown as Record<symbol, MainState | undefined>
  shared[slot] ??= { run: null, isWatching: false, ending: null }
  return shared[slot]
}

/** Opens the run in Jest's main process, and tells the workers, which are started later, by their environment. */
export async function beginRun(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  const state = mainState()
  state.run ??= await openRun(custodyGlobals(projectConfig).options, globalConfig.rootDir)
  state.isWatching = globalConfig.watch || globalConfig.watchAll
  state.ending = null
  process.env[RUN_VARIABLE] = JSON.stringify(state.run.handle)
  // A configuration may have the global setup alone. Nothing else tells then that the run has ended.
  process.removeListener('beforeExit', onBeforeExit)
  process.once('beforeExit', onBeforeExit)
}

/** Accounts for what no file has, and prints how the run went. Tells whether all is well. */
export function endRun(): Promise<boolean> {
  const state = mainState()
  process.removeListener('beforeExit', onBeforeExit)
  state.ending ??= end(state)
  return state.ending
}

async function end(state: MainState): Promise<boolean> {
  const { run } = state
  if (run === null) return true
  delete process.env[RUN_VARIABLE]
  // What is kept for the next run needs its supervisor: in watch mode it ends with Jest.
  const isKept = state.isWatching && (await run.hasKept())
  if (!isKept) state.run = null
  // Standard error: standard output belongs to `--json`.
  try {
    const { failures, text } = await run.settle({ isRerunNext: isKept })
    if (text !== '') console.error(`\n${text}`)
    for (const failure of failures) console.error(`\n${failure.name}: ${failure.message}`)
    return failures.length === 0
  } finally {
    if (!isKept) await run.close()
  }
}

function onBeforeExit(): void {
  endRun().then(
    (isWell) => {
      if (!isWell) process.exitCode = 1
    },
    (error: unknown) => {
      console.error(error)
      process.exitCode = 1
    },
  )
}

export type { CustodyGlobals }
