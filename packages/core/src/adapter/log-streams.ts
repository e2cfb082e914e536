import { LogFile } from '../launch/log-file.js'
import { LogStream } from '../launch/log-stream.js'
import type { StreamNotice } from '../supervisor/protocol.js'

/** The logs that are shown as they grow. */
export class LogStreams {
  readonly #write: (text: string) => void
  readonly #streams: LogStream[] = []

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  follow({ logs, name }: StreamNotice): void {
    for (const path of new Set([logs.stdout, logs.stderr])) {
      const stream = new LogStream(name, new LogFile(path), this.#write)
      this.#streams.push(stream)
      void stream.follow()
    }
  }

  /** Shows what is there by now. */
  flush(): void {
    for (const stream of this.#streams) stream.flush()
  }

  end(): void {
    for (const stream of this.#streams.splice(0)) stream.end()
  }
}
