import { url as inspectorUrl } from 'node:inspector'
import type { ResolvedOptions } from '../options/options.js'

const unlimited = { readyMs: Infinity, graceMs: Infinity, teardownMs: Infinity }

/** The time limits that hold in this process: none with a debugger attached, as whoever is stopped at a breakpoint must not expire. */
export function timeLimits(options: ResolvedOptions): ResolvedOptions['timeouts'] {
  // A proof is a matter between two live processes; without a limit one that never answers would be waited for for ever.
  return inspectorUrl() === undefined ? options.timeouts : { ...options.timeouts, ...unlimited }
}
