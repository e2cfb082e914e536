import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import type { Deadline } from '../deadline.js'
import { CustodyError, type RuntimeErrorCode } from '../errors.js'
import type { Locator } from '../locator/locator.js'
import { checkPrivateDirectory } from '../locator/private-directory.js'
import { platform } from '../platform/index.js'
import { PEER_LINE_BYTES, STRANGER_LINE_BYTES } from '../wire/bounds.js'
import { parseEndpoint } from '../wire/endpoint.js'
import { isObject, parseJson } from '../wire/json.js'
import { LineReader } from '../wire/line-reader.js'
import { isNonce, isSameHex, PROTOCOL, serverProof, sessionKey } from '../wire/proof.js'
import { SealedLines } from '../wire/sealed-lines.js'

/** An authenticated line to the process that knows the locator's token. */
export interface Session {
  /** Resolves when either side has ended the session. A reason to look at the process, never a proof that it is gone. */
  readonly ended: Promise<void>
  /** Calls `onNotification` for each notification. */
  onNotification: (method: string, params: unknown) => void
  /**
   * Asks, and waits for the answer until the deadline.
   * @throws {RpcFailure} the runtime's own refusal
   */
  call(method: string, params: unknown, deadline: Deadline): Promise<unknown>
  close(): void
}

/** A refusal that came over an authenticated session. */
export class RpcFailure extends Error {
  readonly error: { code?: unknown; message?: unknown; data?: unknown }

  constructor(error: Record<string, unknown>) {
    super(String(error['message'] ?? 'refused'))
    this.name = 'RpcFailure'
    this.error = error
  }
}

/**
 * Connects to a locator's endpoint and lets the listener prove that it knows the token. The token itself is never sent, so a
 * stranger that listens there learns nothing.
 */
export function openSession(locator: Locator, deadline: Deadline): Promise<Session> {
  const problem = (code: RuntimeErrorCode, observed: string, cause?: unknown) => problemWith(locator, code, observed, cause)

  return new Promise((resolve, reject) => {
    const socket = dial(locator)
    const nonce = randomBytes(32).toString('hex')
    const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
    let lines: SealedLines | null = null
    let hasHeard = false
    let nextId = 1
    let failure: CustodyError | null = null

    let end!: () => void
    const session: Session = {
      ended: new Promise((done) => {
        end = done
      }),
      onNotification: () => {},
      call: (method, params, until) =>
        new Promise((accept, refuse) => {
          if (socket.destroyed || lines === null) return refuse(problem('CUSTODY_CONNECTION_CLOSED', 'the connection has ended'))
          const id = nextId++
          const cancel = until.onPassed(() => {
            pending.delete(id)
            refuse(problem('CUSTODY_ANSWER_TIMEOUT', `no answer to "${method}" in time`))
          })
          pending.set(id, {
            resolve: (value) => (cancel(), accept(value)),
            reject: (error) => (cancel(), refuse(error)),
          })
          socket.write(lines.seal({ jsonrpc: '2.0', id, method, params }))
        }),
      close: () => socket.destroy(),
    }

    const cancelHello = deadline.onPassed(() => fail(problem('CUSTODY_ANSWER_TIMEOUT', 'no proof in time')))
    function fail(error: CustodyError): void {
      failure ??= error
      reader.stop()
      socket.destroy()
    }

    const reader = new LineReader(STRANGER_LINE_BYTES, onLine, (violation) => fail(problem('CUSTODY_ANSWER_GARBAGE', violation)))
    socket.on('connect', () => {
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'hello', params: { protocol: PROTOCOL, nonce } })}\n`)
    })
    socket.on('data', (chunk: Buffer) => {
      hasHeard = true
      reader.push(chunk)
    })
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      const code =
        hasHeard || cause.code === 'ECONNRESET' || cause.code === 'EPIPE' ? 'CUSTODY_CONNECTION_CLOSED' : 'CUSTODY_CONNECT_FAILED'
      failure ??= problem(code, `${cause.code}`, cause)
    })
    socket.on('close', () => {
      cancelHello()
      const reason = failure ?? problem('CUSTODY_CONNECTION_CLOSED', 'it closed the connection')
      reject(reason)
      for (const { reject: refuse } of pending.values()) refuse(reason)
      pending.clear()
      end()
    })

    function onLine(line: string): void {
      if (lines === null) return onHello(line)
      const message = lines.open(line)
      if (!isObject(message)) return fail(problem('CUSTODY_ANSWER_GARBAGE', 'a line of the session is not authentic'))
      if (typeof message['method'] === 'string') return session.onNotification(message['method'], message['params'])
      const waiting = typeof message['id'] === 'number' ? pending.get(message['id']) : undefined
      if (waiting === undefined) return
      pending.delete(message['id'] as number)
      if (isObject(message['error'])) waiting.reject(new RpcFailure(message['error']))
      else waiting.resolve(message['result'])
    }

    function onHello(line: string): void {
      const answer = parseJson(line)
      const result = isObject(answer) ? answer['result'] : undefined
      if (
        !isObject(result) ||
        result['protocol'] !== PROTOCOL ||
        !isNonce(result['nonce']) ||
        typeof result['proof'] !== 'string'
      ) {
        return fail(problem('CUSTODY_ANSWER_GARBAGE', 'its answer is not one of this protocol'))
      }
      const token = Buffer.from(locator.token, 'hex')
      const theirs = result['nonce']
      if (theirs === nonce || !isSameHex(serverProof(token, nonce, theirs, locator.endpoint), result['proof'])) {
        return fail(problem('CUSTODY_PROOF_FALSE', 'the listener does not know the token'))
      }
      cancelHello()
      lines = new SealedLines(sessionKey(token, nonce, theirs, locator.endpoint), 'client')
      reader.limitBytes = PEER_LINE_BYTES
      resolve(session)
    }
  })
}

const hints: Partial<Record<RuntimeErrorCode, string>> = {
  CUSTODY_CONNECT_FAILED: 'the runtime may have left; a locator that stays behind is no proof that it runs.',
  CUSTODY_PROOF_FALSE: 'another process listens there now. Nothing secret was sent to it.',
  CUSTODY_ANSWER_GARBAGE: 'what listens there does not speak this protocol. Nothing secret was sent to it.',
}

function dial(locator: Locator): Socket {
  const endpoint = parseEndpoint(locator.endpoint)
  if (endpoint === null) throw new TypeError(`Not an endpoint: ${locator.endpoint}`)
  if (endpoint.kind === 'tcp') return connect({ host: endpoint.host, port: endpoint.port })
  if (endpoint.kind === 'unix') checkSocketPath(endpoint.path, locator)
  return connect({ path: endpoint.path })
}

function checkSocketPath(path: string, locator: Locator): void {
  const bytes = Buffer.byteLength(path)
  // Node 20 would connect to whoever listens at the path as it was cut.
  if (bytes > platform.socketPathBytes) {
    const observed = `its path has ${bytes} bytes, and a socket may have ${platform.socketPathBytes}`
    throw problemWith(locator, 'CUSTODY_CONNECT_FAILED', observed)
  }
  try {
    // In a directory that others can write to, anybody may have put a listener.
    checkPrivateDirectory(dirname(path))
  } catch (cause) {
    if ((cause as CustodyError).facts?.['exposure'] !== 'it does not exist') throw cause
    throw problemWith(locator, 'CUSTODY_CONNECT_FAILED', 'its directory is gone', cause)
  }
}

function problemWith(locator: Locator, code: RuntimeErrorCode, observed: string, cause?: unknown): CustodyError {
  return new CustodyError(code, `Could not reach runtime "${locator.name}" at ${locator.endpoint}: ${observed}.`, {
    hint: hints[code] ?? 'look at the process that listens there.',
    facts: { name: locator.name, endpoint: locator.endpoint, pid: locator.pid },
    cause,
  })
}
