import { ownIdentity } from '@custody/runtime/internals'
import type { ReportEvent } from './events.js'

/** What is to be said where the system shows no process, not even this one: then nothing is found, and nothing ended by guess. */
export function blindnessWarnings(): ReportEvent[] {
  if (ownIdentity().start !== null) return []
  const unseen = 'exits that no parent is told of cannot be observed, and what tests leave is neither seen nor ended'
  return [{ type: 'warning', text: `this system does not show its processes (/proc): ${unseen}.` }]
}
