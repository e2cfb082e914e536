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
 * A configuration with what its preset says in our places; a promise only where the preset is an ES module that this Node cannot require.
 * @param rootDir what stands for `<rootDir>`
 */
export function withPreset<C extends Settings>(config: C, rootDir: string): C | Promise<C> {
  if (config.preset == null) return config
  const path = findPreset(inRoot(config.preset, rootDir), rootDir)
  // Jest says itself what is wrong with one that is not there.
  if (path === null) return config
  const preset = load(path)
  return preset instanceof Promise ? preset.then((loaded) => filledFrom(loaded, config)) : filledFrom(preset, config)
}

/** What a configuration says itself comes before its preset. */
function filledFrom<C extends Settings>(preset: Partial<Settings>, config: C): C {
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

interface Loaded extends Partial<Settings> {
  readonly default?: Partial<Settings>
}

function load(path: string): Partial<Settings> | Promise<Partial<Settings>> {
  const presetOf = (loaded: Loaded) => loaded.default ?? loaded
  try {
    return presetOf(require(path) as Loaded)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ERR_REQUIRE_ESM' && code !== 'ERR_REQUIRE_ASYNC_MODULE') throw error
    return import(pathToFileURL(path).href).then(presetOf)
  }
}
