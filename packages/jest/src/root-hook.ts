import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Config } from '@jest/types'
import { custodyGlobals } from './custody-globals.cjs'
import { inRoot } from './in-root.cjs'
import { SETUP } from './own-paths.cjs'
import { resolveFromJest } from './resolve-from-jest.cjs'

type Hook = (globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig) => unknown

/** Whether the user's root has this hook. */
export function hasRootHook(which: 'rootGlobalSetup' | 'rootGlobalTeardown', config: Config.ProjectConfig): boolean {
  return custodyGlobals(config)[which] != null
}

/** Calls the global setup or teardown of the user's root as Jest would: transformed like the files of the project that it is called with. */
export async function callRootHook(
  which: 'rootGlobalSetup' | 'rootGlobalTeardown',
  globalConfig: Config.GlobalConfig,
  projectConfig: Config.ProjectConfig,
): Promise<void> {
  const path = custodyGlobals(projectConfig)[which]
  if (path == null) return
  // A project in a root of ours never has our setup itself: what has it is the root, also where `--projects` names several of them.
  const { rootDir } = projectConfig.globalSetup === SETUP ? projectConfig : globalConfig
  const require = createRequire(join(rootDir, 'package.json'))
  const resolved = require.resolve(inRoot(path, rootDir))
  // By `import` this one bundle of CommonJS has no named exports.
  const transform = require(resolveFromJest('@jest/transform', rootDir)) as typeof import('@jest/transform')
  const transformer = await transform.createScriptTransformer(projectConfig)
  await transformer.requireAndTranspileModule(resolved, async (hook: Hook) => {
    // As Jest says it.
    if (typeof hook !== 'function')
      throw new TypeError(
        `${which === 'rootGlobalSetup' ? 'globalSetup' : 'globalTeardown'} file must export a function at ${resolved}`,
      )
    await hook(globalConfig, projectConfig)
  })
}
