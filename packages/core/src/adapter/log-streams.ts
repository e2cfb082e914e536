import { LogFile } from '../launch/log-file.js'
import { LogStream } from '../launch/log-stream.js'
import type { SupervisorLink } from '../supervisor/link.js'
import type { StreamNotice } from '../supervisor/protocol.js'

/** The logs that are shown as they grow. */
export class LogStreams {
  readonly #write: (text: string) => void
  readonly #followed = new Set<string>()
  readonly #streams = new Map<string, LogStream[]>()

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  /** Follows those of what is started from now on, and of what was started before, each until it has exited. */
  async followAll(link: SupervisorLink): Promise<void> {
    const begin = (notice: StreamNotice) => {
      if (this.#followed.has(notice.id)) return
      this.#followed.add(notice.id)
      this.#follow(notice)
      const isOver = link.exitOf(notice.id, notice.isDaemon)
      const end = () => this.#end(notice.id)
      isOver.then(end, end)
    }
    link.onStreamed = begin
    // A worker may have been faster than this process.
    for (const notice of await link.call<StreamNotice[]>('streamed', {})) begin(notice)
  }

  /** Shows what is there by now. */
  flush(): void {
    for (const stream of this.#all()) stream.flush()
  }

  end(): void {
    for (const id of [...this.#streams.keys()]) this.#end(id)
  }

  #follow({ id, logs, name }: StreamNotice): void {
    const paths = [...new Set([logs.stdout, logs.stderr])]
    const streams = paths.map((path) => new LogStream(name, new LogFile(path), this.#write))
    this.#streams.set(id, streams)
    for (const stream of streams) void stream.follow()
  }

  #end(id: string): void {
    for (const stream of this.#streams.get(id) ?? []) stream.end()
    this.#streams.delete(id)
  }

  #all(): LogStream[] {
    return [...this.#streams.values()].flat()
  }
}
