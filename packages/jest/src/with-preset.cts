import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Config } from '@jest/types'
import { inRoot } from './in-root.cjs'

/** What a preset may set and we chain or add to: what we set takes the place of the preset's. */
const CHAINED = [
  'globalSetup',
  'globalTeardown',
  'reporters',
  'testRunner',
  'transformIgnorePatterns',
  'unmockedModulePathPatterns',
] as const

/** Endings of a preset's file, in the order in which Jest tries them. */
const ENDINGS = ['', '.json', '.js', '.cjs', '.mjs']

type Settings = Pick<Config.InitialOptions, 'preset' | (typeof CHAINED)[number]>

/**
 * A configuration with what its preset says in our places.
 * @param rootDir what stands for `<rootDir>`
 */
export async function withPreset<C extends Settings>(config: C, rootDir: string): Promise<C> {
  if (config.preset == null) return config
  const path = findPreset(inRoot(config.preset, rootDir), rootDir)
  // Jest says itself what is wrong with one that is not there.
  if (path === null) return config
  const preset = (await load(path)) as Partial<Settings>
  const missing = CHAINED.filter((key) => config[key] === undefined && preset[key] !== undefined)
  return { ...config, ...Object.fromEntries(missing.map((key) => [key, preset[key]])) }
}

function findPreset(name: string, rootDir: string): string | null {
  const { resolve } = createRequire(join(rootDir, 'package.json'))
  for (const ending of ENDINGS) {
    try {
      return resolve(`${name.startsWith('.') ? name : join(name, 'jest-preset')}${ending}`)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error
    }
  }
  return null
}

async function load(path: string): Promise<object> {
  if (path.endsWith('.json')) return require(path) as object
  const { default: preset } = (await import(pathToFileURL(path).href)) as { default: object }
  return preset
}
