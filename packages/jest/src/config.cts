import { join } from 'node:path'
import type { CustodyOptions } from '@custody/core' with { 'resolution-mode': 'import' }
import type { Config } from '@jest/types'

export type { CustodyOptions }

type Initial = Config.InitialOptions
type ConfigFunction = (...args: never[]) => Initial | Promise<Initial>

const part = (name: string) => join(__dirname, name)

/**
 * Puts a Jest configuration under custody. What the user has set for the same places is chained, not replaced.
 *
 * @param config an object, or a function that gives one, also asynchronously
 * @throws CUSTODY_INVALID_OPTION for projects that are named by a string; for wrong options when the run begins
 */
export function withCustody(config: ConfigFunction, options?: CustodyOptions): (...args: never[]) => Promise<Initial>
export function withCustody(config?: Initial, options?: CustodyOptions): Initial
export function withCustody(config: Initial | ConfigFunction = {}, options: CustodyOptions = {}): unknown {
  if (typeof config === 'function') return async (...args: never[]) => wrapRoot(await config(...args), options)
  return wrapRoot(config, options)
}

function wrapRoot(config: Initial, options: CustodyOptions): Initial {
  const { projects } = config
  return {
    ...wrapProject(config, options),
    globalSetup: part('global-setup.js'),
    globalTeardown: part('global-teardown.js'),
    ...(projects && {
      projects: projects.map((project) => wrapProject(asObject(project), options)) as NonNullable<Initial['projects']>,
    }),
  }
}

function wrapProject<C extends Initial | Config.InitialProjectOptions>(config: C, options: CustodyOptions): C {
  const { globalSetup = null, globalTeardown = null, testRunner = null } = config
  return {
    ...config,
    testRunner: part('runner.cjs'),
    // Automatic mocks would replace the `custody` object by one that does nothing.
    unmockedModulePathPatterns: [...(config.unmockedModulePathPatterns ?? []), '/@custody/', escapeRegExp(__dirname)],
    globals: { ...config.globals, '@custody/jest': { options, testRunner, globalSetup, globalTeardown } },
  }
}

function asObject(project: string | Config.InitialProjectOptions): Config.InitialProjectOptions {
  if (typeof project !== 'string') return project
  const error = new Error(
    `Could not put the project ${project} under custody: it is named by a string, and its configuration is its own.\n` +
      'Hint: give the project as an object, or wrap its own configuration with withCustody.',
  )
  throw Object.assign(error, { name: 'CustodyError', code: 'CUSTODY_INVALID_OPTION' })
}

function escapeRegExp(path: string): string {
  return path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
