import { performance } from 'node:perf_hooks'
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import './platform/system.js'

/** Time as this package sees it. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number
  setTimeout: typeof setTimeout
  clearTimeout: typeof clearTimeout
  setImmediate: typeof setImmediate
}

const slot = Symbol.for('@custody/clock.1')
const shared = process as unknown as Record<symbol, Clock | undefined>

// Tests replace timers and clocks. Whoever loads first in this thread, which is the runner's part and so before any test, keeps
// the true ones for all copies of this package. The globals may be those of a window, whose timers end when it is closed.
shared[slot] ??= Object.freeze({
  now: performance.now.bind(performance),
  setTimeout,
  clearTimeout,
  setImmediate,
})

/** The clock and timers as they were before any test could replace them. */
export const clock: Clock = shared[slot]
