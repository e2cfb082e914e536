import type { CustodyOptions } from '@custody/core'
import type { RunHandle } from '@custody/core/worker'

/** What the main process gives to each worker. Plain data: Vitest sends it over. */
export interface Provided {
  readonly run: RunHandle
  /** The user's own runner, which ours extends; null for Vitest's. An absolute path. */
  readonly baseRunner: string | null
  /** Whether somebody reads annotations. */
  readonly isAnnotated: boolean
}

declare module 'vitest' {
  interface ProvidedContext {
    '@custody/vitest': Provided
    '@custody/vitest/options': CustodyOptions
  }
}
