import { createHmac, timingSafeEqual } from 'node:crypto'

export const PROTOCOL = 'custody/1'

/** Who sends a line: the client to the server, or the server to the client. */
export type Direction = 'c2s' | 's2c'

/** Each part as its length in four bytes, big-endian, and its UTF-8 bytes: no two lists of parts give the same bytes. */
export function lengthPrefixed(...parts: readonly string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part, 'utf8')
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}

/** What only a holder of the token can say about both nonces and the endpoint: a relay to another endpoint does not verify. */
export function serverProof(token: Buffer, clientNonce: string, serverNonce: string, endpoint: string): string {
  return hmac(token, PROTOCOL, 'server-hello', clientNonce, serverNonce, endpoint).toString('hex')
}

/** The key of one session. Nothing but this and the server's proof is ever keyed with the token. */
export function sessionKey(token: Buffer, clientNonce: string, serverNonce: string, endpoint: string): Buffer {
  return hmac(token, PROTOCOL, 'session', clientNonce, serverNonce, endpoint)
}

/** The code that authenticates one line: bound to its direction and place, over the exact text of its body. */
export function frameMac(key: Buffer, direction: Direction, seq: number, body: string): string {
  return hmac(key, PROTOCOL, direction, String(seq), body).toString('hex')
}

/** Compares two lower-case hex texts in a time that does not depend on where they differ. */
export function isSameHex(expected: string, given: unknown): boolean {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const NONCE = /^[0-9a-f]{64}$/

export function isNonce(value: unknown): value is string {
  return typeof value === 'string' && NONCE.test(value)
}

function hmac(key: Buffer, ...parts: readonly string[]): Buffer {
  return createHmac('sha256', key)
    .update(lengthPrefixed(...parts))
    .digest()
}
