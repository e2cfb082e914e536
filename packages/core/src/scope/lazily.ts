import * as childProcess from 'node:child_process'
import * as fs from 'node:fs'
import * as fsPromises from 'node:fs/promises'
import { createRequire } from 'node:module'
import * as net from 'node:net'
import * as path from 'node:path'
import * as url from 'node:url'
import * as util from 'node:util'
import { compileFunction } from 'node:vm'
import { readText } from '@custody/runtime/internals'

/** Whether this runs as a bundle, with a text beside it for each part that is loaded later: the build says so. */
declare const IS_BUNDLED: boolean | undefined

/** Parts that are loaded, by name. */
const parts = new Map<string, unknown>()

/**
 * Loads a part of this package when it is needed, which most workers never do. By then a test may have spied on what Node's loader calls, or
 * on what the part calls: neither is seen here.
 * @param load how it is loaded without a bundle
 */
export async function lazily<T>(name: string, load: () => Promise<T>): Promise<T> {
  if (!parts.has(name)) parts.set(name, typeof IS_BUNDLED === 'undefined' ? await load() : compile(name))
  return parts.get(name) as T
}

/** Null when it was not needed yet. */
export function ifLoaded<T>(name: string): T | null {
  return (parts.get(name) as T | undefined) ?? null
}

/** Built-in modules whose functions tests replace, as they are now. To load `node:crypto` as well would take longer than all else here. */
const replaced = { child_process: childProcess, fs, 'fs/promises': fsPromises, net, path, url, util }
const builtins = new Map<string, unknown>(Object.entries(replaced).map(([name, module]) => [name, { ...module }]))

function compile(name: string): unknown {
  const filename = url.fileURLToPath(new url.URL(`${name}.cjs`, import.meta.url))
  const module = { exports: {} }
  const others = createRequire(filename)
  const require = (specifier: string) => builtins.get(specifier.replace(/^node:/, '')) ?? others(specifier)
  const run = compileFunction(readText(filename), ['require', 'module', '__filename'], { filename })
  run(require, module, filename)
  return module.exports
}
