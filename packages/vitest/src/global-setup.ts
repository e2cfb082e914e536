import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CustodyOptions, type Run, type RunHandle, readOptions } from '@custody/core'
import type { TestProject } from 'vitest/node'
import { joinRun } from './managed-run.js'
import './provided.js'
import CustodyReporter from './reporter.js'

const globalSetup = fileURLToPath(import.meta.url)
const runner = fileURLToPath(new URL('./runner.js', import.meta.url))

/**
 * Vitest's global setup: opens the run, and puts each project of it under custody. Enough by itself:
 * `globalSetup: ['@custody/vitest/global-setup']` needs no plugin.
 */
export default async function setup(project: TestProject): Promise<void> {
  const { vitest } = project
  const managed = await joinRun(vitest, optionsOf(project))
  // Vitest has called the reporters' start before the first setup.
  managed.isSettled = false
  const { handle, setups } = managed.run
  for (const each of vitest.projects) manage(each, handle)
  // The root is not among them when it has projects.
  for (const each of new Set([...vitest.projects, project])) setups.watch(usersSetups(each))
  enterSetups(project, setups)
  // A change of the configuration file brings fresh reporters to the same Vitest: what is there is asked, no mark on Vitest.
  const { reporters } = vitest as unknown as { reporters: unknown[] }
  if (!reporters.some((reporter) => reporter instanceof CustodyReporter && reporter.managed === managed)) {
    reporters.push(new CustodyReporter(managed))
  }
}

/** The users' own global setups of a project. */
function usersSetups({ config }: TestProject): string[] {
  return [config.globalSetup ?? []]
    .flat()
    .map((setup) => resolve(config.root, setup))
    .filter((setup) => !isOurs(setup))
}

/** By its path, which may lead through a link of a workspace, or by its name. */
function isOurs(setup: string): boolean {
  return setup === globalSetup || /@custody[\\/]vitest[\\/](dist[\\/])?global-setup(\.js)?$/.test(setup)
}

/** Has those that come after this one run in their own context, where Vitest keeps them as known; others are told by the frames of their files. */
function enterSetups(project: TestProject, setups: Pick<Run['setups'], 'enter'>): void {
  const { _globalSetups: loaded = [] } = project as unknown as {
    _globalSetups?: { file?: string; setup?: (...args: unknown[]) => unknown }[]
  }
  const own = loaded.findIndex(({ file }) => file !== undefined && isOurs(file))
  for (const each of loaded.slice(own + 1)) {
    const { setup } = each
    if (typeof setup === 'function') each.setup = (...args) => setups.enter(() => setup(...args))
  }
}

function manage(project: TestProject, run: RunHandle): void {
  const { config } = project
  if (config.browser?.enabled || config.mode === 'benchmark' || config.runner === runner) return
  const options = optionsOf(project)
  project.provide('@custody/vitest', {
    run: {
      ...run,
      projectRoot: config.root,
      project: project.name,
      projectName: project.name,
      ...(options && { options: readOptions(options) }),
    },
    baseRunner: config.runner ?? null,
    isAnnotated: hasJUnit(project.vitest.config.reporters),
  })
  config.runner = runner
}

/** Others would print annotations for people. */
function hasJUnit(reporters: readonly unknown[]): boolean {
  return reporters.some((reporter) => [reporter].flat()[0] === 'junit')
}

function optionsOf(project: TestProject): CustodyOptions | undefined {
  return project.getProvidedContext()['@custody/vitest/options']
}
