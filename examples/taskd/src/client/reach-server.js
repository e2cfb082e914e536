import { TaskdError } from '../errors.js'
import { logPath, openHome } from '../home.js'
import { OCCUPIED } from '../server/exit-codes.js'
import { chooseStore, storeMismatch } from '../stores/open-store.js'
import { findServer } from './find-server.js'
import { spawnServer } from './spawn-server.js'
import { watchHome } from './watch-home.js'

/** How long a server may take to be there, and its predecessor to leave, in milliseconds. */
const LIMIT_MS = 20_000

/**
 * @typedef {{ store?: string, idleMs: number }} Wishes
 * @typedef {ReturnType<typeof spawnServer>} Spawned
 */

/**
 * The serving server of a home: the one that is there, or a new one. Of many that are started at once one wins, and is used by all.
 * @param {string} asked the home, made if it does not exist
 * @param {Wishes} wishes
 * @returns {Promise<import('@custody/runtime').Locator>}
 */
export async function reachServer(asked, { store, idleMs }) {
  const home = openHome(asked)
  const changes = watchHome(home)
  const limit = startLimit()
  /** @type {Spawned | null} */
  let spawned = null
  let hasLost = false
  let said = ''
  try {
    for (;;) {
      const found = await findServer(home)
      if ('client' in found && found.state === 'serving') {
        found.client.close()
        return checkStore(home, found.locator, store)
      }
      // Whoever lost leaves the next move to the winner, as long as there is a trace of it.
      const isFree = found.state === 'none' || (found.state === 'unproven' && !hasLost)
      if (isFree && spawned === null) spawned = spawnServer(home, chooseStore(home, store), idleMs)
      const news = await Promise.race([
        changes.changed(),
        limit.passed,
        ...(spawned === null ? [] : [spawned.exited.then((code) => ({ code }))]),
        ...('client' in found ? [found.client.ended] : []),
      ])
      if ('client' in found) found.client.close()
      if (news === 'limit') throw notReached(home, spawned?.tail() ?? said)
      if (typeof news === 'object') {
        // It may also have served others already, and been stopped or idle since.
        if (news.code !== OCCUPIED && news.code !== 0) throw died(home, spawned, news.code)
        said = spawned.tail()
        spawned = null
        hasLost = news.code === OCCUPIED
      }
    }
  } finally {
    limit.cancel()
    changes.stop()
  }
}

function startLimit() {
  let timer
  const passed = new Promise((resolve) => {
    timer = setTimeout(resolve, LIMIT_MS, 'limit')
  })
  return { passed, cancel: () => clearTimeout(timer) }
}

function checkStore(home, locator, asked) {
  if (asked !== undefined && asked !== locator.details.store) throw storeMismatch(home, locator.details.store, asked)
  return locator
}

function died(home, spawned, code) {
  const message = `The server could not start (exit code ${code}). Its log says:\n${spawned.tail()}`
  return new TaskdError({ code: 'not_started', message, hint: `look into ${logPath(home)}` })
}

function notReached(home, said) {
  const message = `No server was ready within ${LIMIT_MS / 1000} s. ${said === '' ? 'Its log says nothing.' : `Its log says:\n${said}`}`
  return new TaskdError({ code: 'not_started', message, hint: `look into ${logPath(home)}` })
}
