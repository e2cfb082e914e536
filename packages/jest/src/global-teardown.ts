import type { Config } from '@jest/types'
import { endRun } from './main-run.js'
import { callRootHook } from './root-hook.js'

/** Jest's global teardown: the user's own, and then the end of the run. */
export default async function teardown(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  const before = process.exitCode
  // A teardown that waits for something that holds no handle lets the process end with code 0 and without a word, so the code is set
  // in advance and something is held.
  process.exitCode = 1
  const held = setInterval(() => {}, 2 ** 30)
  try {
    await callRootHook('rootGlobalTeardown', globalConfig, projectConfig)
  } finally {
    const isWell = await endRun().finally(() => clearInterval(held))
    if (isWell) process.exitCode = before
  }
}
