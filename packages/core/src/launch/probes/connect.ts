import { connect, type NetConnectOpts, type Socket } from 'node:net'

/** The loopback addresses of both families: a server may listen on either alone. */
export const LOOPBACK: readonly string[] = ['127.0.0.1', '::1']

/** Connects once. Resolves with the socket, or with the code of the error. */
export function tryConnect(options: NetConnectOpts, signal: AbortSignal): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(options)
    const abort = () => {
      socket.destroy()
      resolve('aborted')
    }
    signal.addEventListener('abort', abort, { once: true })
    const settle = (outcome: Socket | string) => {
      signal.removeEventListener('abort', abort)
      resolve(outcome)
    }
    socket.once('connect', () => settle(socket))
    socket.on('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message))
  })
}
