import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Identity } from '@custody/runtime'
import { isObject, parseJson } from '@custody/runtime/internals'
import type { JudgedFile, KnownLeak } from '../leaks/baseline.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { Receipt } from '../retire/receipt.js'

/** What workers tell the run, a line of JSON each, as it happens: a run that is killed has them too. */
export type RunEvent =
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly instance: string | null }
  | { readonly type: 'kept'; readonly path: string; readonly by: string }
  | { readonly type: 'warning'; readonly text: string }
  /** A process that nobody had accounted for, and that ended with the run. */
  | { readonly type: 'swept'; readonly pid: number; readonly command: readonly string[] }
  /** A process that a test has left. */
  | LeakEvent
  /** One that makes nothing red, and that nobody has waited for: it is a leak if it has not exited in its time. */
  | ToldEvent
  /** One that is to end with its worker: whether it does is seen when that has ended. */
  | HelperEvent
  /** Code of a test has started something when its file had ended: what is left of it belongs to the run. */
  | StrayEvent
  /** What a file with known leaks has come to. */
  | ({ readonly type: 'judged' } & JudgedFile)
  /** One that may be left. */
  | { readonly type: 'allowed'; readonly pid: number; readonly command: readonly string[]; readonly reason: string }
  /** What a runtime had said last when a scope that used it failed. */
  | { readonly type: 'log'; readonly instance: string; readonly name: string; readonly by: string; readonly tail: string }
  /** How surely it was known what was born of what; see docs/how-it-works.md. */
  | { readonly type: 'level'; readonly level: 0 | 1 | 2; readonly mechanisms: readonly string[] }

export interface LeakEvent {
  readonly type: 'leak'
  readonly pid: number
  readonly command: readonly string[]
  readonly by: string
  /** Whether it made something red. */
  readonly isRed: boolean
  readonly known: KnownLeak
}

export interface ToldEvent {
  readonly type: 'told'
  readonly identity: Identity
  readonly command: readonly string[]
  readonly by: string
  readonly known: KnownLeak
}

/** Who has started something, and where, for a judgement when that one has ended. */
export interface Starter {
  readonly by: string
  readonly stack: string
}

export interface HelperEvent extends Starter {
  readonly type: 'helper'
  readonly identity: Identity
  readonly worker: Identity
  readonly isRed: boolean
  readonly known: KnownLeak
}

export interface StrayEvent extends Starter {
  readonly type: 'stray'
  readonly namespace: NamespaceId
  readonly isRed: boolean
  readonly known: Omit<KnownLeak, 'argv'>
}

export function writeEvents(runDirectory: string, events: readonly RunEvent[]): void {
  if (events.length === 0) return
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('')
  appendFileSync(join(runDirectory, 'events.jsonl'), lines, { mode: 0o600 })
}

/** All events so far. A last line without its end, from a worker that was killed while it wrote, is left out. */
export function readEvents(runDirectory: string): RunEvent[] {
  let text: string
  try {
    text = readFileSync(join(runDirectory, 'events.jsonl'), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => {
    const event = parseJson(line)
    // A worker that was killed while it wrote leaves half a line, and the next one writes on behind it.
    return isObject(event) ? [event as unknown as RunEvent] : []
  })
}
