import type { SpawnSite } from '../namespace/birth-state.js'

/** Who has started something: a test, a file, or the run. */
export interface Starter {
  readonly kind: string
  readonly name: string
  /** Where it has started processes, in order. */
  readonly sites: readonly SpawnSite[]
}
