import type { Config } from '@jest/types'
import { custodyGlobals } from './base-runner.cjs'
import { beginRun, endRun } from './main-run.js'
import { callUserHook } from './user-hook.js'

/** Jest's global setup: opens the run. The user's own follows. */
export default async function setup(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  await beginRun(globalConfig, projectConfig)
  try {
    await callUserHook(custodyGlobals(projectConfig).globalSetup, globalConfig, projectConfig)
  } catch (error) {
    // Jest does not call the global teardown then.
    await endRun()
    throw error
  }
}
