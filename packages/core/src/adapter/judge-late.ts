import { type CustodyError, Deadline } from '@custody/runtime/internals'
import { isKnown } from '../leaks/baseline.js'
import { findLeft } from '../leaks/find-left.js'
import { sharedBaseline } from '../leaks/shared-baseline.js'
import { signatureOf } from '../leaks/signature.js'
import { isAlive, waitForExits } from '../leaks/wait-for-exits.js'
import type { FoundLeak, HelperNote, RunEvent, StrayNote } from '../report/events.js'
import { type LeftProcess, leakError } from '../report/leak-error.js'
import { leakEvent, toldLeak } from '../report/leak-events.js'
import type { RunHandle } from '../scope/run-handle.js'
import { timeLimits } from '../scope/time-limits.js'

/** What is judged when the files have ended. */
export interface LateJudgement {
  readonly events: readonly RunEvent[]
  readonly failures: readonly CustodyError[]
  /** Helpers that go on: their workers have not ended. */
  readonly going: readonly HelperNote[]
}

interface Found extends FoundLeak {
  readonly process: LeftProcess
  readonly isRed: boolean
}

/** Judges helpers whose workers have ended, and what code of a test has started when its file had ended. */
export async function judgeLate(run: RunHandle, events: readonly RunEvent[]): Promise<LateJudgement> {
  const helpers = events.filter((event) => event.type === 'helper').filter(({ identity }) => isAlive(identity))
  const going = helpers.filter(({ worker }) => isAlive(worker))
  const strays = new Map(events.flatMap((event) => (event.type === 'stray' ? [[event.namespace, event] as const] : [])))
  const found = [
    ...helpers.filter((helper) => !going.includes(helper)).map(foundHelper),
    ...[...strays.values()].flatMap((stray) => foundStrays(run, stray)),
  ]
  const canBeRed = (each: Found) => each.isRed && !each.isKnown
  // Who is just exiting has its time, but only where something could be red.
  const awaited = found.filter(canBeRed).map(({ identity }) => identity)
  await waitForExits(awaited, Deadline.after(timeLimits(run.options).exitMs))
  const left = found.filter(({ identity }) => isAlive(identity))
  const leaked = left.filter(canBeRed)
  return {
    going,
    events: left.flatMap((each) => (leaked.includes(each) ? leakEvent(each, true) : toldLeak(each))),
    failures: leaked.map(({ by, process }) => leakError(process, { kind: 'run', name: by, sites: [] }, run)),
  }
}

function foundHelper(note: HelperNote): Found {
  const { command, identity, isSignalled, stack } = note
  return { ...note, process: { command, identity, isLate: false, isSignalled, site: { stack }, descendants: [] } }
}

function foundStrays(run: RunHandle, { by, isRed, namespace, signature, stack }: StrayNote): Found[] {
  return findLeft(namespace, [], run.runner).map((left) => {
    const { command, identity } = left
    const own = signatureOf(signature, command, run.root)
    const isOfBaseline = isKnown(own, sharedBaseline(run))
    return {
      identity,
      command,
      by,
      signature: own,
      isRed,
      isKnown: isOfBaseline,
      process: { ...left, site: { stack }, isLate: true },
    }
  })
}
