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

let isWatching = false
let stoppedMs = 0
/** Up to when stops are counted, by the clock. */
let countedUpTo = 0

/**
 * Monotonic milliseconds in which this process could run. What does not count from the first call on: the time at a breakpoint, and a turn of
 * its event loop that lets a deadline expire before what has come in by then is read.
 */
export function runningMs(): number {
  if (!isWatching && hasDebugger()) watch()
  return clock.now() - stoppedMs
}

/** Notes that a timer fires which was due before. Later by more than 250 ms, it could not fire: something held the thread. */
export function noteFired(dueMs: number): void {
  const now = clock.now()
  const lateMs = now - Math.max(dueMs, countedUpTo)
  if (lateMs <= STOPPED_MS) return
  stoppedMs += lateMs
  countedUpTo = now
}

/**
 * Node runs due timers in the order of their times. The next beat is at most `BEAT_MS` away, so it is due before a deadline that is further
 * off, and the stop is known when that one looks.
 */
function watch(): void {
  isWatching = true
  let dueMs = clock.now() + BEAT_MS
  const beat = () => {
    noteFired(dueMs)
    dueMs = clock.now() + BEAT_MS
    clock.setTimeout(beat, BEAT_MS).unref()
  }
  clock.setTimeout(beat, BEAT_MS).unref()
}
