import { readLocator } from '@custody/runtime'
import { hasCode, TaskdError } from '../errors.js'
import { locatorPath } from '../home.js'
import { findServer } from './find-server.js'

/** How long the server may take for the requests that it has accepted, and then to close the connection, in milliseconds. */
const GRACE_MS = 10_000
const LIMIT_MS = GRACE_MS + 2_000

/**
 * An operator's stop. A client sees two things of it and says no more: the connection has ended, and the locator is gone, which a
 * server takes away when it has drained. The exit of the process follows, and is not observed here.
 * @param {string} home
 * @returns {Promise<{ stopped: { pid: number } | null }>} null when no server runs
 */
export async function stopServer(home) {
  const found = await findServer(home)
  if (!('client' in found)) return { stopped: null }
  const { client, locator, pid } = found
  const timer = setTimeout(() => client.close(), LIMIT_MS)
  try {
    await client.shutdown({ graceMs: GRACE_MS })
    await client.ended
  } catch (error) {
    // It may have been leaving by itself.
    if (!hasCode(error, 'CUSTODY_CONNECTION_CLOSED')) throw error
  } finally {
    clearTimeout(timer)
    client.close()
  }
  if (isPublished(home, locator.instance)) throw notDrained(home, pid)
  return { stopped: { pid } }
}

function isPublished(home, instance) {
  try {
    return readLocator(locatorPath(home)).instance === instance
  } catch (error) {
    if (hasCode(error, 'CUSTODY_LOCATOR_MISSING')) return false
    throw error
  }
}

function notDrained(home, pid) {
  const message = `The server (pid ${pid}) has accepted the stop, and its locator is still there: it has not drained.`
  return new TaskdError({ code: 'not_drained', message, pid, hint: `look at the process ${pid} and into the log in ${home}` })
}
