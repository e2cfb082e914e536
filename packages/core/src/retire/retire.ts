import { lstatSync } from 'node:fs'
import type { Expectation } from '@custody/runtime'
import { clock, type Deadline, hasCode, requestShutdown, type Session } from '@custody/runtime/internals'
import type { HeldPeer } from '../platform/index.js'
import type { Evidence } from '../provenance/evidence.js'
import { tellWitnesses } from '../witness/witness.js'
import { observeExit, observeHeldExit } from './observe-exit.js'
import type { StepName } from './steps.js'

/** A runtime that has proved to be born in this scope and to have published the captured locator. Only such a one can be retired. */
export interface OwnedRuntime {
  readonly verdict: 'owned'
  /** Why; see `Judgement`. */
  readonly reason: string
  readonly name: string
  readonly instance: string
  readonly evidence: Evidence
  readonly session: Session
  /** Its process, where that is of another namespace and is held; see `Proof`. */
  readonly peer: HeldPeer | null
}

/** How a retirement ended. Only `exited` is a success. */
export type RetireOutcome =
  | { readonly end: 'exited' }
  | { readonly end: 'refused'; readonly reason: string }
  | ({ readonly end: 'unanswered' } & TimedOut)
  | ({ readonly end: 'still alive' } & TimedOut)
  | { readonly end: 'exit unobservable' }

interface TimedOut {
  readonly afterMs: number
  /** The limit that has passed. */
  readonly limit: 'graceMs' | 'teardownMs'
}

export interface RetireLimits {
  /** Milliseconds from the request to the exit. */
  readonly graceMs: number
  /** That of the whole teardown. */
  readonly deadline: Deadline
}

/**
 * Asks the owner, which is the runtime itself, to shut down, and waits until its exit has been observed. There is no other means:
 * no answer, and no silence, leads to a signal.
 */
export async function retire(
  runtime: OwnedRuntime,
  limits: RetireLimits,
  onStep: (step: StepName) => void,
): Promise<RetireOutcome> {
  const { evidence, name, session } = runtime
  const begun = clock.now()
  const limit = limits.deadline.leftMs < limits.graceMs ? 'teardownMs' : 'graceMs'
  const timedOut = (): TimedOut => ({ afterMs: Math.round(clock.now() - begun), limit })
  const deadline = limits.deadline.within(limits.graceMs)
  let isListening = true
  // What we end ourselves is no sign of the runtime.
  const hangUp = () => {
    isListening = false
    session.close()
  }
  void session.ended.then(() => {
    if (isListening) onStep('connection ended')
  })

  onStep('shutdown requested')
  try {
    const expect: Expectation = { locator: evidence.path, instance: runtime.instance, namespace: evidence.scope }
    const graceMs = Math.floor(deadline.leftMs)
    tellWitnesses({
      ...{ act: 'shutdown request', locator: evidence.path, instance: runtime.instance, proof: runtime.reason },
      ...{ pid: evidence.identity?.pid ?? null, start: evidence.identity?.start ?? null },
    })
    const answer = requestShutdown(session, name, { expect, graceMs }, deadline)
    session.onNotification = (method) => {
      if (method !== 'draining' && method !== 'drained') return
      // One chunk may bring the answer and this: the answer, which was sent first, is noted first.
      const note = () => onStep(method)
      answer.then(note, note)
    }
    await answer
    onStep('accepted')
  } catch (error) {
    if (hasCode(error, 'CUSTODY_NOT_OWNER')) {
      onStep('refused')
      hangUp()
      return { end: 'refused', reason: (error as { facts: { reason: string } }).facts.reason }
    }
    if (hasCode(error, 'CUSTODY_ANSWER_TIMEOUT')) {
      hangUp()
      return { end: 'unanswered', ...timedOut() }
    }
    // It may have left between its proof and the request: its exit is then still to be seen.
    if (!hasCode(error, 'CUSTODY_CONNECTION_CLOSED')) throw error
  }

  // A claim that a process has gone needs one that was there: a pid and a start time from another namespace look gone from here.
  const { identity } = evidence
  if (identity === null || !evidence.isSeenAlive) {
    hangUp()
    return { end: 'exit unobservable' }
  }
  const told = runtime.peer?.exited ?? null
  const hasExited = await (told === null ? observeExit(identity, session.ended, deadline) : observeHeldExit(told, deadline))
  hangUp()
  if (!hasExited) return { end: 'still alive', ...timedOut() }
  onStep('exit observed')
  if (evidence.frozenPath !== null) onStep(isThere(evidence.frozenPath) ? 'locator left behind' : 'locator removed')
  return { end: 'exited' }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
