import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../packages/', import.meta.url))

/** Installs Custody in a project. Copies: links would lead out of `node_modules`, and what is not in there Vitest transforms. */
export function installCustody(directory) {
  for (const name of ['runtime', 'core', 'vitest', 'jest']) {
    const [from, to] = [join(packages, name), join(directory, 'node_modules/@custody', name)]
    for (const part of ['package.json', 'dist']) cpSync(join(from, part), join(to, part), { recursive: true })
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
    const others = Object.keys(dependencies).filter((each) => !each.startsWith('@custody/'))
    for (const each of others) link(join(from, 'node_modules', each), join(to, 'node_modules', each))
  }
}

/** Links a package that pnpm has put elsewhere. */
export function link(from, to) {
  mkdirSync(dirname(to), { recursive: true })
  symlinkSync(from, to)
}
