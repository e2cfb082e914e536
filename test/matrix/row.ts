import type { Receipt } from '@custody/core'
import type { Stage } from './stage.js'

/** What a receipt has to say. */
export interface ExpectedReceipt {
  /** The runtime's name in the locator; null where that could not be read. */
  readonly name: string | null
  readonly verdict: Receipt['verdict']
  /** The reason in words, or a part of it. */
  readonly reason: RegExp
  readonly evidence: Partial<NonNullable<Receipt['evidence']>>
  /** @default 'not observed' */
  readonly exit?: 'observed' | 'not observed'
}

/** What the errors say of what proves nothing, and of what does not answer. */
export const unproven = /^Could not retire runtime ".+" \(pid \d+\): (what listens|what it says|it says|it was started)/
export const unreachable = /^Could not retire runtime ".+" \(pid \d+\): (nobody answers|it closes)/

/** What happens later, when a row was arranged. */
export interface Scene {
  /** After the capture, and before anything is verified: what a finalizer may do. */
  restore?(): Promise<void> | void
  /** Locators that the test retires itself, all at once, at the end of its body. */
  readonly retired?: readonly string[]
}

/** One attack on the promise that nothing foreign is touched, or one accident that looks like it. */
export interface Row {
  /** Unique, and the title of its test: what is there instead of the test's own runtime. */
  readonly title: string
  /** A receipt for each locator, in any order, and no others. */
  readonly expected: readonly ExpectedReceipt[]
  /** What the error says that makes its test red. @default none: it is green */
  readonly failure?: RegExp
  /**
   * What a whole machine would not bear or does not have: it is played in namespaces of its own, of pids and of mounts.
   * @default false
   */
  readonly isApart?: boolean
  /** Why no runner can have it, where that is so. */
  readonly coreAlone?: string
  arrange(stage: Stage): Promise<Scene> | Promise<void>
}

/** Whom a row has put beside Custody, and what became of it. */
export interface StrangerReport {
  readonly name: string
  /** Whether it answers as before. */
  readonly isAlive: boolean
  /** All that has reached it since the row was arranged: signals, and the bytes of whoever connected. */
  readonly heard: string
}

/** How a row ended. Plain data: it may come from another process. */
export interface Outcome {
  readonly receipts: readonly Receipt[]
  /** The messages of the errors that made the test red. */
  readonly failures: readonly string[]
  readonly strangers: readonly StrangerReport[]
  /** Who of them has heard a secret. */
  readonly leaked: readonly string[]
  /** Files of strangers that are not there any more. */
  readonly removed: readonly string[]
  /** From the capture to the end of the teardown. */
  readonly tookMs: number
}
