import { createInterface } from 'node:readline'
import { openRequest } from './open-request.js'
import { withServer } from './with-server.js'

/**
 * The events of a home's server, as they happen, until it leaves. The first one says that nothing is missed from now on.
 * @param {string} home
 * @param {import('./reach-server.js').Wishes} wishes
 * @returns {AsyncGenerator<{ event: string, task?: any }>}
 */
export async function* watchEvents(home, wishes) {
  const response = await withServer(home, wishes, (locator) => openRequest(locator, 'GET', '/watch'))
  try {
    for await (const line of createInterface({ input: response })) yield JSON.parse(line)
  } finally {
    response.destroy()
  }
}
