import { chmodSync, realpathSync } from 'node:fs'
import type { Server } from 'node:net'
import { dirname, join } from 'node:path'
import { CustodyError } from '../errors.js'
import { baseDirectory } from '../locator/base-directory.js'
import { ensurePrivateDirectory } from '../locator/private-directory.js'
import { platform } from '../platform/index.js'

/**
 * Chooses the address of a new runtime: a Unix socket in a private directory, or a pipe with an unguessable name.
 * @param directory where the run that the runtime was born in keeps its sockets; the base directory otherwise
 * @throws CUSTODY_SOCKET_PATH_TOO_LONG when the operating system would cut the path
 * @throws CUSTODY_UNSAFE_DIRECTORY when others can reach the directory
 */
export function chooseEndpoint(instance: string, directory: string = baseDirectory()): string {
  if (!platform.hasUnixSockets) return `pipe:\\\\.\\pipe\\custody-${instance}`
  const sockets = join(directory, 's')
  // Half of it: every byte counts here, and 64 random bits are enough for a name.
  const name = `${instance.slice(0, 16)}.sock`
  // Checked before the directory is made: a refused start leaves nothing behind.
  checkLength(join(sockets, name))
  // Whoever owns the directory above could exchange the one below.
  ensurePrivateDirectory(directory)
  ensurePrivateDirectory(sockets)
  const path = join(realpathSync.native(sockets), name)
  checkLength(path)
  return `unix:${path}`
}

function checkLength(path: string): void {
  const bytes = Buffer.byteLength(path)
  if (bytes <= platform.socketPathBytes) return
  throw new CustodyError(
    'CUSTODY_SOCKET_PATH_TOO_LONG',
    `Could not listen on ${path}: the path has ${bytes} bytes, and a socket may have ${platform.socketPathBytes}.`,
    {
      hint: 'set XDG_RUNTIME_DIR, or TMPDIR where that is unset, to a shorter directory of your own: for the test runner, if a test started this.',
      facts: { path, bytes, limitBytes: platform.socketPathBytes, directory: dirname(path) },
    },
  )
}

/** Listens at `path`. In a cluster worker too, the socket is this process's own: its peer must be able to tell who listens. */
export function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      // A connection that could not be accepted, for want of descriptors for one, is tried again by its client.
      server.on('error', () => {})
      try {
        // The directory is private already; the mode is for those who look at the file alone.
        if (platform.hasUnixSockets) chmodSync(path, 0o600)
        resolve()
      } catch (error) {
        server.close()
        reject(error)
      }
    })
  })
}
