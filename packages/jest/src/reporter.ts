import type { AggregatedResult, Test, TestContext, TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import { hasOpenedRun, keepResults, noteUnmanaged, watchSetupOf } from './main-run.js'
import { isManaged } from './managed-file.js'
import { nameOfProject } from './name-of-project.js'

const WITHOUT_SETUP = `
custody  warning: nothing was under custody: this run has no global setup of Custody's. A globalSetup of yours takes the place of a preset's.
custody  Hint: wrap the configuration with withCustody from '@custody/jest/config', which calls both.`

/**
 * Jest's reporter, which sees the configuration of each project as it came to be: has the end of the run tell what their own global setups
 * have left and which have run without Custody, and put all that it tells into Jest's own results, for `--json`.
 */
export default class CustodyReporter {
  readonly #config: Config.GlobalConfig
  #hasSeenFiles = false

  constructor(globalConfig: Config.GlobalConfig) {
    this.#config = globalConfig
  }

  onTestFileResult({ context: { config } }: Test, result: TestResult): void {
    this.#hasSeenFiles = true
    watchSetupOf(config)
    if (!isManaged(result)) noteUnmanaged(nameOfProject(config, this.#config.rootDir))
  }

  onRunComplete(_contexts: ReadonlySet<TestContext>, results: AggregatedResult): void {
    if (this.#hasSeenFiles && !hasOpenedRun()) console.error(WITHOUT_SETUP)
    keepResults(results)
  }
}
