import type { Identity } from '@custody/runtime'
import { type CustodyError, Deadline, hasEnded, ownIdentity } from '@custody/runtime/internals'
import { isKnown } from '../leaks/baseline.js'
import { familyOf, findLeft, type Left } from '../leaks/find-left.js'
import { type Allowed, reasonToAllow } from '../leaks/reason-to-allow.js'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import { signatureOf } from '../leaks/signature.js'
import { waitForExits } from '../leaks/wait-for-exits.js'
import { blindnessWarnings } from '../report/blindness-warnings.js'
import type { FoundLeak, RunEvent } from '../report/events.js'
import { leakError } from '../report/leak-error.js'
import { allowedEvent, leakEvent, toldLeak } from '../report/leak-events.js'
import { notEnded } from '../report/not-ended.js'
import { stackOfSite } from '../report/stack-of-site.js'
import type { Swept } from '../supervisor/protocol.js'
import { writeExemption } from '../supervisor/write-exemption.js'
import { EMPTY_LOOKS } from '../tree/stop-tree.js'
import { leakPolicyOf } from './leak-policy.js'
import { mayStay } from './may-stay.js'
import type { Scope } from './scope.js'
import { teardownFailed } from './teardown-failed.js'
import { timeLimits } from './time-limits.js'

/** What a scope's leaks come to. */
export interface LeakSettlement {
  readonly events: readonly RunEvent[]
  /** Each with the test that has left it, or with the file. */
  readonly failures: readonly { readonly of: Scope; readonly error: CustodyError }[]
}

/** How long the end of what was left may take, in milliseconds. */
export const END_LEFT_MS = 30_000

/** Something that was left, and who has left it. */
interface Found extends FoundLeak {
  readonly left: Left
  readonly starter: Scope
}

/** What was found left, and what is to become of it. */
interface Judged {
  /** Ended now; red unless who has started it has failed by itself. */
  readonly leaked: Found[]
  /** A leak if it does not exit in its time; it ends with the run. */
  readonly pending: Found[]
  /** Judged when their workers have ended. */
  readonly helpers: Found[]
  readonly allowed: (Found & { readonly why: Allowed })[]
}

/** Judges what a scope has left alive by itself, and ends it. A scope that has started nothing is not looked at. */
export async function settleLeaks(scope: Scope): Promise<LeakSettlement> {
  const { birth, kind, run } = scope
  const isDue = kind === 'file' || (kind === 'test' && run.options.leakScope === 'test')
  if (!isDue || birth.spawned === 0) return { events: [], failures: [] }
  const policy = leakPolicyOf(scope)
  if (policy === 'off') {
    exemptFile(scope)
    return { events: [], failures: [] }
  }

  const blind = blindnessWarnings()
  if (blind.length > 0) return { events: blind, failures: [] }
  const canBeRed = policy === 'fail'
  const judged = await lookUntilExited(scope, canBeRed)
  const { allowed, helpers, leaked, pending } = judged
  for (const { identity } of [...pending, ...helpers, ...allowed]) scope.books.noteJudged(identity)
  exemptAllowed(scope, allowed)
  const failures: { of: Scope; error: CustodyError }[] = []
  const events: RunEvent[] = [
    ...allowed.map(({ command, identity, why }) => allowedEvent(identity.pid, command, why.reason)),
    ...helpers.map((found) => noteOfHelper(found, canBeRed)),
    ...pending.map(({ left: _left, starter: _starter, ...found }) => ({ ...found, type: 'pending' }) as const),
  ]
  for (const found of leaked) {
    if (!makesRed(found)) events.push(...toldLeak(found))
    else {
      const { left, starter } = found
      failures.push({ of: left.isLate ? (scope.file ?? scope) : starter, error: leakError(left, starter, run) })
      events.push(leakEvent(found, true))
    }
  }
  try {
    if (pending.length > 0) await watchPending(scope, pending)
    const ended = leaked.length > 0 ? await endLeft(scope, judged) : []
    failures.push(...ended.filter(({ isAlive }) => isAlive).map((each) => ({ of: scope, error: notEnded(each) })))
  } catch (cause) {
    // What they are red for stays; they end with the run. Where nothing can be red, this cannot either: the run says who was lost.
    if (canBeRed) failures.push({ of: scope, error: teardownFailed(scope, 'end what was left by', cause) })
  }
  return { events, failures }
}

/** The red of a test or a file that failed by itself says enough, and a retry that passed stays green. What goes on after it is another matter. */
function makesRed({ left, starter }: Found): boolean {
  if (!starter.hasFailed) return true
  return left.isLate && starter.books.hasFailedAtLast(starter)
}

/** What is left when those that are just exiting have had their time. Nobody waits where nothing could be red. */
async function lookUntilExited(scope: Scope, canBeRed: boolean): Promise<Judged> {
  const deadline = Deadline.after(canBeRed ? timeLimits(scope.run.options).exitMs : 0)
  for (let empty = EMPTY_LOOKS - 1; ; ) {
    const judged = look(scope, canBeRed)
    const awaited = [...judged.leaked, ...judged.allowed.filter(({ why }) => why.isAwaited)]
    empty = awaited.length === 0 ? empty + 1 : 0
    if (empty === EMPTY_LOOKS || (empty === 0 && deadline.hasPassed)) return judged
    const identities = awaited.flatMap(({ left }) => familyOf(left))
    await waitForExits(identities, deadline)
  }
}

function look(scope: Scope, canBeRed: boolean): Judged {
  const judged: Judged = { leaked: [], pending: [], helpers: [], allowed: [] }
  for (const left of findLeft(scope.id, scope.births, scope.run.runner)) {
    if (scope.books.isJudged(left.identity)) continue
    const found = foundIn(scope, left)
    const { declared, run } = found.starter
    const why = reasonToAllow(left.command, declared, run.options)
    if (why !== null) judged.allowed.push({ ...found, why })
    else if (left.isOfWorker) judged.helpers.push(found)
    else if (canBeRed && !found.isKnown) judged.leaked.push(found)
    else judged.pending.push(found)
  }
  return judged
}

/** With the test of this file that started it, or the file itself. A namespace beside a test's is that test's. */
function foundIn(scope: Scope, left: Left): Found {
  const { command, identity, namespace } = left
  const nearest = scope.starterOf(namespace)
  const starter = nearest.kind === 'sibling' ? (nearest.opener ?? nearest) : nearest
  const { name: by, path: file, run, title: test } = starter
  const signature = signatureOf({ project: run.projectName, file, test }, command, run.root)
  return { left, starter, identity, command, by, signature, isKnown: isKnown(signature, sharedBaseline(run)) }
}

function noteOfHelper({ left, starter, ...found }: Found, isRed: boolean): RunEvent {
  const stack = stackOfSite(left.site ?? starter.sites[0])
  return { ...found, type: 'helper', worker: ownIdentity(), stack, isSignalled: left.isSignalled, isRed }
}

/** Whoever ends the run is to know what goes on. What tells by a function cannot be asked there. */
function exemptAllowed({ run }: Scope, allowed: Judged['allowed']): void {
  const known = allowed.filter(({ why }) => !why.isEnded).flatMap(({ left }) => familyOf(left))
  if (known.length > 0) writeExemption(run.directory, { type: 'processes', known })
}

/** Has the end of the run leave alone whatever this file has started. */
function exemptFile({ births, id, kind, run }: Scope): void {
  // Where nothing is looked for at all, the run ends nothing either.
  if (kind !== 'file' || run.options.leaks === 'off') return
  const known = findLeft(id, births, run.runner).flatMap(familyOf)
  writeExemption(run.directory, { type: 'scope', scope: id, known })
}

/** Nobody waits for what makes nothing red: the supervisor looks whether it has only been exiting. */
async function watchPending(scope: Scope, pending: readonly Found[]): Promise<void> {
  const link = await scope.lease()
  const { exitMs: forMs } = timeLimits(scope.run.options)
  await link.call('watch', { known: pending.map(({ identity }) => identity), forMs })
}

/** Has the supervisor end it, which looks at the evidence once more. */
async function endLeft(scope: Scope, { allowed, helpers, leaked, pending }: Judged): Promise<Swept[]> {
  const others = [...helpers, ...pending, ...allowed].flatMap(({ left }) => familyOf(left))
  const declared = leaked.flatMap(allowedBelow)
  if (declared.length > 0) writeExemption(scope.run.directory, { type: 'processes', known: declared })
  const link = await scope.lease()
  // Also a runtime that did not prove itself, or would not leave: it is the run's to end.
  const judged = scope.books.judged.filter((identity) => hasEnded(identity) !== true)
  const spared = [...others, ...declared, ...judged]
  const params = { scope: scope.id, known: leaked.flatMap(({ left }) => familyOf(left)), spared }
  return link.call<Swept[]>('endLeft', params, END_LEFT_MS)
}

/** What may be left of what descends from a leak: a shell that nobody has declared may stand above it. */
function allowedBelow({ left, starter }: Found): Identity[] {
  return left.descendants.filter(({ pid }) => mayStay(starter, pid))
}
