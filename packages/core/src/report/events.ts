import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, parseJson } from '@custody/runtime/internals'
import type { Receipt } from '../retire/receipt.js'

/** What workers tell the run, a line of JSON each, as it happens: a run that is killed has them too. */
export type RunEvent =
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly instance: string | null }
  | { readonly type: 'kept'; readonly path: string; readonly by: string }
  | { readonly type: 'warning'; readonly text: string }
  /** A process that nobody had accounted for, and that ended with the run. */
  | { readonly type: 'swept'; readonly pid: number; readonly command: readonly string[] }
  /** A process that a test has left. */
  | { readonly type: 'leak'; readonly pid: number; readonly command: readonly string[]; readonly by: string }
  /** One that may be left. */
  | { readonly type: 'allowed'; readonly pid: number; readonly command: readonly string[]; readonly reason: string }
  /** What a runtime had said last when a scope that used it failed. */
  | { readonly type: 'log'; readonly instance: string; readonly name: string; readonly by: string; readonly tail: string }
  /** How surely it was known what was born of what; see docs/how-it-works.md. */
  | { readonly type: 'level'; readonly level: 0 | 1 | 2; readonly mechanisms: readonly string[] }

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
