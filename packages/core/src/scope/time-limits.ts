import { hasDebugger } from '@custody/runtime/internals'
import type { ResolvedOptions } from '../options/options.js'

const unlimited = { readyMs: Infinity, graceMs: Infinity, teardownMs: Infinity }

/** What the end of a run says of it. */
export const WITHOUT_LIMITS = 'a debugger is attached: readyMs, graceMs and teardownMs do not hold.'

/** The time limits that hold in this process: none with a debugger attached, as whoever is stopped at a breakpoint must not expire. */
export function timeLimits(options: ResolvedOptions): ResolvedOptions['timeouts'] {
  // A proof is a matter between two live processes; without a limit one that never answers would be waited for for ever.
  return hasDebugger() ? { ...options.timeouts, ...unlimited } : options.timeouts
}
