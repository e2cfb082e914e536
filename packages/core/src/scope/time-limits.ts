import { url as inspectorUrl } from 'node:inspector'
import type { ResolvedOptions } from '../options/options.js'

const unlimited: ResolvedOptions['timeouts'] = { proofMs: Infinity, readyMs: Infinity, graceMs: Infinity, teardownMs: Infinity }

/** The time limits that hold in this process: none with a debugger attached, as whoever is stopped at a breakpoint must not expire. */
export function timeLimits(options: ResolvedOptions): ResolvedOptions['timeouts'] {
  return inspectorUrl() === undefined ? options.timeouts : unlimited
}
