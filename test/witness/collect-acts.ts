import { onTestFinished } from 'vitest'
import { type Act, addWitness } from '../../packages/core/src/witness/witness.js'

/** What this process does to others from now on until the test has finished. */
export function collectActs(): Act[] {
  const acts: Act[] = []
  onTestFinished(addWitness((act) => acts.push(act)))
  return acts
}
