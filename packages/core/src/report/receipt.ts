import type { Identity } from '@custody/runtime'
import type { Evidence } from '../provenance/evidence.js'
import type { Verdict } from '../provenance/judge.js'

/** A moment of a teardown. Accepted, drained, locator removed and exited are four facts, and each has its own step. */
export type StepName =
  | 'captured'
  | 'proven'
  | 'shutdown requested'
  | 'accepted'
  | 'refused'
  | 'draining'
  | 'drained'
  | 'connection ended'
  | 'exit observed'
  | 'locator removed'
  | 'locator left behind'

export interface Step {
  readonly step: StepName
  /** Milliseconds since the teardown began. */
  readonly atMs: number
}

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
  readonly evidence: Evidence
  readonly steps: readonly Step[]
  /** Signals that Custody sent. A runtime behind a locator never gets one. */
  readonly signals: readonly string[]
  readonly forced: boolean
  /** The status where Custody was the parent; otherwise whether the kernel showed the exit. */
  readonly exit: { readonly code: number | null; readonly signal: string | null } | 'observed' | 'not observed'
  /** What is still alive of it. */
  readonly left: readonly Identity[]
}
