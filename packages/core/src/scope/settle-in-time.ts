import { CustodyError, Deadline } from '@custody/runtime/internals'
import type { Scope, Settlement } from './scope.js'
import { type Captured, settle } from './teardown.js'
import { timeLimits } from './time-limits.js'

/** How much longer a teardown may take than what it waits for, in milliseconds. Each of its steps has a limit below this. */
const MARGIN_MS = 30_000

/**
 * Settles a scope, and has an end whatever hangs: no runner bounds the hooks in which this runs.
 * @param marginMs how much longer it may take than what it waits for
 */
export async function settleInTime(
  scope: Scope,
  captured: Captured | null,
  hasFailed: boolean,
  marginMs: number = MARGIN_MS,
): Promise<Settlement> {
  const limitMs = longestMs(scope) + marginMs
  const settling = settle(scope, captured, hasFailed)
  let cancel = () => {}
  const overdue = new Promise<Settlement>((resolve) => {
    cancel = Deadline.after(limitMs).onPassed(() => resolve({ receipts: [], failures: [neverSettled(scope, limitMs)], late: [] }))
  })
  try {
    return await Promise.race([settling, overdue])
  } finally {
    cancel()
  }
}

/** What its own waits come to at worst: without an end while a debugger is attached. */
function longestMs({ run, uses }: Scope): number {
  const { exitMs, teardownMs } = timeLimits(run.options)
  return teardownMs + exitMs + [...uses.values()].reduce((sum, { graceMs }) => sum + graceMs, 0)
}

function neverSettled({ name }: Scope, limitMs: number): CustodyError {
  return new CustodyError('CUSTODY_TEARDOWN_FAILED', `Could not settle ${name}: it has not ended after ${limitMs} ms.`, {
    hint: 'what it has started ends with the run; see what its runtimes and commands were waiting for.',
    facts: { scope: name, limitMs },
  })
}
