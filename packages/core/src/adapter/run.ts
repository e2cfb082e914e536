import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  baseDirectory,
  CustodyError,
  clock,
  Deadline,
  ensurePrivateDirectory,
  NAMESPACE_VARIABLE,
  ownIdentity,
  runtimePlatform,
  temporaryBaseDirectory,
} from '@custody/runtime/internals'
import { dir as makeDirectory } from 'tmp-promise'
import { captureRegistry } from '../locators/capture.js'
import { isOfRuntime, newRunId } from '../namespace/namespace-id.js'
import { type RunEvent, readEvents, writeEvents } from '../report/events.js'
import { formatSummary, type Summary, summarize } from '../report/summary.js'
import type { RunHandle } from '../scope/run-handle.js'
import { teardownFailed } from '../scope/scope.js'
import { accountFor, applyPolicy, settleLocators } from '../scope/settle-locators.js'
import { apply, settleEnded } from '../scope/settle-started.js'
import { timeLimits } from '../scope/time-limits.js'
import { sweepDeadRuns } from '../supervisor/dead-runs.js'
import type { Level } from '../supervisor/means.js'
import type { Swept } from '../supervisor/protocol.js'
import { RunSupervisor } from '../supervisor/run-supervisor.js'
import { EagerRuntimes } from './eager-runtimes.js'
import { LogStreams } from './log-streams.js'
import { readOptions } from './read-options.js'

/** How a run ended. */
export interface RunEnd {
  readonly summary: Summary
  /** For people; empty when nothing was started. */
  readonly text: string
  /** What makes the run red that no file or test could say. */
  readonly failures: readonly CustodyError[]
}

/** One invocation of a runner, in its main process. */
export interface Run {
  readonly handle: RunHandle
  /**
   * Accounts for what no file has, writes the report, and gives the counts. In watch mode once for each re-run.
   * @param isRerunNext whether what is kept for the next run of a watch mode goes on
   */
  settle(options?: { readonly isRerunNext: boolean }): Promise<RunEnd>
  /** Whether something was started that goes on from one run of a watch mode to the next. */
  hasKept(): Promise<boolean>
  /** Removes what the run kept on disk, apart from directories that are kept for people. */
  close(): Promise<void>
}

/**
 * Opens a run: its id and its directories.
 * @param options as the user wrote them
 * @param root the project's root
 * @throws CUSTODY_INVALID_OPTION, CUSTODY_UNSAFE_DIRECTORY
 */
export async function openRun(options: unknown, root: string): Promise<Run> {
  const resolved = readOptions(options)
  const mostLevel = readMostLevel(process.env['CUSTODY_LEVEL'])
  const [base, storageBase] = [shortBaseDirectory(), temporaryBaseDirectory()]
  const directory = await newDirectory(base)
  const storage = base === storageBase ? directory : await newDirectory(storageBase)
  mkdirSync(`${directory}/registry`, { mode: 0o700 })
  const outer = process.env[NAMESPACE_VARIABLE]?.split(':')[0] || null
  const runner = ownIdentity()
  const handle: RunHandle = {
    id: newRunId(outer),
    directory,
    storage,
    runner,
    root,
    project: '',
    slot: '0',
    mostLevel,
    options: resolved,
  }
  const supervisor = RunSupervisor.start(directory, {
    ...{ version: 1, id: handle.id, runner, supervisor: null, sentinel: null, group: null, storage, root, mostLevel },
    ...{ allow: resolved.allow, isSwept: resolved.leaks !== 'off' },
    created: new Date().toISOString(),
  })
  // Nobody waits for it: what it finds is told at the end.
  const deadRuns = sweepDeadRuns(dirname(directory))
    .catch((error: Error) => [`dead runs could not be looked for: ${error.message}`])
    .then((told) =>
      writeEvents(
        directory,
        told.map((text) => ({ type: 'warning', text })),
      ),
    )
  const isKept = (events: readonly RunEvent[]) => events.some(({ type }) => type === 'kept')
  let told = 0

  const streams = new LogStreams((text) => void process.stderr.write(text))
  supervisor.link.then(
    (link) => streams.followAll(link),
    // Whoever starts something is told.
    () => {},
  )
  let eager: EagerRuntimes | null = null

  const run: Run = {
    handle,
    async settle({ isRerunNext } = { isRerunNext: false }) {
      const failures = await settleRest(handle, supervisor, isRerunNext)
      // By now the supervisor has told of all exits.
      const warnings: RunEvent[] = []
      for (const exit of eager?.findExits() ?? []) apply(resolved.unexpectedExit, exit, warnings, failures)
      writeEvents(directory, warnings)
      streams.flush()
      await deadRuns
      // In watch mode each re-run tells of its own.
      const events = readEvents(directory).slice(told)
      told += events.length
      const summary = summarize(events)
      const { json } = resolved.report
      if (json !== null) writeReport(resolve(root, json), { version: 1, summary, events })
      return { summary, text: formatSummary(events), failures }
    },
    hasKept: () => supervisor.hasKept(),
    async close() {
      eager?.forget()
      await deadRuns
      await supervisor.end()
      streams.end()
      if (!isKept(readEvents(directory))) rmSync(storage, { recursive: true, force: true })
      if (directory !== storage) rmSync(directory, { recursive: true, force: true })
      // What is kept stands among them when both are one directory.
      for (const name of readdirSafely(directory))
        if (name !== 'ns') rmSync(`${directory}/${name}`, { recursive: true, force: true })
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

/** @throws CUSTODY_INVALID_OPTION */
function readMostLevel(given: string | undefined): Level {
  const level = ([0, 1, 2] as const).find((each) => String(each) === (given || '2'))
  if (level !== undefined) return level
  throw new CustodyError('CUSTODY_INVALID_OPTION', `Could not read CUSTODY_LEVEL: it is ${JSON.stringify(given)}.`, {
    hint: 'give 0, 1 or 2, or leave it out.',
    facts: { option: 'CUSTODY_LEVEL' },
  })
}

/** Ends what was for the whole run, and what a file could not: its worker may have died before. */
async function settleRest(run: RunHandle, supervisor: RunSupervisor, isRerunNext: boolean): Promise<CustodyError[]> {
  const started = settleEnded(await supervisor.settle(isRerunNext), run.options, null)
  writeEvents(run.directory, started.events)
  const loss = await supervisor.findLoss()
  const accounted = new Set<string>()
  for (const event of readEvents(run.directory)) {
    if (event.type === 'receipt') accountFor(event.receipt, event.instance, accounted)
  }
  const starter = { kind: 'run', name: 'the run', sites: [] }
  const settler = { id: run.id, starterOf: () => starter, run, accounted }
  // What runs inside of a started runtime ends with that.
  const locators = () => captureRegistry(run.directory, run.id).filter(({ namespace }) => !isOfRuntime(namespace))
  const look = () => ({ locators: locators(), cutShort: [] })
  const time = { begunAt: clock.now(), deadline: Deadline.after(timeLimits(run.options).teardownMs) }
  const { faults, findings } = await settleLocators(settler, null, look, time)
  const { events, failures } = applyPolicy(findings, run.options)
  const swept = await supervisor.sweep()
  const reached = await supervisor.means()
  if (reached !== null && (events.length > 0 || readEvents(run.directory).length > 0)) events.push({ type: 'level', ...reached })
  events.push(...swept.map(({ command, identity }) => ({ type: 'swept', pid: identity.pid, command }) as const))
  writeEvents(run.directory, events)
  return [
    ...(loss === null ? [] : [supervisorLost(loss)]),
    ...started.failures,
    ...failures,
    ...faults.map((fault) => teardownFailed(starter, 'settle', fault)),
    ...swept.filter(({ isAlive }) => isAlive).map(stillAlive),
  ]
}

function stillAlive({ command, identity }: Swept): CustodyError {
  const observed = `Could not end pid ${identity.pid}, which was born in this run: ${command.join(' ')}`
  return new CustodyError('CUSTODY_NOT_STOPPED', observed, {
    hint: 'it does not even obey SIGKILL: it may wait for a device or a file system.',
    facts: { identity, command },
  })
}

function supervisorLost(loss: string): CustodyError {
  return new CustodyError(
    'CUSTODY_SUPERVISOR_LOST',
    `Could not keep custody to the end of this run: the supervisor is gone: ${loss}.`,
    {
      hint: 'what it had started was ended by the runner; see who ended the supervisor.',
      facts: { loss },
    },
  )
}

function readdirSafely(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}

/** Longest path below the base directory that must be a socket's: `/XXXXXX/s/<16 digits>.sock`, in bytes. */
const SOCKET_TAIL_BYTES = 31

/** The base directory, or one in /tmp where that of the environment is too long for sockets: a run that starts nothing needs none. */
function shortBaseDirectory(): string {
  const base = baseDirectory()
  const isShort = Buffer.byteLength(base) + SOCKET_TAIL_BYTES <= runtimePlatform.socketPathBytes
  return isShort || !runtimePlatform.hasUnixSockets ? base : `/tmp/custody-${process.geteuid?.()}`
}

async function newDirectory(base: string): Promise<string> {
  ensurePrivateDirectory(base)
  const { path } = await makeDirectory({ tmpdir: realpathSync.native(base), template: 'XXXXXX', mode: 0o700, keep: true })
  return path
}

function writeReport(path: string, report: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`)
}
