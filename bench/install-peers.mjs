import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const directory = fileURLToPath(new URL('.', import.meta.url))

/** Installs the tools that Custody is compared with, the first time. They are no part of the workspace, and none of their scripts runs. */
export function installPeers() {
  if (existsSync(`${directory}node_modules`)) return
  const { status } = spawnSync(
    'npx',
    ['--yes', 'pnpm@12.21.0', 'install', '--ignore-workspace', '--frozen-lockfile', '--ignore-scripts', '--reporter=append-only'],
    { cwd: directory, stdio: ['ignore', 2, 2] },
  )
  if (status !== 0) throw new Error(`pnpm install exited with code ${status}`)
}
