import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import * as esm from '@custody/runtime'
import { expect, test } from 'vitest'
import { startProgram } from './start-program.js'
import { temporaryDirectory } from './temporary-directory.js'

const require = createRequire(import.meta.url)

test('has the same exports for require as for import', () => {
  expect(Object.keys(require('@custody/runtime')).sort()).toEqual(Object.keys(esm).sort())
})

test.each([
  ['serving-from-commonjs.cjs', 'stopping-from-commonjs.cjs'],
  ['serving.js', 'stopping-from-commonjs.cjs'],
])('stops %s by %s', async (server, client) => {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  const runtime = startProgram(server, { args: [path], env: { XDG_RUNTIME_DIR: directory } })
  await runtime.printed(/ready/)
  const stopping = startProgram(client, { args: [path] })
  await stopping.printed(/stopped serving\S*, for the first time/)
  expect(await runtime.exited).toEqual({ code: 0, signal: null })
  expect(existsSync(path)).toBe(false)
})

test('stops a CommonJS runtime by the other copy of the package', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'locator.json')
  const runtime = startProgram('serving-from-commonjs.cjs', { args: [path], env: { XDG_RUNTIME_DIR: directory } })
  await runtime.printed(/ready/)
  const client = await esm.connectRuntime(esm.readLocator(path), { timeoutMs: 20_000 })
  await client.shutdown()
  expect(await runtime.exited).toEqual({ code: 0, signal: null })
})

test('recognises an error of the other copy by its code', () => {
  const other: typeof esm = require('@custody/runtime')
  const path = join(temporaryDirectory(), 'locator.json')
  expect(() => other.readLocator(path)).toThrow(expect.objectContaining({ code: 'CUSTODY_LOCATOR_MISSING' }))
  expect(() => other.readLocator(path)).not.toThrow(esm.CustodyError)
})
