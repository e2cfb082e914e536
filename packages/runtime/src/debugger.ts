import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { clock } from './clock.js'

const KEY = '@custody/debugger.1'

/** How often the debugged process looks whether it runs, in milliseconds. */
const BEAT_MS = 50
/** A longer gap between two beats counts as a stop, in milliseconds. Code that holds the thread so long counts as well. */
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

/** Monotonic milliseconds in which this process could run: from the first call on the time at a breakpoint does not count. Without a debugger it is the clock. */
export function runningMs(): number {
  if (!isWatching && hasDebugger()) watch()
  return clock.now() - stoppedMs
}

/**
 * Node runs due timers in the order of their times. The next beat is at most `BEAT_MS` away, so it is due before a deadline that is further
 * off, and the stop is known when that one looks.
 */
function watch(): void {
  isWatching = true
  let seen = clock.now()
  const beat = () => {
    const gap = clock.now() - seen
    if (gap > STOPPED_MS) stoppedMs += gap - BEAT_MS
    seen = clock.now()
    clock.setTimeout(beat, BEAT_MS).unref()
  }
  clock.setTimeout(beat, BEAT_MS).unref()
}
