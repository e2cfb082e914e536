import { ask, askServer } from '../client/ask-server.js'
import { findServer } from '../client/find-server.js'

/** @param {import('./commands.js').Context} context */
export async function showStatus({ home, wishes, values }) {
  if (values.task !== undefined) return askServer(home, wishes, 'GET', `/tasks/${encodeURIComponent(values.task)}`)
  // Who asks whether a server runs does not want one started.
  const found = await findServer(home)
  if (!('client' in found)) return { home, server: null }
  found.client.close()
  return { home, server: await ask(found.locator, 'GET', '/status') }
}
