import type { CustodyError, Receipt, Scope, Settlement } from '@custody/core/worker'
import type { TestResult } from '@jest/test-result'
import type { Circus, Config } from '@jest/types'
import { failFile, withFailures } from './fail-file.js'
import { failTests } from './fail-tests.js'
import { leaveReceipts } from './leave-receipts.js'
import { markManaged } from './managed-file.js'

export interface Configs {
  readonly globalConfig: Config.GlobalConfig
  readonly config: Config.ProjectConfig
}

/**
 * What the base runner came to with a file: a result, an error, or, without our runner, something that nobody here sees. While the
 * environment is still to be torn down, it can be changed.
 */
export class FileOutcome {
  #came: { configs: Configs; result: TestResult } | { error: unknown } | null = null

  /** Keeps what comes of it. */
  watch(configs: Configs, running: Promise<TestResult>): Promise<TestResult> {
    // Without an await: that would put this frame into the stacks of the users' own errors.
    return running.then(
      (result) => {
        this.#came = { configs, result }
        return markManaged(result)
      },
      (error: unknown) => {
        this.#came = { error }
        throw error
      },
    )
  }

  get #result(): { configs: Configs; result: TestResult } | null {
    return this.#came !== null && 'result' in this.#came ? this.#came : null
  }

  /** Whether the file has failed as a whole. */
  get isBroken(): boolean {
    return this.#came !== null && (this.#result === null || this.#result.result.testExecError != null)
  }

  /** Whether each of its tests has run and passed. */
  get isWhole(): boolean {
    const { testResults = [] } = this.#result?.result ?? {}
    return testResults.length > 0 && testResults.every(({ status }) => status === 'passed')
  }

  /** Whether tests of it have run, by whatever runner. */
  get hasRunTests(): boolean {
    return this.#result?.result.testResults.some(({ status }) => status === 'passed' || status === 'failed') ?? false
  }

  /** Leaves the receipts of its tests in the result. */
  leaveReceipts(byTest: ReadonlyMap<Circus.TestEntry, readonly Receipt[]>): void {
    if (this.#result !== null) leaveReceipts(this.#result.result, byTest)
  }

  /**
   * Makes the file red, and those of its tests that have ended, in the result that Jest is going to print.
   * @throws what was found, where there is no result to change: that fails the file as a whole
   */
  fail({ failures, late }: Pick<Settlement, 'failures' | 'late'>): void {
    const all = [...failures, ...this.#failTests(late)]
    if (all.length === 0) return
    if (this.#came === null)
      throw all.length === 1 ? all[0] : new AggregateError(all, all.map(({ message }) => message).join('\n\n'))
    if ('error' in this.#came) withFailures(this.#came.error, all)
    else failFile(this.#came.result, this.#came.configs, all)
  }

  /** Gives back what has no test in the result. */
  #failTests(late: Settlement['late']): CustodyError[] {
    if (late.length === 0 || this.#result === null) return late.map(({ error }) => error)
    const { configs, result } = this.#result
    const byTest = new Map<Circus.TestEntry, CustodyError[]>()
    const rest: CustodyError[] = []
    for (const { error, of } of late) {
      const entry = entryOf(of)
      if (entry === undefined) rest.push(error)
      else byTest.set(entry, [...(byTest.get(entry) ?? []), error])
    }
    return [...rest, ...failTests(result, configs, byTest)]
  }
}

/** The test of an attempt's scope; what a file or an opened namespace has left is no single test's. */
export function entryOf({ kind, test }: Scope): Circus.TestEntry | undefined {
  return kind === 'test' ? (test as Circus.TestEntry) : undefined
}
