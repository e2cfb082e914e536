import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Deadline } from '../deadline.js'
import type { CustodyError } from '../errors.js'
import type { Locator } from '../locator/locator.js'
import { PEER_LINE_BYTES, STRANGER_LINE_BYTES } from '../wire/bounds.js'
import { isObject, parseJson } from '../wire/json.js'
import { LineReader } from '../wire/line-reader.js'
import { isNonce, isSameHex, PROTOCOL, serverProof, sessionKey } from '../wire/proof.js'
import { SealedLines } from '../wire/sealed-lines.js'
import { dial } from './dial.js'
import { RpcFailure } from './rpc-failure.js'
import { unreachable } from './unreachable.js'

/** An authenticated line to the process that knows the locator's token. */
export interface Session {
  /** Resolves when either side has ended the session. A reason to look at the process, never a proof that it is gone. */
  readonly ended: Promise<void>
  /** Called for each notification; to be replaced by whoever listens. */
  onNotification: (method: string, params: unknown) => void
  /**
   * Asks, and waits for the answer until the deadline.
   * @throws {RpcFailure} the runtime's own refusal
   * @throws CUSTODY_ANSWER_TIMEOUT, CUSTODY_CONNECTION_CLOSED, CUSTODY_ANSWER_GARBAGE
   */
  call(method: string, params: unknown, deadline: Deadline): Promise<unknown>
  close(): void
  /** The file descriptor of its socket, of which a kernel may tell who is at the other end; null when it is closed, or there is none. */
  readonly descriptor: number | null
  /** From now on the session keeps the process alive only while an answer is awaited. */
  unref(): void
}

export interface SessionOptions {
  /**
   * Longest line from the runtime, in bytes.
   * @default 65_536
   */
  lineBytes?: number
}

/**
 * Connects to a locator's endpoint and lets the listener prove that it knows the token. The token itself is never sent, so a
 * stranger that listens there learns nothing.
 *
 * @throws CUSTODY_CONNECT_FAILED, CUSTODY_CONNECTION_CLOSED, CUSTODY_PROOF_FALSE, CUSTODY_ANSWER_GARBAGE, CUSTODY_ANSWER_TIMEOUT
 * @throws CUSTODY_UNSAFE_DIRECTORY
 */
export async function openSession(locator: Locator, deadline: Deadline, options: SessionOptions = {}): Promise<Session> {
  const session = new ClientSession(locator, dial(locator), options.lineBytes ?? PEER_LINE_BYTES)
  await session.greeted(deadline)
  return session
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

class ClientSession implements Session {
  readonly ended: Promise<void>
  onNotification: Session['onNotification'] = () => {}

  readonly #locator: Locator
  readonly #socket: Socket
  readonly #reader: LineReader
  readonly #lineBytes: number
  readonly #nonce = randomBytes(32).toString('hex')
  readonly #calls = new Map<number, Waiting>()
  /** Null until the listener has proved itself. */
  #lines: SealedLines | null = null
  #greeting: Waiting | null = null
  #failure: CustodyError | null = null
  #hasHeard = false
  #isUnref = false
  #nextId = 1

  constructor(locator: Locator, socket: Socket, lineBytes: number) {
    this.#locator = locator
    this.#lineBytes = lineBytes
    this.#socket = socket
    this.#reader = new LineReader(
      STRANGER_LINE_BYTES,
      (line) => this.#onLine(line),
      (violation) => this.#fail(unreachable(locator, 'CUSTODY_ANSWER_GARBAGE', violation)),
    )
    socket.on('connect', () => {
      const hello = { jsonrpc: '2.0', id: 0, method: 'hello', params: { protocol: PROTOCOL, nonce: this.#nonce } }
      socket.write(`${JSON.stringify(hello)}\n`)
    })
    socket.on('data', (chunk: Buffer) => {
      this.#hasHeard = true
      this.#reader.push(chunk)
    })
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      const isCut = this.#hasHeard || cause.code === 'ECONNRESET' || cause.code === 'EPIPE'
      this.#failure ??= unreachable(
        locator,
        isCut ? 'CUSTODY_CONNECTION_CLOSED' : 'CUSTODY_CONNECT_FAILED',
        `${cause.code}`,
        cause,
      )
    })
    this.ended = new Promise((resolve) => {
      socket.on('close', () => {
        this.#end()
        resolve()
      })
    })
  }

  /** Resolves when the listener has proved that it knows the token. */
  greeted(deadline: Deadline): Promise<void> {
    const cancel = deadline.onPassed(() => this.#fail(unreachable(this.#locator, 'CUSTODY_ANSWER_TIMEOUT', 'no proof in time')))
    return new Promise<void>((resolve, reject) => {
      this.#greeting = { resolve: () => resolve(), reject }
    }).finally(cancel)
  }

  call(method: string, params: unknown, deadline: Deadline): Promise<unknown> {
    const lines = this.#lines
    if (this.#socket.destroyed || lines === null) {
      return Promise.reject(unreachable(this.#locator, 'CUSTODY_CONNECTION_CLOSED', 'the connection has ended'))
    }
    const id = this.#nextId++
    const cancel = deadline.onPassed(() => {
      this.#calls.get(id)?.reject(unreachable(this.#locator, 'CUSTODY_ANSWER_TIMEOUT', `no answer to "${method}" in time`))
    })
    this.#socket.write(lines.seal({ jsonrpc: '2.0', id, method, params }))
    this.#socket.ref()
    return new Promise<unknown>((resolve, reject) => this.#calls.set(id, { resolve, reject })).finally(() => {
      cancel()
      this.#calls.delete(id)
      if (this.#isUnref && this.#calls.size === 0) this.#socket.unref()
    })
  }

  unref(): void {
    this.#isUnref = true
    if (this.#calls.size === 0) this.#socket.unref()
  }

  close(): void {
    this.#socket.destroy()
  }

  get descriptor(): number | null {
    // Node has no public way to it.
    const { fd = -1 } = (this.#socket as { _handle?: { fd?: number } | null })._handle ?? {}
    return fd < 0 ? null : fd
  }

  #onLine(line: string): void {
    if (this.#lines === null) return this.#onHello(line)
    const message = this.#lines.open(line)
    if (!isObject(message)) {
      return this.#fail(unreachable(this.#locator, 'CUSTODY_ANSWER_GARBAGE', 'a line of the session is not authentic'))
    }
    if (typeof message['method'] === 'string') return this.onNotification(message['method'], message['params'])
    const waiting = typeof message['id'] === 'number' ? this.#calls.get(message['id']) : undefined
    if (isObject(message['error'])) waiting?.reject(new RpcFailure(message['error']))
    else waiting?.resolve(message['result'])
  }

  #onHello(line: string): void {
    const answer = parseJson(line)
    const result = isObject(answer) ? answer['result'] : undefined
    const nonce = isObject(result) ? result['nonce'] : undefined
    if (!isObject(result) || result['protocol'] !== PROTOCOL || !isNonce(nonce) || typeof result['proof'] !== 'string') {
      return this.#fail(unreachable(this.#locator, 'CUSTODY_ANSWER_GARBAGE', 'its answer is not one of this protocol'))
    }
    const token = Buffer.from(this.#locator.token, 'hex')
    const { endpoint } = this.#locator
    if (nonce === this.#nonce || !isSameHex(serverProof(token, this.#nonce, nonce, endpoint), result['proof'])) {
      return this.#fail(unreachable(this.#locator, 'CUSTODY_PROOF_FALSE', 'the listener does not know the token'))
    }
    this.#lines = new SealedLines(sessionKey(token, this.#nonce, nonce, endpoint), 'client')
    this.#reader.limitBytes = this.#lineBytes
    this.#greeting?.resolve(undefined)
  }

  #fail(error: CustodyError): void {
    this.#failure ??= error
    this.#reader.stop()
    this.#socket.destroy()
  }

  #end(): void {
    const reason = this.#failure ?? unreachable(this.#locator, 'CUSTODY_CONNECTION_CLOSED', 'it closed the connection')
    this.#greeting?.reject(reason)
    for (const waiting of this.#calls.values()) waiting.reject(reason)
  }
}
