import { createHmac, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import type { Locator } from '@custody/runtime'

/**
 * A client written from docs/protocol.md alone, without a line of the package. It can break each rule of the page: that is what it
 * is for.
 */
export class RawClient {
  readonly socket: Socket
  /** Resolves when the server has ended the connection. */
  readonly dropped: Promise<void>
  readonly received: string[] = []
  key: Buffer = Buffer.alloc(0)
  seq = 0
  #text = ''
  #wake: () => void = () => {}

  constructor(endpoint: string) {
    const [, host, port] = /^tcp:(.*):(\d+)$/.exec(endpoint) ?? []
    this.socket = host === undefined ? connect(endpoint.slice('unix:'.length)) : connect(Number(port), host)
    this.socket.setEncoding('utf8')
    this.socket.on('error', () => {})
    this.dropped = new Promise((resolve) => this.socket.once('close', () => resolve()))
    this.socket.on('data', (text: string) => {
      const lines = (this.#text + text).split('\n')
      this.#text = lines.pop() as string
      this.received.push(...lines)
      this.#wake()
    })
    this.socket.once('close', () => this.#wake())
  }

  send(text: string | Buffer): void {
    this.socket.write(text)
  }

  /** The next line that the server sends, or null when it sends none any more. */
  async line(): Promise<string | null> {
    while (this.received.length === 0) {
      if (this.socket.destroyed) return null
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.received.shift() as string
  }

  /** Says hello as the page tells and takes the server's proof for true. */
  async hello({ token, endpoint }: Locator): Promise<{ proof: string; expected: string }> {
    const nc = randomBytes(32).toString('hex')
    this.send(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'hello', params: { protocol: 'custody/1', nonce: nc } })}\n`)
    const answer = await this.line()
    if (answer === null) throw new Error('The server has hung up at hello.')
    const { nonce: ns, proof } = JSON.parse(answer).result
    const secret = Buffer.from(token, 'hex')
    this.key = hmac(secret, 'custody/1', 'session', nc, ns, endpoint)
    return { proof, expected: hmac(secret, 'custody/1', 'server-hello', nc, ns, endpoint).toString('hex') }
  }

  /** The next line of the session. Any part of it can be given instead. */
  seal(message: unknown, changes: { seq?: number; direction?: string; mac?: string } = {}): string {
    const seq = changes.seq ?? this.seq++
    const body = typeof message === 'string' ? message : JSON.stringify(message)
    const mac = changes.mac ?? hmac(this.key, 'custody/1', changes.direction ?? 'c2s', String(seq), body).toString('hex')
    return `${JSON.stringify({ seq, body, mac })}\n`
  }

  async ask(
    method: string,
    params?: unknown,
  ): Promise<{ result?: Record<string, unknown>; error?: Record<string, unknown> } | null> {
    this.send(this.seal({ jsonrpc: '2.0', id: 1, method, ...(params === undefined ? {} : { params }) }))
    const line = await this.line()
    return line === null ? null : JSON.parse(JSON.parse(line).body)
  }
}

function hmac(key: Buffer, ...parts: string[]): Buffer {
  const mac = createHmac('sha256', key)
  for (const part of parts) {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(Buffer.byteLength(part))
    mac.update(length).update(part)
  }
  return mac.digest()
}
