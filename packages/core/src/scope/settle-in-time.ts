import { CustodyError, Deadline } from '@custody/runtime/internals'
import { STOP_MARGIN_MS } from '../launch/started-runtime.js'
import { writeEvents } from '../report/events.js'
import { failureEvent } from '../report/failure-event.js'
import type { Use } from './holdings.js'
import type { RunHandle } from './run-handle.js'
import type { Scope, Settlement } from './scope.js'
import { END_LEFT_MS } from './settle-leaks.js'
import { type Captured, settle } from './teardown.js'
import { teardownFailed } from './teardown-failed.js'
import { timeLimits } from './time-limits.js'

/** What a teardown may take beyond the limits of its steps, in milliseconds: it waits for starts that it cuts short as well. */
const MARGIN_MS = 30_000

/**
 * Settles a scope, and has an end whatever hangs: no runner bounds the hooks in which this runs.
 * @param limitMs when it ends at the latest, in milliseconds
 */
export async function settleInTime(
  scope: Scope,
  captured: Captured | null,
  hasFailed: boolean,
  limitMs: number = longestMs(scope),
): Promise<Settlement> {
  const settling = settle(scope, captured, hasFailed)
  let cancel = () => {}
  const overdue = new Promise<Settlement>((resolve) => {
    cancel = Deadline.after(limitMs).onPassed(() => resolve(giveUp(scope, limitMs)))
  })
  try {
    return await Promise.race([settling, overdue])
  } finally {
    cancel()
  }
}

/** What the time of a teardown depends on. */
interface Timed {
  readonly run: Pick<RunHandle, 'options'>
  readonly siblings: ReadonlyMap<string, Timed>
  readonly uses: ReadonlyMap<string, Pick<Use, 'graceMs'>>
}

/** How long a teardown may take, in milliseconds: the limits of its steps, and some more. Without end while a debugger is attached. */
export function longestMs({ run, siblings, uses }: Timed): number {
  const { exitMs, teardownMs } = timeLimits(run.options)
  const graceMs = [...uses.values()].reduce((sum, use) => sum + use.graceMs, 0)
  const inSiblings = [...siblings.values()].map(longestMs)
  return Math.max(teardownMs, graceMs + STOP_MARGIN_MS, ...inSiblings) + exitMs + END_LEFT_MS + MARGIN_MS
}

function giveUp(scope: Scope, limitMs: number): Settlement {
  const failures = [...scope.faults, neverSettled(scope, limitMs)]
  try {
    writeEvents(
      scope.run.directory,
      failures.map((failure) => failureEvent(failure, scope)),
    )
  } catch (fault) {
    failures.push(teardownFailed(scope, 'note what came of', fault))
  }
  return { receipts: [], failures, late: [] }
}

function neverSettled({ name }: Scope, limitMs: number): CustodyError {
  return new CustodyError('CUSTODY_TEARDOWN_FAILED', `Could not settle ${name}: it has not ended after ${limitMs} ms.`, {
    hint: 'what it has started ends with the run; see what its runtimes and commands were waiting for.',
    facts: { scope: name, limitMs },
  })
}
