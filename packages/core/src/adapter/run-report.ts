import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { CustodyError } from '@custody/runtime/internals'
import { type FailureEvent, readEvents } from '../report/events.js'
import { failureEvent } from '../report/failure-event.js'
import { junitOf } from '../report/junit.js'
import { type Report, reportOf } from '../report/report.js'
import { formatSummary } from '../report/summary.js'
import type { RunHandle } from '../scope/run-handle.js'

/** How a run ended. */
export interface RunEnd {
  /** For programs. */
  readonly report: Report
  /** For people; empty when nothing was started. */
  readonly text: string
  /** What makes the run red that no file or test could say. */
  readonly failures: readonly CustodyError[]
}

/** Tells how a run went: in watch mode each re-run for itself, and at last what came after. */
export class RunReport {
  readonly #run: RunHandle
  /** How many events came before the re-run that was told last, and how many were told at all. */
  #before = 0
  #told = 0
  /** What has made that run red itself. */
  #failures: FailureEvent[] = []

  constructor(run: RunHandle) {
    this.#run = run
  }

  /** Tells of all that has happened since the last run. */
  tellRun(failures: readonly CustodyError[]): RunEnd {
    this.#before = this.#told
    this.#failures = []
    return this.#tell(failures)
  }

  /** Tells of what has happened since the last run was told, and adds it to that one's report. */
  tellRest(failures: readonly CustodyError[], line: string | null): RunEnd {
    const { text, ...end } = this.#tell(failures)
    return { ...end, text: [text, line ?? ''].filter((part) => part !== '').join('\n') }
  }

  #tell(failures: readonly CustodyError[]): RunEnd {
    const { directory, options, root } = this.#run
    this.#failures.push(...failures.map((failure) => failureEvent(failure, null)))
    const all = readEvents(directory)
    const [fresh, events] = [all.slice(this.#told), all.slice(this.#before)]
    const isFirst = this.#told === this.#before
    this.#told = all.length
    const report = reportOf([...events, ...this.#failures])
    if (isFirst || fresh.length + failures.length > 0) {
      const { json, junit } = options.report
      if (json !== null) writeReport(resolve(root, json), `${JSON.stringify(report, null, 2)}\n`)
      if (junit !== null) writeReport(resolve(root, junit), junitOf(report))
    }
    return { report, text: formatSummary(fresh), failures }
  }
}

function writeReport(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
