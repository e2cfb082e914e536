import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import type { Identity } from '@custody/runtime'
import { ownIdentity, seeStart } from '@custody/runtime/internals'
import { currentNative, type HeldProcess, platform, spawnStyle } from '../platform/index.js'
import { type Act, type SignalProof, tellWitnesses } from '../witness/witness.js'

/**
 * Whom a signal may go to: one process, with what shows that it belongs here, or the group of a leader that has not been reaped, or that
 * has been held since its start.
 */
export type SignalTarget =
  | { readonly kind: 'process'; readonly identity: Identity; readonly proof: SignalProof }
  | {
      readonly kind: 'group'
      readonly leader: Identity
      readonly held?: HeldProcess | null
      /**
       * For a leader that the system does not show: whether its parent, which is this process, has not reaped it yet. To be asked in a turn
       * of the event loop that tells of no exit: Node reaps several at once, and tells of one after the other.
       */
      readonly isUnreaped?: () => boolean
    }

/**
 * The one place that sends signals to numbers. It looks once more at who has the number, right before; where the process can be held,
 * nobody else can come to have it in between.
 * @returns whether it was sent
 */
export function sendSignal(signal: NodeJS.Signals, target: SignalTarget): boolean {
  const { pid } = target.kind === 'group' ? target.leader : target.identity
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === ownIdentity().pid) return false
  // Windows knows neither groups nor a signal to stop and to go on.
  if (isPausing(signal) && !Object.hasOwn(constants.signals, signal)) return false
  const wasHeld = target.kind === 'group' ? (target.held ?? null) : null
  const held = wasHeld ?? currentNative()?.hold(pid) ?? null
  try {
    // A leader that has exited holds its group's number until it is reaped: only after that may the kernel give it to a stranger's.
    if (wasHeld === null && !isStill(target)) return false
    tellWitnesses(actOf(signal, target))
    return send(signal, target, held)
  } finally {
    if (wasHeld === null) held?.release()
  }
}

function actOf(signal: NodeJS.Signals, target: SignalTarget): Act {
  const { pid, start } = target.kind === 'group' ? target.leader : target.identity
  return { act: 'signal', signal, to: target.kind, pid, start, proof: target.kind === 'group' ? 'own child' : target.proof }
}

/** Sends one to a child of this process by the handle that Node has of it: that knows when the child has been reaped. */
export function signalChild(
  signal: NodeJS.Signals,
  child: Pick<ChildProcess, 'kill' | 'pid' | 'exitCode' | 'signalCode'>,
): boolean {
  const { exitCode, pid, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return false
  tellWitnesses({ act: 'signal', signal, to: 'process', pid, start: null, proof: 'own child' })
  return child.kill(signal)
}

function send(signal: NodeJS.Signals, target: SignalTarget, held: HeldProcess | null): boolean {
  const number = constants.signals[signal]
  const isSent = (target.kind === 'group' ? held?.sendToGroup(number) : held?.send(number)) ?? null
  if (isSent !== null) return isSent
  // That it is held does not keep the number of a group whose leader has been reaped.
  return target.kind === 'group' && !isStill(target) ? false : sendToNumber(signal, target)
}

/** Whether a number is still that of the target. */
function isStill(target: SignalTarget): boolean {
  if (target.kind === 'process') {
    const { pid, start } = target.identity
    return start !== null && seeStart(pid) === start
  }
  const { pid, start } = target.leader
  if (start !== null && platform.holdsNumber(pid, start)) return true
  return (start === null || seeStart(pid) === null) && target.isUnreaped?.() === true
}

function sendToNumber(signal: NodeJS.Signals, target: SignalTarget): boolean {
  const number = target.kind === 'process' ? target.identity.pid : spawnStyle.isDetached ? -target.leader.pid : target.leader.pid
  try {
    process.kill(number, signal)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Gone between the look and the signal; another user's by now; or, on macOS, a group of zombies.
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

function isPausing(signal: NodeJS.Signals): boolean {
  return signal === 'SIGSTOP' || signal === 'SIGCONT'
}
