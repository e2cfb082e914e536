import { clock, Deadline, pause } from '@custody/runtime/internals'
import { sendSignal } from './send-signal.js'
import type { Leader, StopOptions, Stopped } from './stop-tree.js'

/** How often it is looked whether somebody is in more of a hurry, in milliseconds; an exit is told at once. */
const LOOK_MS = 50

/**
 * Ends a tree whose first process the system does not show: its group is all that can be asked, and the exit of that process, which its
 * parent is told, all that can be waited for.
 */
export async function stopUnseen(
  leader: Leader,
  { graceMs, obeyBy, stopSignal }: Pick<StopOptions, 'graceMs' | 'obeyBy' | 'stopSignal'>,
  forceMs: number,
): Promise<Stopped> {
  const signals: NodeJS.Signals[] = []
  const ask = async (signal: NodeJS.Signals, deadline: () => Deadline) => {
    // In a turn of its own: see `isUnreaped` of SignalTarget.
    await new Promise<void>((resolve) => void clock.setImmediate(resolve))
    const { held, identity } = leader
    if (!leader.isUnreaped()) return
    const group = { kind: 'group', leader: identity, held, isUnreaped: () => leader.isUnreaped() } as const
    if (sendSignal(signal, group)) signals.push(signal)
    // A stopped process takes the signal only when it goes on.
    sendSignal('SIGCONT', group)
    while (leader.isUnreaped() && !deadline().hasPassed) await Promise.race([leader.exited, pause(LOOK_MS)])
  }
  const [grace, force] = [Deadline.after(graceMs), Deadline.after(graceMs + forceMs)]
  await ask(stopSignal, obeyBy ?? (() => grace))
  await ask('SIGKILL', () => force)
  return { signals, forced: signals.includes('SIGKILL'), left: leader.isUnreaped() ? [leader.identity] : [] }
}
