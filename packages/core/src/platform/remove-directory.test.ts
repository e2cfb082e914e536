import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { bundleScript } from '../../../../test/programs/bundle-script.js'
import { unshare } from '../../../../test/programs/unshare.js'
import { temporaryDirectory } from '../../../../test/runtime/temporary-directory.js'
import { removeDirectory } from './remove-directory.js'

test('removes a directory with all that is in it', () => {
  const directory = join(temporaryDirectory(), 'own')
  mkdirSync(join(directory, 'below'), { recursive: true })
  writeFileSync(join(directory, 'below', 'file'), '')
  expect(removeDirectory(directory)).toBe(null)
  expect(existsSync(directory)).toBe(false)
  expect(removeDirectory(directory)).toBe(null)
})

test.each([
  ['in it', 'own', 'own/be low'],
  ['on it', 'own', 'own'],
])('removes nothing where something is mounted %s, of the same file system', (_, name, point) => {
  const base = temporaryDirectory()
  for (const path of ['own/be low', 'theirs', 'owner']) mkdirSync(join(base, path), { recursive: true })
  for (const path of ['own/file', 'theirs/file', 'owner/file']) writeFileSync(join(base, path), '')
  const script = `
    import { existsSync } from 'node:fs'
    import { execFileSync } from 'node:child_process'
    import { removeDirectory } from './remove-directory.js'
    process.chdir(${JSON.stringify(base)})
    execFileSync('mount', ['--bind', 'theirs', ${JSON.stringify(point)}])
    const mount = removeDirectory(process.cwd() + '/${name}')
    // What only begins with the same letters has nothing mounted in it.
    const other = removeDirectory(process.cwd() + '/owner')
    console.log(JSON.stringify({ mount, other, left: ['theirs/file', 'own', 'owner'].map((path) => existsSync(path)) }))`
  const [file, ...args] = unshare('--mount')
  const output = execFileSync(file, [...args, process.execPath, '--input-type=module'], {
    encoding: 'utf8',
    input: bundleScript(script, fileURLToPath(new URL('.', import.meta.url))),
  })
  expect(JSON.parse(output)).toEqual({ mount: join(base, point), other: null, left: [true, true, false] })
  expect(existsSync(join(base, 'own/file'))).toBe(true)
})
