import type { Config } from '@jest/types'
import { beginRun, endRun, runSetup } from './main-run.js'
import { callRootHook, hasRootHook } from './root-hook.js'

/** Jest's global setup: opens the run. The user's own follows. */
export default async function setup(globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig): Promise<void> {
  await beginRun(globalConfig, projectConfig)
  try {
    // Contexts slow down every promise of this process from then on, and the tests may run in it.
    if (hasRootHook('rootGlobalSetup', projectConfig))
      await runSetup(() => callRootHook('rootGlobalSetup', globalConfig, projectConfig))
  } catch (error) {
    // Jest does not call the global teardown then.
    await endRun()
    throw error
  }
}
