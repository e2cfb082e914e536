import type { Config } from '@jest/types'
import { endRun } from './main-run.js'
import { callRootHook } from './root-hook.js'

/** Jest's global teardown: the end of the run, and then the user's own. It may remove what servers of the run have needed. */
export default async function teardown(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  const before = process.exitCode
  // A teardown that waits for something that holds no handle lets the process end with code 0 and without a word, so the code is set
  // in advance and something is held.
  process.exitCode = 1
  const held = setInterval(() => {}, 2 ** 30)
  try {
    const isWell = await endRun(() => callRootHook('rootGlobalTeardown', globalConfig, projectConfig))
    if (isWell) process.exitCode = before
  } finally {
    clearInterval(held)
  }
}
