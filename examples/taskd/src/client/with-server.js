import { hasCode } from '../errors.js'
import { reachServer } from './reach-server.js'

/** How often a server may leave just as it is asked. */
const ATTEMPTS = 5

/**
 * Uses the server of a home, which is started if there is none, or its successor if it leaves at that moment.
 * @template T
 * @param {string} home
 * @param {import('./reach-server.js').Wishes} wishes
 * @param {(locator: import('@custody/runtime').Locator) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withServer(home, wishes, use) {
  for (let attempt = 1; ; attempt++) {
    const locator = await reachServer(home, wishes)
    try {
      return await use(locator)
    } catch (error) {
      // The only two after which the work cannot be done twice.
      if (!hasCode(error, 'draining', 'not_accepted') || attempt === ATTEMPTS) throw error
    }
  }
}
