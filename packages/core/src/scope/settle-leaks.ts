import type { Identity } from '@custody/runtime'
import { type CustodyError, Deadline, hasEnded, ownIdentity, pause } from '@custody/runtime/internals'
import { isKnown, type KnownLeak, normalizeCommand } from '../leaks/baseline.js'
import { findLeft, type Left } from '../leaks/find-left.js'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import type { RunEvent } from '../report/events.js'
import { leakError } from '../report/leak-error.js'
import { stackOfSite } from '../report/stack-of-site.js'
import type { Swept } from '../supervisor/protocol.js'
import { writeExemption } from '../supervisor/write-exemption.js'
import { leakPolicyOf } from './leak-policy.js'
import { reasonToSpare, type Spared } from './reason-to-spare.js'
import type { Scope } from './scope.js'
import { teardownFailed } from './teardown-failed.js'
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

/** What was found left, and what is to become of it. */
interface Judged {
  /** Red, and ended now. */
  readonly leaked: readonly Left[]
  /** Told, and ended with the run. */
  readonly told: readonly Left[]
  /** Judged when their workers have ended. */
  readonly helpers: readonly Left[]
  readonly spared: readonly (Spared & { readonly left: Left })[]
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

  const judged = await lookUntilExited(scope, policy === 'fail')
  const { helpers, leaked, spared, told } = judged
  for (const { identity } of [...told, ...helpers]) scope.books.noteJudged(identity)
  exemptSpared(scope, spared)
  const failures: { of: Scope; error: CustodyError }[] = []
  const events: RunEvent[] = [
    ...spared.map(({ left, reason }) => ({ type: 'allowed', ...shown(left), reason }) as const),
    ...helpers.map((left) => helperOf(scope, left, policy === 'fail')),
    ...told.map((left) => toldOf(scope, left)),
  ]
  const detail = { explain: run.options.explain, root: run.root }
  for (const left of leaked) {
    const starter = starterOf(scope, left)
    // The red of a test that failed by itself says enough, and a retry that passed stays green. What goes on after it is another matter.
    const isRed = starter.kind !== 'test' || !starter.hasFailed || (left.isLate && scope.books.hasFailedAtLast(starter.title))
    if (!isRed) events.push(...tell(scope, left))
    else {
      failures.push({ of: left.isLate ? (scope.file ?? scope) : starter, error: leakError(left, starter, detail) })
      events.push(leakEvent(scope, left, true))
    }
  }
  try {
    if (told.length > 0) await watchTold(scope, told)
    if (leaked.length > 0) await endLeft(scope, judged)
  } catch (cause) {
    // What they are red for stays; they end with the run. Where nothing can be red, this cannot either: the run says who was lost.
    if (policy === 'fail') failures.push({ of: scope, error: teardownFailed(scope, 'end what was left by', cause) })
  }
  return { events, failures }
}

/** What is left when those that are just exiting have had their time. Nobody waits where nothing could be red. */
async function lookUntilExited(scope: Scope, isWaiting: boolean): Promise<Judged> {
  const deadline = Deadline.after(isWaiting ? timeLimits(scope.run.options).exitMs : 0)
  let empty = EMPTY_LOOKS - 1
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 50)) {
    const judged = look(scope, isWaiting)
    const awaited = [...judged.leaked, ...judged.spared.flatMap(({ isAwaited, left }) => (isAwaited ? left : []))]
    empty = awaited.length === 0 ? empty + 1 : 0
    if (empty === EMPTY_LOOKS || (empty === 0 && deadline.hasPassed)) return judged
    const identities = awaited.flatMap(familyOf)
    while (identities.some((each) => hasEnded(each) !== true) && !deadline.hasPassed) {
      await pause(Math.min(waitMs, deadline.leftMs))
      waitMs = Math.min(waitMs * 2, 50)
    }
  }
}

function look(scope: Scope, isRed: boolean): Judged {
  const { runner } = scope.run
  const baseline = sharedBaseline(scope.run)
  const starts = [scope, ...scope.starters.values()].map(({ birth, id }) => ({ namespace: id, children: birth.children }))
  const judged = { leaked: [] as Left[], told: [] as Left[], helpers: [] as Left[], spared: [] as (Spared & { left: Left })[] }
  for (const left of findLeft(scope.id, starts, runner)) {
    if (scope.books.isJudged(left.identity)) continue
    const spared = reasonToSpare(left, starterOf(scope, left))
    if (spared !== null) judged.spared.push({ ...spared, left })
    else if (left.isOfWorker) judged.helpers.push(left)
    else if (isRed && (baseline === null || !isKnown(knownLeak(scope, left), baseline))) judged.leaked.push(left)
    else judged.told.push(left)
  }
  return judged
}

/** The test of this file that started it, or the file itself. A namespace beside a test's is that test's. */
function starterOf(scope: Scope, { namespace }: Left): Scope {
  const starter = scope.starterOf(namespace)
  return starter.kind === 'sibling' ? (starter.opener ?? starter) : starter
}

function tell(scope: Scope, left: Left): RunEvent[] {
  const text = `${starterOf(scope, left).name} left pid ${left.identity.pid}: ${left.command.join(' ')}`
  return [{ type: 'warning', text }, leakEvent(scope, left, false)]
}

function toldOf(scope: Scope, left: Left): RunEvent {
  const { command, identity } = left
  return { type: 'told', identity, command, by: starterOf(scope, left).name, known: knownLeak(scope, left) }
}

function leakEvent(scope: Scope, left: Left, isRed: boolean): RunEvent {
  return { type: 'leak', ...shown(left), by: starterOf(scope, left).name, isRed, known: knownLeak(scope, left) }
}

function helperOf(scope: Scope, left: Left, isRed: boolean): RunEvent {
  const { name: by, sites } = starterOf(scope, left)
  const stack = stackOfSite(left.site ?? sites[0])
  return { type: 'helper', identity: left.identity, worker: ownIdentity(), by, stack, isRed, known: knownLeak(scope, left) }
}

function knownLeak(scope: Scope, left: Left): KnownLeak {
  const { path, run, title } = starterOf(scope, left)
  return { project: run.projectName, file: path, test: title, argv: normalizeCommand(left.command, run.root) }
}

function shown({ command, identity }: Left): { pid: number; command: readonly string[] } {
  return { pid: identity.pid, command }
}

function familyOf({ descendants, identity }: Left): Identity[] {
  return [identity, ...descendants]
}

/** Whoever ends the run is to know what goes on. What tells by a function cannot be asked there. */
function exemptSpared({ run }: Scope, spared: Judged['spared']): void {
  const known = spared.filter(({ isEnded }) => !isEnded).flatMap(({ left }) => familyOf(left))
  if (known.length > 0) writeExemption(run.directory, { type: 'processes', known })
}

/** Has the end of the run leave alone whatever this file has started. */
function exemptFile({ birth, id, kind, run, starters }: Scope): void {
  // Where nothing is looked for at all, the run ends nothing either.
  if (kind !== 'file' || run.options.leaks === 'off') return
  const starts = [{ namespace: id, children: birth.children }]
  for (const starter of starters.values()) starts.push({ namespace: starter.id, children: starter.birth.children })
  const known = findLeft(id, starts, run.runner).flatMap(familyOf)
  writeExemption(run.directory, { type: 'scope', scope: id, known })
}

/** Nobody waits for what makes nothing red: the supervisor looks whether it has only been exiting. */
async function watchTold(scope: Scope, told: readonly Left[]): Promise<void> {
  const link = await scope.lease()
  const { exitMs: forMs } = timeLimits(scope.run.options)
  await link.call('watch', { known: told.map(({ identity }) => identity), forMs })
}

/** Has the supervisor end it, which looks at the evidence once more. */
async function endLeft(scope: Scope, { helpers, leaked, spared, told }: Judged): Promise<void> {
  const others = [...helpers, ...told, ...spared.map(({ left }) => left)]
  const link = await scope.lease()
  const params = { scope: scope.id, known: leaked.flatMap(familyOf), spared: others.flatMap(familyOf) }
  await link.call<Swept[]>('endLeft', params, END_MS)
}
