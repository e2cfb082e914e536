import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { clock } from './clock.js'

const KEY = '@custody/debugger.1'

/** How often the debugged process looks whether it runs, in milliseconds. */
const BEAT_MS = 50
/** A timer that is later than this could not fire, in milliseconds: its process was stopped, or its thread was held. */
const STOPPED_MS = 250

/** Whether a debugger is attached to this process, or may be. */
export function hasDebugger(): boolean {
  // A Node may be built without an inspector. In a thread it knows of its own only, and the one of the process stops threads too.
  const url = process.getBuiltinModule?.('node:inspector')?.url()
  return url !== undefined || (!isMainThread && getEnvironmentData(KEY) === true)
}

/** Has threads that are started from here on know of the debugger of their process. */
export function tellThreadsOfDebugger(): void {
  if (hasDebugger()) setEnvironmentData(KEY, true)
}

/** A time in which this process could not run, by the clock. */
interface Stop {
  readonly from: number
  readonly to: number
}

/** The last ones, in order: no deadline is so old that it would miss an earlier one. Each is longer than 250 ms. */
const stops: Stop[] = []
const MAX_STOPS = 1_000

let isWatching = false

/** How long this process could not run since a moment, in milliseconds, as far as it is known. */
export function stoppedSince(moment: number): number {
  let ms = 0
  for (const { from, to } of stops) ms += Math.max(0, to - Math.max(from, moment))
  return ms
}

/** Notes that a timer fires which was due before. Later by more than 250 ms, it could not fire: something held the thread. */
export function noteFired(dueMs: number): void {
  const now = clock.now()
  const from = Math.max(dueMs, stops.at(-1)?.to ?? 0)
  if (now - from <= STOPPED_MS) return
  stops.push({ from, to: now })
  if (stops.length > MAX_STOPS) stops.shift()
}

/**
 * Looks all the time whether this process runs, where a debugger may stop it. Node runs due timers in the order of their times: the next beat is
 * at most `BEAT_MS` away, so it is due before a deadline that is further off, and the stop is known when that one looks.
 */
export function watchForStops(): void {
  if (isWatching || !hasDebugger()) return
  isWatching = true
  let dueMs = clock.now() + BEAT_MS
  const beat = () => {
    noteFired(dueMs)
    dueMs = clock.now() + BEAT_MS
    clock.setTimeout(beat, BEAT_MS).unref()
  }
  clock.setTimeout(beat, BEAT_MS).unref()
}
