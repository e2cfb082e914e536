import { TextDecoder } from 'node:util'

/** Why a peer's bytes are not lines of this protocol. */
export type Violation = 'line too long' | 'not UTF-8'

/** Cuts a stream of bytes into lines. Whatever a peer sends, it holds at most one line of the current limit. */
export class LineReader {
  /** Longest line in bytes, without its newline. May be raised while reading. */
  limitBytes: number
  #held: Buffer[] = []
  #heldBytes = 0
  #isStopped = false

  readonly #onLine: (line: string) => void
  readonly #onViolation: (violation: Violation) => void

  constructor(limitBytes: number, onLine: (line: string) => void, onViolation: (violation: Violation) => void) {
    this.limitBytes = limitBytes
    this.#onLine = onLine
    this.#onViolation = onViolation
  }

  push(chunk: Buffer): void {
    let from = 0
    while (!this.#isStopped) {
      const newline = chunk.indexOf(0x0a, from)
      const piece = chunk.subarray(from, newline < 0 ? chunk.length : newline)
      if (this.#heldBytes + piece.length > this.limitBytes) return this.#refuse('line too long')
      this.#held.push(piece)
      this.#heldBytes += piece.length
      if (newline < 0) return
      from = newline + 1
      this.#emit()
    }
  }

  /** Ignores everything from here on. */
  stop(): void {
    this.#isStopped = true
    this.#held = []
    this.#heldBytes = 0
  }

  #emit(): void {
    const bytes = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    const line = decode(bytes)
    if (line === null) return this.#refuse('not UTF-8')
    this.#onLine(line)
  }

  #refuse(violation: Violation): void {
    this.stop()
    this.#onViolation(violation)
  }
}

function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return null
    throw error
  }
}
