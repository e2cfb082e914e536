import type { Config } from '@jest/types'
import { endRun } from './main-run.js'
import { callRootHook } from './root-hook.js'

/** Jest's global teardown: the end of the run, and then the user's own. It may remove what servers of the run have needed. */
export default async function teardown(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  await endRun(() => callRootHook('rootGlobalTeardown', globalConfig, projectConfig))
}
