import type { Readable } from 'node:stream'
import { clock } from '@custody/runtime/internals'

/** How many turns of the event loop without news mean that the pipe is empty, and how many there may be at most. */
const QUIET_TURNS = 3
const MAX_TURNS = 256

/** Collects what a command writes, up to its exit. */
export class OutputCollector {
  readonly #chunks: { stream: 'stdout' | 'stderr'; bytes: Buffer }[] = []
  readonly #open: Set<Readable> = new Set()
  #isCollecting = true

  constructor(stdout: Readable | null, stderr: Readable | null) {
    this.#collect('stdout', stdout)
    this.#collect('stderr', stderr)
  }

  /**
   * Reads what the command had written before it exited: that lies in the pipe already, so a few turns without news are its end.
   * A daemon that holds the pipe may go on to write: it is read and dropped, as a closed pipe would kill it.
   */
  async drain(): Promise<void> {
    for (let quiet = 0, turn = 0; this.#open.size > 0 && quiet < QUIET_TURNS && turn < MAX_TURNS; turn++) {
      const before = this.#chunks.length
      await new Promise<void>((resolve) => clock.setImmediate(resolve))
      quiet = this.#chunks.length === before ? quiet + 1 : 0
    }
    this.#isCollecting = false
    for (const stream of this.#open) (stream as Readable & { unref?: () => void }).unref?.()
  }

  texts(): { stdout: string; stderr: string; all: string } {
    const text = (...streams: readonly string[]) =>
      Buffer.concat(this.#chunks.filter(({ stream }) => streams.includes(stream)).map(({ bytes }) => bytes)).toString('utf8')
    return { stdout: text('stdout'), stderr: text('stderr'), all: text('stdout', 'stderr') }
  }

  #collect(name: 'stdout' | 'stderr', stream: Readable | null): void {
    if (stream === null) return
    this.#open.add(stream)
    stream.on('data', (bytes: Buffer) => {
      if (this.#isCollecting) this.#chunks.push({ stream: name, bytes })
    })
    stream.once('end', () => this.#open.delete(stream))
    stream.once('error', () => this.#open.delete(stream))
  }
}
