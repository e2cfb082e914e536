import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import type { Identity } from '@custody/runtime'
import { ownIdentity, seeStart } from '@custody/runtime/internals'
import { currentNative, type HeldProcess, platform, spawnStyle } from '../platform/index.js'
import { type Proof, tellWitnesses } from '../witness/witness.js'

/**
 * Whom a signal may go to: one process, with what shows that it belongs here, or the group of a leader that has not been reaped, or that
 * has been held since its start.
 */
export type SignalTarget =
  | { readonly kind: 'process'; readonly identity: Identity; readonly proof: Proof }
  | { readonly kind: 'group'; readonly leader: Identity; readonly held?: HeldProcess | null }

/**
 * The one place that sends signals to numbers. It looks once more at who has the number, right before; where the process can be held, nobody else
 * can come to have it in between.
 * @returns whether it was sent
 */
export function sendSignal(signal: NodeJS.Signals, target: SignalTarget): boolean {
  const { pid, start } = target.kind === 'group' ? target.leader : target.identity
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === ownIdentity().pid || start === null) return false
  // Windows knows neither groups nor a signal to stop and to go on.
  if (isPausing(signal) && !Object.hasOwn(constants.signals, signal)) return false
  const wasHeld = target.kind === 'group' ? (target.held ?? null) : null
  const held = wasHeld ?? currentNative()?.hold(pid) ?? null
  try {
    // A leader that has exited holds its group's number until it is reaped: only after that may the kernel give it to a stranger's.
    const isStill = wasHeld !== null || (target.kind === 'group' ? platform.holdsNumber(pid, start) : seeStart(pid) === start)
    if (!isStill) return false
    const proof = target.kind === 'group' ? 'own child' : target.proof
    tellWitnesses({ act: 'signal', signal, to: target.kind, pid, start, proof })
    return send(signal, target, held)
  } finally {
    if (wasHeld === null) held?.release()
  }
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
  const { pid, start } = target.kind === 'group' ? target.leader : target.identity
  return target.kind === 'group' && !platform.holdsNumber(pid, start ?? '') ? false : sendToNumber(signal, target)
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
