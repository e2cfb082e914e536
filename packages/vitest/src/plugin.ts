import { fileURLToPath } from 'node:url'
import type { CustodyOptions } from '@custody/core'
import type { VitestPluginContext } from 'vitest/node'
import './provided.js'

export type { CustodyOptions }

const globalSetup = fileURLToPath(new URL('./global-setup.js', import.meta.url))

/** The part of a Vite plugin that Vitest calls. */
export interface CustodyPlugin {
  readonly name: '@custody/vitest'
  configureVitest(context: VitestPluginContext): void
}

/**
 * Keeps custody of the background processes that the tests of this project start.
 * @throws CUSTODY_INVALID_OPTION when the run begins
 */
export function custodyPlugin(options: CustodyOptions = {}): CustodyPlugin {
  return {
    name: '@custody/vitest',
    configureVitest({ project }) {
      project.provide('@custody/vitest/options', options)
      // Everything else is the global setup's, so that it is enough by itself.
      const { config } = project
      const setups = [config.globalSetup ?? []].flat()
      if (!setups.includes(globalSetup)) config.globalSetup = [globalSetup, ...setups]
    },
  }
}
