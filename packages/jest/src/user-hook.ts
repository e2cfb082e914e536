import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Config } from '@jest/types'
import { inRoot, requireFromJest } from './base-runner.cjs'

type Hook = (globalConfig: Config.GlobalConfig, projectConfig: Config.ProjectConfig) => unknown

/** Calls the user's own global setup or teardown as Jest would: transformed like the project's files. */
export async function callUserHook(
  path: string | null | undefined,
  globalConfig: Config.GlobalConfig,
  projectConfig: Config.ProjectConfig,
): Promise<void> {
  if (path == null) return
  const { rootDir } = projectConfig
  const require = createRequire(join(rootDir, 'package.json'))
  const resolved = require.resolve(inRoot(path, rootDir))
  // By `import` this one bundle of CommonJS has no named exports.
  const transform = require(requireFromJest(rootDir).resolve('@jest/transform')) as typeof import('@jest/transform')
  const transformer = await transform.createScriptTransformer(projectConfig)
  await transformer.requireAndTranspileModule(resolved, async (hook: Hook) => {
    await hook(globalConfig, projectConfig)
  })
}
