import { isObject, parseJson } from './json.js'
import { type Direction, frameMac, isSameHex } from './proof.js'

/** It has no form in UTF-8: bodies that differ in nothing else would have one and the same code. */
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Both directions of a session after hello: each line carries the whole message as text, its place and its code. The text is
 * authenticated as it stands, because JSON does not survive a round trip.
 */
export class SealedLines {
  #sent = 0
  #received = 0
  readonly #key: Buffer
  readonly #outgoing: Direction
  readonly #incoming: Direction

  constructor(key: Buffer, side: 'client' | 'server') {
    this.#key = key
    this.#outgoing = side === 'client' ? 'c2s' : 's2c'
    this.#incoming = side === 'client' ? 's2c' : 'c2s'
  }

  seal(message: unknown): string {
    // What cannot be said at all takes no number: the next line would be out of order.
    const body = JSON.stringify(message)
    const seq = this.#sent++
    return `${JSON.stringify({ seq, body, mac: frameMac(this.#key, this.#outgoing, seq, body) })}\n`
  }

  /** The message of a line, or null when it is not the next authentic line of this session. */
  open(line: string): unknown | null {
    const frame = parseJson(line)
    if (!isObject(frame) || frame['seq'] !== this.#received || typeof frame['body'] !== 'string') return null
    const { body } = frame
    if (LONE_SURROGATE.test(body)) return null
    if (!isSameHex(frameMac(this.#key, this.#incoming, this.#received, body), frame['mac'])) return null
    this.#received++
    return parseJson(body) ?? null
  }
}
