import type { JestEnvironment } from '@jest/environment'
import type { TestResult } from '@jest/test-result'
import type { Config } from '@jest/types'
import { baseRunnerOf } from './base-runner.cjs'
import { beginFile, currentRun } from './run-in-worker.cjs'

type TestFramework = (
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  environment: JestEnvironment,
  runtime: unknown,
  testPath: string,
  ...rest: unknown[]
) => Promise<TestResult>

/** Runs a file with the project's own runner, under custody. */
const run: TestFramework = async (globalConfig, config, environment, runtime, testPath, ...rest) => {
  const base = baseRunnerOf<TestFramework>(config)
  const handle = currentRun()
  if (handle === null) {
    if (!isListing(globalConfig)) throw await notSetUp()
    const { publishListing } = await import('./bridge.js')
    publishListing(environment)
    return base(globalConfig, config, environment, runtime, testPath, ...rest)
  }
  const { attachSession } = await import('./session.js')
  const session = attachSession(
    environment,
    { ...handle, projectRoot: config.rootDir, project: config.id, projectName: config.displayName?.name ?? '' },
    testPath,
  )
  return session.watch({ config, globalConfig }, () => base(globalConfig, config, environment, runtime, testPath, ...rest))
}

async function notSetUp(): Promise<Error> {
  const { CustodyError } = await import('@custody/core/worker')
  return new CustodyError(
    'CUSTODY_NOT_SET_UP',
    'Could not run tests under Custody: its runner is set, and its global setup is not.',
    {
      hint: "wrap the configuration with withCustody from '@custody/jest/config': a globalSetup of yours takes the place of a preset's.",
    },
  )
}

/** Jest 30 calls no global setup for `--collectTests`, and runs no test. */
function isListing(config: Config.GlobalConfig & { readonly collectTests?: boolean }): boolean {
  return config.collectTests === true
}

// Jest reads `default` once for each file, before it makes the file's environment: the only boundary between two files that it has.
Object.defineProperty(exports, '__esModule', { value: true })
Object.defineProperty(exports, 'default', {
  enumerable: true,
  get() {
    beginFile()
    return run
  },
})
