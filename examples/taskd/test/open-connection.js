import { once } from 'node:events'
import { connect } from 'node:net'
import { readLocator } from '@custody/runtime'
import { apiSecret } from '../src/api-secret.js'

/**
 * A connection to the HTTP API of a home's server, for requests that no well-behaved client sends.
 * @param {string} locatorPath
 */
export async function openConnection(locatorPath) {
  const locator = readLocator(locatorPath)
  const socket = connect(Number(new URL(String(locator.details.url)).port), '127.0.0.1')
  await once(socket, 'connect')
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  const ended = once(socket, 'close')
  const head = (method, path, rest = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiSecret(locator)}\r\n${rest}\r\n`
  return {
    socket,
    /** A whole request, to be written. */
    get: (path) => head('GET', path),
    /** Resolves when the bytes have been handed to the system. */
    write: (text) => new Promise((resolve) => socket.write(text, resolve)),
    /** Begins a request whose body is announced; `Expect` has the server say when it has accepted it. */
    async beginPost(path, bytes) {
      const accepted = once(socket, 'data')
      socket.write(head('POST', path, `Content-Length: ${bytes}\r\nExpect: 100-continue\r\n`))
      await accepted
      received = ''
    },
    /** The statuses and bodies of all answers, when the server has closed the connection. */
    async answers() {
      await ended
      return received
        .split(/(?=HTTP\/1\.1 )/)
        .map((answer) => ({ status: Number(answer.split(' ')[1]), body: JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? 'null') }))
    },
  }
}
