import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server as HttpServer, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import { clock } from '../clock.js'
import { Deadline } from '../deadline.js'

/** How long `drainHttpServer` waits before it cuts. */
export interface DrainOptions {
  /**
   * How long accepted requests may take to finish, in milliseconds. Then their connections are cut.
   * @default 5_000
   */
  graceMs?: number
  /** Cuts at once when it aborts. */
  signal?: AbortSignal
}

// Upgraded sockets are in no list that an http server keeps, and neither are responses in flight: both are noted as they begin.
const socketsOf = new WeakMap<Server, Set<Socket>>()
const responseOf = new WeakMap<Socket, ServerResponse>()
subscribe('http.server.request.start', (message) => {
  const { response, socket } = message as { response: ServerResponse; socket: Socket }
  responseOf.set(socket, response)
})
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket & { server?: Server } }
  if (socket.server === undefined) return
  const sockets = socketsOf.get(socket.server) ?? new Set()
  socketsOf.set(socket.server, sockets.add(socket))
  socket.once('close', () => sockets.delete(socket))
})

/**
 * Closes an HTTP server without losing accepted work: it stops accepting, lets each request finish and its connection go, and cuts
 * what is left when the grace time ends: streams without end, upgraded sockets, half-sent requests. A connection on which nothing has
 * arrived is cut at once; a client that must not lose a request sends `Expect: 100-continue`.
 *
 * @returns whether everything finished by itself
 * @throws only what closing the server fails with. One that does not listen is no failure, and neither is the end of the grace time.
 */
export async function drainHttpServer(
  server: HttpServer | HttpsServer,
  options: DrainOptions = {},
): Promise<{ isComplete: boolean }> {
  const { graceMs = 5_000, signal } = options
  let isComplete = true
  const stopHurrying = hurry(server)
  const cancel = Deadline.after(graceMs).onPassed(cut)
  signal?.addEventListener('abort', cut)
  try {
    await new Promise<void>((resolve, reject) => {
      // Not listening any more is what was asked for.
      server.close((error) =>
        error && (error as NodeJS.ErrnoException).code !== 'ERR_SERVER_NOT_RUNNING' ? reject(error) : resolve(),
      )
      // A connection that has sent nothing holds no work, but would hold the close.
      for (const socket of socketsOf.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy()
      if (signal?.aborted) cut()
    })
  } finally {
    cancel()
    signal?.removeEventListener('abort', cut)
    stopHurrying()
  }
  return { isComplete }

  function cut(): void {
    const left = socketsOf.get(server) ?? new Set()
    if (left.size > 0) isComplete = false
    server.closeAllConnections()
    for (const socket of left) socket.destroy()
  }
}

/** Has each connection end with the response that it carries, instead of after the keep-alive time. */
function hurry(server: Server): () => void {
  const ofOurs = (handle: (response: ServerResponse) => void) => (message: unknown) => {
    const event = message as { server: Server; response: ServerResponse }
    if (event.server === server) handle(event.response)
  }
  const announceEnd = ofOurs(sayLast)
  for (const socket of socketsOf.get(server) ?? []) {
    const response = responseOf.get(socket)
    if (response !== undefined) sayLast(response)
  }
  const closeIdle = ofOurs((response) => {
    const close = () => clock.setImmediate(() => (server as HttpServer).closeIdleConnections())
    response.once('close', close)
    close()
  })
  subscribe('http.server.request.start', announceEnd)
  subscribe('http.server.response.finish', closeIdle)
  return () => {
    unsubscribe('http.server.request.start', announceEnd)
    unsubscribe('http.server.response.finish', closeIdle)
  }
}

/** Tells the client that this is the last response on its connection: what it sends after it would be lost. */
function sayLast(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close')
}

// A channel without a reference loses its subscribers on Node 20.
export const channels: readonly ReturnType<typeof channel>[] = ['net.server.socket', 'http.server.request.start'].map((name) =>
  channel(name),
)
