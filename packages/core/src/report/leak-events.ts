import type { FoundLeak, LeakEvent, RunEvent } from './events.js'

export function leakEvent({ by, command, identity, isKnown, signature }: FoundLeak, isRed: boolean): LeakEvent {
  return { type: 'leak', pid: identity.pid, command, by, isRed, isKnown, signature }
}

/** A leak that makes nothing red: one line at the end of the run, unless the baseline has it. */
export function toldLeak(found: FoundLeak): RunEvent[] {
  const event = leakEvent(found, false)
  if (found.isKnown) return [event]
  const text = `${found.by} left pid ${found.identity.pid}: ${found.command.join(' ')}`
  return [{ type: 'warning', text }, event]
}
