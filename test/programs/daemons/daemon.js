// What the daemons of the contract tests share. Each is started by left-by-a-command.js, serves in its home, and says when it is ready.
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { serveRuntime } from '@custody/runtime'

/** Publishes in the home directory under the program's own name. */
export async function serve(onShutdown = () => {}, options = {}) {
  leaveWhenReleased()
  const name = basename(process.argv[1], '.js')
  return serveRuntime({ name, locator: process.argv[2] ?? join(process.env.HOME, `${name}.json`), onShutdown, ...options })
}

export function ready() {
  process.send?.('ready')
  process.disconnect?.()
}

export const forever = new Promise(() => {})

/** A daemon that Custody must leave alone is ended by its test in the end: it appears a file. At the latest it ends by itself. */
function leaveWhenReleased() {
  const release = process.env.RELEASE
  const until = Date.now() + Number(process.env.LIVES_MS ?? 120_000)
  setInterval(() => {
    if (Date.now() > until || (release && existsSync(release))) process.exit(9)
  }, 50).unref()
}
