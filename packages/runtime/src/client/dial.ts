import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { hasCode } from '../errors.js'
import type { Locator } from '../locator/locator.js'
import { checkPrivateDirectory } from '../locator/private-directory.js'
import { platform } from '../platform/index.js'
import { parseEndpoint } from '../wire/endpoint.js'
import { unreachable } from './unreachable.js'

/**
 * Begins to connect.
 * @throws CUSTODY_UNSAFE_DIRECTORY when anybody could have put a listener at the endpoint
 * @throws CUSTODY_CONNECT_FAILED when the endpoint's directory is gone, or its path is longer than the system takes
 */
export function dial(locator: Locator): Socket {
  const endpoint = parseEndpoint(locator.endpoint)
  if (endpoint === null) throw new TypeError(`Not an endpoint: ${locator.endpoint}`)
  if (endpoint.kind === 'tcp') return connect({ host: endpoint.host, port: endpoint.port })
  // Node 20 would cut the path, and connect to whatever has the shorter one.
  const bytes = Buffer.byteLength(endpoint.path)
  if (bytes > platform.socketPathBytes) {
    const observed = `its path has ${bytes} bytes, and a socket may have ${platform.socketPathBytes}`
    throw unreachable(locator, 'CUSTODY_CONNECT_FAILED', observed)
  }
  if (endpoint.kind === 'unix') checkSocketDirectory(endpoint.path, locator)
  return connect({ path: endpoint.path })
}

function checkSocketDirectory(path: string, locator: Locator): void {
  try {
    checkPrivateDirectory(dirname(path))
  } catch (cause) {
    const isMissing = hasCode(cause, 'CUSTODY_UNSAFE_DIRECTORY') && (cause as { facts: { isMissing: boolean } }).facts.isMissing
    if (!isMissing) throw cause
    throw unreachable(locator, 'CUSTODY_CONNECT_FAILED', 'its directory is gone', cause)
  }
}
