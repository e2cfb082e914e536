import type { Identity } from '@custody/runtime'
import { type CustodyError, Deadline, hasEnded, pause } from '@custody/runtime/internals'
import { findLeft, type Left } from '../leaks/find-left.js'
import type { RunEvent } from '../report/events.js'
import { leakError } from '../report/leak-error.js'
import type { Swept } from '../supervisor/protocol.js'
import { findAllowance } from '../tree/allowance.js'
import { isCommonHelper } from '../tree/common-helpers.js'
import { type Scope, teardownFailed } from './scope.js'
import { timeLimits } from './time-limits.js'

/** What a scope's leaks come to. */
export interface LeakSettlement {
  readonly events: readonly RunEvent[]
  /** Each with the test that has left it, or with the file. */
  readonly failures: readonly { readonly of: Scope; readonly error: CustodyError }[]
}

/** Once something was found, so many looks in a row must find nothing: one that is replaced all the time may be missed by one. */
const EMPTY_LOOKS = 3

/** How long the end of what was left may take, in milliseconds. */
const END_MS = 30_000

/** Judges what a scope has left alive by itself, and ends it. A scope that has started nothing is not looked at. */
export async function settleLeaks(scope: Scope): Promise<LeakSettlement> {
  const { leakScope, leaks } = scope.run.options
  const isDue = scope.kind === 'file' || (scope.kind === 'test' && leakScope === 'test')
  if (leaks === 'off' || !isDue || scope.birth.spawned === 0) return { events: [], failures: [] }

  const { leaked, spared } = await lookUntilExited(scope, leaks === 'fail')
  const events = spared.flatMap(eventOfSpared)
  const failures: { of: Scope; error: CustodyError }[] = []
  for (const left of leaked) {
    const starter = starterOf(scope, left)
    const error = leakError(left, starter)
    // The red of a test that failed by itself says enough, and a retry that passed stays green.
    const isTold = leaks === 'warn' || (starter.kind === 'test' && starter.hasFailed)
    if (isTold) events.push({ type: 'warning', text: `${starter.name} left pid ${left.identity.pid}: ${left.command.join(' ')}` })
    else failures.push({ of: left.isLate ? (scope.file ?? scope) : starter, error })
    events.push({ type: 'leak', pid: left.identity.pid, command: left.command, by: starter.name })
  }
  try {
    if (leaks === 'fail' && leaked.length > 0) await endLeft(scope, leaked, spared)
  } catch (cause) {
    // What they are red for stays; they end with the run.
    failures.push({ of: scope, error: teardownFailed(scope, 'end what was left by', cause) })
  }
  return { events, failures }
}

interface Judged {
  readonly left: Left
  /** Why it is no leak. */
  readonly reason: string
}

/** What is left when those that are just exiting have had their time. Nobody waits where nothing could be red. */
async function lookUntilExited(scope: Scope, isWaiting: boolean): Promise<{ leaked: Left[]; spared: Judged[] }> {
  const deadline = Deadline.after(isWaiting ? timeLimits(scope.run.options).exitMs : 0)
  let empty = EMPTY_LOOKS - 1
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const judged = look(scope)
    empty = judged.leaked.length === 0 ? empty + 1 : 0
    if (empty === EMPTY_LOOKS || (empty === 0 && deadline.hasPassed)) return judged
    const identities = judged.leaked.flatMap(({ descendants, identity }) => [identity, ...descendants])
    while (identities.some((each) => hasEnded(each) !== true) && !deadline.hasPassed) {
      await pause(Math.min(waitMs, deadline.leftMs))
      waitMs = Math.min(waitMs * 2, 50)
    }
  }
}

function look(scope: Scope): { leaked: Left[]; spared: Judged[] } {
  const starts = [scope, ...scope.starters.values()].map(({ birth, id }) => ({ namespace: id, children: birth.children }))
  const all = findLeft(scope.id, starts, scope.run.runner).filter(({ identity }) => !scope.isJudged(identity))
  const judged = all.map((left) => ({ left, reason: reasonToSpare(left, scope) }))
  return {
    leaked: judged.flatMap(({ left, reason }) => (reason === null ? left : [])),
    spared: judged.flatMap(({ left, reason }) => (reason === null ? [] : { left, reason })),
  }
}

function reasonToSpare({ command, isOfWorker }: Left, { run }: Scope): string | null {
  const { allow, commonHelpers } = run.options
  // It is judged when its worker has ended.
  if (isOfWorker) return 'of its worker'
  if (commonHelpers && isCommonHelper(command)) return 'a common helper'
  return findAllowance(command, allow)?.reason ?? null
}

/** The test of this file that started it, or the file itself. A namespace beside a test's is that test's. */
function starterOf(scope: Scope, { namespace }: Left): Scope {
  const starter = scope.starterOf(namespace)
  return starter.kind === 'sibling' ? (starter.opener ?? starter) : starter
}

function eventOfSpared({ left, reason }: Judged): RunEvent[] {
  const { command, identity } = left
  return left.isOfWorker ? [] : [{ type: 'allowed', pid: identity.pid, command, reason }]
}

/** Has the supervisor end it, which looks at the evidence once more. */
async function endLeft(scope: Scope, leaked: readonly Left[], spared: readonly Judged[]): Promise<void> {
  const familyOf = ({ descendants, identity }: Left): Identity[] => [identity, ...descendants]
  const link = await scope.lease()
  const params = {
    scope: scope.id,
    known: leaked.flatMap(familyOf),
    spared: spared.flatMap(({ left }) => familyOf(left)),
  }
  await link.call<Swept[]>('endLeft', params, END_MS)
}
