import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { appendLines, isObject, parseJson, readText } from '@custody/runtime/internals'
import type { JudgedFile } from '../leaks/baseline.js'
import type { LeakSignature } from '../leaks/signature.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Receipt } from '../retire/receipt.js'

/** What happened in a run, as its report tells it. */
export type ReportEvent =
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly instance: string | null }
  | { readonly type: 'kept'; readonly path: string; readonly by: string }
  | { readonly type: 'warning'; readonly text: string }
  /** A process that nobody had accounted for, and that ended with the run. */
  | { readonly type: 'swept'; readonly pid: number; readonly command: readonly string[] }
  /** A process that a test has left. */
  | LeakEvent
  /** One that may be left. */
  | { readonly type: 'allowed'; readonly pid: number; readonly command: readonly string[]; readonly reason: string }
  /** What a runtime had said last when a scope that used it failed. */
  | { readonly type: 'log'; readonly instance: string; readonly name: string; readonly by: string; readonly tail: string }
  /** What has made something red. */
  | FailureEvent
  /** How surely it was known what was born of what; see docs/how-it-works.md. */
  | { readonly type: 'level'; readonly level: 0 | 1 | 2; readonly mechanisms: readonly string[] }

/** What a worker leaves to the run to judge. */
export type Note = PendingNote | HelperNote | StrayNote | ManagedNote | ({ readonly type: 'judged' } & JudgedFile)

/** What workers tell the run, a line of JSON each, as it happens: a run that is killed has them too. */
export type RunEvent = ReportEvent | Note

export interface FailureEvent {
  readonly type: 'failure'
  /** The file, from the root of the run; null for the run itself. */
  readonly file: string | null
  /** The titles of the test and of what stands around it; null for a file or the run. */
  readonly test: string | null
  readonly code: string
  readonly message: string
  /** The message, and where what is wrong was started. */
  readonly stack: string
}

export interface LeakEvent {
  readonly type: 'leak'
  readonly pid: number
  readonly command: readonly string[]
  readonly by: string
  /** Whether it made something red. */
  readonly isRed: boolean
  /** Whether the baseline has it. */
  readonly isKnown: boolean
  readonly signature: LeakSignature
}

/** A process that was found left, and who has left it. */
export interface FoundLeak {
  readonly identity: Identity
  readonly command: readonly string[]
  readonly by: string
  /** Whether the baseline has it. */
  readonly isKnown: boolean
  readonly signature: LeakSignature
}

/** One that makes nothing red, and that nobody has waited for: it is a leak if it has not exited in its time. */
export interface PendingNote extends FoundLeak {
  readonly type: 'pending'
}

/** One that is to end with its worker: whether it does is seen when that has ended. */
export interface HelperNote extends FoundLeak {
  readonly type: 'helper'
  readonly worker: Identity
  readonly stack: string
  readonly isSignalled: boolean
  readonly isRed: boolean
}

/** Code of a test has started something when its file had ended: what is left of it belongs to the run. */
export interface StrayNote {
  readonly type: 'stray'
  readonly namespace: NamespaceId
  readonly by: string
  readonly stack: string
  readonly isRed: boolean
  readonly signature: Omit<LeakSignature, 'argv'>
}

/** A project whose configuration does not show that it is under custody. */
export interface ManagedNote {
  readonly type: 'managed'
  readonly project: string
}

/** Whether an event is one for the report. */
export function isForReport(event: RunEvent): event is ReportEvent {
  return !['pending', 'helper', 'stray', 'managed', 'judged'].includes(event.type)
}

export function writeEvents(runDirectory: string, events: readonly RunEvent[]): void {
  if (events.length === 0) return
  appendLines(
    join(runDirectory, 'events.jsonl'),
    events.map((event) => JSON.stringify(event)),
  )
}

/** All events so far. */
export function readEvents(runDirectory: string): RunEvent[] {
  let text: string
  try {
    text = readText(join(runDirectory, 'events.jsonl'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => {
    const event = parseJson(line)
    // A worker that was killed while it wrote leaves half a line.
    return isObject(event) ? [event as unknown as RunEvent] : []
  })
}
