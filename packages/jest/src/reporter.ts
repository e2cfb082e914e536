import { fileURLToPath } from 'node:url'
import type { AggregatedResult, Test, TestContext } from '@jest/test-result'
import type { Config } from '@jest/types'
import { hasRun, noteUnmanaged, watchSetupOf, willTellIn } from './main-run.js'
import { nameOfProject } from './name-of-project.js'

const runner = fileURLToPath(new URL('./runner.cjs', import.meta.url))

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

  onTestFileResult({ context: { config } }: Test): void {
    this.#hasSeenFiles = true
    watchSetupOf(config)
    if (config.testRunner !== runner) noteUnmanaged(nameOfProject(config, this.#config.rootDir))
  }

  onRunComplete(_contexts: ReadonlySet<TestContext>, results: AggregatedResult): void {
    if (this.#hasSeenFiles && !hasRun()) console.error(WITHOUT_SETUP)
    willTellIn(results)
  }
}
