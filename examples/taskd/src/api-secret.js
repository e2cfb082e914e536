import { createHmac } from 'node:crypto'

/**
 * The bearer secret of the HTTP API: every user of a machine can connect to 127.0.0.1, and only this one can read the locator.
 * It is derived, so that the locator's token itself never travels and nobody who sees a request can stop the server. The label
 * keeps it apart from everything else that the token is a key of.
 * @param {import('@custody/runtime').Locator} locator
 */
export function apiSecret(locator) {
  return createHmac('sha256', Buffer.from(locator.token, 'hex')).update('taskd/1 http api').digest('hex')
}
