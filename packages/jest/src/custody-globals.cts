import type { Config } from '@jest/types'

/** What `withCustody` leaves in `globals`, the only channel of a project's configuration that both Jests accept. */
export interface CustodyGlobals {
  readonly options: unknown
  /** What the user had configured for the project, or null. */
  readonly testRunner: string | null
  /** The root's, the same for each project: Jest calls ours with the configuration of any. It calls a project's own itself. */
  readonly rootGlobalSetup: string | null
  readonly rootGlobalTeardown: string | null
}

export function custodyGlobals(config: Pick<Config.ProjectConfig, 'globals'>): Partial<CustodyGlobals> {
  return (config.globals['@custody/jest'] ?? {}) as Partial<CustodyGlobals>
}
