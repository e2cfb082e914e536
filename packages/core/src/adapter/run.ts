import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { CustodyError, isNamespaceId, NAMESPACE_VARIABLE, ownIdentity, tellThreadsOfDebugger } from '@custody/runtime/internals'
import { shareBaseline } from '../leaks/shared-baseline.js'
import { newRunId } from '../namespace/namespace-id.js'
import { removeDirectory } from '../platform/index.js'
import { type RunEvent, readEvents, writeEvents } from '../report/events.js'
import { leadTo } from '../report/stack-of-site.js'
import type { RunHandle } from '../scope/run-handle.js'
import { apply } from '../scope/settle-started.js'
import { sweepDeadRuns } from '../supervisor/dead-runs.js'
import { writeLastPaths } from '../supervisor/last-paths.js'
import type { Level } from '../supervisor/means.js'
import { RunSupervisor } from '../supervisor/run-supervisor.js'
import { readBaseline } from './baseline-file.js'
import { EagerRuntimes } from './eager-runtimes.js'
import { GlobalSetups } from './global-setups.js'
import { LogStreams } from './log-streams.js'
import { readOptions } from './read-options.js'
import { makeRunDirectories, pathsToRemove, removeUnlessBegun } from './run-directories.js'
import { type RunEnd, RunReport } from './run-report.js'
import { settleBaseline } from './settle-baseline.js'
import { settleLast, settleRest } from './settle-rest.js'

/** One invocation of a runner, in its main process. */
export interface Run {
  readonly handle: RunHandle
  /**
   * Accounts for what no file has, writes the report, and gives the counts. In watch mode once for each re-run.
   * @param isRerunNext whether what is kept for the next run of a watch mode goes on
   * @param unmanaged the names of projects that have run without Custody, as far as their configuration shows
   */
  settle(options?: { readonly isRerunNext: boolean; readonly unmanaged?: readonly string[] }): Promise<RunEnd>
  /** What the users' global setups start. */
  readonly setups: GlobalSetups
  /** Whether something was started that goes on from one run of a watch mode to the next. */
  hasKept(): Promise<boolean>
  /**
   * Judges what the global setups have left, when they have been torn down, and removes what the run kept on disk, apart from directories
   * that are kept for people.
   * @param isPartial whether the run has left out tests of the suite
   * @param hasFilesGoingOn whether files may still run, until the runner leaves: then the supervisor stays until then
   */
  close(options?: { readonly isPartial: boolean; readonly hasFilesGoingOn?: boolean }): Promise<RunEnd>
  /**
   * Tells how a run went whose runner leaves before its end. Synchronous, as nothing is waited for any more: what is left ends right after
   * it, and is not told.
   * @param running what ran when the runner left
   */
  leave(running: string | null): RunEnd
}

/**
 * Opens a run: its id and its directories.
 * @param options as the user wrote them
 * @param root the root of the whole run, which may have several projects
 * @throws CUSTODY_INVALID_OPTION, CUSTODY_UNSAFE_DIRECTORY
 */
export async function openRun(options: unknown, root: string): Promise<Run> {
  const resolved = readOptions(options)
  tellThreadsOfDebugger()
  const baseline = readBaseline(root)
  const mostLevel = readMostLevel(process.env['CUSTODY_LEVEL'])
  const directories = await makeRunDirectories()
  const { directory, storage } = directories
  const [outer] = process.env[NAMESPACE_VARIABLE]?.split(':') ?? []
  const runner = ownIdentity()
  const handle: RunHandle = {
    // What is no namespace is nobody's to be in.
    id: newRunId(isNamespaceId(outer) ? outer : null),
    directory,
    storage,
    runner,
    root,
    projectRoot: root,
    project: '',
    projectName: '',
    slot: '0',
    mostLevel,
    options: resolved,
    hasBaseline: baseline !== null,
  }
  const supervisor = removeUnlessBegun(directories, () => {
    mkdirSync(`${directory}/registry`, { mode: 0o700 })
    if (baseline !== null) shareBaseline(directory, baseline)
    return RunSupervisor.start(directory, {
      ...{ version: 1, id: handle.id, runner, supervisor: null, sentinel: null, group: null, storage, root, mostLevel },
      ...{ allow: resolved.allow, commonHelpers: resolved.commonHelpers, isSwept: resolved.leaks !== 'off' },
      created: new Date().toISOString(),
    })
  })
  // Nobody waits for it: what it finds is told at the end.
  const deadRuns = sweepDeadRuns(dirname(directory), root)
    .catch((error: Error) => [`dead runs could not be looked for: ${error.message}`])
    .then((told) =>
      writeEvents(
        directory,
        told.map((text) => ({ type: 'warning', text })),
      ),
    )
  const report = new RunReport(handle)
  const streams = new LogStreams((text) => void process.stderr.write(text))
  supervisor.link
    .then((link) => streams.followAll(link))
    .catch(() => {
      // Whoever starts something is told.
    })
  let eager: EagerRuntimes | null = null
  const setups = new GlobalSetups(handle)
  let going = 0

  const run: Run = {
    handle,
    setups,
    async settle({ isRerunNext, unmanaged = [] } = { isRerunNext: false }) {
      const settled = await settleRest(handle, supervisor, setups, isRerunNext)
      going = settled.going
      const failures = [...settled.failures]
      // By now the supervisor has told of all exits.
      const warnings: RunEvent[] = []
      for (const name of withoutManaged(unmanaged, directory)) apply(resolved.unmanaged, ranUnmanaged(name), warnings, failures)
      for (const exit of eager?.findExits() ?? []) apply(resolved.unexpectedExit, exit, warnings, failures)
      writeEvents(directory, warnings)
      streams.flush()
      await deadRuns
      return report.tellRun(failures)
    },
    hasKept: async () => (await supervisor.hasKept()) || going > 0,
    async close({ isPartial, hasFilesGoingOn = false } = { isPartial: true }) {
      eager?.forget()
      await deadRuns
      let isLingering = false
      try {
        const last = await settleLast(handle, supervisor, setups)
        isLingering = last.isLingering || hasFilesGoingOn
        const isLookedFor = baseline !== null && resolved.leaks !== 'off'
        const line = !isLookedFor ? null : settleBaseline(baseline, readEvents(directory), { isPartial, root })
        return report.tellRest(last.failures, line)
      } finally {
        setups.close()
        if (isLingering) await supervisor.linger(pathsToRemove(handle))
        else {
          const problem = await supervisor.end()
          if (problem === null) removeAll(pathsToRemove(handle))
          else
            process.stderr.write(
              `custody  warning: the supervisor could not end the run: ${problem}. The next run removes its files.\n`,
            )
        }
        streams.end()
      }
    },
    leave(running) {
      const end = report.tellRun(running === null ? [] : [cutShort(running)])
      writeLastPaths(directory, pathsToRemove(handle))
      return end
    },
  }
  try {
    eager = await EagerRuntimes.start(handle, () => supervisor.link)
  } catch (error) {
    await run.close()
    throw error
  }
  return run
}

function removeAll(paths: readonly string[]): void {
  for (const path of paths) {
    const mount = removeDirectory(path)
    if (mount !== null) process.stderr.write(`custody  warning: ${path} is not removed: something is mounted at ${mount}.\n`)
  }
}

/** @throws CUSTODY_INVALID_OPTION */
function readMostLevel(given: string | undefined): Level {
  const level = ([0, 1, 2] as const).find((each) => String(each) === (given || '2'))
  if (level !== undefined) return level
  throw new CustodyError('CUSTODY_INVALID_OPTION', `Could not read CUSTODY_LEVEL: it is ${JSON.stringify(given)}.`, {
    hint: 'give 0, 1 or 2, or leave it out.',
    facts: { option: 'CUSTODY_LEVEL' },
  })
}

function cutShort(running: string): CustodyError {
  const error = new CustodyError(
    'CUSTODY_RUN_CUT_SHORT',
    `Could not keep custody to the end of this run: its process ended while ${running} ran.`,
    {
      hint: 'have neither a test nor what it uses call process.exit.',
      facts: { running },
    },
  )
  leadTo({ stack: error.stack ?? '' }, error)
  return error
}

function withoutManaged(projects: readonly string[], directory: string): string[] {
  if (projects.length === 0) return []
  const managed = new Set(readEvents(directory).flatMap((event) => (event.type === 'managed' ? [event.project] : [])))
  return projects.filter((project) => !managed.has(project))
}

function ranUnmanaged(project: string): CustodyError {
  return new CustodyError('CUSTODY_UNMANAGED', `Could not keep custody of the project "${project}": it has run without it.`, {
    hint: 'browsers and benchmarks are left alone; any other project needs the plugin, or withCustody.',
    facts: { project },
  })
}
