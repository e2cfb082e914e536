import { createRequire } from 'node:module'
import { noteManaged, type RunHandle } from '@custody/core/worker'
import type { EnvironmentContext, JestEnvironment, JestEnvironmentConfig } from '@jest/environment'
import { nameOfProject } from './name-of-project.js'
import { RUNNER } from './own-paths.cjs'
import { resolveFromJest } from './resolve-from-jest.cjs'
import { beginFile, currentRun } from './run-in-worker.cjs'
import { attachSession } from './session.js'

export type EnvironmentClass = new (config: JestEnvironmentConfig, context: EnvironmentContext) => JestEnvironment

/**
 * Puts an environment under custody. Needed only where our test runner cannot be used: without it a finding that belongs to no test
 * fails its file as a whole.
 */
export function withCustody<Base extends EnvironmentClass>(Environment: Base): Base {
  // biome-ignore lint/suspicious/noExplicitAny: the form that TypeScript asks of a mixin
  return class extends (Environment as new (...args: any[]) => JestEnvironment) {
    constructor(config: JestEnvironmentConfig, context: EnvironmentContext) {
      const run = currentRun()
      // What the constructor of the base starts belongs to this file already.
      if (run !== null) beginFile()
      super(config, context)
      if (run === null) return
      noteProject(config, run)
      const { displayName, id: project, rootDir: projectRoot } = config.projectConfig
      attachSession(this, { ...run, projectRoot, project, projectName: displayName?.name ?? '' }, context.testPath)
    }
  } as unknown as Base
}

const noted = new Set<string>()

/** Our runner shows in the configuration of a project; an environment that extends ours does not. */
function noteProject({ projectConfig }: JestEnvironmentConfig, run: RunHandle): void {
  if (projectConfig.testRunner === RUNNER || noted.has(projectConfig.id)) return
  noted.add(projectConfig.id)
  noteManaged(run, nameOfProject(projectConfig, run.root))
}

/** Which one is Jest's own is for the project to say, so it is found with its first file. Whoever has another never needs it. */
function nodeEnvironmentOf(rootDir: string): EnvironmentClass {
  const path = resolveFromJest('jest-environment-node', rootDir)
  return (createRequire(path)(path) as { TestEnvironment: EnvironmentClass }).TestEnvironment
}

/** Jest's own environment for Node, under custody. */
const CustodyEnvironment: EnvironmentClass = class CustodyNodeEnvironment extends (Object as unknown as EnvironmentClass) {
  constructor(config: JestEnvironmentConfig, context: EnvironmentContext) {
    if (Object.getPrototypeOf(CustodyNodeEnvironment) === Object) {
      const Base = withCustody(nodeEnvironmentOf(config.projectConfig.rootDir))
      // `super` is looked up at the call. So this class has its base in time, and can be extended before.
      Object.setPrototypeOf(CustodyNodeEnvironment, Base)
      Object.setPrototypeOf(CustodyNodeEnvironment.prototype, Base.prototype)
    }
    super(config, context)
  }
}
export default CustodyEnvironment
