import type { Identity } from '@custody/runtime'
import type { Evidence } from '../provenance/evidence.js'
import type { Verdict } from '../provenance/judge.js'
import type { Step } from './steps.js'

/** How one runtime ended, or why it did not. */
export interface Receipt {
  readonly version: 1
  readonly name: string | null
  readonly identity: Identity | null
  /** The namespace that accounted for it. */
  readonly scope: string
  /** The full name of the test, where a test did. */
  readonly test?: string
  readonly verdict: Verdict
  /** Why, in half a sentence. */
  readonly reason: string
  /** Null for a plain command, which the supervisor has started itself. */
  readonly evidence: Evidence | null
  readonly steps: readonly Step[]
  /** Signals that Custody sent. A runtime behind a locator never gets one. */
  readonly signals: readonly string[]
  readonly forced: boolean
  /** The status where Custody was the parent; otherwise whether the kernel showed the exit. */
  readonly exit: { readonly code: number | null; readonly signal: string | null } | 'observed' | 'not observed'
  /** What is still alive of it. */
  readonly left: readonly Identity[]
}
