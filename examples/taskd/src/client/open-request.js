import { once } from 'node:events'
import { request } from 'node:http'
import { apiSecret } from '../api-secret.js'
import { hasCode, TaskdError } from '../errors.js'

/**
 * Sends a request to the HTTP API of a server that has proved itself.
 * @param {import('@custody/runtime').Locator} locator
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<import('node:http').IncomingMessage>} the answer, of which nothing is read yet
 * @throws {TaskdError} `not_accepted`: the server has left and knows nothing of it; `connection_lost`; or the server's own refusal
 */
export async function openRequest(locator, method, path, body) {
  const sent = request(new URL(path, String(locator.details.url)), {
    method,
    // Without an agent each request has a connection of its own, which ends with it.
    agent: false,
    headers: {
      authorization: `Bearer ${apiSecret(locator)}`,
      'content-type': 'application/json',
      // A server that leaves cuts connections of which it has read nothing. Until it says "continue", this is one of them.
      ...(body === undefined ? {} : { expect: '100-continue' }),
    },
  })
  const answered = once(sent, 'response')
  if (body !== undefined) {
    await orThrow(Promise.race([once(sent, 'continue'), answered]), notAccepted)
    sent.write(JSON.stringify(body))
  }
  sent.end()
  const [response] = await orThrow(answered, method === 'GET' ? notAccepted : connectionLost)
  if (response.statusCode === 200) return response
  const { error } = await readJson(response)
  throw new TaskdError(error)
}

/** @param {import('node:http').IncomingMessage} response */
export async function readJson(response) {
  return JSON.parse(Buffer.concat(await response.toArray()).toString())
}

async function orThrow(promise, explain) {
  try {
    return await promise
  } catch (cause) {
    throw hasCode(cause, 'ECONNREFUSED', 'ECONNRESET', 'EPIPE') ? explain(cause) : cause
  }
}

function notAccepted(cause) {
  return new TaskdError({ code: 'not_accepted', message: 'The server has left before it took the request.' }, { cause })
}

function connectionLost(cause) {
  const message = 'The server has gone while it was asked. Whether it did what was asked is not known.'
  return new TaskdError({ code: 'connection_lost', message, hint: 'taskd list' }, { cause })
}
