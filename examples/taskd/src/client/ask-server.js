import { openRequest, readJson } from './open-request.js'
import { withServer } from './with-server.js'

/**
 * Asks the server of a home, which is started if there is none.
 * @param {string} home
 * @param {import('./reach-server.js').Wishes} wishes
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {object} [body]
 */
export function askServer(home, wishes, method, path, body) {
  return withServer(home, wishes, (locator) => ask(locator, method, path, body))
}

/**
 * Asks one server.
 * @param {import('@custody/runtime').Locator} locator
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {object} [body]
 */
export async function ask(locator, method, path, body) {
  return readJson(await openRequest(locator, method, path, body))
}
