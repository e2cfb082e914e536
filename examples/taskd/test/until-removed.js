import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { dirname } from 'node:path'

/** @param {string} path */
export async function untilRemoved(path) {
  // Watched before the first look: nothing happens between the two unseen.
  const watcher = watch(dirname(path))
  while (existsSync(path)) await once(watcher, 'change')
  watcher.close()
}
