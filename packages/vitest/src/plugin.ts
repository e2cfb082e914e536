import { fileURLToPath } from 'node:url'
import type { Allowance, CustodyOptions, LeakOverride, LeakPolicy } from '@custody/core'
import { CustodyError, noteEarlySpawns } from '@custody/core/worker'
import type { VitestPluginContext } from 'vitest/node'
import './provided.js'

export type { Allowance, CustodyOptions, LeakOverride, LeakPolicy }

const globalSetup = fileURLToPath(new URL('./global-setup.js', import.meta.url))

const OPTIONS = '@custody/vitest/options'

/** What the plugin sees of a configuration of Vite. */
export interface ViteConfig {
  test?: { globalSetup?: string | string[]; provide?: object }
}

/** The part of a Vite plugin that Vite and Vitest call. */
export interface CustodyPlugin {
  readonly name: '@custody/vitest'
  config(config: ViteConfig): void
  configureVitest(context: VitestPluginContext): void
}

/**
 * Keeps custody of the background processes that the tests of this project start.
 * @throws CUSTODY_INVALID_OPTION when the run begins
 */
export function custodyPlugin(options: CustodyOptions = {}): CustodyPlugin {
  return {
    name: '@custody/vitest',
    // Of a configuration that has projects of its own Vitest calls no other hook than this one of Vite.
    config(config) {
      assertSendable(options)
      noteEarlySpawns()
      const test = config.test ?? {}
      test.globalSetup = withOurs(test.globalSetup)
      test.provide = { ...test.provide, [OPTIONS]: options }
      config.test = test
    },
    configureVitest({ project }) {
      assertSendable(options)
      project.provide(OPTIONS, options)
      // Everything else is the global setup's, so that it is enough by itself.
      project.config.globalSetup = withOurs(project.config.globalSetup)
    },
  }
}

/** Ours comes first: so it is torn down last, and sees what the users' own have left. */
function withOurs(setups: string | readonly string[] = []): string[] {
  return [globalSetup, ...[setups].flat().filter((setup) => setup !== globalSetup)]
}

/** Vitest sends options to its workers. */
function assertSendable(options: CustodyOptions): void {
  try {
    structuredClone(options)
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
