import { parse, resolve } from 'node:path'
import type { Allowance, CustodyOptions, LeakOverride, LeakPolicy } from '@custody/core' with { 'resolution-mode': 'import' }
import { noteEarlySpawns } from '@custody/core/birth'
import type { Config } from '@jest/types'
import { chooseDefaultReporter } from './choose-default-reporter.cjs'
import { type CustodyGlobals, custodyGlobals } from './custody-globals.cjs'
import { directoryOfCaller } from './directory-of-caller.cjs'
import { expandProjects } from './expand-projects.cjs'
import { leaveOwnFiles } from './own-files.cjs'
import { REPORTER, RUNNER, SETUP, TEARDOWN } from './own-paths.cjs'
import { withPreset } from './with-preset.cjs'

export type { Allowance, CustodyOptions, LeakOverride, LeakPolicy }

type Initial = Config.InitialOptions
type Project = Initial | Config.InitialProjectOptions
/** What says everything itself: no project is named by a string, and there is no preset. */
type Complete = Omit<Initial, 'preset' | 'projects'> & { preset?: null; projects?: CompleteProject[] }
type CompleteProject = Omit<Config.InitialProjectOptions, 'preset'> & { preset?: null }
type ConfigFunction = (...args: never[]) => Initial | Promise<Initial>

/**
 * Puts a Jest configuration under custody. What the user has set for the same places is chained, not replaced; reporters stay, with ours
 * behind them. The options hold for all of its `projects`; those of a project that is wrapped itself count only where it runs alone.
 * Projects that are named by strings, and presets, are read as Jest reads them.
 *
 * @param config an object, or a function that gives one, also asynchronously
 * @param options those of Custody; all have defaults
 * @returns a configuration; where `config` is a function, names a project by a string or has a preset that is an ES module, a function that
 *   gives one
 * @throws CUSTODY_INVALID_OPTION for a project that cannot be read, and for wrong options, when the run begins
 */
export function withCustody(config: ConfigFunction, options?: CustodyOptions): (...args: never[]) => Promise<Initial>
export function withCustody(config?: Complete, options?: CustodyOptions): Initial
export function withCustody(config: Initial, options?: CustodyOptions): Initial | (() => Promise<Initial>)
export function withCustody(config: Initial | ConfigFunction = {}, options: CustodyOptions = {}): unknown {
  const directory = directoryOfCaller(withCustody)
  const wrap = async (own: Initial) => wrapRoot(await complete(own, directory), options, directory)
  if (typeof config === 'function') return async (...args: never[]) => wrap(await config(...args))
  if (namesProjects(config)) return () => wrap(config)
  const read = fillIn(config, resolve(directory, config.rootDir ?? ''))
  return read instanceof Promise ? async () => wrapRoot(await read, options, directory) : wrapRoot(read, options, directory)
}

function namesProjects({ projects = [] }: Initial): boolean {
  return projects.some((project) => typeof project === 'string')
}

/** A configuration whose projects are objects. */
type ReadConfig = Omit<Initial, 'projects'> & { projects?: Config.InitialProjectOptions[] }

/** Reads what a configuration only names. */
async function complete(config: Initial, directory: string): Promise<ReadConfig> {
  const rootDir = resolve(directory, config.rootDir ?? '')
  const { projects, ...own } = config
  return fillIn({ ...own, ...(projects && { projects: [...(await expandProjects(projects, rootDir))] }) }, rootDir)
}

/** The same for its presets. */
function fillIn(config: Initial | ReadConfig, rootDir: string): ReadConfig | Promise<ReadConfig> {
  const { projects, ...own } = config as ReadConfig
  const rootOf = (project: Project) => resolve(rootDir, project.rootDir ?? '')
  const root = withPreset(own, rootDir)
  const read = projects?.map((project) => withPreset(project, rootOf(project)))
  const all = [root, ...(read ?? [])]
  if (!all.some((each) => each instanceof Promise)) return { ...root, ...(read && { projects: read }) } as ReadConfig
  return Promise.all([root, read && Promise.all(read)]).then(([filled, list]) => ({ ...filled, ...(list && { projects: list }) }))
}

function wrapRoot(wrapped: ReadConfig, given: CustodyOptions, directory: string): Initial {
  const { config, options: inner } = unwrap(wrapped)
  const { globalSetup = null, globalTeardown = null, projects } = config
  // Jest calls the setups of projects first.
  if (projects?.some((project) => project.globalSetup != null)) noteEarlySpawns()
  // What is no object is told by its value when the run begins.
  const options = typeof given === 'object' ? { ...inner, ...given } : given
  const own = config.reporters?.filter((reporter) => !isOurs(Array.isArray(reporter) ? reporter[0] : reporter, REPORTER))
  const root = { options, rootGlobalSetup: globalSetup, rootGlobalTeardown: globalTeardown }
  return {
    ...wrapProject(config, root),
    globalSetup: SETUP,
    globalTeardown: TEARDOWN,
    reporters: [...(own ?? [chooseDefaultReporter(directory)]), REPORTER],
    ...(projects && {
      projects: projects.map((project) => wrapProject(unwrap(project).config, root)),
    }),
  }
}

function wrapProject<C extends Project>(config: C, root: Omit<CustodyGlobals, 'testRunner'>): C {
  const { testRunner = null } = config
  return {
    ...config,
    testRunner: RUNNER,
    ...leaveOwnFiles(config),
    globals: { ...config.globals, '@custody/jest': { ...root, testRunner } satisfies CustodyGlobals },
  }
}

/** The configuration as its user wrote it, where it is wrapped already: what is ours there must not call itself as the user's. */
function unwrap<C extends Project>(config: C): { config: C; options: CustodyOptions } {
  const inner = custodyGlobals({ globals: config.globals ?? {} })
  const restored = { ...config }
  if (isOurs(config.testRunner, RUNNER)) restored.testRunner = inner.testRunner ?? 'jest-circus/runner'
  if (isOurs(config.globalSetup, SETUP)) restored.globalSetup = inner.rootGlobalSetup ?? null
  if (isOurs(config.globalTeardown, TEARDOWN)) restored.globalTeardown = inner.rootGlobalTeardown ?? null
  return { config: restored, options: (inner.options ?? {}) as CustodyOptions }
}

/** Whether a place holds this file of ours, by its path or by its name as a part of the package. */
function isOurs(configured: string | null | undefined, path: string): boolean {
  return configured === path || configured === `@custody/jest/${parse(path).name}`
}
