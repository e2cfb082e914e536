import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CustodyError } from '@custody/runtime'
import {
  baseDirectory,
  clock,
  Deadline,
  ensurePrivateDirectory,
  NAMESPACE_VARIABLE,
  ownIdentity,
  temporaryBaseDirectory,
} from '@custody/runtime/internals'
import { dir as makeDirectory } from 'tmp-promise'
import { captureRegistry } from '../locators/capture.js'
import { newRunId } from '../namespace/namespace-id.js'
import { parseOptions } from '../options/parse-options.js'
import { type RunEvent, readEvents, writeEvents } from '../report/events.js'
import { formatSummary, type Summary, summarize } from '../report/summary.js'
import type { RunHandle } from '../scope/run-handle.js'
import { accountFor, settleLocators } from '../scope/settle-locators.js'
import { timeLimits } from '../scope/time-limits.js'

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
  /** Accounts for what no file has, writes the report, and gives the counts. In watch mode once for each re-run. */
  settle(): Promise<RunEnd>
  /** Removes what the run kept on disk, apart from directories that are kept for people. */
  close(): void
}

/**
 * Opens a run: its id and its directories.
 * @param options as the user wrote them
 * @param root the project's root
 * @throws CUSTODY_INVALID_OPTION, CUSTODY_UNSAFE_DIRECTORY
 */
export async function openRun(options: unknown, root: string): Promise<Run> {
  const resolved = parseOptions(options)
  const directory = await newDirectory(baseDirectory())
  const storage = baseDirectory() === temporaryBaseDirectory() ? directory : await newDirectory(temporaryBaseDirectory())
  mkdirSync(`${directory}/registry`, { mode: 0o700 })
  const outer = process.env[NAMESPACE_VARIABLE]?.split(':')[0] || null
  const handle: RunHandle = { id: newRunId(outer), directory, storage, runner: ownIdentity(), root, options: resolved }
  const isKept = (events: readonly RunEvent[]) => events.some(({ type }) => type === 'kept')
  let told = 0

  return {
    handle,
    async settle() {
      const failures = await settleRest(handle)
      // In watch mode each re-run tells of its own.
      const events = readEvents(directory).slice(told)
      told += events.length
      const summary = summarize(events)
      const { json } = resolved.report
      if (json !== null) writeReport(resolve(root, json), { version: 1, summary, events })
      return { summary, text: formatSummary(events), failures }
    },
    close() {
      if (!isKept(readEvents(directory))) rmSync(storage, { recursive: true, force: true })
      if (directory !== storage) rmSync(directory, { recursive: true, force: true })
      for (const name of ['registry', 's', 'events.jsonl']) rmSync(`${directory}/${name}`, { recursive: true, force: true })
    },
  }
}

/** Retires what a file could not: its worker may have died before. */
async function settleRest(run: RunHandle): Promise<CustodyError[]> {
  const accounted = new Set<string>()
  for (const event of readEvents(run.directory)) {
    if (event.type === 'receipt') accountFor(event.receipt, event.instance, accounted)
  }
  const starter = { kind: 'run', name: 'the run', sites: [] }
  const settler = { id: run.id, starterOf: () => starter, run, accounted }
  const look = () => ({ locators: captureRegistry(run.directory, run.id), cutShort: [] })
  const time = { begunAt: clock.now(), deadline: Deadline.after(timeLimits(run.options).teardownMs) }
  const { findings } = await settleLocators(settler, null, look, time)
  writeEvents(
    run.directory,
    findings.map(({ instance, receipt }) => ({ type: 'receipt', receipt, instance })),
  )
  return findings.flatMap(({ failure }) => failure ?? [])
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
