import type { Identity } from '@custody/runtime'
import { type CustodyError, Deadline, hasEnded, pause } from '@custody/runtime/internals'
import { isKnown, type KnownLeak, normalizeCommand } from '../leaks/baseline.js'
import { findLeft, type Left } from '../leaks/find-left.js'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import { platform } from '../platform/index.js'
import type { HelperEvent, RunEvent, Starter, StrayEvent } from '../report/events.js'
import { leakError } from '../report/leak-error.js'
import type { RunHandle } from '../scope/run-handle.js'
import { timeLimits } from '../scope/time-limits.js'

/** What is judged when the files have ended. */
export interface LateJudgement {
  readonly events: readonly RunEvent[]
  readonly failures: readonly CustodyError[]
  /** Helpers that go on: their workers have not ended. */
  readonly going: readonly HelperEvent[]
}

interface Late {
  readonly left: Left
  readonly starter: Starter
  readonly known: KnownLeak
  readonly isRed: boolean
}

/** Judges helpers whose workers have ended, and what code of a test has started when its file had ended. */
export async function judgeLate(run: RunHandle, events: readonly RunEvent[]): Promise<LateJudgement> {
  const helpers = events.filter((event) => event.type === 'helper').filter(({ identity }) => isAlive(identity))
  const going = helpers.filter(({ worker }) => isAlive(worker))
  const strays = new Map(events.flatMap((event) => (event.type === 'stray' ? [[event.namespace, event] as const] : [])))
  const found = [
    ...helpers.filter((helper) => !going.includes(helper)).map((helper) => lateHelper(helper)),
    ...[...strays.values()].flatMap((stray) => lateStrays(run, stray)),
  ]
  const { leaked, told } = await untilExited(run, found)
  return {
    going,
    events: [...told.flatMap((each) => tell(each)), ...leaked.map((each) => leakEvent(each))],
    failures: leaked.map(({ left, starter }) =>
      leakError(left, { kind: 'run', name: starter.by, sites: [{ stack: starter.stack }] }, { ...run.options, root: run.root }),
    ),
  }
}

/** Those that are alive when whoever is just exiting has had its time, which it gets only where something could be red. */
async function untilExited(run: RunHandle, found: readonly Late[]): Promise<{ leaked: Late[]; told: Late[] }> {
  const baseline = sharedBaseline(run)
  const couldBeRed = ({ isRed, known }: Late) => isRed && (baseline === null || !isKnown(known, baseline))
  const awaited = found.filter(couldBeRed)
  const deadline = Deadline.after(timeLimits(run.options).exitMs)
  while (awaited.some(({ left }) => isAlive(left.identity)) && !deadline.hasPassed) await pause(10)
  const alive = found.filter(({ left }) => isAlive(left.identity))
  return { leaked: alive.filter(couldBeRed), told: alive.filter((each) => !couldBeRed(each)) }
}

function lateHelper({ by, identity, isRed, known, stack }: HelperEvent): Late {
  const command = platform.readCommand(identity.pid)
  const left: Left = {
    ...{ identity, command, namespace: '', site: { stack }, isLate: false, isOfWorker: false, descendants: [] },
  }
  return { left, starter: { by, stack }, known, isRed }
}

function lateStrays(run: RunHandle, { by, isRed, known, namespace, stack }: StrayEvent): Late[] {
  return findLeft(namespace, [], run.runner).map((left) => ({
    left: { ...left, site: { stack }, isLate: true },
    starter: { by, stack },
    known: { ...known, argv: normalizeCommand(left.command, run.root) },
    isRed,
  }))
}

function tell({ known, left, starter }: Late): RunEvent[] {
  const text = `${starter.by} left pid ${left.identity.pid}: ${left.command.join(' ')}`
  return [{ type: 'warning', text }, { ...leakEvent({ known, left, starter, isRed: false }) }]
}

function leakEvent({ isRed, known, left, starter }: Late): RunEvent {
  return { type: 'leak', pid: left.identity.pid, command: left.command, by: starter.by, isRed, known }
}

function isAlive(identity: Identity): boolean {
  return hasEnded(identity) !== true
}
