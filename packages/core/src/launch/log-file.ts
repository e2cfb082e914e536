import { closeSync, fstatSync, openSync, readSync, watch } from 'node:fs'
import { clock, hasCode } from '@custody/runtime/internals'

/** How much is read at one look, in bytes: a program that writes without end must not hold the reader. */
export const LOOK_BYTES: number = 64 * 1024
/** How long to wait for a change at most, in milliseconds: notices of changes can get lost. */
const BACKSTOP_MS = 100

/** What a runtime has written, in a file that grows while it runs. */
export class LogFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** All of it, from a byte on. */
  text(from = 0): string {
    const parts: Buffer[] = []
    // Up to where it ends now: a program may write faster than this reads.
    const end = this.size
    for (let at = from; ; ) {
      const part = at < end ? this.read(at).subarray(0, end - at) : Buffer.alloc(0)
      if (part.length === 0) return Buffer.concat(parts).toString('utf8')
      parts.push(part)
      at += part.length
    }
  }

  /** The last lines. */
  tail(lines: number): string {
    const from = Math.max(0, this.size - LOOK_BYTES)
    return this.text(from).trimEnd().split('\n').slice(-lines).join('\n')
  }

  get size(): number {
    return this.#withDescriptor((descriptor) => fstatSync(descriptor).size) ?? 0
  }

  /** At most 64 KiB from a byte on. */
  read(from: number): Buffer {
    const part = this.#withDescriptor((descriptor) => {
      const buffer = Buffer.alloc(LOOK_BYTES)
      return buffer.subarray(0, readSync(descriptor, buffer, 0, LOOK_BYTES, from))
    })
    return part ?? Buffer.alloc(0)
  }

  /**
   * Resolves when it may have changed. One notice a look: a program that writes without end would otherwise flood this one.
   * @param seen the size that was seen last: of what came between that look and the watch nobody gives notice
   * @param isHolding whether to wait keeps this process alive
   */
  changed(signal: AbortSignal, seen: number, isHolding = true): Promise<void> {
    const size = () => this.size
    return new Promise((resolve) => {
      const timer = clock.setTimeout(done, BACKSTOP_MS)
      const watcher = watchOrNull(this.path, done)
      if (!isHolding) timer.unref()
      if (!isHolding) watcher?.unref()
      signal.addEventListener('abort', done, { once: true })
      if (size() !== seen) done()
      function done(): void {
        clock.clearTimeout(timer)
        watcher?.close()
        signal.removeEventListener('abort', done)
        resolve()
      }
    })
  }

  #withDescriptor<T>(use: (descriptor: number) => T): T | null {
    let descriptor: number
    try {
      descriptor = openSync(this.path, 'r')
    } catch (error) {
      // The run is over, and its files with it.
      if (hasCode(error, 'ENOENT')) return null
      throw error
    }
    try {
      return use(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }
}

function watchOrNull(path: string, listener: () => void): ReturnType<typeof watch> | null {
  try {
    const watcher = watch(path, listener)
    watcher.on('error', listener)
    return watcher
  } catch (error) {
    // Gone, or the machine has no watches left: the backstop looks.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOSPC') || hasCode(error, 'EMFILE')) return null
    throw error
  }
}
