import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Packs every public package into `.build/tarballs`. @returns {string[]} the tarballs' paths */
export function pack() {
  const destination = join(root, '.build/tarballs')
  rmSync(destination, { recursive: true, force: true })
  mkdirSync(destination, { recursive: true })
  const { status } = spawnSync(
    'npx',
    ['--yes', 'pnpm@12.21.0', '-r', '--filter', './packages/*', 'pack', '--pack-destination', destination],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  if (status !== 0) throw new Error(`pnpm pack exited with code ${status}`)
  return readdirSync(destination).map((name) => join(destination, name))
}
