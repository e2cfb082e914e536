import { isForReport, type ReportEvent, type RunEvent } from './events.js'
import { type Summary, summarize } from './summary.js'

/** How a run went, for programs. */
export interface Report {
  readonly version: 1
  readonly summary: Summary
  readonly events: readonly ReportEvent[]
}

export function reportOf(events: readonly RunEvent[]): Report {
  return { version: 1, summary: summarize(events), events: events.filter(isForReport) }
}
