import { constants } from 'node:os'
import type { Identity } from '@custody/runtime'
import { ownIdentity, seeStart } from '@custody/runtime/internals'
import { platform, spawnStyle } from '../platform/index.js'

/** Whom a signal may go to: one process, or the group of a leader that has not been reaped. */
export type SignalTarget =
  | { readonly kind: 'process'; readonly identity: Identity }
  | { readonly kind: 'group'; readonly leader: Identity }

/** Told of each signal just before it is sent; tests listen. */
export type Witness = (signal: NodeJS.Signals, target: SignalTarget) => void

let witness: Witness = () => {}

/** Has every signal told to `listener`, with what it goes to. */
export function witnessSignals(listener: Witness): void {
  witness = listener
}

/**
 * The one place that sends signals. It looks once more at who has the number, right before.
 * @returns whether it was sent
 */
export function sendSignal(signal: NodeJS.Signals, target: SignalTarget): boolean {
  const { pid, start } = target.kind === 'group' ? target.leader : target.identity
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === ownIdentity().pid || start === null) return false
  // A leader that has exited holds its group's number until it is reaped: only after that may the kernel give it to a stranger's.
  const isStill = target.kind === 'group' ? platform.holdsNumber(pid, start) : seeStart(pid) === start
  // Windows knows neither groups nor a signal to stop and to go on.
  if (!isStill || (isPausing(signal) && !Object.hasOwn(constants.signals, signal))) return false
  const number = target.kind === 'group' && spawnStyle.isDetached ? -pid : pid
  witness(signal, target)
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
