import { existsSync, lstatSync } from 'node:fs'
import type { Config } from '@jest/types'
import { inRoot } from './in-root.cjs'
import { requireOfJestConfig } from './resolve-from-jest.cjs'

type Project = Config.InitialProjectOptions

/** The parts of Jest that read a project's own configuration, and find the projects of a pattern. */
interface Readers {
  readInitialOptions(
    path: undefined,
    options: { packageRootOrConfig: string; readFromCwd: true; skipMultipleConfigError: true },
  ): Promise<{ config: Project }>
  glob: { sync(pattern: string): string[] }
}

/** What Jest takes for the configuration of a project, of what a pattern finds. */
const CONFIG_FILE = /\.(?:[cm]?[jt]s|json)$/

/**
 * Reads the configurations of projects that are named by directories, files or patterns, as Jest does: what it would read by itself nobody
 * could put under custody.
 * @param rootDir what stands for `<rootDir>`
 * @throws CUSTODY_INVALID_OPTION for a project whose configuration cannot be read
 */
export async function expandProjects(projects: readonly (string | Project)[], rootDir: string): Promise<readonly Project[]> {
  const expanded = projects.map(async (project) => {
    if (typeof project !== 'string') return [project]
    const readers = readersOf(rootDir)
    const named = inRoot(project, rootDir)
    const found = readers.glob.sync(named.replaceAll('\\', '/'))
    const paths = (found.length > 0 ? found : [named]).filter(isProject)
    return Promise.all(paths.map((path) => readProject(path, readers)))
  })
  return (await Promise.all(expanded)).flat()
}

/** Of what a pattern finds, Jest leaves out files that are no configurations. One that is not there it refuses, and so do we. */
function isProject(path: string): boolean {
  return !existsSync(path) || lstatSync(path).isDirectory() || CONFIG_FILE.test(path)
}

async function readProject(path: string, { readInitialOptions }: Readers): Promise<Project> {
  try {
    const { config } = await readInitialOptions(undefined, {
      packageRootOrConfig: path,
      readFromCwd: true,
      skipMultipleConfigError: true,
    })
    return config
  } catch (cause) {
    const [reason] = cause instanceof Error ? cause.message.split('\n').filter(Boolean) : [String(cause)]
    const error = new Error(
      `Could not put the project ${path} under custody: its configuration cannot be read (${reason}).\n` +
        'Hint: see whether Jest itself can read it, or give the project as an object.',
      { cause },
    )
    throw Object.assign(error, { name: 'CustodyError', code: 'CUSTODY_INVALID_OPTION' })
  }
}

function readersOf(rootDir: string): Readers {
  const jestConfig = requireOfJestConfig(rootDir)
  const { readInitialOptions } = jestConfig('jest-config') as Pick<Readers, 'readInitialOptions'>
  return { readInitialOptions, glob: jestConfig('glob') as Readers['glob'] }
}
