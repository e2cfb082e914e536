import { watch } from 'node:fs'
import { hasCode } from '../errors.js'
import { LOCATOR_NAME } from '../home.js'

/** How often to look where the system has no events left to give, in milliseconds. */
const LOOK_MS = 100

/**
 * Notes each change of a home's locator from now on. Begin before the first look: then no change is missed between two looks.
 * @param {string} home
 */
export function watchHome(home) {
  let hasChanged = false
  let wake = () => {}
  const note = () => {
    hasChanged = true
    wake()
  }
  const stop = watchDirectory(home, note)
  return {
    /** Resolves when there was a change since it last resolved. @returns {Promise<void>} */
    async changed() {
      if (!hasChanged) {
        await new Promise((resolve) => {
          wake = resolve
        })
      }
      hasChanged = false
    },
    stop,
  }
}

function watchDirectory(home, note) {
  try {
    const watcher = watch(home, (_, name) => {
      if (name === null || name === LOCATOR_NAME) note()
    })
    watcher.on('error', note)
    return () => watcher.close()
  } catch (error) {
    if (!hasCode(error, 'EMFILE', 'ENOSPC')) throw error
    const timer = setInterval(note, LOOK_MS)
    return () => clearInterval(timer)
  }
}
