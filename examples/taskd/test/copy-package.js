import { cpSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packageRoot } from './taskd.js'

/**
 * Copies the package as an installation has it: its code, and real folders of what it depends on.
 * @param {string} to
 */
export function copyPackage(to) {
  const { dependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  for (const part of ['package.json', 'src']) cpSync(join(packageRoot, part), join(to, part), { recursive: true })
  for (const name of Object.keys(dependencies)) {
    const from = realpathSync(join(packageRoot, 'node_modules', name))
    const filter = (path) => basename(path) !== 'node_modules' || path === from
    cpSync(from, join(to, 'node_modules', name), { recursive: true, dereference: true, filter })
  }
  return to
}
