import type { Identity } from '@custody/runtime'
import type { CapturedLocator } from '../locators/capture.js'
import type { NamespaceId } from '../namespace/namespace-id.js'
import type { LeakPolicy } from '../options/options.js'
import type { FailureEvent } from '../report/events.js'
import type { Scope } from './scope.js'

/** What a file keeps for itself and for all of its tests. */
export class FileBooks {
  /** What has a receipt. */
  readonly accounted: Set<string> = new Set()
  /** Those of its tests that started something, by their namespaces. */
  readonly starters: Map<NamespaceId, Scope> = new Map()
  /** Captures of its tests that the file accounts for. */
  readonly held: CapturedLocator[] = []
  /** What the file has set for itself. */
  leaks: LeakPolicy | null = null
  /** The tests that have passed; null where nobody wants to know. */
  readonly passed: string[] | null
  /** What has made its tests red: not those that were tried again and have passed. */
  failures: readonly { readonly of: Scope; readonly event: FailureEvent }[] = []
  readonly #judged: Identity[] = []
  /** Those tests of which the last attempt has failed. */
  readonly #failed = new Set<object>()

  /** @param isNotingPassed whether somebody wants to know which tests have passed */
  constructor(isNotingPassed: boolean) {
    this.passed = isNotingPassed ? [] : null
  }

  /** Notes that a process was judged: no other judgement of this file is about it. */
  noteJudged(identity: Identity): void {
    this.#judged.push(identity)
  }

  /** All that was judged in this file. */
  get judged(): readonly Identity[] {
    return this.#judged
  }

  isJudged({ pid, start }: Identity): boolean {
    return this.#judged.some((each) => each.pid === pid && each.start === start)
  }

  /** Notes how an attempt of a test has ended. */
  noteEnd(attempt: Scope, hasFailed: boolean, isSkipped: boolean): void {
    if (!hasFailed && this.failures.length > 0) this.failures = this.failures.filter(({ of }) => of.test !== attempt.test)
    if (hasFailed) this.#failed.add(attempt.test)
    else this.#failed.delete(attempt.test)
    if (!hasFailed && !isSkipped) this.passed?.push(attempt.title)
  }

  /** Whether the test of an attempt has failed at last, whatever came of its earlier attempts. */
  hasFailedAtLast(attempt: Scope): boolean {
    return this.#failed.has(attempt.test)
  }
}
