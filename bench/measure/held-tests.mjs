import { once } from 'node:events'
import { existsSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../programs/holding.sh', import.meta.url))

/** The command that a tool runs when the server is ready, for tools that end the server together with that command. */
export function heldTests({ directory, name }) {
  const stem = join(directory, `${name}-tests`)
  return {
    command: `/bin/sh ${program} ${stem}`,
    async begun() {
      const watcher = watch(directory)
      while (!existsSync(`${stem}.begun`)) await once(watcher, 'change')
      watcher.close()
    },
    release: () => writeFileSync(`${stem}.release`, ''),
  }
}
