import { connect } from 'node:net'
import type { Locator } from '../locator/locator.js'
import { hasEnded } from '../platform/has-ended.js'
import { parseEndpoint } from '../wire/endpoint.js'

/**
 * Whether the runtime of a locator found in the way has ended: the kernel knows of no such process, or, where this kernel cannot
 * know, as after the restart of a container or without a start time, nobody listens for it any more.
 */
export async function isReplaceable(found: Locator): Promise<boolean> {
  return hasEnded(found) ?? !(await hasListener(found))
}

function hasListener(found: Locator): Promise<boolean> {
  const endpoint = parseEndpoint(found.endpoint)
  if (endpoint === null) return Promise.resolve(false)
  return new Promise((resolve) => {
    const socket = connect(endpoint.kind === 'tcp' ? { host: endpoint.host, port: endpoint.port } : { path: endpoint.path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    // Anything else, a full queue for one, is somebody.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })
}
