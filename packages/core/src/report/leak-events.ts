import type { FoundLeak, LeakEvent, RunEvent } from './events.js'

export function leakEvent({ by, command, identity, signature }: FoundLeak, isRed: boolean): LeakEvent {
  return { type: 'leak', pid: identity.pid, command, by, isRed, signature }
}

/** A leak that makes nothing red: one line at the end of the run. */
export function toldLeak(found: FoundLeak): RunEvent[] {
  const text = `${found.by} left pid ${found.identity.pid}: ${found.command.join(' ')}`
  return [{ type: 'warning', text }, leakEvent(found, false)]
}
