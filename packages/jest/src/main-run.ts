import { writeSync } from 'node:fs'
import { openRun, printRunEnd, type Report, type Run, type RunEnd } from '@custody/core'
import { birthState, noteEarlySpawns } from '@custody/core/birth'
import type { AggregatedResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import { custodyGlobals } from './custody-globals.cjs'
import { SETUP, TEARDOWN } from './own-paths.cjs'
import { RUN_VARIABLE } from './run-in-worker.cjs'
import { toItsEnd } from './to-its-end.js'

interface MainState {
  /** Whether a run was opened, also if it has ended. */
  hasOpened: boolean
  run: Run | null
  /** Whether Jest watches: it calls setup and teardown for each of its runs. */
  isWatching: boolean
  /** Whether this invocation leaves out tests of the suite. */
  isPartial: boolean
  /** Whether Jest ends the run while files go on in other workers. */
  isBailSet: boolean
  ending: Promise<void> | null
  /** Names of projects that have run without Custody. */
  unmanaged: Set<string>
  /** What Jest is going to write with `--json`, if our reporter is there. */
  results: (AggregatedResult & { custody?: Report }) | null
}

const MAIN = Symbol.for('@custody/jest/main.1')

/** Global setup and teardown may be loaded as two copies; what they share stands on `process`. */
function mainState(): MainState {
  const shared = process as unknown as Record<symbol, MainState | undefined>
  shared[MAIN] ??= {
    ...{ hasOpened: false, run: null, isWatching: false, isPartial: true, isBailSet: false, ending: null },
    ...{ unmanaged: new Set(), results: null },
  }
  return shared[MAIN]
}

/** Opens the run in Jest's main process, and tells the workers, which are started later, by their environment. */
export async function beginRun(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  const state = mainState()
  state.run ??= await openRun(custodyGlobals(projectConfig).options, globalConfig.rootDir)
  state.hasOpened = true
  state.isWatching = globalConfig.watch || globalConfig.watchAll
  state.isPartial = state.isWatching || leavesTestsOut(globalConfig)
  state.isBailSet = globalConfig.bail > 0
  state.ending = null
  state.results = null
  state.unmanaged.clear()
  process.env[RUN_VARIABLE] = JSON.stringify(state.run.handle)
  // A configuration may have the global setup alone. Nothing else tells then that the run has ended.
  process.removeListener('beforeExit', onBeforeExit)
  process.once('beforeExit', onBeforeExit)
  process.removeListener('exit', onExit)
  process.once('exit', onExit)
}

/** Whether our global setup has opened a run in this process. */
export function hasOpenedRun(): boolean {
  return mainState().hasOpened
}

/** Notes a project that has run without Custody, as far as its configuration shows. */
export function noteUnmanaged(project: string): void {
  mainState().unmanaged.add(project)
}

/** Takes what a project's own global setup starts for its own: it is judged when its teardown has run. */
export function watchSetupOf({ globalSetup, globalTeardown }: Config.ProjectConfig): void {
  const own = [globalSetup, globalTeardown].filter((path) => path != null && path !== SETUP && path !== TEARDOWN) as string[]
  if (own.length > 0) mainState().run?.setups.watch(own)
}

/** Has the report of the run stand in what Jest makes of these results. */
export function keepResults(results: AggregatedResult): void {
  mainState().results = results
}

/** Runs the user's global setup: what it starts is its own, and is judged after its teardown. */
export function runSetup(setup: () => Promise<void>): Promise<void> {
  return mainState().run?.setups.enter(setup) ?? setup()
}

/**
 * Accounts for what no file has, and prints how the run went. What is not well makes Jest end with code 1.
 * @param tearDown the user's own: it may remove what servers of the run have needed, and ends what their setup has started
 */
export function endRun(tearDown: () => Promise<void> = async () => {}): Promise<void> {
  const state = mainState()
  process.removeListener('beforeExit', onBeforeExit)
  state.ending ??= end(state, tearDown)
  return state.ending
}

async function end(state: MainState, tearDown: () => Promise<void>): Promise<void> {
  const { isBailSet, isPartial, run } = state
  if (run === null) return tearDown()
  delete process.env[RUN_VARIABLE]
  try {
    await toItsEnd(async () => {
      // What is kept for the next run needs its supervisor: in watch mode it ends with Jest.
      const isRerunNext = state.isWatching && (await run.hasKept())
      return tell(state, await run.settle({ isRerunNext, unmanaged: [...state.unmanaged] }))
    })
  } finally {
    try {
      // As it would be without us, whatever it does with the process.
      await tearDown()
    } finally {
      await toItsEnd(async () => {
        if (state.isWatching && (await run.hasKept())) return true
        state.run = null
        const isWell = tell(state, await run.close({ isPartial, hasFilesGoingOn: isBailSet }))
        // The setups of projects come first in the next run too.
        if (state.isWatching) noteEarlySpawns()
        return isWell
      })
    }
  }
}

function tell({ results }: MainState, end: RunEnd): boolean {
  if (results !== null && end.report.events.length > 0) results.custody = end.report
  return printRunEnd(end)
}

/** Whether an invocation leaves out tests of the suite. */
function leavesTestsOut(config: Config.GlobalConfig): boolean {
  const { bail, changedSince, findRelatedTests, nonFlagArgs, onlyChanged, onlyFailures, shard, testNamePattern } = config
  return Boolean(
    nonFlagArgs.length > 0 || bail || changedSince || findRelatedTests || onlyChanged || onlyFailures || shard || testNamePattern,
  )
}

function onBeforeExit(): void {
  endRun().catch((error: unknown) => {
    console.error(error)
    process.exitCode = 1
  })
}

/** Jest leaves before the end of the run: 29 does after `--bail`, and `process.exit()` of a test in this process has it leave. */
function onExit(code: number): void {
  const { ending, isWatching, run } = mainState()
  if (run === null || ending !== null || isWatching) return
  const { file } = birthState()
  const scope = file === null || file.isOver ? null : (file.birth.scope as { readonly name: string } | null)
  // Before it leaves, Jest 29 takes away what writes to the standard streams.
  const isWell = printRunEnd(run.leave(scope?.name ?? null), (text) => writeSync(2, `${text}\n`))
  if (!isWell && code === 0) process.exitCode = 1
}
