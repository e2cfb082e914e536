import { withoutSecrets } from '../tree/without-secrets.js'
import type { FoundLeak, LeakEvent, RunEvent } from './events.js'

export function leakEvent({ by, command, identity, isKnown, signature }: FoundLeak, isRed: boolean): LeakEvent {
  return { type: 'leak', pid: identity.pid, command: withoutSecrets(command), by, isRed, isKnown, signature }
}

/** A leak that makes nothing red: one line at the end of the run, unless the baseline has it. */
export function toldLeak(found: FoundLeak): RunEvent[] {
  const event = leakEvent(found, false)
  if (found.isKnown) return [event]
  const text = `${found.by} left pid ${found.identity.pid}: ${withoutSecrets(found.command).join(' ')}`
  return [{ type: 'warning', text }, event]
}

/** One that may be left. */
export function allowedEvent(pid: number, command: readonly string[], reason: string): RunEvent {
  return { type: 'allowed', pid, command: withoutSecrets(command), reason }
}
