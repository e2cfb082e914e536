import { fileURLToPath } from 'node:url'
import type { CustodyOptions } from '@custody/core'
import { CustodyError } from '@custody/core/worker'
import type { VitestPluginContext } from 'vitest/node'
import './provided.js'

export type { CustodyOptions }

const globalSetup = fileURLToPath(new URL('./global-setup.js', import.meta.url))

/** The part of a Vite plugin that Vitest calls. */
export interface CustodyPlugin {
  readonly name: '@custody/vitest'
  configureVitest(context: VitestPluginContext): void
}

/** Vitest sends options to its workers. */
function provide(project: VitestPluginContext['project'], options: CustodyOptions): void {
  try {
    project.provide('@custody/vitest/options', options)
  } catch (cause) {
    throw new CustodyError(
      'CUSTODY_INVALID_OPTION',
      "Could not read Custody's options: they hold something that cannot be sent.",
      {
        hint: 'give plain data only; a runtime that needs functions is for defineRuntime, in a module of your own.',
        facts: { option: 'options' },
        cause,
      },
    )
  }
}

/**
 * Keeps custody of the background processes that the tests of this project start.
 * @throws CUSTODY_INVALID_OPTION when the run begins
 */
export function custodyPlugin(options: CustodyOptions = {}): CustodyPlugin {
  return {
    name: '@custody/vitest',
    configureVitest({ project }) {
      provide(project, options)
      // Everything else is the global setup's, so that it is enough by itself.
      const { config } = project
      const setups = [config.globalSetup ?? []].flat()
      if (!setups.includes(globalSetup)) config.globalSetup = [globalSetup, ...setups]
    },
  }
}
