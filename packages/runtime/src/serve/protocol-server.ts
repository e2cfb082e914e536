import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { clock } from '../clock.js'
import { AUTHENTICATION_MS, MAX_STRANGERS, PEER_LINE_BYTES, STRANGER_LINE_BYTES } from '../wire/bounds.js'
import { isObject, parseJson } from '../wire/json.js'
import { LineReader } from '../wire/line-reader.js'
import { isNonce, PROTOCOL, serverProof, sessionKey } from '../wire/proof.js'
import { SealedLines } from '../wire/sealed-lines.js'

/** An error object of JSON-RPC 2.0. */
export interface RpcError {
  code: number
  message: string
  data?: unknown
}

/** One authenticated client. */
export interface Peer {
  /** Resolves when its connection has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** Sends a notification. */
  notify(method: string, params?: unknown): void
}

/** Answers one request of an authenticated client; what it returns is the result. An RpcError is thrown as it is. */
export type Answer = (method: string, params: unknown, peer: Peer) => Promise<unknown>

export const METHOD_NOT_FOUND: RpcError = { code: -32_601, message: 'Method not found' }

/** The server's half of the protocol: who may speak, in what order, and within which bounds. What is said is the `answer`'s business. */
export class ProtocolServer {
  readonly server: Server = createServer((socket) => this.#accept(socket))
  readonly #strangers = new Set<Socket>()
  readonly #sockets = new Set<Socket>()

  readonly #token: Buffer
  readonly #endpoint: string
  readonly #answer: Answer
  readonly #lineBytes: number

  /** @param lineBytes longest line of an authenticated client, in bytes */
  constructor(token: Buffer, endpoint: string, answer: Answer, lineBytes: number = PEER_LINE_BYTES) {
    this.#token = token
    this.#endpoint = endpoint
    this.#answer = answer
    this.#lineBytes = lineBytes
  }

  /** Accepts nobody any more, lets the peers read what was sent to them, and drops them. */
  close(): void {
    this.server.close()
    for (const socket of this.#sockets) socket.destroySoon()
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    this.#strangers.add(socket)
    if (this.#strangers.size > MAX_STRANGERS) {
      const oldest = this.#strangers.values().next().value as Socket
      // At once: its 'close' may come after the next connection, which must not find it here again.
      this.#strangers.delete(oldest)
      oldest.destroy()
    }
    const slow = clock.setTimeout(() => socket.destroy(), AUTHENTICATION_MS)
    slow.unref()
    const welcome = () => {
      clock.clearTimeout(slow)
      this.#strangers.delete(socket)
    }
    // A peer that breaks off ends its own session and nothing else.
    socket.on('error', () => socket.destroy())
    const ended = new Promise<void>((resolve) => {
      socket.on('close', () => {
        welcome()
        this.#sockets.delete(socket)
        resolve()
      })
    })

    let session: SealedLines | null = null
    let isProven = false
    const reader = new LineReader(STRANGER_LINE_BYTES, onLine.bind(this), () => socket.destroy())
    socket.on('data', (chunk: Buffer) => reader.push(chunk))

    function drop(): void {
      reader.stop()
      socket.destroy()
    }
    const peer: Peer = {
      ended,
      notify: (method, params) => send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) }),
    }
    function send(message: unknown): void {
      if (session !== null && socket.writable) socket.write(session.seal(message))
    }

    function onLine(this: ProtocolServer, line: string): void {
      if (session === null) {
        session = this.#greet(socket, line)
        if (session === null) drop()
        return
      }
      const message = session.open(line)
      if (message === null) return drop()
      if (!isProven) {
        isProven = true
        reader.limitBytes = this.#lineBytes
        welcome()
      }
      if (!isObject(message) || typeof message['method'] !== 'string' || !isId(message['id'])) return drop()
      const { id = null, method, params } = message
      this.#answer(method, params, peer).then(
        (result) => send({ jsonrpc: '2.0', id, result: result ?? null }),
        (error: unknown) => send({ jsonrpc: '2.0', id, error: asRpcError(error) }),
      )
    }
  }

  /** Answers a hello with the proof, or null when it is none. A listener without the token could not make this proof. */
  #greet(socket: Socket, line: string): SealedLines | null {
    const hello = parseJson(line)
    if (!isObject(hello) || hello['method'] !== 'hello' || !isObject(hello['params']) || !isId(hello['id'])) return null
    const { protocol, nonce } = hello['params']
    if (protocol !== PROTOCOL || !isNonce(nonce)) return null
    const own = randomBytes(32).toString('hex')
    if (own === nonce) return null
    const proof = serverProof(this.#token, nonce, own, this.#endpoint)
    const result = { protocol: PROTOCOL, nonce: own, proof }
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: hello['id'] ?? null, result })}\n`)
    return new SealedLines(sessionKey(this.#token, nonce, own, this.#endpoint), 'server')
  }
}

/** An id goes back as it came, and Node 20 cannot write what is nested as deeply as it can read. */
function isId(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string' || typeof value === 'number'
}

function asRpcError(error: unknown): RpcError {
  if (isObject(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string') {
    return error as unknown as RpcError
  }
  // What went wrong inside is the runtime's own business: its text could hold a secret.
  return { code: -32_603, message: 'Internal error' }
}
