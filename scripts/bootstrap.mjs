// All the set-up that a fresh clone needs. pnpm comes through npx, so that Node and npm are enough.
import { spawnSync } from 'node:child_process'

const { status, error } = spawnSync(
  'npx',
  ['--yes', 'pnpm@12.21.0', 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only'],
  { stdio: ['ignore', 2, 2], cwd: new URL('..', import.meta.url), shell: process.platform === 'win32' },
)
if (error) throw error
process.exit(status ?? 1)
