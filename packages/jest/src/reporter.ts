import { fileURLToPath } from 'node:url'
import type { AggregatedResult, Test, TestContext } from '@jest/test-result'
import type { Config } from '@jest/types'
import { requireOfJestConfig } from './base-runner.cjs'
import { hasRun, noteUnmanaged, tellCutOffRun, willTellIn } from './main-run.js'
import { nameOfProject } from './name-of-project.js'

const runner = fileURLToPath(new URL('./runner.cjs', import.meta.url))

const WITHOUT_SETUP = `
custody  warning: nothing was under custody: this run has no global setup of Custody's. A globalSetup of yours takes the place of a preset's.
custody  Hint: wrap the configuration with withCustody from '@custody/jest/config', which calls both.`

/** Jest's reporter: has the end of the run tell of projects without Custody, and put what it tells into Jest's own results, for `--json`. */
export default class CustodyReporter {
  readonly #config: Config.GlobalConfig
  #hasSeenFiles = false

  constructor(globalConfig: Config.GlobalConfig) {
    this.#config = globalConfig
  }

  onTestFileResult({ context: { config } }: Test): void {
    this.#hasSeenFiles = true
    if (config.testRunner !== runner) noteUnmanaged(nameOfProject(config, this.#config.rootDir))
  }

  async onRunComplete(_contexts: ReadonlySet<TestContext>, results: AggregatedResult): Promise<void> {
    if (this.#hasSeenFiles && !hasRun()) console.error(WITHOUT_SETUP)
    willTellIn(results)
    // The run is told here for the last time, and what its workers still do is cut off.
    if (this.#hasBailed(results) && majorOfJest(this.#config.rootDir) < 30) await tellCutOffRun()
  }

  #hasBailed({ numFailedTests }: AggregatedResult): boolean {
    const { bail, watch, watchAll } = this.#config
    return bail > 0 && numFailedTests >= bail && !watch && !watchAll
  }
}

/** Jest 29 exits after `--bail` without a global teardown. */
function majorOfJest(rootDir: string): number {
  const { version } = requireOfJestConfig(rootDir)('jest-config/package.json') as { version: string }
  return Number(version.split('.')[0])
}
