import { TextDecoder } from 'node:util'
import type { LogFile } from './log-file.js'

/** A line that does not end is shown in pieces of so many characters. */
const MAX_LINE = 64 * 1024

/** Shows a log line by line as it grows, each line behind a name. */
export class LogStream {
  readonly #log: LogFile
  readonly #prefix: string
  readonly #write: (text: string) => void
  readonly #decoder = new TextDecoder()
  readonly #over = new AbortController()
  #at = 0
  /** A line that has not ended yet. */
  #rest = ''

  constructor(name: string, log: LogFile, write: (text: string) => void) {
    this.#prefix = `[${name}] `
    this.#log = log
    this.#write = write
  }

  /** Follows it until `end`. Whoever waits for nothing else is not kept waiting by it. */
  async follow(): Promise<void> {
    const { signal } = this.#over
    try {
      while (!signal.aborted) if (!this.#showPart()) await this.#log.changed(signal, this.#at, false)
    } catch (error) {
      // What is shown is for people: that it cannot be read, as when there are too many open files, costs the run nothing.
      this.#write(`${this.#prefix}(its output cannot be shown any more: ${(error as Error).message})\n`)
    }
  }

  /** Shows what is there by now. */
  flush(): void {
    // Its writer may be faster than this.
    for (const end = this.#log.size; this.#at < end && this.#showPart(); );
  }

  /** Shows what is there by now, also of a line that has not ended, and follows it no more. */
  end(): void {
    this.flush()
    if (this.#rest !== '') this.#write(`${this.#prefix}${this.#rest}\n`)
    this.#rest = ''
    this.#over.abort()
  }

  #showPart(): boolean {
    // It was cut because it had grown too long: what comes now stands behind its new end.
    this.#at = Math.min(this.#at, this.#log.size)
    const part = this.#log.read(this.#at)
    this.#at += part.length
    const lines = (this.#rest + this.#decoder.decode(part, { stream: true })).split('\n')
    const rest = lines.pop() ?? ''
    const isTooLong = rest.length > MAX_LINE
    if (isTooLong) lines.push(rest)
    this.#rest = isTooLong ? '' : rest
    if (lines.length > 0) this.#write(lines.map((line) => `${this.#prefix}${line}\n`).join(''))
    return part.length > 0
  }
}
