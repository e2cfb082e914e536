import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const repository = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const packages = ['runtime', 'core', 'vitest', 'jest'] as const

/** One check of the product taken out: a text of a built file, and what stands there instead. */
export interface Mutation {
  readonly file: string
  readonly remove: string
  readonly insert: string
}

/**
 * Copies an example and the built packages to a place of their own, with the mutations.
 * @returns the directory of the example's copy
 */
export function buildMutant(example: string, mutations: readonly Mutation[]): string {
  const work = join(repository, 'test/.work')
  mkdirSync(work, { recursive: true })
  const root = realpathSync(mkdtempSync(join(work, 'mutant-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const modules = join(root, 'node_modules')
  for (const name of packages) {
    const from = join(repository, 'packages', name)
    const to = join(modules, '@custody', name)
    cpSync(join(from, 'dist'), join(to, 'dist'), { recursive: true })
    cpSync(join(from, 'package.json'), join(to, 'package.json'))
    linkDependencies(join(from, 'node_modules'), modules)
  }
  linkDependencies(join(repository, 'examples', example, 'node_modules'), modules)
  for (const { file, insert, remove } of mutations) {
    const path = join(modules, '@custody', file)
    if (readFileSync(path, 'utf8').split(remove).length !== 2)
      throw new Error(`${file} does not have exactly one "${remove}": the mutation is out of date.`)
    writeFileSync(path, readFileSync(path, 'utf8').replace(remove, insert))
  }
  // What runs of the core is in its bundles.
  if (mutations.length > 0) execFileSync(process.execPath, [join(repository, 'scripts/bundle.mjs'), join(modules, '@custody')])
  const copy = join(root, example)
  cpSync(join(repository, 'examples', example), copy, { recursive: true, filter: (path) => !path.includes('node_modules') })
  return copy
}

/** The packages' own dependencies, other than one another. */
function linkDependencies(from: string, to: string): void {
  // The runtime has none.
  if (!existsSync(from)) return
  for (const name of readdirSync(from)) {
    if (name === '@custody' || name.startsWith('.')) continue
    const names = name.startsWith('@') ? readdirSync(join(from, name)).map((inner) => `${name}/${inner}`) : [name]
    for (const each of names) {
      mkdirSync(dirname(join(to, each)), { recursive: true })
      rmSync(join(to, each), { force: true })
      symlinkSync(realpathSync(join(from, each)), join(to, each))
    }
  }
}
